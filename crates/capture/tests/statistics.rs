//! Statistics of recordings with known content.

use std::time::Duration;

use capture::Capture;
use capture::query::Query;
use capture::record::{
    BusId, CaptureMethod, EndCause, Fact, GapCause, MessageContent, RawMessage, RecordedBus,
    RecordedClock, RecordedProcess, RecordedTime, RecordingGap, RecordingOrigin, RecordingRecord,
};
use capture::statistics::{
    Caveat, GroupKeyKind, GroupedTraffic, Percentiles, Summary, Sweep, SweepChoice, TableSubject,
    UnknownReason, UnknownSubject, member_sizes, recipients, replies, rules, sizes,
};
use capture::table::DataTable;
use testkit::recording::{DRIVER, TestRecording};
use wire::message::Flags;

const NO_REPLY: &str = "org.freedesktop.DBus.Error.NoReply";

/// A mail service with a fast and a slow method, errors, a timeout and its late reply, and a
/// signal.
fn office() -> TestRecording {
    let mut recording = TestRecording::new();
    recording.owner("org.x.Mail", ":1.6").process(":1.5", 42, "reader");
    recording.process(":1.7", 42, "reader").process(":1.6", 50, "maild");
    for micros in [100, 200, 300, 400] {
        let call = recording.call(":1.5", "org.x.Mail", "/m org.x.Mail.Get", &());
        recording.wait_us(micros).reply(&call, ":1.6", &(7_u32,));
    }
    let call = recording.call(":1.7", ":1.6", "/m org.x.Mail.Find", &("x",));
    recording.wait_ms(50).reply(&call, ":1.6", &());
    let call = recording.call(":1.7", "org.x.Mail", "/m org.x.Mail.Find", &("y",));
    recording.wait_ms(10).error(&call, ":1.6", "org.x.Error.Busy", "no");
    let call = recording.call(":1.7", "org.x.Mail", "/m org.x.Mail.Find", &("z",));
    recording.wait_ms(900).error(&call, DRIVER, NO_REPLY, "late");
    recording.wait_ms(30).reply(&call, ":1.6", &());
    recording.call(":1.7", "org.x.Mail", "/m org.x.Mail.Find", &("never",));
    recording.call_with(Flags::NO_REPLY_EXPECTED, ":1.7", "org.x.Mail", "/m org.x.Mail.Go", &());
    recording.signal(":1.6", "/m org.x.Mail.Changed", &()).wait_ms(9);
    recording.ask_bus(":1.5", "GetId", &(), &("abc",));
    recording
}

fn csv(capture: &Capture, by: GroupKeyKind, query: &str) -> String {
    let query: Query = query.parse().expect("a query");
    let (mut groups, mut matcher) = (GroupedTraffic::new(capture, by), query.matcher());
    capture.messages().filter(|one| matcher.selects(one)).for_each(|one| groups.add(&one));
    groups.table().to_csv()
}

/// The requested columns of a table, one line for each row.
fn columns(csv: &str, wanted: &[&str]) -> String {
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let keys = lines.next().expect("a line of keys");
    let index = |name: &&str| keys.iter().position(|key| key == name).expect("a column");
    let indexes: Vec<_> = wanted.iter().map(index).collect();
    let row = |row: Vec<&str>| indexes.iter().map(|&at| row[at]).collect::<Vec<_>>().join(" ");
    lines.map(row).collect::<Vec<_>>().join("\n")
}

