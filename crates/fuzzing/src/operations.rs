//! The fuzzing target for sequences of operations on a bus. The bytes select which peers connect
//! and disconnect, their calls and messages, the passage of time, and a configuration with small
//! limits.

use testkit::chaos::Chaos;
use testkit::random::Random;

use crate::seed::{Seed, numbered};

/// Runs operations on a bus. All output is checked, and the bus must have no state left at the end.
pub fn bus(bytes: &[u8]) {
    let mut chaos = Chaos::new(Random::from_bytes(bytes));
    while chaos.has_bytes() {
        chaos.step();
    }
    chaos.end();
}

/// Seeds with random choices.
pub fn choices() -> Vec<Seed> {
    numbered((0..8_u64).map(|seed| {
        let mut random = Random::from_seed(seed);
        (0..600).map(|_| random.number() as u8).collect::<Vec<_>>()
    }))
}
