//! Runs of simulated worlds with fresh seeds.
//!
//! `DILIGENCE_SEED` is the seed of the seeds of all worlds; see [`simulation::series`] for more variables.

use simulation::run::run;
use simulation::series::run_series;
use simulation::world::WorldPlan;
use testkit::random::Random;

#[test]
fn peers_receive_exactly_the_expected_messages() {
    let mut random = Random::from_env();
    let next_plan = || {
        let is_crowd = random.below(CROWD_ONCE_IN) == 0;
        let peers = if is_crowd { CROWD } else { PEERS[random.below(PEERS.len())] };
        WorldPlan { seed: random.number(), steps: STEPS_OF_WORLD, peers }
    };
    let Some(all) = run_series(STEPS, run, next_plan) else { return };
    // Without this, a failed run could not be repeated.
    let plan = WorldPlan { seed: random.number(), steps: STEPS_OF_WORLD, peers: 12 };
    assert_eq!(run(plan), run(plan), "the same seed makes the same world");
    assert!(all.delivered > all.steps / 20, "{all:?}");
    assert!(all.contained > all.steps / 5000, "{all:?}");
    assert!(all.replacements > all.steps / 2000, "{all:?}");
}

const STEPS: usize = 10_000_000;
const STEPS_OF_WORLD: usize = 20_000;
const PEERS: [usize; 6] = [2, 5, 12, 40, 200, 1000];

/// The number of peers in a crowded world. Such a world is rare, because it takes long.
const CROWD: usize = 4000;
const CROWD_ONCE_IN: usize = 150;