#[test]
fn durations_exclude_errors_and_timeouts() {
    let capture = office().capture();
    let found = csv(&capture, GroupKeyKind::Member, "");
    assert_eq!(
        columns(&found, &["member", "service", "type", "messages", "calls", "unanswered"]),
        [
            "org.x.Mail.Get org.x.Mail call 8 4 ",
            "org.x.Mail.Find org.x.Mail call 7 4 1",
            "org.freedesktop.DBus.GetId org.freedesktop.DBus call 2 1 ",
            "(reply to no recorded call) org.x.Mail return 1  ",
            "org.x.Mail.Go org.x.Mail call 1 1 ",
            "org.x.Mail.Changed org.x.Mail signal 1  ",
        ]
        .join("\n")
    );
    let times = ["member", "p50_ns", "p90_ns", "max_ns", "total_ns", "errors", "time_outs"];
    let rows = columns(&found, &times);
    assert!(rows.contains("org.x.Mail.Get 200000 400000 400000 1000000  "), "{rows}");
    assert!(rows.contains("org.x.Mail.Find 50000000 50000000 50000000 50000000 1 1"), "{rows}");
    let failed = columns(&found, &["member", "failed_total_ns", "failed_max_ns"]);
    // The last call waits from here to the end of the recording, 9.05 ms later.
    assert!(failed.contains("org.x.Mail.Find 919050000 900000000"), "{failed}");
}

#[test]
fn groups_are_labeled_by_their_keys() {
    let capture = office().capture();
    for (by, keys, expected) in [
        (
            GroupKeyKind::Service,
            &["service", "messages"][..],
            "org.x.Mail 18\norg.freedesktop.DBus 2",
        ),
        (
            GroupKeyKind::Sender,
            &["sender", "messages"],
            "org.x.Mail 8\nreader (:1.5) 5\nreader (:1.7) 5\norg.freedesktop.DBus 2",
        ),
        (
            GroupKeyKind::Process,
            &["process", "messages"],
            "reader[42] 10\nmaild[50] 8\norg.freedesktop.DBus 2",
        ),
        (
            GroupKeyKind::Error,
            &["error", "messages"],
            "org.x.Error.Busy 1\norg.freedesktop.DBus.Error.NoReply 1",
        ),
        (GroupKeyKind::Type, &["type", "messages"], "call 10\nreturn 7\nerror 2\nsignal 1"),
        (GroupKeyKind::Bus, &["bus", "messages"], "bus 0 20"),
    ] {
        assert_eq!(columns(&csv(&capture, by, ""), keys), expected, "{by:?}");
    }
    let pairs = columns(
        &csv(&capture, GroupKeyKind::Pair, "from::1.5 or to::1.5"),
        &["from", "to", "messages"],
    );
    assert_eq!(
        pairs,
        "\
reader (:1.5) org.x.Mail 4
org.x.Mail reader (:1.5) 4
reader (:1.5) org.freedesktop.DBus 1
org.freedesktop.DBus reader (:1.5) 1"
    );
}

#[test]
fn processes_of_one_unit_are_one_group() {
    let mut recording = office();
    for (unique, pid) in [(":1.5", 42), (":1.7", 43)] {
        let unit = Some("desktop.service".to_owned());
        let process = Some(RecordedProcess { pid: Some(pid), unit, ..RecordedProcess::default() });
        recording.fact(Fact::Peer { unique: unique.to_owned(), process });
    }
    let units = csv(&recording.capture(), GroupKeyKind::Unit, "");
    let expected = "desktop.service 10\norg.x.Mail 8\norg.freedesktop.DBus 2";
    assert_eq!(columns(&units, &["unit", "messages"]), expected);
}

#[test]
fn statistics_name_the_bus_process_as_the_recorder_found_it() {
    let mut recording = TestRecording::new();
    let process = |comm: Option<&str>| RecordedProcess {
        pid: Some(7),
        comm: comm.map(str::to_owned),
        ..RecordedProcess::default()
    };
    recording.ask_bus(":1.5", "GetConnectionUnixProcessID", &(DRIVER,), &(7_u32,));
    recording.fact(Fact::Bus { process: process(Some("dbus-daemon")) });
    recording.ask_bus(":1.5", "GetConnectionUnixProcessID", &(DRIVER,), &(7_u32,));
    let table = csv(&recording.capture(), GroupKeyKind::Process, "");
    assert!(columns(&table, &["process"]).contains("dbus-daemon[7]"), "{table}");
    let senders = csv(&recording.capture(), GroupKeyKind::Sender, "");
    assert!(columns(&senders, &["sender"]).lines().any(|line| line == DRIVER), "{senders}");
}

