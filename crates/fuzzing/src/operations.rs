//! What connections do with a bus, chosen by the bytes: who comes and goes, which call with which
//! arguments, any message to anybody, time, a configuration with small limits.

use testkit::chaos::Chaos;
use testkit::random::Random;

use crate::seed::{Seed, numbered};

/// A bus and all that happens to it. What it sends is checked, and that nothing is left in the end.
pub fn bus(bytes: &[u8]) {
    let mut chaos = Chaos::new(Random::from_bytes(bytes));
    while chaos.has_bytes() {
        chaos.step();
    }
    chaos.end();
}

/// Choices that nobody has made.
pub fn choices() -> Vec<Seed> {
    numbered((0..8_u64).map(|seed| {
        let mut random = Random::from_seed(seed);
        (0..600).map(|_| random.number() as u8).collect::<Vec<_>>()
    }))
}
