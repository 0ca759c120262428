//! Outcomes of calls, waiting times of callers, and the callees of calls.

use std::time::Duration;

use capture::Capture;
use capture::lint::{LintRule, lint};
use capture::model::CallOutcome::{self, *};
use capture::query::Query;
use capture::record::{
    BusId, EndCause, Fact, RecordedBus, RecordedClock, RecordedTime, RecordingOrigin,
    RecordingRecord,
};
use capture::statistics::{Caveat, GroupKeyKind, GroupedTraffic, Summary, replies};
use capture::timeline::{blocked, blocked_table, slowest, slowest_table};
use testkit::recording::{DRIVER, RecordedCall, TestRecording};
use wire::message::Flags;

const NO_REPLY: &str = "org.freedesktop.DBus.Error.NoReply";
const TIMED_OUT: &str = "org.freedesktop.DBus.Error.TimedOut";
const DISCONNECTED: &str = "Message recipient disconnected from message bus without replying";
const EXPIRED: &str = "Message did not receive a reply (timeout by message bus)";

/// A capture that ends with a call, after which `act` adds more.
fn after_a_call(act: impl FnOnce(&mut TestRecording, &RecordedCall)) -> Capture {
    let mut recording = TestRecording::new();
    recording.owner("org.x.Mail", ":1.6");
    let call = recording.call(":1.5", "org.x.Mail", "/m org.x.Mail.Get", &());
    act(&mut recording, &call);
    recording.capture()
}

fn left(unique: &str) -> Fact {
    Fact::Left { unique: unique.to_owned(), why: None }
}

/// An event after a call.
type CallEvent = fn(&mut TestRecording, &RecordedCall);

#[test]
fn every_call_has_one_outcome_and_one_waiting_time() {
    let cases: [(&str, CallEvent, CallOutcome, Option<u64>); 12] = [
        ("a return", |r, c| _ = r.wait_ms(3).reply(c, ":1.6", &()), Returned, Some(3)),
        ("an error", |r, c| _ = r.wait_ms(3).error(c, ":1.6", "org.x.No", "no"), Failed, Some(3)),
        (
            "a time-out at the bus",
            |r, c| _ = r.wait_ms(3).error(c, DRIVER, NO_REPLY, EXPIRED),
            TimedOut,
            Some(3),
        ),
        (
            "a start that timed out",
            |r, c| _ = r.wait_ms(3).error(c, DRIVER, TIMED_OUT, "Failed to activate service"),
            TimedOut,
            Some(3),
        ),
        (
            "a callee that left, by the text of dbus-daemon",
            |r, c| _ = r.wait_ms(3).error(c, DRIVER, NO_REPLY, DISCONNECTED),
            CalleeLeft,
            Some(3),
        ),
        (
            "a callee that left, by the text of dbus-broker",
            |r, c| _ = r.wait_ms(3).error(c, DRIVER, NO_REPLY, "Remote peer disconnected"),
            CalleeLeft,
            Some(3),
        ),
        (
            "a callee that is seen to leave",
            |r, c| _ = r.wait_ms(3).fact(left(":1.6")).error(c, DRIVER, NO_REPLY, "?"),
            CalleeLeft,
            Some(3),
        ),
        (
            "a service that passes on the error of a call of its own",
            |r, c| _ = r.wait_ms(3).error(c, ":1.6", NO_REPLY, EXPIRED),
            Failed,
            Some(3),
        ),
        (
            "a caller that left",
            |r, _| _ = r.wait_ms(2).fact(left(":1.5")).wait_ms(50).signal(":1.6", "/ a.B.C", &()),
            CallerLeft,
            Some(2),
        ),
        (
            "a reply for a caller that had left",
            |r, c| _ = r.wait_ms(2).fact(left(":1.5")).wait_ms(50).reply(c, ":1.6", &()),
            CallerLeft,
            Some(2),
        ),
        (
            "a recording that ended",
            |r, _| _ = r.wait_ms(7).fact(Fact::Ended { cause: EndCause::Asked }),
            Waiting,
            Some(7),
        ),
        (
            "a caller that left after the reply",
            |r, c| _ = r.wait_ms(3).reply(c, ":1.6", &()).fact(left(":1.5")),
            Returned,
            Some(3),
        ),
    ];
    for (what, act, outcome, waited) in cases {
        let capture = after_a_call(act);
        let call = capture.messages().next().expect("a call");
        assert_eq!(call.outcome(), Some(outcome), "{what}");
        assert_eq!(call.waited(), waited.map(Duration::from_millis), "{what}");
        let has_reply = !matches!(outcome, CallerLeft | Waiting);
        assert_eq!(call.duration().is_some(), has_reply, "{what}");
        let mut summary = Summary::default();
        capture.messages().for_each(|message| summary.add(&message));
        let counts = [summary.time_outs, summary.callee_left, summary.caller_left, summary.waiting];
        let of = |one: CallOutcome| u64::from(one == outcome);
        assert_eq!(counts, [TimedOut, CalleeLeft, CallerLeft, Waiting].map(of), "{what}");
        assert_eq!(summary.unanswered, of(CallerLeft) + of(Waiting), "{what}");
    }
}

