//! Cases for rules about match rules and the signals that they match.

use capture::lint::{LintRule, LintRuleId, lint};
use capture::statistics::rules;
use testkit::recording::TestRecording;

use crate::scene::*;

pub(crate) const CASES: &[LintCase] = &[
    LintCase {
        rule: 1,
        name: "a rule added three times",
        raises: |r| (0..3).for_each(|_| add(r, CLIENT, &rule("New"))),
        misses: |r| {
            for _ in 0..3 {
                add(r, CLIENT, &rule("New"));
                r.wait_ms(5).ask_bus(CLIENT, "RemoveMatch", &(rule("New"),), &());
                r.wait_ms(5);
            }
        },
    },
    LintCase {
        rule: 1,
        name: "a rule that the recorder both found and saw being added counts once",
        raises: |r| {
            add(r, CLIENT, &rule("New"));
            found(r, 3);
        },
        misses: |r| {
            (0..2).for_each(|_| add(r, CLIENT, &rule("New")));
            found(r, 2);
        },
    },
    LintCase {
        rule: 1,
        name: "a program that exits with a rule added three times",
        raises: |r| {
            (0..3).for_each(|_| add(r, CLIENT, &rule("New")));
            r.wait_ms(5).owner_changed(CLIENT, CLIENT, "");
        },
        misses: |r| {
            (0..3).for_each(|_| add(r, CLIENT, &rule("New")));
            for _ in 0..3 {
                r.wait_ms(5).ask_bus(CLIENT, "RemoveMatch", &(rule("New"),), &());
            }
            r.wait_ms(5).owner_changed(CLIENT, CLIENT, "");
        },
    },
    LintCase {
        rule: 2,
        name: "a program that exits with a growing set of a hundred rules",
        raises: |r| {
            hundred_rules(r, 100);
            r.owner_changed(CLIENT, CLIENT, "");
        },
        misses: |r| {
            hundred_rules(r, 1);
            r.owner_changed(CLIENT, CLIENT, "");
        },
    },
    LintCase {
        rule: 2,
        name: "a growing set of a hundred rules",
        raises: |r| hundred_rules(r, 100),
        misses: |r| hundred_rules(r, 0),
    },
    LintCase {
        rule: 3,
        name: "a rule for signals of all senders",
        raises: |r| {
            add(r, CLIENT, "type='signal',member='Moved'");
            signals_of_three(r);
        },
        misses: |r| {
            add(r, CLIENT, "type='signal',member='Moved',path='/org/example/Mail'");
            signals_of_three(r);
        },
    },
    LintCase {
        rule: 4,
        name: "a rule for the owners of all names",
        raises: |r| owners(r, "type='signal',member='NameOwnerChanged'"),
        misses: |r| owners(r, "type='signal',member='NameOwnerChanged',arg0='org.example.Chat'"),
    },
    LintCase {
        rule: 5,
        name: "rules for signals that are never sent",
        raises: |r| three_idle_rules(r, 61_000),
        misses: |r| three_idle_rules(r, 59_000),
    },
    LintCase {
        rule: 6,
        name: "signals that a program does not react to",
        raises: |r| stream_to_other(r),
        misses: |r| {
            ask_by(r, OTHER, "Count", 300, 1);
            stream_to_other(r);
        },
    },
    LintCase {
        rule: 28,
        name: "signals without recipients",
        raises: |r| {
            r.rule(CLIENT, &rule("Sent"));
            stream(r, "New", 45, 90);
        },
        misses: |r| {
            r.rule(CLIENT, &rule("New")).rule(OTHER, &rule("New"));
            stream(r, "New", 45, 90);
        },
    },
    LintCase {
        rule: 29,
        name: "broadcasts with one recipient",
        raises: |r| {
            r.rule(CLIENT, &rule("New"));
            stream(r, "New", 20, 1000);
        },
        misses: |r| {
            r.rule(CLIENT, &rule("New")).rule(OTHER, &rule("New"));
            stream(r, "New", 20, 1000);
        },
    },
    LintCase {
        rule: 30,
        name: "broadcasts with many recipients",
        raises: |r| listeners(r, 10),
        misses: |r| listeners(r, 9),
    },
];

/// A connection adds a match rule.
fn add(r: &mut TestRecording, subscriber: &str, rule: &str) {
    r.ask_bus(subscriber, "AddMatch", &(rule,), &()).wait_ms(5);
}

/// The recorder finds a rule this many times.
fn found(r: &mut TestRecording, times: u32) {
    for _ in 0..times {
        r.rule(CLIENT, &rule("New"));
    }
}

#[test]
fn duplicate_rules_of_an_exited_program_are_counted_as_in_the_statistics() {
    let mut recording = scene();
    for number in 0..60 {
        add(&mut recording, CLIENT, &rule(["New", "Sent", "Read", "Full", "Gone"][number % 5]));
    }
    recording.wait_ms(5).owner_changed(CLIENT, CLIENT, "");
    let capture = recording.capture();
    let counts = rules(&capture).expect("all rules are known").to_csv();
    let counts = counts.lines().nth(1).expect("one connection");
    assert!(counts.contains(",60,5,55,60,0,12,"), "{counts}");
    let found = lint(&capture, LintRule::find(LintRuleId(1)));
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    let says = &finding.says;
    assert!(
        says.starts_with("had 60 match rules, 5 distinct and 55 duplicates; 12 times "),
        "{says}"
    );
    assert!(says.contains("member='New'"), "{says}");
}

fn hundred_rules(r: &mut TestRecording, apart_ms: i64) {
    ask(r, "Count", 300, 1);
    for number in 0..100 {
        r.wait_ms(apart_ms).rule(CLIENT, &rule(&format!("New{number}")));
    }
    ask(r.wait_ms(5000), "Count", 300, 2);
}

fn signals_of_three(r: &mut TestRecording) {
    for turn in 0..40_i64 {
        for (number, sender) in [CLIENT, SERVICE, OTHER].into_iter().enumerate() {
            let path = if number == 0 { BOX } else { "/org/example/Elsewhere" };
            r.wait_ms(170).signal(sender, &format!("{path} {IFACE}.Moved"), &(turn,));
        }
    }
}

fn owners(r: &mut TestRecording, rule: &str) {
    add(r, CLIENT, rule);
    for _ in 0..5 {
        r.wait_ms(700).owner_changed("org.example.Chat2", "", OTHER);
        r.wait_ms(900).owner_changed("org.example.Chat2", OTHER, "");
    }
}

fn three_idle_rules(r: &mut TestRecording, millis: i64) {
    for member in ["New", "Sent", "Full"] {
        add(r, CLIENT, &rule(member));
    }
    ask(r.wait_ms(millis), "Count", 300, 1);
}

fn stream_to_other(r: &mut TestRecording) {
    add(r, OTHER, &format!("type='signal',sender='{MAIL}'"));
    for turn in 0..240_u32 {
        let member = if turn % 2 == 0 { "New" } else { "Sent" };
        r.wait_ms(80).signal(SERVICE, &signal(member), &(turn,));
    }
}

fn listeners(r: &mut TestRecording, count: u32) {
    for unique in more_peers(r, count, "listener") {
        r.rule(&unique, &rule("New"));
    }
    stream(r, "New", 30, 180);
}