#[test]
fn the_summary_counts_each_message_once() {
    let capture = office().capture();
    let mut summary = Summary::default();
    capture.messages().for_each(|message| summary.add(&message));
    summary.complete(&capture, |_| true);
    assert_eq!((summary.messages, summary.calls, summary.returns), (20, 10, 7));
    assert_eq!((summary.errors, summary.signals, summary.unknown), (2, 1, 0));
    assert_eq!((summary.driver_calls, summary.unanswered), (1, 1));
    assert_eq!((summary.time_outs, summary.late, summary.orphans), (1, 1, 0));
    let bytes: u64 = capture.messages().map(|message| u64::from(message.len())).sum();
    assert_eq!(summary.bytes, bytes);
    assert_eq!(summary.span.as_micros(), 1000 + 50_000 + 10_000 + 900_000 + 30_000 + 9000 + 50);
}

#[test]
fn calls_without_replies_and_replies_without_calls_are_listed() {
    let mut recording = office();
    let call = recording.call(":1.5", ":1.6", "/m org.x.Mail.Get", &());
    recording.wait_ms(1).reply(&call, ":1.6", &()).reply(&call, ":1.6", &());
    let rows =
        columns(&replies(&recording.capture(), |_| true).to_csv(), &["number", "what", "member"]);
    assert_eq!(
        rows,
        "13 timed out org.x.Mail.Find\n16 waiting org.x.Mail.Find\n15 late org.x.Mail.Find\n23 no call "
    );
}

#[test]
fn sizes_fall_into_half_decades() {
    let mut recording = TestRecording::new();
    for len in [0, 100, 300, 5000] {
        recording.signal(":1.6", "/m org.x.Mail.Changed", &("x".repeat(len),));
    }
    // Cut messages count with their original size.
    recording.signal(":1.6", "/m org.x.Mail.Changed", &("x".repeat(40_000),)).cut(200);
    let capture = recording.capture();
    let sweep = "\
{\"record\":\"sample\",\"scenario\":\"ping-pong\",\"case\":{\"at\":{\"reply\":\"echo\"}},\"subject\":\"busd\",\
\"figures\":{\"round_trip_us\":20,\"call_bytes\":120,\"reply_bytes\":80}}
{\"record\":\"sample\",\"scenario\":\"ping-pong\",\"case\":{\"at\":{\"reply\":\"echo\"}},\"subject\":\"busd\",\
\"figures\":{\"round_trip_us\":820,\"call_bytes\":40120,\"reply_bytes\":40080}}
";
    let sweep = Sweep::read(sweep.as_bytes(), SweepChoice::default()).expect("a sweep");
    let table = sizes(capture.messages(), Some(&sweep));
    let notes = "\
times are interpolated between 2 sizes of 100 B to 39 KiB on the wire, measured on busd with read buffer ours; one \
direction is half of a round trip; their error is unknown, because fewer than 3 sizes were measured
1 message is larger than any measured size";
    assert_eq!(table.notes().join("\n"), notes);
    let table = table.to_csv();
    let rows = columns(&table, &["from", "to", "messages", "share"]);
    assert_eq!(rows, "101 316 2 0.4\n317 1000 1 0.2\n3163 10000 1 0.2\n31623 100000 1 0.2");
    // Half of 20 µs, plus 10 ns for each byte beyond 100.
    let lens: Vec<_> = capture.messages().map(|message| u64::from(message.len())).collect();
    let cost = |len: &u64| 10_000 + (len - 100) * 10;
    let times = columns(&table, &["time_ns"]);
    let expected =
        [cost(&lens[0]) + cost(&lens[1]), cost(&lens[2]), cost(&lens[3]), cost(&lens[4])];
    assert_eq!(times, expected.map(|nanos| nanos.to_string()).join("\n"));
}

#[test]
fn member_sizes_have_separate_rows_for_calls_and_replies() {
    let capture = office().capture();
    let table = member_sizes(&capture, capture.messages()).to_csv();
    let found = columns(&table, &["member", "service", "type", "messages"]);
    let mut lines: Vec<_> = found.lines().filter(|line| line.contains("Find")).collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "org.x.Mail.Find org.x.Mail call 4",
            "org.x.Mail.Find org.x.Mail error 2",
            "org.x.Mail.Find org.x.Mail return 1",
        ]
    );
}