#[test]
fn calls_without_expected_reply_have_no_waiting_time() {
    let mut recording = TestRecording::new();
    recording.call_with(Flags::NO_REPLY_EXPECTED, ":1.5", ":1.6", "/m org.x.Mail.Go", &());
    let capture = recording.wait_ms(5).fact(left(":1.5")).capture();
    let call = capture.messages().next().expect("a call");
    assert_eq!((call.outcome(), call.waited()), (Some(NoReplyExpected), None));
}

#[test]
fn messages_without_times_have_no_durations() {
    let mut recording = TestRecording::new();
    recording.bus(RecordedBus { clock: RecordedClock::Absent, ..RecordedBus::default() });
    let call = recording.call(":1.5", ":1.6", "/m org.x.Mail.Get", &());
    recording.reply(&call, ":1.6", &()).call(":1.5", ":1.6", "/m org.x.Mail.Get", &());
    let capture = recording.capture();
    assert!(capture.messages().all(|message| message.duration().is_none()));
    assert!(capture.messages().all(|message| message.waited().is_none()));
}

/// A caller gives up after two seconds, and its service leaves two seconds later.
fn given_up() -> Capture {
    let mut recording = TestRecording::new();
    recording.process(":1.5", 42, "gdbus").owner("org.x.Slow", ":1.6");
    recording.call(":1.5", "org.x.Slow", "/s org.x.Slow.Never", &());
    recording.wait_ms(2000).owner_changed(":1.5", ":1.5", "");
    recording.wait_ms(1800).owner_changed(":1.6", ":1.6", "");
    recording.wait_ms(9000).signal(":1.9", "/ a.B.C", &());
    recording.capture()
}

#[test]
fn unanswered_calls_are_in_every_table_with_their_waiting_time() {
    let capture = given_up();
    let calls = slowest(&capture, |_| true, 10);
    assert_eq!(
        slowest_table(&calls).to_csv().lines().nth(1),
        Some("1,gdbus,org.x.Slow.Never,org.x.Slow,2000000000,,,,caller left,████████████████")
    );
    assert_eq!(
        blocked_table(&blocked(&capture, |_| true)).to_csv().lines().nth(1),
        Some("gdbus,org.x.Slow.Never,org.x.Slow,1,2000000000,2000000000,1")
    );
    let rows = replies(&capture, |_| true).to_csv();
    let row = "1,caller left,2000000000,gdbus (:1.5),org.x.Slow,org.x.Slow.Never";
    assert_eq!(rows.lines().nth(1), Some(row));
    let mut groups = GroupedTraffic::new(&capture, GroupKeyKind::Member);
    capture.messages().for_each(|message| groups.add(&message));
    let group = groups.groups().next().expect("the method");
    assert_eq!((group.calls_that(CallerLeft), group.failed_total), (1, 2_000_000_000));
}

