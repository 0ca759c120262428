//! Faults in the environment of the bus: peers and the bus are killed, descriptors, memory and disk
//! space run out, clocks jump, readers stop, thousands connect, and traffic continues for hours.
//! These tests run only with Diligence; some cheap ones also run dbus-daemon for comparison.
//!
//! The short form of each test runs with all tests; `DILIGENCE_FAULTS=long` selects the form whose
//! figures docs/reliability.md contains. Each test prints them. `DILIGENCE_SOAK` is the duration of
//! the soak test in seconds.
//!
//! | module | fault |
//! | --- | --- |
//! | [`killed_peers`] | processes are killed while they exchange messages |
//! | [`killed_bus`] | the bus is killed, and another takes its place |
//! | [`descriptors`] | no descriptor is left |
//! | [`memory`] | no memory is left |
//! | [`disk`] | no disk space is left: logs, pid files, recordings, the flight recorder |
//! | [`clock`] | the wall clock jumps |
//! | [`stopped`] | a reader is stopped |
//! | [`connections`] | thousands of connections |
//! | [`rules`] | very many match rules |
//! | [`slow_handshake`] | handshakes that send a byte from time to time |
//! | [`soak`] | none, for a long time |
//! | [`desktop`] | none: the start of a desktop, repeated |
//!
//! The parts: [`form`] is the short or the long form, [`gauge`] reads resources and statistics of
//! the bus, [`latency`] measures calls, [`numbered`] makes messages of which none may be missing,
//! [`worker`] is a process that can be killed or stopped, [`over`] ends threads, [`recording`]
//! reads recorded messages.

mod clock;
mod connections;
mod descriptors;
mod desktop;
mod disk;
mod form;
mod gauge;
mod killed_bus;
mod killed_peers;
mod latency;
mod memory;
mod numbered;
mod over;
mod recording;
mod rules;
mod slow_handshake;
mod soak;
mod stopped;
mod worker;
