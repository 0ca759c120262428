//! Listens to buses, and writes recordings.
//!
//! A [`Watch`] listens to several buses at once, and gives what it hears as records. A [`Tape`]
//! takes records, and writes them to files. The modules, in the order of reading:
//!
//! - [`place`], [`clock`]: which bus, and what time it is.
//! - `source`: where the messages of one bus come from.
//! - `census`, `process`: a second connection that asks who is there; what the system knows of them.
//! - [`listener`]: one bus, found again when it has closed the connections.
//! - [`watch`]: several of them.
//! - [`bodies`], `redact`: how much of each message is kept.
//! - [`standing`]: what was learnt and still holds.
//! - [`tape`]: writing, so that nothing is lost silently.

#![forbid(unsafe_code)]

pub mod bodies;
mod census;
pub mod clock;
pub mod listener;
pub mod place;
mod process;
mod redact;
mod source;
mod rolling;
pub mod standing;
pub mod tape;
pub mod watch;

pub use bodies::Bodies;
pub use clock::Clock;
pub use listener::{ListenError, Notice};
pub use place::Place;
pub use rolling::Rolling;
pub use source::Drained;
pub use tape::{Destination, Tally, Tape, TapeError, TapeNotice};
pub use watch::Watch;