#[test]
fn member_sizes_include_smallest_and_largest_messages() {
    let mut recording = TestRecording::new();
    for len in [300, 0, 100] {
        recording.signal(":1.6", "/m org.x.Mail.Changed", &("x".repeat(len),));
    }
    let capture = recording.capture();
    let lens: Vec<_> = capture.messages().map(|message| message.len()).collect();
    let total: u32 = lens.iter().sum();
    let table = member_sizes(&capture, capture.messages()).to_csv();
    let keys = ["smallest_bytes", "mean_bytes", "largest_bytes", "total_bytes"];
    let expected = format!("{} {} {} {total}", lens[1], total / 3, lens[0]);
    assert_eq!(columns(&table, &keys), expected);
}

#[test]
fn recipients_are_counted_from_traced_deliveries() {
    let mut recording = TestRecording::new();
    for copies in [&[][..], &[(7, 5, 1)], &[(7, 5, 1), (8, 6, 2)], &[(8, 5, 1)]] {
        recording.signal(":1.6", "/m org.x.Mail.Changed", &()).delivered(2, copies);
    }
    recording.signal_to(":1.6", ":1.7", "/m org.x.Mail.Updated", &()).delivered(2, &[(7, 5, 0)]);
    let table = recipients(&recording.capture(), |_| true).expect("the bus has recorded").to_csv();
    assert_eq!(columns(&table, &["recipients", "signals", "copies"]), "0 1 0\n1 2 2\n2 1 2");
}

#[test]
fn recipients_are_counted_by_match_rules_if_all_are_known() {
    let mut recording = TestRecording::new();
    recording.owner("org.x.Mail", ":1.6");
    let changed = "/m org.x.Mail.Changed";
    recording.rule(":1.7", "type='signal',sender='org.x.Mail'");
    recording.rule(":1.7", "type='signal',member='Changed'").rule(":1.8", "arg0='x'");
    recording.signal(":1.6", changed, &("x",)).signal(":1.6", changed, &("y",));
    recording.ask_bus(":1.9", "AddMatch", &("member='Changed'",), &());
    recording.signal(":1.6", changed, &("y",));
    recording.ask_bus(":1.9", "RemoveMatch", &("member='Changed'",), &());
    recording.signal(":1.6", changed, &("y",)).signal(":1.5", "/ org.x.Y.Z", &());
    let table = recipients(&recording.capture(), |_| true).expect("rules are known").to_csv();
    assert_eq!(columns(&table, &["recipients", "signals"]), "0 1\n1 2\n2 2");
}

fn member_table(capture: &Capture) -> DataTable {
    TableSubject::Group(GroupKeyKind::Member).table(capture, |_| true, None).expect("a table")
}

/// The mean and peak recipients of each member.
fn member_recipients(capture: &Capture) -> String {
    columns(
        &member_table(capture).to_csv(),
        &["member", "signals", "recipients_mean", "peak_recipients"],
    )
}

#[test]
fn members_have_mean_and_peak_recipients() {
    let mut recording = TestRecording::new();
    let changed = "/m org.x.Mail.Changed";
    for copies in [&[(7, 5, 1)][..], &[(7, 5, 1), (8, 6, 2)], &[], &[(8, 5, 1), (7, 1, 1)]] {
        recording.signal(":1.6", changed, &()).delivered(2, copies);
    }
    recording.signal(":1.6", "/m org.x.Mail.Gone", &()).delivered(2, &[]);
    recording.signal_to(":1.6", ":1.7", "/m org.x.Mail.Updated", &()).delivered(2, &[(7, 5, 0)]);
    let capture = recording.capture();
    let expected = "org.x.Mail.Changed 4 1.25 2\norg.x.Mail.Gone 1 0 0\norg.x.Mail.Updated 1  ";
    assert_eq!(member_recipients(&capture), expected);
    let json = serde_json::to_value(member_table(&capture)).expect("JSON");
    assert_eq!(json[0]["recipients_mean"], 1.25);
    assert_eq!(json[2]["recipients_mean"], serde_json::Value::Null);
    assert!(member_table(&capture).notes().is_empty());
}

