//! The daemon in a world that is simulated.
//!
//! ```text
//!  run ─▶ the event loop of the daemon ─▶ the simulated kernel ─▶ World: peers that do anything
//!                                                                  └─▶ Oracle: what they must get
//! ```
//!
//! The sources of the daemon are those that are shipped; what they run on is `simulation/kernel`. A
//! [`SimulatedWorld`](world::SimulatedWorld) of peers connects, talks, vanishes and misbehaves in any order, from a
//! seed. One of them is a monitor: it is told of every message in the order in which they are routed.
//! From that order alone the [`Oracle`](oracle::Oracle), which is written plainly from the
//! specification, says what each of the others must get, and in which order; any difference ends the
//! run.

pub mod oracle;
pub mod peer;
pub mod run;
pub mod setting;
pub mod who;
pub mod world;
