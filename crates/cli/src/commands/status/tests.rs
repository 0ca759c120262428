//! Tests of the report, with golden files.

use std::collections::BTreeMap;
use std::path::PathBuf;

use client::wire::body::Value;
use testkit::golden;

use super::dict::StatusDict;
use super::dict::tests::element_of;
use super::report::{BusNumbers, BusReport};
use super::text;
use capture::text::{Colors, Style};

fn check(name: &str, shown: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/status");
    golden::check(path.join(name), shown);
}

fn dict(numbers: &[(&str, u64)], texts: &[(&str, &str)]) -> StatusDict {
    let numbers = numbers.iter().map(|(key, number)| (*key, Value::Uint64(*number)));
    let texts = texts.iter().map(|(key, text)| (*key, Value::from(*text)));
    StatusDict(numbers.chain(texts).map(|(key, value)| (key.to_owned(), value)).collect())
}

impl StatusDict {
    fn with(mut self, key: &str, value: Value) -> Self {
        self.0.insert(key.to_owned(), value);
        self
    }
}

fn texts(texts: &[&str]) -> Value {
    let items = texts.iter().map(|text| Value::from(*text)).collect();
    Value::Array { element: element_of("as"), items }
}

fn counts(counts: &[(&str, u64)]) -> Value {
    let entry = |(key, count): &(&str, u64)| {
        Value::DictEntry(Box::new((Value::from(*key), Value::Uint64(*count))))
    };
    Value::Array { element: element_of("a{st}"), items: counts.iter().map(entry).collect() }
}

/// The pid of processes in the reports, which is larger than any real pid.
const MISSING_PID: u64 = u32::MAX as u64;

fn report(numbers: BusNumbers) -> BusReport {
    let (choice, id) = ("the session bus".to_owned(), "0123456789abcdef".repeat(2));
    BusReport { choice, id, pid: Some(MISSING_PID), uid: Some(1000), numbers }
}

/// A report with entries in all parts.
fn busy() -> BusReport {
    let totals = dict(
        &[
            ("Uptime", 4_983_000_000),
            ("Connected", 1_203),
            ("Disconnected", 2),
            ("Messages", 5_432_100),
            ("Bytes", 1_300_000_000),
            ("Deliveries", 6_543_210),
            ("CopiedBytes", 432_000_000),
            ("WrittenBytes", 1_500_000_000),
            ("ValidatedMessages", 5_432_109),
            ("RefusedMessages", 1_207),
            ("LostMessages", 12_345),
            ("Connections", 43),
            ("IncompleteConnections", 1),
            ("Monitors", 1),
            ("Containers", 2),
            ("Names", 91),
            ("MatchRules", 512),
            ("PendingReplies", 3),
            ("Lanes", 4),
            ("LaneMessages", 6_000_000),
            ("LaneBytes", 800_000_000),
            ("QueuedMessages", 120),
            ("QueuedBytes", 1_300_000),
            ("LosingConnections", 1),
        ],
        &[],
    )
    .with(
        "DisconnectCauses",
        counts(&[("closed", 1_158), ("handshake", 1), ("invalid-message", 1)]),
    )
    .with(
        "RefusalCauses",
        counts(&[
            ("ServiceUnknown", 2),
            ("max_match_rules_per_connection", 1_203),
            ("max_outgoing_bytes", 1),
            ("AccessDenied", 1),
        ]),
    )
    .with("LossCauses", counts(&[("max_outgoing_bytes", 12_345)]));
    let connection = |name, program, numbers: [u64; 4], names: &[&str]| {
        let [sent, received, waiting, lost] = numbers;
        let numbers = [
            ("ProcessID", 2_313),
            ("SentMessages", sent),
            ("ReceivedMessages", received),
            ("QueuedBytes", waiting),
            ("LostMessages", lost),
        ];
        dict(&numbers, &[("UniqueName", name), ("Program", program)])
            .with("Names", texts(names))
            .with("Losing", Value::Boolean(waiting > 0))
    };
    let member = |interface, member, numbers: [u64; 9]| {
        let [messages, bytes, deliveries, returns, errors, time, longest, largest, most] = numbers;
        let numbers = [
            ("Messages", messages),
            ("Bytes", bytes),
            ("Deliveries", deliveries),
            ("Returns", returns),
            ("Errors", errors),
            ("ReplyTime", time),
            ("LongestReplyTime", longest),
            ("LargestMessage", largest),
            ("MostRecipients", most),
        ];
        dict(&numbers, &[("Interface", interface), ("Member", member)])
    };
    let battery =
        [4_100_000, 980_000_000, 4_900_000, 4_000_000, 12, 960_000_000_000, 2_345_000_000, 300, 1];
    let changed = [1_200_000, 300_000_000, 1_500_000, 0, 0, 0, 0, 98_304, 12];
    report(BusNumbers::Own {
        totals,
        connections: vec![
            connection(":1.42", "panel", [1_234_567, 2_345_678, 0, 0], &["com.example.Panel"]),
            connection(
                ":1.7",
                "\u{1b}[31msleeper",
                [12, 5_000, 1_300_000, 12_345],
                &["com.example.Sleeper", "com.example.AnotherNameOfIt", "com.example.Third"],
            ),
        ],
        members: vec![
            member("com.example.Battery", "GetCharge", battery),
            member("org.freedesktop.DBus.Properties", "PropertiesChanged", changed),
            dict(&[("Messages", 7)], &[]),
        ],
        counted_for: 61_000_000,
        history: vec![
            dict(
                &[
                    ("Count", 1_203),
                    ("Last", 3_000_000),
                    ("ProcessID", 2_313),
                    ("UnixUserID", 1_000),
                    ("LimitValue", 512),
                    ("LimitUsage", 512),
                ],
                &[
                    ("Kind", "refused"),
                    ("Cause", "max_match_rules_per_connection"),
                    ("UniqueName", ":1.87"),
                    ("Program", "applet"),
                    ("Unit", "app-com.example.Applet.scope"),
                    (
                        "Text",
                        "Connection \":1.87\" is not allowed to add more match rules (increase \
                         limits in configuration file if required; \
                         max_match_rules_per_connection=512)",
                    ),
                ],
            )
            .with("Names", texts(&["com.example.Applet"])),
            dict(
                &[("Count", 1), ("Last", 7_300_000_000), ("UnixUserID", 1_000)],
                &[
                    ("Kind", "disconnected"),
                    ("Cause", "handshake"),
                    ("Text", "it broke the rules of the handshake"),
                ],
            ),
        ],
    })
}

