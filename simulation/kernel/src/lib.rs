//! The interface of `sys` over a simulated machine. The unmodified daemon runs on it, faces every
//! fault that the simulation can produce, and behaves the same for the same seed.
//!
//! ```text
//!  the daemon ─▶ poll, transfer, socket, ... ─▶ machine ◀─ the world: all peers and services
//! ```
//!
//! The daemon is compiled against this crate in place of `sys` (see `simulation/broker`). Whenever
//! the daemon waits, the [`KernelWorld`](machine::KernelWorld) acts: peers connect, send, read and
//! disconnect, and the clock advances. Everything runs in one thread.
//!
//! Modules that need no simulation (files, users) are re-exported from the real crate.

pub use real::{
    control_group, crash, daemonize, fd_queue, identity, inherited, notify, private_directory,
    privileges, process, replace, shared, spawn, users, watch,
};

pub mod machine;

pub mod clock;
pub mod credentials;
pub mod cycles;
pub mod datagram;
pub mod filesystem;
pub mod launch;
pub mod memory;
pub mod parallel;
pub mod poll;
pub mod random;
pub mod reexec;
pub mod rlimit;
pub mod signals;
pub mod socket;
pub mod timer;
pub mod transfer;