#[test]
fn queries_find_calls_by_their_outcome() {
    let capture = given_up();
    for (query, expected) in [
        ("is:caller-left", 1),
        ("is:unanswered", 1),
        ("dur>1s", 1),
        ("dur>3s", 0),
        ("is:waiting", 0),
        ("is:timed-out or is:callee-left", 0),
    ] {
        let query: Query = query.parse().expect("a query");
        let mut matcher = query.matcher();
        let found = capture.messages().filter(|message| matcher.selects(message)).count();
        assert_eq!(found, expected, "{query:?}");
    }
}

/// The unique name of the recipient of the first message.
fn callee(capture: &Capture) -> Option<&str> {
    let call = capture.messages().next().expect("a call");
    call.to().map(|peer| capture.strings().get(capture.directory().peer(peer).unique))
}

#[test]
fn held_calls_go_to_the_connection_that_takes_the_name() {
    let mut recording = TestRecording::new();
    let call = recording.call(":1.5", "org.x.Late", "/l org.x.Late.Get", &());
    recording.wait_ms(20).owner_changed(":1.7", "", ":1.7");
    recording.owner_changed("org.x.Late", "", ":1.7");
    recording.wait_ms(5).owner_changed("org.x.Late", ":1.7", "");
    recording.owner_changed(":1.7", ":1.7", "").error(&call, DRIVER, NO_REPLY, DISCONNECTED);
    let capture = recording.capture();
    assert_eq!(callee(&capture), Some(":1.7"));
    assert_eq!(capture.addressee_label(&capture.messages().next().unwrap()), "org.x.Late");
}

#[test]
fn calls_to_names_without_owner_have_no_callee() {
    let mut recording = TestRecording::new();
    let call = recording.call(":1.5", "org.x.Late", "/l org.x.Late.Get", &());
    recording.wait_ms(20).error(&call, DRIVER, TIMED_OUT, "Failed to activate service");
    recording.wait_ms(5).owner_changed("org.x.Late", "", ":1.7");
    assert_eq!(callee(&recording.capture()), None);
}

#[test]
fn the_bus_is_the_callee_of_calls_to_its_own_name_only() {
    let mut recording = TestRecording::new();
    recording.ask_bus(":1.5", "GetId", &(), &("abc",));
    assert_eq!(callee(&recording.capture()), Some(DRIVER));
}

#[test]
fn traced_calls_go_to_the_connection_of_the_delivery() {
    let mut recording = TestRecording::new();
    let call = recording.call(":1.5", "org.x.Late", "/l org.x.Late.Get", &());
    recording.delivered(10, &[(3, 30, 0)]).wait_ms(1);
    recording.error(&call, DRIVER, NO_REPLY, DISCONNECTED);
    recording.signal(":1.3", "/ a.B.C", &());
    assert_eq!(callee(&recording.capture()), Some(":1.3"));
}

#[test]
fn cut_headers_make_outcomes_unknown_and_not_unanswered() {
    let mut recording = TestRecording::new();
    let call = recording.call(":1.5", ":1.6", "/m org.x.Mail.Get", &());
    recording.wait_ms(1).reply(&call, ":1.6", &()).cut(16);
    recording.call(":1.5", ":1.6", "/m org.x.Mail.Get", &());
    recording.cut(60);
    let capture = recording.capture();
    let mut summary = Summary::default();
    capture.messages().for_each(|message| summary.add(&message));
    summary.complete(&capture, |_| true);
    assert_eq!((summary.unanswered, summary.unknown_outcome), (0, 2));
    assert_eq!((summary.orphans, summary.unknown_call), (0, 1));
    assert!(slowest(&capture, |_| true, 10).is_empty());
}