#[test]
fn connections_of_the_recorder_are_not_recipients() {
    let mut recording = TestRecording::new();
    recording.fact(Fact::Recorder { unique: ":1.8".to_owned() });
    recording.signal(":1.6", "/ org.x.A.B", &()).delivered(2, &[(7, 5, 1), (8, 6, 1)]);
    assert_eq!(member_recipients(&recording.capture()), "org.x.A.B 1 1 1");
    let mut recording = TestRecording::new();
    recording.fact(Fact::Recorder { unique: ":1.8".to_owned() });
    recording.rule(":1.8", "type='signal'").rule(":1.7", "type='signal'");
    recording.signal(":1.6", "/ org.x.A.B", &());
    assert_eq!(member_recipients(&recording.capture()), "org.x.A.B 1 1 1");
}

#[test]
fn unknown_recipients_of_members_are_absent_and_explained() {
    let capture = office().capture();
    let table = member_table(&capture);
    let csv = table.to_csv();
    let cells = columns(&csv, &["recipients_mean", "peak_recipients"]);
    assert!(cells.chars().all(char::is_whitespace), "{cells}");
    let reason = UnknownReason::Recipients { connections: 3 };
    assert_eq!(table.notes(), [format!("the recipients of signals are unknown: {reason}")]);
}

#[test]
fn recipients_are_known_for_each_bus_separately() {
    let mut recording = TestRecording::new();
    recording.on(BusId(0)).signal(":1.6", "/ org.x.A.Traced", &()).delivered(2, &[(7, 5, 1)]);
    recording.on(BusId(1)).rule(":1.7", "type='signal'").rule(":1.8", "type='signal'");
    recording.signal(":1.6", "/ org.x.A.Ruled", &());
    recording.on(BusId(2)).process(":1.9", 42, "reader").signal(":1.6", "/ org.x.A.Dark", &());
    let expected = "org.x.A.Traced 1 1 1\norg.x.A.Ruled 1 2 2\norg.x.A.Dark 1  ";
    assert_eq!(member_recipients(&recording.capture()), expected);
}

#[test]
fn signals_with_more_than_three_recipients_are_listed() {
    let mut recording = TestRecording::new();
    for (member, count) in [("Three", 3), ("Five", 5), ("Four", 4)] {
        let copies: Vec<_> = (0..count).map(|peer| (7 + peer, 5, 1)).collect();
        recording.signal(":1.6", &format!("/ org.x.A.{member}"), &()).delivered(2, &copies);
        recording.signal(":1.6", &format!("/ org.x.A.{member}"), &()).delivered(2, &[]);
    }
    let of = |capture: &Capture| {
        let mut groups = GroupedTraffic::with_recipients(capture, GroupKeyKind::Member);
        capture.messages().for_each(|one| groups.add(&one));
        groups.most_recipients().map(|table| table.to_csv())
    };
    let csv = of(&recording.capture()).expect("the bus has recorded");
    let keys = ["member", "signals", "recipients_mean", "peak_recipients"];
    assert_eq!(columns(&csv, &keys), "org.x.A.Five 2 2.5 5\norg.x.A.Four 2 2 4");
    assert_eq!(of(&office().capture()), None);
}

/// The numbers of the messages that a query selects.
fn numbers(capture: &Capture, query: &str) -> Vec<u64> {
    let query: Query = query.parse().expect("a query");
    let mut matcher = query.matcher();
    let found = capture.messages().filter(|message| matcher.selects(message));
    found.map(|message| message.id().number()).collect()
}

