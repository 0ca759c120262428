//! The daemon in a simulated world.
//!
//! ```text
//!  run ─▶ the event loop of the daemon ─▶ the simulated kernel ─▶ world: peers with random behavior
//!                                                                 └─▶ oracle: expected messages
//! ```
//!
//! The daemon is compiled from the same sources as the shipped one; only the kernel interface is
//! replaced, by `simulation/kernel`. The peers of a [`SimulatedWorld`](world::SimulatedWorld)
//! connect, send, disconnect and misbehave at random, reproducible from a seed. One peer is a
//! monitor, which receives every message in the order of routing. From that order alone, the
//! [`Oracle`](oracle::Oracle), a simple implementation of the specification, computes the messages
//! that each peer must receive, and their order. Any difference fails the run.
//!
//! The programs of a [`LaneWorld`](lanes::LaneWorld) have direct lanes, whose messages a monitor
//! would end. They check the order themselves.

mod idle;
pub mod lanes;
pub mod oracle;
pub mod peer;
pub mod run;
pub mod series;
pub mod setting;
pub mod user;
pub mod world;
