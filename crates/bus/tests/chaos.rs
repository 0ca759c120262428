//! Random actions of many connections: the bus does not panic, sends only valid messages, and frees
//! everything when all connections are closed.

use testkit::chaos::Chaos;
use testkit::random::{Random, rounds};

const ROUNDS: usize = rounds(40);
const STEPS: usize = if cfg!(miri) { 100 } else { 2_000 };

#[test]
fn random_actions_neither_panic_nor_leave_state_behind() {
    let mut random = Random::from_env();
    for _ in 0..ROUNDS {
        let mut chaos = Chaos::new(random);
        for _ in 0..STEPS {
            chaos.step();
        }
        random = chaos.end();
    }
}
