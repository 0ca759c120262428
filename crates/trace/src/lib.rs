//! What a bus writes about its messages, in memory that others read.
//!
//! The bus writes records into a ring, round and round, without a system call and without a lock:
//! what it received, to whom it routed that, and when the copies had left it. Who wants to know
//! maps the ring and follows. The bus never waits for a reader; one that is too slow finds out how
//! many records it has missed.
//!
//! - [`record`]: what is written, and its bytes.
//! - [`program`]: what it says of the program of a connection.
//! - `ring`: the memory, its writer and its reader; not in WebAssembly, where none is shared.
//! - [`image`]: a ring in a file, as a bus leaves it there.
//! - [`layout`]: where what stands in the memory.

#![forbid(unsafe_code)]

pub mod image;
pub mod layout;
pub mod program;
pub mod record;
#[cfg(not(target_family = "wasm"))]
pub mod ring;

pub use image::{Image, Piece};
pub use program::{Participant, Program};
pub use record::{Delivered, Entry, Missed, Party, Record};
#[cfg(not(target_family = "wasm"))]
pub use ring::{Follower, Step, Writer};
