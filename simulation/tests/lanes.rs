//! Runs of worlds whose programs have direct lanes.
//!
//! `DILIGENCE_SEED` is the seed of the seeds of all worlds; see [`simulation::series`] for more variables.

use simulation::run::run_lanes;
use simulation::series::run_series;
use simulation::world::WorldPlan;
use testkit::random::Random;

#[test]
fn programs_with_lanes_receive_everything_in_order() {
    let mut random = Random::from_env();
    let next_plan = || {
        let peers = 2 + random.below(PROGRAMS_MAX - 1);
        WorldPlan { seed: random.number(), steps: STEPS_OF_WORLD, peers }
    };
    let Some(all) = run_series(STEPS, run_lanes, next_plan) else { return };
    assert!(all.on_lanes > all.steps / 150, "{all:?}");
    assert!(all.received > all.steps / 20, "{all:?}");
    assert!(all.opened > all.steps / 2000, "{all:?}");
    assert!(all.monitors > all.steps / 30_000, "{all:?}");
    assert!(all.replacements > all.steps / 5000, "{all:?}");
}

const STEPS: usize = 3_000_000;
const STEPS_OF_WORLD: usize = 10_000;
const PROGRAMS_MAX: usize = 6;
