//! The message bus as a process: everything between the routing state machine and the machine it
//! runs on.
//!
//! ```text
//!  startup      the order of a start: configuration, sockets, background, another user
//!   ├─ busconfig    files and folders of configuration -> what the bus is told
//!   ├─ activation   service files -> processes that run
//!   ├─ mediation    whom AppArmor and SELinux let do what
//!   ├─ listen       addresses -> sockets to accept connections from
//!   ├─ log          one line each, to whom it concerns
//!   ├─ metrics      what is counted, on a socket of its own
//!   ├─ trace        what is done with messages, in memory that others read
//!   └─ event_loop   drain, route, flush: until somebody asks it to stop
//! ```
//!
//! Only this crate and the command line read files, the environment or the clock for the bus; what
//! they find goes into the state machine as values.

#![forbid(unsafe_code)]

pub mod startup;

pub mod activation;
pub mod busconfig;
pub mod listen;
pub mod log;
pub mod metrics;
pub mod os_error;

pub mod event_loop;

mod arrivals;
mod authority;
mod back_pressure;
mod connection;
mod fault;
mod fd_quota;
mod fds_in_kernel;
mod folders;
mod login;
mod mediation;
mod outgoing;
mod peer_attributes;
mod read_budget;
mod report;
mod table;
mod throttled_peer;
mod trace;
