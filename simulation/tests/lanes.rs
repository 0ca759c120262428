//! Runs of worlds whose programs have direct lanes.
//!
//! `DILIGENCE_STEPS` sets the total number of steps, and `DILIGENCE_SEED` the seed of the seeds of
//! all worlds. `DILIGENCE_WORLD` repeats one world, as a failure prints it.

use std::env;

use simulation::lanes::LaneTally;
use simulation::run::run_lanes;
use simulation::world::WorldPlan;
use testkit::random::Random;

#[test]
fn programs_with_lanes_receive_everything_in_order() {
    if let Ok(world) = env::var("DILIGENCE_WORLD") {
        println!("{:?}", run_lanes(world.parse().expect("SEED:STEPS:PEERS")));
        return;
    }
    let mut random = Random::from_env();
    let steps = env::var("DILIGENCE_STEPS").map_or(STEPS, |text| text.parse().expect("a number"));
    let mut all = LaneTally::default();
    while all.steps < steps {
        let peers = 2 + random.below(PROGRAMS_MAX - 1);
        let plan = WorldPlan { seed: random.number(), steps: STEPS_OF_WORLD, peers };
        let tally = run_lanes(plan);
        all.steps += tally.steps;
        all.sent += tally.sent;
        all.received += tally.received;
        all.on_lanes += tally.on_lanes;
        all.opened += tally.opened;
        all.monitors += tally.monitors;
        all.replacements += tally.replacements;
    }
    println!("{all:?}");
    assert!(all.on_lanes > all.steps / 150, "{all:?}");
    assert!(all.received > all.steps / 20, "{all:?}");
    assert!(all.opened > all.steps / 2000, "{all:?}");
    assert!(all.monitors > all.steps / 30_000, "{all:?}");
    assert!(all.replacements > all.steps / 5000, "{all:?}");
}

const STEPS: usize = 3_000_000;
const STEPS_OF_WORLD: usize = 10_000;
const PROGRAMS_MAX: usize = 6;
