//! Comparison of match rules with dbus-daemon.

use diligence_wire::match_rule::MatchRule;
use testkit::random::Random;

use crate::bus::ReferenceBus;
use crate::judge::{Judge, JudgedText};
use crate::{ReferenceComparison, cases, deviations, distort, verdict};

#[test]
fn match_rules_are_validated_like_dbus_daemon() {
    let bus = ReferenceBus::start();
    let comparison = ReferenceComparison {
        kind: JudgedText::Rule,
        count: cases(10),
        case: &rule,
        ours: &|text: &String| verdict(MatchRule::parse(text).map_err(|error| error.kind)),
        deviation: &|text, ours, theirs| deviations::rule_deviation(text, ours, theirs),
    };
    comparison.run(&mut Judge::at_bus(bus.address()));
}

/// A match rule, valid or almost valid.
fn rule(random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..random.pick(&[0, 1, 1, 2, 2, 3, 4, 8, 18]) {
        if !text.is_empty() {
            text.push_str(random.pick(&[",", ",", ", ", ",\t", " ,"]));
        }
        let (key, values) = random.pick(KEYS);
        let key = match key {
            "arg" => format!("arg{}{}", random.below(70), random.pick(&["", "", "path"])),
            key => key.to_owned(),
        };
        let value = random.pick(values);
        text.push_str(&match random.below(8) {
            0 => format!("{key}={value}"),
            1 => format!("{key} = '{value}'"),
            2 => format!("{key}='{value}'x"),
            _ => format!("{key}='{value}'"),
        });
    }
    if random.once_in(2) {
        distort(&mut text, ODD, random);
    }
    text
}

const KEYS: &[(&str, &[&str])] = &[
    ("type", &["signal", "method_call", "method_return", "error", "unknown", "Signal", ""]),
    ("sender", NAMES),
    ("destination", NAMES),
    ("interface", &["a.b", "a.b.C_1", "a", "a-b.c", ""]),
    ("member", &["S", "Get_1", "1", "a.b", "a-b", ""]),
    ("path", PATHS),
    ("path_namespace", PATHS),
    ("eavesdrop", &["true", "false", "yes", ""]),
    ("arg0namespace", &["com", "com.a", "com.a-b", ":1", ":1.2", "1.b", "", "com.", ".com"]),
    ("arg", &["", "text", "/a/", "a,b", "é", "a\\b"]),
    ("arg", &["x"]),
    ("arg", &["y"]),
];

const NAMES: &[&str] =
    &["com.a", "com.a-b", ":1.2", ":1", "com", "org.freedesktop.DBus", "com..a", ""];
const PATHS: &[&str] = &["/", "/a", "/a/b_1", "/a/", "a", "/a//b", "", "/-"];
const ODD: &[&str] = &[
    ",",
    "'",
    "\\",
    "\\'",
    "=",
    " ",
    "\t",
    "\n",
    "\r",
    "x",
    "0",
    "arg",
    "arg1namespace='a'",
    "type",
    "é",
    "argpath='x'",
    "arg64='x'",
    ",,",
    "\u{b}",
    "\u{a0}",
    "arg99999999999='x'",
    "arg-1='x'",
    "arg+1='x'",
];