#[test]
fn recipients_queries_use_traced_deliveries() {
    let mut recording = TestRecording::new();
    for copies in [&[][..], &[(7, 5, 1)], &[(7, 5, 1), (8, 6, 2)]] {
        recording.signal(":1.6", "/m org.x.Mail.Changed", &()).delivered(2, copies);
    }
    recording.signal_to(":1.6", ":1.7", "/m org.x.Mail.Updated", &()).delivered(2, &[(7, 5, 0)]);
    recording.signal(":1.6", "/m org.x.Mail.Changed", &());
    let capture = recording.capture();
    for (query, expected) in [
        ("recipients=0", &[1][..]),
        ("recipients:1", &[2]),
        ("recipients>1", &[3]),
        ("recipients<=1", &[1, 2]),
        ("recipients>=0", &[1, 2, 3]),
    ] {
        assert_eq!(numbers(&capture, query), expected, "{query}");
    }
    let query: Query = "recipients>9".parse().expect("a query");
    assert_eq!(query.unknown_recipients(&capture), None);
}

#[test]
fn recipients_queries_use_match_rules() {
    let mut recording = TestRecording::new();
    let changed = "/m org.x.Mail.Changed";
    recording.rule(":1.7", "type='signal',interface='org.x.Mail'").rule(":1.8", "arg0='x'");
    recording.signal(":1.6", changed, &("x",)).signal(":1.6", changed, &("y",));
    recording.signal(":1.6", "/ org.x.Y.Z", &("y",));
    let capture = recording.capture();
    assert_eq!(numbers(&capture, "recipients>1"), [1]);
    assert_eq!(numbers(&capture, "recipients=1"), [2]);
    assert_eq!(numbers(&capture, "recipients=0"), [3]);
    // Queries may test messages in any order.
    let query: Query = "recipients=2".parse().expect("a query");
    let mut matcher = query.matcher();
    let messages: Vec<_> = capture.messages().collect();
    let found: Vec<_> = messages.iter().rev().map(|message| matcher.selects(message)).collect();
    assert_eq!(found, [false, false, true]);
}

#[test]
fn unknown_recipients_match_no_query() {
    let capture = office().capture();
    for query in ["recipients>=0", "recipients=0", "recipients<5"] {
        assert!(numbers(&capture, query).is_empty(), "{query}");
    }
    let of = |query: &str| query.parse::<Query>().expect("a query").unknown_recipients(&capture);
    let unknown = Some(UnknownReason::Recipients { connections: 3 });
    assert_eq!(of("type:signal (not recipients>3 or size>4k)"), unknown);
    assert_eq!(of("type:signal"), None);
}

#[test]
fn recipients_are_unknown_if_connections_precede_the_recording() {
    let error = recipients(&office().capture(), |_| true).expect_err("nobody knows the rules");
    assert_eq!(error, UnknownReason::Recipients { connections: 3 });
    let subscribers_of = |unique: &str| {
        let mut recording = TestRecording::new();
        recording.owner_changed(unique, "", unique).signal(unique, "/ org.x.Y.Z", &());
        recipients(&recording.capture(), |_| true).map(drop)
    };
    // The first connection of a bus may belong to the recorder.
    assert_eq!(subscribers_of(":1.0"), Ok(()));
    assert_eq!(subscribers_of(":1.1"), Ok(()));
    assert_eq!(subscribers_of(":1.2"), Err(UnknownReason::Recipients { connections: 0 }));
}

/// A bus on which connections add match rules, and a signal that one rule may match.
fn asking(content: MessageContent) -> TestRecording {
    let mut recording = TestRecording::new();
    recording
        .bus(RecordedBus { content, ..RecordedBus::default() })
        .owner_changed(":1.6", "", ":1.6");
    let rule = format!("path='/{}'", "m".repeat(100));
    recording.rule(":1.7", "arg0='x'").ask_bus(":1.7", "AddMatch", &(rule,), &());
    recording.signal(":1.6", "/m org.x.Mail.Changed", &("x".repeat(300),));
    recording
}

