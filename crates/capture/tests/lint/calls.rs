//! Cases for rules about too many or sequential calls.

use testkit::recording::{DRIVER, TestRecording};

use crate::scene::*;

/// The interface of Diligence that instruments read counters from.
const STATISTICS: &str = "org.diligence.Statistics1";

pub(crate) const CASES: &[LintCase] = &[
    LintCase {
        rule: 7,
        name: "properties one by one",
        raises: |r| gets(r, 20),
        misses: |r| gets(r, 600),
    },
    LintCase {
        rule: 8,
        name: "objects one by one",
        raises: |r| objects(r, 5),
        misses: |r| objects(r, 4),
    },
    LintCase {
        rule: 9,
        name: "all objects three times",
        raises: |r| all_objects(r, 7000),
        misses: |r| all_objects(r, 20_000),
    },
    LintCase {
        rule: 10,
        name: "five sequential calls",
        raises: |r| row(r, 5000),
        misses: |r| row(r, 3500),
    },
    LintCase {
        rule: 11,
        name: "the same reply five times",
        raises: |r| same(r, 0),
        misses: |r| same(r, 1),
    },
    LintCase {
        rule: 12,
        name: "a query every second",
        raises: |r| paced(r, |_| 1000),
        misses: |r| paced(r, |turn| 300 + turn * 200),
    },
    LintCase {
        rule: 12,
        name: "the same query, and commands whose names begin like one",
        raises: |r| each_second(r, |r, _| ask(r, "IsLocked", 300, 1)),
        misses: |r| {
            each_second(r, |r, turn| {
                for member in ["IssueCommand", "Listen", "ReadyFrame", "HashBlock", "IsolateUnit"] {
                    order(r, member, turn);
                }
            });
        },
    },
    LintCase {
        rule: 12,
        name: "the same query about two values, and a query about another value each time",
        raises: |r| {
            each_second(r, |r, _| {
                ["Count", "Size"].into_iter().for_each(|name| ask_about(r, "GetValue", name));
            });
        },
        misses: |r| each_second(r, |r, turn| ask_about(r, "GetValue", &turn.to_string())),
    },
    LintCase {
        rule: 12,
        name: "a query, one with an empty reply, and one that keeps a connection alive",
        raises: |r| each_second(r, |r, _| ask(r, "QueryState", 300, 1)),
        misses: |r| {
            each_second(r, |r, _| {
                order(r, "QueryState", 0);
                ask(r, "Ping", 300, 1);
            });
        },
    },
    LintCase {
        rule: 12,
        name: "a query for the statistics of the bus, as instruments make",
        raises: |r| each_second(r, |r, _| list_names(r)),
        misses: |r| {
            each_second(r, |r, turn| {
                let what = format!("/org/freedesktop/DBus {STATISTICS}.GetConnections");
                let call = r.call(CLIENT, DRIVER, &what, &(0_u32,));
                r.wait_us(50).reply(&call, DRIVER, &(turn,));
            });
        },
    },
    LintCase {
        rule: 31,
        name: "repeated introspection",
        raises: |r| introspect(r, 21),
        misses: |r| introspect(r, 20),
    },
    LintCase {
        rule: 32,
        name: "a name check before each call",
        raises: |r| checked(r, 1),
        misses: |r| checked(r, 20),
    },
    LintCase {
        rule: 33,
        name: "most calls go to the bus",
        raises: |r| talk_with_bus(r, 0),
        misses: |r| talk_with_bus(r, 250),
    },
    LintCase {
        rule: 42,
        name: "64 pending calls",
        raises: |r| crowd(r, 64),
        misses: |r| crowd(r, 63),
    },
];

/// Plays an exchange ten times, one second apart.
fn each_second(r: &mut TestRecording, play: fn(&mut TestRecording, u32)) {
    for turn in 0..10 {
        play(r, turn);
        r.wait_ms(1000);
    }
}

/// The client calls a method with a number and gets an empty reply.
fn order(r: &mut TestRecording, member: &str, number: u32) {
    let call = r.call(CLIENT, MAIL, &method(member), &(number,));
    r.wait_us(200).reply(&call, SERVICE, &());
}

/// The client calls a method with a name and gets a number.
fn ask_about(r: &mut TestRecording, member: &str, name: &str) {
    let call = r.call(CLIENT, MAIL, &method(member), &(name,));
    r.wait_us(200).reply(&call, SERVICE, &(7_u32,));
}

fn list_names(r: &mut TestRecording) {
    r.ask_bus(CLIENT, "ListNames", &(), &(1_u32,));
}

fn gets(r: &mut TestRecording, apart_ms: i64) {
    for (number, property) in (1..).zip(["Count", "Size", "Owner"]) {
        ask_standard(r.wait_ms(apart_ms), BOX, "Properties.Get", &(IFACE, property), number);
    }
}

fn objects(r: &mut TestRecording, count: u32) {
    for number in 0..count {
        let path = format!("{BOX}/box{number}");
        ask_standard(r.wait_ms(15), &path, "Properties.GetAll", &(IFACE,), number);
    }
}

fn all_objects(r: &mut TestRecording, apart_ms: i64) {
    for number in 0..3 {
        ask_standard(r.wait_ms(apart_ms), BOX, "ObjectManager.GetManagedObjects", &(), number);
    }
}

fn row(r: &mut TestRecording, micros: i64) {
    for number in 0..5 {
        ask(r.wait_us(500), &format!("Load{number}"), micros, number);
    }
}

fn same(r: &mut TestRecording, step: u32) {
    for turn in 0..5_u32 {
        ask(r, "GetCount", 300, turn * step);
        uneven(r, turn.into());
    }
}

fn paced(r: &mut TestRecording, wait_ms: fn(i64) -> i64) {
    for turn in 0..10_u32 {
        ask(r, "GetCount", 300, turn);
        r.wait_ms(wait_ms(turn.into()));
    }
}

fn introspect(r: &mut TestRecording, count: u32) {
    for number in 0..count {
        ask_standard(r.wait_ms(5), BOX, "Introspectable.Introspect", &(), number);
    }
}

fn checked(r: &mut TestRecording, apart_ms: i64) {
    for turn in 0..3_u32 {
        r.ask_bus(CLIENT, "NameHasOwner", &(MAIL,), &(true,)).wait_ms(apart_ms);
        ask(r, "Count", 300, turn);
        uneven(r, turn.into());
    }
}

fn talk_with_bus(r: &mut TestRecording, others: u32) {
    for number in 0..100_u32 {
        r.wait_ms(5).ask_bus(CLIENT, "GetId", &(), &(number,));
    }
    for number in 0..others {
        ask(r.wait_ms(5), "Count", 300, number);
    }
}

fn crowd(r: &mut TestRecording, count: u32) {
    let calls: Vec<_> = (0..count).map(|_| pending(r.wait_us(20), CLIENT, MAIL, "Load")).collect();
    for call in calls {
        r.wait_us(50).reply(&call, SERVICE, &());
    }
}