fn other() -> BusReport {
    let totals = dict(&[("ActiveConnections", 2), ("PeakMatchRules", 1_234)], &[]);
    let connection = |name, peak| {
        let numbers = [
            ("ProcessID", MISSING_PID),
            ("BusNames", 2),
            ("MatchRules", 7),
            ("OutgoingBytes", 0),
            ("PeakOutgoingBytes", peak),
        ];
        dict(&numbers, &[("UniqueName", name)])
    };
    let connections = vec![connection(":1.3", 20_000), connection(":1.1", 100)];
    report(BusNumbers::DebugStats { totals, connections })
}

fn plain(width: usize) -> Style {
    Style { width, colors: Colors::Unwanted }
}

#[test]
fn reports_fit_terminals_of_all_widths() {
    for width in [60, 80, 120] {
        let shown = text::render(&busy(), plain(width), 10);
        check(&format!("busy-{width}"), &shown);
        let longest = shown.lines().map(|line| line.chars().count()).max();
        assert!(width == 60 || longest <= Some(width), "{longest:?} cells of {width}");
        assert!(!shown.contains('\u{1b}'), "control characters are escaped");
    }
}

/// The bus counts members only from the first request on, so there are none yet.
#[test]
fn a_bus_counts_no_members_before_the_first_request() {
    let totals = dict(&[("Uptime", 4_000_000), ("Connected", 1), ("Connections", 1)], &[]);
    let numbers = [("ProcessID", 2_313), ("SentMessages", 2), ("ReceivedMessages", 2)];
    let requester = dict(&numbers, &[("UniqueName", ":1.0"), ("Program", "diligence")]);
    let report = report(BusNumbers::Own {
        totals,
        connections: vec![requester],
        members: Vec::new(),
        counted_for: 0,
        history: Vec::new(),
    });
    check("first-80", &text::render(&report, plain(80), 10));
}

#[test]
fn colors_do_not_change_the_text() {
    let colored = Style { width: 80, colors: Colors::Wanted };
    let mut shown = text::render(&busy(), colored, 10);
    assert!(shown.contains("\u{1b}[31m12,345"), "problems are red");
    for code in ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m"] {
        shown = shown.replace(code, "");
    }
    let trimmed: Vec<_> = shown.lines().map(str::trim_end).collect();
    let plain = text::render(&busy(), plain(80), 10);
    assert_eq!(trimmed, plain.lines().collect::<Vec<_>>());
}

#[test]
fn top_limits_the_number_of_entries() {
    let shown = text::render(&busy(), plain(80), 1);
    assert!(shown.contains("  and 1 more; --top=0 shows all\n"), "{shown}");
    assert!(!text::render(&busy(), plain(80), 0).contains("--top"));
}

#[test]
fn reports_on_other_buses_show_their_statistics() {
    check("other-80", &text::render(&other(), plain(80), 10));
    check("nothing-80", &text::render(&report(BusNumbers::Nothing {}), plain(80), 10));
}

fn json(report: &BusReport) -> serde_json::Value {
    serde_json::to_value(report).expect("all keys are texts")
}

#[test]
fn json_has_the_keys_of_the_bus() {
    let shown = json(&busy());
    assert_eq!(shown["totals"]["Messages"], 5_432_100);
    assert_eq!(shown["totals"]["LossCauses"]["max_outgoing_bytes"], 12_345);
    assert_eq!(shown["connections"][1]["Names"][0], "com.example.Sleeper");
    assert_eq!(shown["history"][0]["Limit"], serde_json::Value::Null);
    assert_eq!(shown["members_counted_for"], 61_000_000);
    let other = json(&other());
    assert_eq!(other["debug_stats"]["ActiveConnections"], 2);
}

#[test]
fn missing_keys_count_as_zero() {
    let numbers = BusNumbers::Own {
        totals: StatusDict::default(),
        connections: vec![StatusDict(BTreeMap::new())],
        members: vec![StatusDict::default()],
        counted_for: 0,
        history: vec![StatusDict::default()],
    };
    assert!(text::render(&report(numbers), plain(80), 10).contains("connections   0 now"));
}
