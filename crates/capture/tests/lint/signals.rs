//! Who wakes everybody.

use diligence_testkit::recording::Recording;

use crate::scene::*;

pub(crate) const CASES: &[Case] = &[
    Case {
        rule: 22,
        name: "signals without end",
        raises: |r| stream(r, "Moved", 100, 50),
        misses: |r| stream(r, "Moved", 100, 112),
    },
    Case {
        rule: 22,
        name: "a burst of signals",
        raises: |r| stream(r, "Moved", 101, 9),
        misses: |r| stream(r, "Moved", 49, 9),
    },
    Case {
        rule: 45,
        name: "done, says a signal",
        raises: |r| done(r, 100),
        misses: |r| done(r, 2000),
    },
    Case {
        rule: 52,
        name: "a call after each signal",
        raises: |r| followed(r, 500),
        misses: |r| followed(r, 5000),
    },
];

fn done(r: &mut Recording, after_ms: i64) {
    for turn in 0..3_u32 {
        ask(r, "Start", 300, turn);
        r.wait_ms(after_ms).signal(SERVICE, &signal("Finished"), &(turn,));
        uneven(r, turn.into());
    }
}

fn followed(r: &mut Recording, after_us: i64) {
    for turn in 0..10_u32 {
        r.signal(SERVICE, &signal("New"), &(turn,)).wait_us(after_us);
        ask(r, "Read", 300, turn);
        uneven(r, turn.into());
    }
}
