//! What happens to the process when its world breaks: peers and the bus are killed, descriptors,
//! memory and disk run out, clocks jump, readers stop, thousands come, and all of it for hours.
//! Only for our own bus; where it is cheap and interesting the reference is put through the same.
//!
//! The short form of each runs with all tests; `DILIGENCE_FAULTS=long` asks for the form of which
//! docs/reliability.md has the numbers. Each test prints them. `DILIGENCE_SOAK` is how many seconds
//! the soak takes.
//!
//! | module | what breaks |
//! | --- | --- |
//! | [`killed_peers`] | processes that talk are killed |
//! | [`killed_bus`] | the bus is killed, and another takes its place |
//! | [`descriptors`] | no descriptor is left |
//! | [`memory`] | no memory is left |
//! | [`disk`] | no disk is left: logs, pid files, recordings, the flight recorder |
//! | [`clock`] | the time of day jumps |
//! | [`stopped`] | a reader is stopped |
//! | [`connections`] | thousands of connections |
//! | [`rules`] | very many match rules |
//! | [`slow_handshake`] | handshakes of a byte now and then |
//! | [`soak`] | nothing, for a long time |
//! | [`desktop`] | nothing: the start of a desktop, again and again |
//!
//! The parts: [`form`] says short or long, [`gauge`] looks at the process of the bus and asks what it
//! counts, [`latency`] is how long calls take, [`numbered`] are messages of which none may be missing,
//! [`worker`] is a process that can be killed or stopped, [`over`] ends threads, [`recording`] reads recorded messages.

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
