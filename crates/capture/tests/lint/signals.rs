//! Cases for rules about the rates of signals.

use testkit::recording::TestRecording;

use crate::scene::*;

pub(crate) const CASES: &[LintCase] = &[
    LintCase {
        rule: 22,
        name: "an endless stream of signals",
        raises: |r| stream(r, "Moved", 110, 50),
        misses: |r| stream(r, "Moved", 100, 112),
    },
    LintCase {
        rule: 22,
        name: "a slow stream that ends in a burst",
        raises: |r| stream_then_burst(r, 100),
        misses: |r| stream_then_burst(r, 90),
    },
    LintCase {
        rule: 22,
        name: "sixty signals at once in a recording of a second",
        raises: |r| {
            ask(r, "Count", 300, 1);
            stream(r.wait_ms(1000), "Moved", 110, 0);
        },
        misses: |r| {
            ask(r, "Count", 300, 1);
            stream(r.wait_ms(1000), "Moved", 60, 0);
        },
    },
    LintCase {
        rule: 22,
        name: "signals at a high rate for four seconds of five",
        raises: |r| {
            stream(r, "Moved", 110, 50);
            ask(r.wait_ms(6000), "Count", 300, 1);
        },
        misses: |r| {
            stream(r, "Moved", 80, 50);
            ask(r.wait_ms(6000), "Count", 300, 1);
        },
    },
    LintCase {
        rule: 22,
        name: "unicast signals, and one broadcast of the same member",
        raises: |r| {
            r.signal_to(SERVICE, CLIENT, &signal("Moved"), &(0_u32,));
            stream(r, "Moved", 110, 50);
        },
        misses: |r| {
            r.signal(SERVICE, &signal("Moved"), &(0_u32,));
            for turn in 0..110_u32 {
                r.wait_ms(50).signal_to(SERVICE, CLIENT, &signal("Moved"), &(turn,));
            }
        },
    },
    LintCase {
        rule: 22,
        name: "a burst of signals",
        raises: |r| stream(r, "Moved", 101, 9),
        misses: |r| stream(r, "Moved", 49, 9),
    },
    LintCase {
        rule: 45,
        name: "a signal that reports the end of a call",
        raises: |r| done(r, 100),
        misses: |r| done(r, 2000),
    },
];

/// Five signals a second for seven seconds, then a burst of this many.
fn stream_then_burst(r: &mut TestRecording, burst: u32) {
    stream(r, "Moved", 35, 200);
    stream(r, "Moved", burst, 0);
    ask(r.wait_ms(5000), "Count", 300, 1);
}

fn done(r: &mut TestRecording, after_ms: i64) {
    for turn in 0..3_u32 {
        ask(r, "Start", 300, turn);
        r.wait_ms(after_ms).signal(SERVICE, &signal("Finished"), &(turn,));
        uneven(r, turn.into());
    }
}
