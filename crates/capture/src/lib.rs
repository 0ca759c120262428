//! Recordings of what went over a bus: reading them, and finding out what they show.
//!
//! The modules, in the order of reading:
//!
//! - [`record`]: what a recording is made of, whichever format it has.
//! - `program`: what to call the program of a process.
//! - [`losses`]: how much is missing.
//! - [`bodies`]: how much of each message is kept, and taking the rest out.
//! - [`file`](mod@file): the formats: bytes to records and back.
//! - [`model`]: a recording in memory, [`Capture`]: messages in columns, calls with their replies,
//!   names and processes through time.
//! - [`save`]: messages as a file again, all or some of them.
//! - [`introspection`]: what objects say they have.
//! - `recipients`: how many connections received each broadcast signal; `rule_index`: which match rules select
//!   them; `match_subject`: messages as match rules see them.
//! - [`query`]: which messages somebody wants to see, one language for all commands.
//! - [`show`]: messages in the forms of busctl, gdbus and dbus-send, and as JSON.
//! - `subscriptions`: match rules through time; `collected`: things by what they have in common.
//! - [`statistics`]: what it shows in numbers.
//! - [`compare`]: what is different between two recordings.
//! - [`budget`]: what a recording must not exceed.
//! - [`table`]: what was found out, in rows and columns, for people and for programs.
//! - [`timeline`]: where time went: who waited for whom, how services came up.
//! - [`text`]: amounts as people write them, numbers with units, columns of a terminal.
//! - [`lint`]: what is wrong with how the programs of a recording talk, by rules.
//! - [`trace`]: what a bus of ours writes about its messages, as records.
//!
//! All of it runs as WebAssembly too, where recordings are in memory: there
//! [`Capture::from_bytes`] takes the place of [`Capture::open`].

#![forbid(unsafe_code)]

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

pub use model::{Capture, MessageId};
pub use record::{Record, Time};
