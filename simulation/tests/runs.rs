//! Runs of simulated worlds with fresh seeds.
//!
//! `DILIGENCE_STEPS` sets the total number of steps. `DILIGENCE_SEED` sets the seed of the seeds of
//! all worlds. `DILIGENCE_WORLD` repeats one world, as a failure prints it.

use std::env;
use std::panic::{self, AssertUnwindSafe};
use std::time::{Duration, Instant};

use simulation::run::run;
use simulation::world::{WorldPlan, WorldTally};
use testkit::random::Random;

#[test]
fn peers_receive_exactly_the_expected_messages() {
    if let Ok(world) = env::var("DILIGENCE_WORLD") {
        println!("{:?}", run(world.parse().expect("SEED:STEPS:PEERS")));
        return;
    }
    let mut random = Random::from_env();
    let steps = env::var("DILIGENCE_STEPS").map_or(STEPS, |text| text.parse().expect("a number"));
    // Without this, a failed run could not be repeated.
    let plan = WorldPlan { seed: random.number(), steps: STEPS_OF_WORLD, peers: 12 };
    assert_eq!(run(plan), run(plan), "the same seed makes the same world");
    let mut all = WorldTally::default();
    while all.steps < steps {
        let is_crowd = random.below(CROWD_ONCE_IN) == 0;
        let peers = if is_crowd { CROWD } else { PEERS[random.below(PEERS.len())] };
        let tally =
            run_or_shrink(WorldPlan { seed: random.number(), steps: STEPS_OF_WORLD, peers });
        all.steps += tally.steps;
        all.connections += tally.connections;
        all.contained += tally.contained;
        all.routed += tally.routed;
        all.delivered += tally.delivered;
        all.lost += tally.lost;
        all.replacements += tally.replacements;
    }
    println!("{all:?}");
    assert!(all.delivered > all.steps / 20, "{all:?}");
    assert!(all.contained > all.steps / 5000, "{all:?}");
    assert!(all.replacements > all.steps / 2000, "{all:?}");
}

/// Runs a world. If it fails, tries smaller worlds and reports the smallest that fails.
fn run_or_shrink(plan: WorldPlan) -> WorldTally {
    let failed = match panic::catch_unwind(AssertUnwindSafe(|| run(plan))) {
        Ok(tally) => return tally,
        Err(failed) => failed,
    };
    let mut random = Random::from_seed(plan.seed);
    let (mut peers, mut steps) = (plan.peers, plan.steps);
    let mut smallest = None;
    panic::set_hook(Box::new(|_| {}));
    let begun = Instant::now();
    while begun.elapsed() < SHRINK_TIME {
        let fewer = WorldPlan {
            seed: random.number(),
            steps: 1 + random.below(steps),
            peers: 1 + random.below(peers),
        };
        if panic::catch_unwind(AssertUnwindSafe(|| run(fewer))).is_err() {
            (peers, steps) = (fewer.peers, fewer.steps);
            smallest = Some(fewer);
        }
    }
    let _ = panic::take_hook();
    if let Some(smallest) = smallest {
        run(smallest);
    }
    panic::resume_unwind(failed)
}

const STEPS: usize = 10_000_000;
const STEPS_OF_WORLD: usize = 20_000;
const PEERS: [usize; 6] = [2, 5, 12, 40, 200, 1000];

/// The number of peers in a crowded world. Such a world is rare, because it takes long.
const CROWD: usize = 4000;
const CROWD_ONCE_IN: usize = 150;

/// The time for trying smaller worlds after a failure.
const SHRINK_TIME: Duration = Duration::from_secs(20);