#[test]
fn match_rules_are_unknown_if_bodies_are_missing() {
    let cut = |kept: usize| {
        let mut capture = Capture::default();
        asking(MessageContent::Bytes).each(|record| match record {
            RecordingRecord::Message(raw) => {
                let bytes = &raw.bytes[..raw.bytes.len().min(kept)];
                capture.push(RecordingRecord::Message(RawMessage { bytes, ..raw }));
            }
            other => capture.push(other),
        });
        capture
    };
    let redacted = asking(MessageContent::Redacted).capture();
    let unread = UnknownReason::RulesUnread { calls: 1 };
    for (capture, of_signals, of_rules) in [
        (&redacted, Err(UnknownReason::Redacted), Err(UnknownReason::Redacted)),
        (&cut(200), Err(unread), Err(unread)),
        (&cut(300), Err(UnknownReason::ArgumentsUnread), Ok(())),
        (&cut(999), Ok(()), Ok(())),
    ] {
        assert_eq!(recipients(capture, |_| true).map(drop), of_signals);
        assert_eq!(rules(capture).map(drop), of_rules);
    }
}

#[test]
fn duplicate_match_rules_are_counted() {
    let mut recording = TestRecording::new();
    let rule = "type='signal',member='NameOwnerChanged'";
    recording.rule(":1.7", rule);
    recording.ask_bus(":1.7", "AddMatch", &("member='NameOwnerChanged',type='signal'",), &());
    recording.ask_bus(":1.7", "AddMatch", &("member='X'",), &());
    recording.ask_bus(":1.7", "AddMatch", &("member='X'",), &());
    recording.ask_bus(":1.7", "RemoveMatch", &("member='X'",), &());
    let call = recording.call(":1.7", DRIVER, "/ org.freedesktop.DBus.AddMatch", &("member='R'",));
    recording.error(&call, DRIVER, "org.freedesktop.DBus.Error.LimitsExceeded", "too many");
    let keys = ["connection", "rules", "distinct", "duplicates", "added", "removed", "times"];
    assert_eq!(
        columns(&rules(&recording.capture()).expect("all are there").to_csv(), &keys),
        ":1.7 3 2 1 4 1 2"
    );
}

#[test]
fn recordings_without_an_end_have_a_caveat() {
    let of = |program: &str, fact: Option<Fact>| {
        let mut recording = TestRecording::new();
        recording.fact(Fact::Recorder { unique: ":1.2".into() });
        let mut capture = recording.capture();
        let program = Some(program.to_owned());
        capture.push(RecordingRecord::Origin(RecordingOrigin {
            program,
            ..RecordingOrigin::default()
        }));
        if let Some(fact) = fact {
            capture.push(RecordingRecord::Fact { at: RecordedTime(1), bus: BusId(0), fact });
        }
        Caveat::of(&capture, &Summary::default()).contains(&Caveat::NotEnded)
    };
    let ended = Fact::Ended { cause: EndCause::Asked };
    assert!(of("diligence 0.1.0", None));
    assert!(!of("diligence 0.1.0", Some(ended)));
    assert!(!of("dbus-monitor", None), "other recorders never say why they end");
}

#[test]
fn recordings_without_times_have_no_caveat_about_late_times() {
    let mut recording = TestRecording::new();
    recording.bus(RecordedBus {
        clock: RecordedClock::Absent,
        method: CaptureMethod::Unknown,
        ..RecordedBus::default()
    });
    recording.signal(":1.6", "/ org.x.Y.Z", &());
    let caveats = Caveat::of(&recording.capture(), &Summary::default());
    assert!(caveats.contains(&Caveat::NoTimes { bus: "bus 0".to_owned() }), "{caveats:?}");
    let of_times = |caveat: &Caveat| matches!(caveat, Caveat::MethodUnknown { .. });
    assert!(!caveats.iter().any(of_times), "{caveats:?}");
}

#[test]
fn match_rules_of_disconnected_connections_are_counted() {
    let mut recording = TestRecording::new();
    for unique in [":1.7", ":1.8"] {
        recording.ask_bus(unique, "AddMatch", &("member='X'",), &());
        recording.ask_bus(unique, "AddMatch", &("member='Y'",), &());
        recording.ask_bus(unique, "RemoveMatch", &("member='Y'",), &());
    }
    recording.wait_ms(1).owner_changed(":1.7", ":1.7", "");
    let keys = ["connection", "rules", "distinct", "duplicates", "added", "removed"];
    assert_eq!(
        columns(&rules(&recording.capture()).expect("all are there").to_csv(), &keys),
        ":1.7 1 1 0 2 1\n:1.8 1 1 0 2 1"
    );
}