#[test]
fn replies_with_cut_destination_are_not_paired_by_serial_alone() {
    let mut recording = TestRecording::new();
    let call = recording.call(":1.5", ":1.6", "/m org.x.Mail.Get", &());
    recording.cut(16);
    recording.wait_ms(1).reply(&call, ":1.6", &()).cut(40);
    let capture = recording.capture();
    assert!(capture.messages().all(|message| message.partner().is_none()));
}

/// A snap length of 130 to 190 bytes cuts the messages about a callee or caller that left.
#[test]
fn cut_bodies_leave_outcomes_unknown() {
    let cases: [(&str, CallEvent, CallOutcome); 5] = [
        (
            "a NoReply without its text",
            |r, c| {
                r.wait_ms(1).owner_changed(":1.6", ":1.6", "").cut(150);
                r.error(c, DRIVER, NO_REPLY, DISCONNECTED).cut(130);
            },
            Unknown,
        ),
        (
            "a caller that may have left",
            |r, _| _ = r.wait_ms(1).owner_changed(":1.5", ":1.5", "").cut(150),
            Unknown,
        ),
        (
            "a caller that the recorder has seen leave",
            |r, _| {
                r.fact(Fact::Recorder { unique: ":1.2".into() });
                r.wait_ms(1).owner_changed(":1.5", ":1.5", "").cut(150).fact(left(":1.5"));
            },
            CallerLeft,
        ),
        (
            "a callee that the recorder has seen leave a moment later",
            |r, c| {
                r.fact(Fact::Recorder { unique: ":1.2".into() });
                r.wait_ms(1).error(c, DRIVER, NO_REPLY, DISCONNECTED).cut(130);
                r.owner_changed(":1.6", ":1.6", "").cut(150).wait_ms(2).fact(left(":1.6"));
            },
            CalleeLeft,
        ),
        (
            "a NoReply without its sender",
            |r, c| _ = r.wait_ms(1).error(c, DRIVER, NO_REPLY, DISCONNECTED).cut(90),
            Unknown,
        ),
    ];
    for (what, act, outcome) in cases {
        let capture = after_a_call(act);
        let call = capture.messages().next().expect("a call");
        assert_eq!(call.outcome(), Some(outcome), "{what}");
        assert_eq!(call.waited().is_some(), outcome != Unknown, "{what}");
    }
}

#[test]
fn replies_with_cut_sender_have_no_sender() {
    let mut recording = TestRecording::new();
    let call = recording.call(":1.5", "org.x.None", "/m org.x.Mail.Get", &());
    recording.wait_ms(1).error(&call, DRIVER, "org.freedesktop.DBus.Error.ServiceUnknown", "no");
    recording.cut(100).signal(":1.6", "/m org.x.Mail.Changed", &("x",)).cut(16);
    let capture = recording.capture();
    assert_eq!(capture.directory().names().count(), 0, "nobody owns the name");
    let mut groups = GroupedTraffic::new(&capture, GroupKeyKind::Sender);
    capture.messages().for_each(|message| groups.add(&message));
    let table = groups.table().to_csv();
    assert!(table.lines().nth(1).is_some_and(|row| row.starts_with("(unknown),2,")), "{table}");
}

#[test]
fn driver_share_excludes_calls_with_unknown_destination() {
    let mut recording = TestRecording::new();
    recording.ask_bus(":1.5", "GetId", &(), &("abc",));
    recording.call(":1.5", ":1.6", "/m org.x.Mail.Get", &());
    recording.cut(40);
    let capture = recording.capture();
    let mut summary = Summary::default();
    capture.messages().for_each(|message| summary.add(&message));
    summary.complete(&capture, |_| true);
    assert_eq!((summary.calls, summary.driver_calls, summary.calls_to_unknown), (2, 1, 1));
    let caveats: Vec<_> = Caveat::of(&capture, &summary).iter().map(Caveat::to_string).collect();
    assert!(caveats.iter().any(|one| one.starts_with("the headers of 1 message")), "{caveats:?}");
}

