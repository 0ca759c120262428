//! Whatever connections do, in whatever order: nothing panics, everything that is sent is valid,
//! and nothing of anybody is left when all have gone.

use testkit::chaos::Chaos;
use testkit::random::{Random, rounds};

const ROUNDS: usize = rounds(40);
const STEPS: usize = if cfg!(miri) { 100 } else { 2_000 };

#[test]
fn nothing_that_connections_do_harms_the_bus() {
    let mut random = Random::from_env();
    for _ in 0..ROUNDS {
        let mut chaos = Chaos::new(random);
        for _ in 0..STEPS {
            chaos.step();
        }
        random = chaos.end();
    }
}