#[test]
fn match_rules_reported_several_times_are_counted_once() {
    let mut recording = TestRecording::new();
    recording.ask_bus(":1.7", "AddMatch", &("member='X'",), &()).wait_ms(1);
    for rule in ["member='X'", "member='Y'", "member='Y'"] {
        recording.rule(":1.7", rule);
    }
    let mut once = recording.capture();
    recording.each(|record| {
        if let RecordingRecord::Fact { .. } = &record {
            once.push(record);
        }
    });
    let keys = ["connection", "rules", "distinct", "duplicates", "added"];
    assert_eq!(columns(&rules(&once).expect("all are there").to_csv(), &keys), ":1.7 3 2 1 3");
}

#[test]
fn impossible_counts_of_match_rules_use_no_memory() {
    let mut capture = TestRecording::new().capture();
    for name in ["X", "Y"] {
        let (unique, rule) = (":1.7".to_owned(), format!("member='{name}'"));
        let fact = Fact::Rule { unique, rule, times: u64::MAX };
        capture.push(RecordingRecord::Fact { at: RecordedTime(0), bus: BusId(0), fact });
    }
    let keys = ["connection", "rules", "distinct", "most_frequent"];
    let table = rules(&capture).expect("all is known");
    assert_eq!(columns(&table.to_csv(), &keys), ":1.7 65537 2 member='X'");
}

#[test]
fn caveats_are_listed_for_incomplete_recordings() {
    let mut recording = office();
    recording.bus(RecordedBus {
        name: "session".into(),
        method: CaptureMethod::Eavesdrop,
        ..RecordedBus::default()
    });
    let gap = RecordingGap {
        at: None,
        bus: Default::default(),
        cause: GapCause::Disconnected,
        lost: Some(3),
    };
    recording.gap(gap).at_ms(0).signal(":1.6", "/ org.x.Y.Z", &());
    let capture = recording.capture();
    let mut summary = Summary::default();
    capture.messages().for_each(|message| summary.add(&message));
    summary.complete(&capture, |_| true);
    let caveats = Caveat::of(&capture, &summary);
    assert_eq!(
        caveats,
        [
            Caveat::Gap { cause: GapCause::Disconnected, lost: Some(3) },
            Caveat::ClockWentBack { times: 1 },
            Caveat::NoDriverReplies { bus: "session".into() },
        ]
    );
    let words = caveats[0].to_string();
    assert_eq!(words, "3 messages are missing: the bus disconnected the recorder");
}

#[test]
fn percentiles_are_existing_values() {
    let nanos = |range: std::ops::RangeInclusive<u64>| range.rev().collect::<Vec<_>>();
    for (mut values, expected) in [
        (nanos(1..=1), [1, 1, 1, 1, 1, 1]),
        (nanos(1..=2), [1, 2, 2, 2, 2, 3]),
        (nanos(1..=10), [5, 9, 10, 10, 10, 55]),
        (nanos(1..=100), [50, 90, 95, 99, 100, 5050]),
        (nanos(1..=101), [51, 91, 96, 100, 101, 5151]),
    ] {
        let found = Percentiles::of(&mut values).unwrap();
        let Percentiles { p50, p90, p95, p99, max, total, .. } = found;
        let found = [p50, p90, p95, p99, max, total].map(|time| time.as_nanos());
        assert_eq!(found, expected, "{} values", values.len());
    }
    assert_eq!(Percentiles::of(&mut []), None);
    assert_eq!(Percentiles::of(&mut [1, 3]).unwrap().mean(), Duration::from_nanos(2));
}

#[test]
fn tables_are_found_by_their_names() {
    for subject in TableSubject::all() {
        assert_eq!(subject.as_str().parse(), Ok(subject));
    }
    let unknown = UnknownSubject { name: "color".into() };
    assert_eq!("color".parse::<TableSubject>(), Err(unknown));
}