#[test]
fn rewritten_files_are_not_taken_for_files_of_a_killed_recorder() {
    let origin = || RecordingOrigin {
        program: Some("diligence 0.1.0".into()),
        ..RecordingOrigin::default()
    };
    let caveats = |facts: Vec<Fact>| {
        let mut capture = Capture::default();
        capture.push(RecordingRecord::Origin(origin()));
        for fact in facts {
            capture.push(RecordingRecord::Fact { at: RecordedTime(1), bus: BusId(0), fact });
        }
        let caveats = Caveat::of(&capture, &Summary::default());
        let is = |caveat: &Caveat| matches!(caveat, Caveat::NotEnded | Caveat::NotesMissing);
        caveats.into_iter().filter(is).collect::<Vec<_>>()
    };
    let recorder = || Fact::Recorder { unique: ":1.2".into() };
    assert_eq!(caveats(vec![]), [Caveat::NotesMissing]);
    assert_eq!(caveats(vec![recorder()]), [Caveat::NotEnded]);
    assert_eq!(caveats(vec![recorder(), Fact::Ended { cause: EndCause::Asked }]), []);
}

#[test]
fn backward_clock_jumps_are_counted_once_for_each_bus() {
    let mut recording = TestRecording::new();
    for bus in [BusId(0), BusId(1)] {
        recording.on(bus).at_ms(10).signal(":1.6", "/m org.x.Mail.Changed", &());
        // Several threads that read the clock may differ by this much.
        recording.wait_us(-900).signal(":1.6", "/m org.x.Mail.Changed", &());
    }
    recording.at_ms(2).signal(":1.6", "/m org.x.Mail.Changed", &());
    let capture = recording.capture();
    let mut summary = Summary::default();
    summary.complete(&capture, |_| true);
    assert_eq!(summary.backward, 1);
    let findings = lint(&capture, LintRule::all());
    let says = findings.iter().find(|finding| finding.subject == "clock").map(|one| &one.says);
    assert!(says.is_some_and(|says| says.contains("jumped back 1 time")), "{says:?}");
}

/// The messages of a bus that recorded itself are in the order of routing.
#[test]
fn traces_in_routing_order_have_no_backward_clock_jump() {
    for (program, expected) in [("dbus-monitor", 1), ("diligence 0.1.0", 0)] {
        let mut capture = Capture::default();
        let program = Some(String::from(program));
        capture.push(RecordingRecord::Origin(RecordingOrigin {
            program,
            ..RecordingOrigin::default()
        }));
        let mut recording = TestRecording::new();
        recording.at_ms(10).signal(":1.6", "/m org.x.Mail.Changed", &());
        recording.at_ms(5).signal(":1.6", "/m org.x.Mail.Changed", &());
        recording.each(|record| capture.push(record));
        assert_eq!(capture.clock_set_back().len(), expected);
    }
}

/// The bus reports to the service that its late reply was not delivered.
#[test]
fn late_replies_are_distinguished_from_errors_about_them() {
    let mut recording = TestRecording::new();
    recording.owner("org.x.Mail", ":1.6");
    let call = recording.call(":1.5", "org.x.Mail", "/m org.x.Mail.Get", &());
    recording.wait_ms(2).owner_changed(":1.5", ":1.5", "").wait_ms(50);
    recording.reply(&call, ":1.6", &());
    recording.reply_refused(":1.6", "org.freedesktop.DBus.Error.ServiceUnknown");
    let capture = recording.capture();
    let rows = replies(&capture, |_| true).to_csv();
    let rows: Vec<_> = rows.lines().skip(1).collect();
    let expected = [
        "1,caller left,2000000,:1.5,org.x.Mail,org.x.Mail.Get",
        "3,late,52000000,org.x.Mail,:1.5,org.x.Mail.Get",
        "4,not delivered,,org.freedesktop.DBus,org.x.Mail,org.x.Mail.Get",
    ];
    assert_eq!(rows, expected);
    let mut summary = Summary::default();
    summary.complete(&capture, |_| true);
    assert_eq!((summary.late, summary.undelivered, summary.orphans), (1, 1, 0));
}
