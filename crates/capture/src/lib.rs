//! Recordings of the traffic of a bus: reading and analyzing them.
//!
//! The modules are listed from the lowest layer to the highest. A module uses only its own layer
//! and the layers below it.
//!
//! Vocabulary:
//!
//! - [`record`]: the records of a recording, independent of its format; `program`: the name of the
//!   program of a process.
//! - [`text`]: amounts as people write them, numbers with units, columns of a terminal.
//! - [`table`]: results in rows and columns, for people and for programs.
//! - `worded`: enums whose variants have texts; `collected`: items grouped by a key; `percentiles`:
//!   percentiles of durations; [`losses`]: the number of missing messages.
//!
//! File formats:
//!
//! - [`trace`]: reads the trace that the Diligence bus writes about its messages.
//! - [`introspection`]: introspection data of objects, with their interfaces and members.
//! - [`bodies`]: how much of each message is kept, and removing the rest.
//! - [`file`](mod@file): the file formats: bytes to records and back.
//!
//! The model:
//!
//! - [`model`]: a recording in memory, [`Capture`]: messages in columns, calls with their replies,
//!   names and processes through time.
//! - [`activation`]: services that were started; `subscriptions`: match rules through time.
//! - `match_subject`: messages as match rules see them; `rule_index`: the match rules that select a
//!   signal; `recipients`: how many connections received each broadcast signal.
//!
//! The analysis:
//!
//! - [`query`]: the language that selects messages, the same for all commands.
//! - [`timeline`]: latency: which callers waited for which services, how services started.
//! - [`statistics`]: figures and tables of a recording.
//! - [`show`]: messages in the formats of busctl, gdbus and dbus-send, and as JSON.
//! - [`save`]: writing all or some of the messages to a file.
//! - [`compare`]: differences between two recordings; [`budget`]: limits that a recording must not
//!   exceed.
//! - [`workers`]: threads that process parts of a recording in parallel.
//! - [`lint`]: rules that find problems in how the programs of a recording use the bus.
//!
//! The crate also compiles to WebAssembly, where recordings are in memory: there
//! [`Capture::from_bytes`] takes the place of [`Capture::open`].

#![forbid(unsafe_code)]

#[macro_use]
mod worded;

pub mod activation;
pub mod bodies;
pub mod budget;
mod collected;
pub mod compare;
pub mod file;
pub mod introspection;
pub mod lint;
pub mod losses;
mod match_subject;
pub mod model;
mod percentiles;
mod program;
pub mod query;
mod recipients;
pub mod record;
mod rule_index;
pub mod save;
pub mod show;
pub mod statistics;
mod subscriptions;
pub mod table;
pub mod text;
pub mod timeline;
pub mod trace;
pub mod workers;

pub use model::{Capture, CapturedMessageId};
pub use record::{RecordedTime, RecordingRecord};
