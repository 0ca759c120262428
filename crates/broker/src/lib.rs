//! The message bus as a process: everything between the routing core and the operating system.
//!
//! ```text
//!  startup      the order of a start: configuration, sockets, background, user switch
//!   ├─ busconfig    configuration files -> settings of the bus
//!   ├─ activation   service files -> running processes
//!   ├─ mediation    decisions of AppArmor and SELinux
//!   ├─ listen       addresses -> sockets to accept connections from
//!   ├─ log          log lines on standard error and in the system log
//!   ├─ metrics      counters of the bus, on a separate socket
//!   ├─ trace        events of messages, in memory shared with readers
//!   └─ event_loop   drain, route, flush, until a signal stops the bus
//! ```
//!
//! Only this crate and the command line access files, the environment and the clock for the bus.
//! They pass what they read to the core as values.

#![forbid(unsafe_code)]

pub mod startup;

pub mod activation;
pub mod busconfig;
mod lanes;
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
mod saved_state;
mod table;
mod throttled_peer;
mod trace;
