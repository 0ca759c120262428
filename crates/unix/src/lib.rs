//! The part of Linux that a D-Bus client needs: sockets that pass descriptors, credentials,
//! waiting, clocks and random bytes.
//!
//! It has no code for D-Bus, keeps no state, reads no environment and does not log. All of its
//! `unsafe` code is in one private module, `raw`, behind safe functions; if [`rustix`] has a call,
//! this crate uses it. A call interrupted by a signal is repeated, except
//! [`poll::Poller::wait`], which returns without events.
//!
//! ```text
//!  socket       listen, accept, connect
//!  transfer     bytes and descriptors, one system call each way
//!  credentials  the process at the other end
//!  poll         which descriptors can be read or written
//!  clock        the current time
//!  timer        the next deadline as a readable descriptor
//!  random       unguessable bytes
//!  shared       memory that one process writes and others read
//!  filesystem   directories for secrets
//!  privileges   whether this program may trust its environment
//!  process      the program and the unit of a process
//! ```
//!
//! # Example
//!
//! A server that answers one connection:
//!
//! ```
//! use std::io::IoSlice;
//! use unix::socket::{self, Accepted, UnixAddress};
//! use unix::transfer::{self, TransferWait};
//!
//! # fn main() -> std::io::Result<()> {
//! let name = format!("diligence-unix-example-{}", std::process::id());
//! let address = UnixAddress::Abstract(name.as_bytes());
//! let listener = socket::listen_unix(address)?;
//! let client = socket::connect_unix(address)?;
//! if let Accepted::Connection(peer) = socket::accept(&listener)? {
//!     transfer::send(&peer, &[IoSlice::new(b"hello")], &[], TransferWait::Never)?;
//! }
//! let mut buffer = [0; 64];
//! let received =
//!     transfer::receive(&client, &mut buffer, &mut Vec::new(), TransferWait::Block)?;
//! assert_eq!(&buffer[..received.bytes], b"hello");
//! # Ok(())
//! # }
//! ```

#![warn(clippy::missing_errors_doc)]

#[cfg(not(target_os = "linux"))]
compile_error!("this crate talks to the Linux kernel only");

pub mod clock;
pub mod credentials;
pub mod event;
pub mod filesystem;
pub mod poll;
pub mod privileges;
pub mod process;
pub mod random;
pub mod shared;
pub mod socket;
pub mod timer;
pub mod transfer;

#[expect(unsafe_code, reason = "system and C library calls for which rustix has no function")]
mod raw;
mod uid_map;
