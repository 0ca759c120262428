//! Series of runs with random plans. Of a failure, the smallest world is shown.
//!
//! `DILIGENCE_STEPS` sets the total number of steps. `DILIGENCE_WORLD` repeats one world, as a failure
//! prints it.

use std::env;
use std::fmt::Debug;
use std::panic::{self, AssertUnwindSafe};
use std::time::{Duration, Instant};

use testkit::random::Random;

use crate::world::WorldPlan;

/// The statistics of runs.
pub trait Tally: Default + Debug {
    /// The number of random steps.
    fn steps(&self) -> usize;

    /// Adds the statistics of another run.
    fn add(&mut self, run: &Self);
}

/// Runs worlds until they have taken this number of steps together. Returns the sum of their
/// statistics; `None` if it has only repeated a world.
///
/// # Panics
///
/// Panics if a run does, after a search for a smaller world that fails.
pub fn run_series<T: Tally>(
    steps: usize,
    run: fn(WorldPlan) -> T,
    mut next_plan: impl FnMut() -> WorldPlan,
) -> Option<T> {
    if let Ok(world) = env::var("DILIGENCE_WORLD") {
        println!("{:?}", run(world.parse().expect("SEED:STEPS:PEERS")));
        return None;
    }
    let steps = env::var("DILIGENCE_STEPS").map_or(steps, |text| text.parse().expect("a number"));
    let mut all = T::default();
    while all.steps() < steps {
        all.add(&run_or_shrink(run, next_plan()));
    }
    println!("{all:?}");
    Some(all)
}

/// Runs a world. If it fails, tries smaller worlds and reports the smallest that fails.
fn run_or_shrink<T>(run: fn(WorldPlan) -> T, plan: WorldPlan) -> T {
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

/// The time for trying smaller worlds after a failure.
const SHRINK_TIME: Duration = Duration::from_secs(20);
