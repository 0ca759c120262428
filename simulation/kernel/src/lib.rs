//! The interface of `sys` over a machine that is simulated, so that the daemon runs unchanged where
//! everything that can happen to it happens, and the same from the same seed.
//!
//! ```text
//!  the daemon ─▶ poll, transfer, socket, ... ─▶ machine ◀─ the World: everybody else
//! ```
//!
//! The daemon is compiled against this crate in place of `sys` (see `simulation/broker`). When it
//! waits, the [`KernelWorld`](machine::KernelWorld) acts: that is when others connect, send, read, vanish, and
//! when the clock goes on. Everything is one thread.
//!
//! What has no part in this (files, users) is the real thing.

pub use real::{
    control_group, crash, daemonize, filesystem, identity, inherited, notify, private_directory,
    privileges, process, replace, shared, spawn, users, watch,
};

pub mod machine;

pub mod clock;
pub mod credentials;
pub mod cycles;
pub mod datagram;
pub mod launch;
pub mod memory;
pub mod poll;
pub mod random;
pub mod rlimit;
pub mod signals;
pub mod socket;
pub mod timer;
pub mod transfer;
