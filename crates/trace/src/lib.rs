//! Traces: records that a bus writes about its messages into shared memory.
//!
//! The bus writes records into a ring buffer, without a system call and without a lock: which message it
//! received, to which recipients it routed the message, and when the copies were written to their sockets. A reader
//! maps the ring and follows. The bus never waits for a reader. A reader that is too slow gets the number of records
//! that it has missed.
//!
//! - [`record`]: the records, and how to decode them.
//! - [`program`]: the program of a connection, as records describe it.
//! - `ring`: the shared memory, its writer and its reader. Not in WebAssembly, which has no shared memory.
//! - [`image`]: a ring in a file, as the flight recorder of a bus writes it.
//! - [`layout`]: the layout of the memory.

#![forbid(unsafe_code)]

pub mod image;
pub mod layout;
pub mod program;
pub mod record;
#[cfg(not(target_family = "wasm"))]
pub mod ring;

pub use image::{Image, Piece};
pub use program::{Participant, TracedProgram};
pub use record::{Delivered, Entry, Missed, Party, TraceRecord};
#[cfg(not(target_family = "wasm"))]
pub use ring::{Follower, RingState, RingWriter, Step};
