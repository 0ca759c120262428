//! Recordings of what went over a bus: reading them, and finding out what they show.
//!
//! The modules, in the order of reading:
//!
//! - [`record`]: what a recording is made of, whichever format it has.
//! - [`file`]: the formats: bytes to records and back.
//! - [`model`]: a recording in memory, [`Capture`]: messages in columns, calls with their replies,
//!   names and processes through time.
//! - [`query`]: which messages somebody wants to see, one language for all commands.

#![forbid(unsafe_code)]

pub mod file;
pub mod model;
pub mod query;
pub mod record;

pub use model::{Capture, MessageId};
pub use record::{Record, Time};
