//! Cases for rules about properties and object paths.

use testkit::recording::TestRecording;

use crate::scene::*;

pub(crate) const CASES: &[LintCase] = &[
    LintCase {
        rule: 23,
        name: "the same value again",
        raises: |r| (0..4).for_each(|_| changed(r.wait_ms(500), &[("Count", 7)], &[])),
        misses: |r| (0..4).for_each(|turn| changed(r.wait_ms(500), &[("Count", turn)], &[])),
    },
    LintCase {
        rule: 24,
        name: "a signal for each property",
        raises: |r| split(r, 300),
        misses: |r| split(r, 3000),
    },
    LintCase {
        rule: 25,
        name: "an invalidated property that is read at once",
        raises: |r| invalidated(r, 1),
        misses: |r| invalidated(r, 200),
    },
    LintCase {
        rule: 25,
        name: "an invalidated property, and a read of the properties of all interfaces",
        raises: |r| invalidate_then_get_all(r, 2),
        misses: |r| invalidate_then_get_all(r, 200),
    },
    LintCase {
        rule: 26,
        name: "two signals for a change",
        raises: |r| doubled(r, 200),
        misses: |r| doubled(r, 5000),
    },
    LintCase {
        rule: 34,
        name: "a large answer",
        raises: |r| large(r, 70_000),
        misses: |r| large(r, 60_000),
    },
    LintCase {
        rule: 47,
        name: "an interface at the root",
        raises: |r| (0..3).for_each(|turn| at_root(r, turn)),
        misses: |r| (0..2).for_each(|turn| at_root(r, turn)),
    },
];

fn split(r: &mut TestRecording, micros: i64) {
    for (value, name) in (1..).zip(["Count", "Size", "Owner"]) {
        changed(r.wait_us(micros), &[(name, value)], &[]);
    }
}

fn invalidated(r: &mut TestRecording, after_ms: i64) {
    for turn in 0..3_u32 {
        changed(r, &[], &["Count"]);
        ask_standard(r.wait_ms(after_ms), BOX, "Properties.Get", &(IFACE, "Count"), turn);
        uneven(r, turn.into());
    }
}

/// The client reads all properties, as systemd-run does.
fn invalidate_then_get_all(r: &mut TestRecording, after_ms: i64) {
    for turn in 0..3_u32 {
        changed(r, &[], &["Count"]);
        ask_standard(r.wait_ms(after_ms), BOX, "Properties.GetAll", &("",), turn);
        uneven(r, turn.into());
    }
}

fn doubled(r: &mut TestRecording, apart_us: i64) {
    for turn in 0..3_u32 {
        changed(r.wait_ms(300), &[("Count", turn)], &[]);
        r.wait_us(apart_us).signal(SERVICE, &signal("CountChanged"), &(turn,));
    }
}

fn large(r: &mut TestRecording, len: usize) {
    let call = pending(r, CLIENT, MAIL, "Fetch");
    r.wait_us(900).reply(&call, SERVICE, &(vec![7_u8; len],));
}

fn at_root(r: &mut TestRecording, turn: u32) {
    let call = r.call(CLIENT, MAIL, &format!("/ {IFACE}.Count"), &());
    r.wait_us(200).reply(&call, SERVICE, &(turn,)).wait_ms(5);
}
