//! Cases for rules about failed calls, failed starts, limits and incomplete recordings.

use std::time::Duration;

use capture::lint::{FindingSeverity, LintRule, LintRuleId, lint};
use capture::record::{
    BusId, CaptureMethod, EndCause, Fact, GapCause, MessageContent, RecordedBus, RecordedClock,
    RecordingGap,
};
use testkit::recording::{DRIVER, RecordedCall, TestRecording};
use wire::message::Flags;

use crate::scene::*;

pub(crate) const CASES: &[LintCase] = &[
    LintCase {
        rule: 13,
        name: "no reply",
        raises: |r| unanswered(r, Flags::NONE, 6000),
        misses: |r| unanswered(r, Flags::NONE, 4000),
    },
    LintCase {
        rule: 13,
        name: "a call that expects no reply",
        raises: |r| unanswered(r, Flags::NO_AUTO_START, 6000),
        misses: |r| unanswered(r, Flags::NO_REPLY_EXPECTED, 60_000),
    },
    LintCase {
        rule: 14,
        name: "a service that disconnects before it replies",
        raises: |r| {
            pending(r, CLIENT, MAIL, "Load");
            leave(r);
        },
        misses: |r| {
            ask(r, "Load", 300, 1);
            leave(r);
        },
    },
    LintCase {
        rule: 14,
        name: "a service that is started by a call and disconnects without a reply",
        raises: |r| crash(r, true),
        misses: |r| crash(r, false),
    },
    LintCase {
        rule: 14,
        name: "a service that disconnects after its caller",
        raises: |r| {
            pending(r, CLIENT, MAIL, "Load");
            leave(r);
        },
        misses: |r| {
            pending(r, CLIENT, MAIL, "Load");
            r.wait_ms(900).owner_changed(CLIENT, CLIENT, "");
            leave(r);
        },
    },
    LintCase {
        rule: 54,
        name: "a service whose program exits",
        raises: |r| start_in_vain(r),
        misses: |r| absent(r),
    },
    LintCase {
        rule: 54,
        name: "a service that does not acquire its name in time",
        raises: |r| hang(r, "TimedOut"),
        misses: |r| hang(r, "AccessDenied"),
    },
    LintCase {
        rule: 54,
        name: "a service that dbus-broker could not start",
        raises: |r| fail_to_start(r, Flags::NONE),
        misses: |r| fail_to_start(r, Flags::NO_AUTO_START),
    },
    LintCase {
        rule: 15,
        name: "an error after 25 seconds",
        raises: |r| no_reply(r, 25_100),
        misses: |r| refusal(r, 20_000),
    },
    LintCase {
        rule: 15,
        name: "a caller that disconnects after waiting for two seconds",
        raises: |r| give_up(r, 2000),
        misses: |r| give_up(r, 900),
    },
    LintCase {
        rule: 15,
        name: "a reply after its caller has disconnected",
        raises: |r| give_up_before_reply(r, 2000),
        misses: |r| give_up_before_reply(r, 900),
    },
    LintCase {
        rule: 16,
        name: "the same error ten times",
        raises: |r| storm(r, 10),
        misses: |r| storm(r, 9),
    },
    LintCase {
        rule: 17,
        name: "calls of a missing method",
        raises: |r| (0..3).for_each(|turn| probe(r, turn)),
        misses: |r| (0..2).for_each(|turn| probe(r, turn)),
    },
    LintCase {
        rule: 16,
        name: "ten calls to a name without an owner",
        raises: |r| retry(r, 10),
        misses: |r| retry(r, 9),
    },
    LintCase {
        rule: 16,
        name: "ten lookups of one name, and one lookup of each of ten names",
        raises: |r| (0..10).for_each(|turn| look_up(r, "org.example.Absent", turn)),
        misses: |r| (0..10).for_each(|turn| look_up(r, &format!("org.example.Absent{turn}"), turn)),
    },
    LintCase {
        rule: 41,
        name: "too many rules",
        raises: |r| refused(r, "org.freedesktop.DBus.Error.LimitsExceeded"),
        misses: |r| refused(r, "org.freedesktop.DBus.Error.MatchRuleInvalid"),
    },
    LintCase {
        rule: 41,
        name: "lost signals",
        raises: |r| {
            let why = String::from("its queue is full");
            r.fact(Fact::Dropped { recipient: Some(CLIENT.into()), why, count: 12 });
        },
        misses: |r| {
            let why = String::from("Rejected send message, 2 matched rules; type=\"signal\"");
            r.fact(Fact::Dropped { recipient: Some(CLIENT.into()), why, count: 1 });
        },
    },
    LintCase {
        rule: 41,
        name: "a connection that the bus closed",
        raises: |r| left(r, Some("it sent an invalid message")),
        misses: |r| left(r, None),
    },
    LintCase {
        rule: 43,
        name: "replies to calls that expect none",
        raises: |r| unwanted(r, 10),
        misses: |r| unwanted(r, 9),
    },
    LintCase {
        rule: 49,
        name: "two replies",
        raises: |r| {
            let call = pending(r, CLIENT, MAIL, "Count");
            r.wait_us(90).reply(&call, SERVICE, &(1_u32,)).wait_us(90).reply(&call, SERVICE, &());
        },
        misses: |r| {
            let call = pending(r, CLIENT, MAIL, "Count");
            r.wait_us(90).reply(&call, SERVICE, &(1_u32,));
            let before =
                RecordedCall { caller: CLIENT.into(), serial: call.serial.saturating_add(999) };
            r.wait_us(90).reply(&before, SERVICE, &(1_u32,));
        },
    },
    LintCase {
        rule: 49,
        name: "a reply from another program",
        raises: |r| {
            let call = pending(r, CLIENT, SERVICE, "Count");
            r.wait_us(90).reply(&call, OTHER, &(1_u32,)).wait_us(90).reply(&call, SERVICE, &());
        },
        misses: |r| {
            let call = pending(r, CLIENT, SERVICE, "Count");
            r.wait_us(90).reply(&call, SERVICE, &(1_u32,));
        },
    },
    LintCase {
        rule: 50,
        name: "a recorder that the bus disconnected",
        raises: |r| {
            let cause = GapCause::Disconnected;
            r.gap(RecordingGap { at: None, bus: BusId(0), cause, lost: None });
        },
        misses: |_| {},
    },
    LintCase {
        rule: 50,
        name: "a bus that stopped during the recording",
        raises: |r| ended(r, EndCause::NoBus),
        misses: |r| ended(r, EndCause::Command),
    },
    LintCase {
        rule: 50,
        name: "a file that could no longer be written",
        raises: |r| ended(r, EndCause::Broken),
        misses: |r| ended(r, EndCause::Size),
    },
    LintCase {
        rule: 50,
        name: "a cut message",
        raises: |r| {
            r.signal(SERVICE, &signal("New"), &("a text that is longer",)).cut(120);
        },
        misses: |r| {
            r.signal(SERVICE, &signal("New"), &("a text that is longer",));
        },
    },
    LintCase {
        rule: 50,
        name: "a recording by eavesdropping",
        raises: |r| {
            r.bus(RecordedBus { method: CaptureMethod::Eavesdrop, ..RecordedBus::default() });
        },
        misses: |r| {
            r.bus(RecordedBus { method: CaptureMethod::Trace, ..RecordedBus::default() });
        },
    },
    LintCase {
        rule: 50,
        name: "a recording converted from text, which may lack replies",
        raises: |r| {
            *r = recorded(RecordedBus {
                content: MessageContent::Headers,
                ..RecordedBus::default()
            });
            unanswered(r, Flags::NONE, 6000);
        },
        misses: |r| {
            *r = recorded(RecordedBus::default());
            unanswered(r, Flags::NONE, 4000);
        },
    },
    LintCase {
        rule: 50,
        name: "redacted messages, which may carry the same values",
        raises: |r| {
            *r = recorded(RecordedBus {
                content: MessageContent::Redacted,
                ..RecordedBus::default()
            });
            (0..9).for_each(|turn| same_property(r, turn));
        },
        misses: |r| {
            *r = recorded(RecordedBus::default());
            (0..2).for_each(|turn| same_property(r, turn));
        },
    },
    LintCase {
        rule: 50,
        name: "a recording without times, so without rates",
        raises: |r| {
            *r = recorded(RecordedBus { clock: RecordedClock::Absent, ..RecordedBus::default() });
            (0..200).for_each(|turn| ask(r, "GetCount", 0, turn));
        },
        misses: |r| {
            *r = recorded(RecordedBus::default());
            ask(r, "GetCount", 0, 1);
        },
    },
    LintCase {
        rule: 50,
        name: "a clock that jumps back",
        raises: |r| two_signals(r, -20_000),
        misses: |r| two_signals(r, -20),
    },
    LintCase {
        rule: 50,
        name: "connections without names and processes",
        raises: |r| strangers(r, 4),
        misses: |r| strangers(r, 3),
    },
];

/// The service announces the same value of a property again.
fn same_property(r: &mut TestRecording, turn: i64) {
    changed(r, &[("Count", 0)], &[]);
    uneven(r, turn);
}

fn unanswered(r: &mut TestRecording, flags: Flags, millis: i64) {
    r.call_with(flags, CLIENT, MAIL, &method("Load"), &());
    ask(r.wait_ms(millis), "Count", 300, 1);
}

fn ended(r: &mut TestRecording, cause: EndCause) {
    ask(r, "Count", 300, 1);
    r.fact(Fact::Ended { cause });
}

fn leave(r: &mut TestRecording) {
    r.wait_ms(5).owner_changed(MAIL, SERVICE, "").owner_changed(SERVICE, SERVICE, "");
}

fn no_reply(r: &mut TestRecording, millis: i64) {
    let call = pending(r, CLIENT, MAIL, "Load");
    r.wait_ms(millis).error(&call, DRIVER, "org.freedesktop.DBus.Error.NoReply", "nothing came");
}

/// The bus refuses a call after this time.
fn refusal(r: &mut TestRecording, millis: i64) {
    let call = pending(r, CLIENT, MAIL, "Load");
    r.wait_ms(millis).error(&call, DRIVER, "org.freedesktop.DBus.Error.AccessDenied", "no");
}

/// The caller disconnects without a reply, and the service disconnects later.
fn give_up(r: &mut TestRecording, after_ms: i64) {
    pending(r, CLIENT, MAIL, "Load");
    r.wait_ms(after_ms).owner_changed(CLIENT, CLIENT, "");
    leave(r.wait_ms(1800));
}

fn give_up_before_reply(r: &mut TestRecording, after_ms: i64) {
    let call = pending(r, CLIENT, MAIL, "Load");
    r.wait_ms(after_ms).owner_changed(CLIENT, CLIENT, "");
    r.wait_ms(300).reply(&call, SERVICE, &(1_u32,));
}

/// A call starts a service, which acquires its name and disconnects. The bus replies in its place.
fn crash(r: &mut TestRecording, leaves_first: bool) {
    let call = pending(r, CLIENT, "org.example.Crash", "Load");
    r.wait_ms(100).owner_changed(":1.9", "", ":1.9").process(":1.9", 109, "crash");
    r.wait_ms(1).owner_changed("org.example.Crash", "", ":1.9").wait_ms(5);
    if !leaves_first {
        r.reply(&call, ":1.9", &(1_u32,));
    }
    r.owner_changed("org.example.Crash", ":1.9", "").owner_changed(":1.9", ":1.9", "");
    if leaves_first {
        let text = "Message recipient disconnected from message bus without replying";
        r.wait_us(50).error(&call, DRIVER, "org.freedesktop.DBus.Error.NoReply", text);
    }
}

#[test]
fn a_service_that_crashes_at_its_start_is_reported_instead_of_the_bus() {
    let mut recording = scene();
    let call = pending(&mut recording, CLIENT, "org.example.Crash", "Load");
    recording.wait_ms(1600).owner_changed(":1.9", "", ":1.9").process(":1.9", 109, "crash");
    recording.wait_ms(800).owner_changed("org.example.Crash", "", ":1.9").wait_ms(5);
    recording.owner_changed("org.example.Crash", ":1.9", "").owner_changed(":1.9", ":1.9", "");
    let text = "Message recipient disconnected from message bus without replying";
    recording.error(&call, DRIVER, "org.freedesktop.DBus.Error.NoReply", text);
    let found = lint(&recording.capture(), LintRule::all());
    let mut found: Vec<_> =
        found.iter().map(|it| (it.rule.to_string(), it.party.label.as_str())).collect();
    found.sort();
    let rules = ["L14", "L38", "L39"].map(|rule| (rule.to_owned(), "org.example.Crash"));
    assert_eq!(found, rules);
}

#[test]
fn a_call_whose_caller_disconnected_is_reported_with_its_wait() {
    let mut recording = scene();
    give_up(&mut recording, 2000);
    let found = lint(&recording.capture(), LintRule::all());
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    let expected = "did not reply to 1 call of Mail1.Load before client (:1.1) disconnected, 2 s \
                    after the call";
    assert_eq!((finding.rule, finding.says.as_str()), (LintRuleId(15), expected));
    assert_eq!(finding.cost.waited, Duration::from_secs(2));
    assert_eq!(finding.severity, FindingSeverity::High);
}

/// A call to a name that has no owner and no service file.
fn absent(r: &mut TestRecording) {
    let call = pending(r, CLIENT, "org.example.Absent", "Load");
    let error = "org.freedesktop.DBus.Error.ServiceUnknown";
    r.wait_ms(1).error(&call, DRIVER, error, "The name was not provided by any .service files");
}

/// A call waits for a service that does not acquire its name, until the bus sends this error.
fn hang(r: &mut TestRecording, error: &str) {
    let call = pending(r, CLIENT, "org.example.Hang", "Load");
    let error = format!("org.freedesktop.DBus.Error.{error}");
    r.wait_ms(900).error(&call, DRIVER, &error, "Failed to activate service");
}

/// A call to a name without an owner whose activation fails in dbus-broker.
fn fail_to_start(r: &mut TestRecording, flags: Flags) {
    let call = r.call_with(flags, CLIENT, "org.example.Gone", &method("Load"), &());
    let error = "org.freedesktop.DBus.Error.NameHasNoOwner";
    r.wait_ms(20).error(&call, DRIVER, error, "Could not activate remote peer: unit failed.");
}

/// The first service calls the second one, which calls the third one, whose start fails. The others
/// exit `later_ms` after that.
fn failing_chain(r: &mut TestRecording, later_ms: i64) {
    let names = ["org.example.A", "org.example.B", "org.example.C"];
    let failed = |r: &mut TestRecording, call: &RecordedCall, name: &str| {
        let error = "org.freedesktop.DBus.Error.Spawn.ChildExited";
        r.wait_ms(1).error(call, DRIVER, error, &format!("Process {name} exited with status 9"));
    };
    let a = pending(r, CLIENT, names[0], "Load");
    r.wait_ms(20).owner_changed(":1.8", "", ":1.8").wait_ms(1);
    let b = pending(r, ":1.8", names[1], "Load");
    r.wait_ms(20).owner_changed(":1.9", "", ":1.9").wait_ms(1);
    let c = pending(r, ":1.9", names[2], "Load");
    failed(r, &c, names[2]);
    r.wait_ms(later_ms).owner_changed(":1.9", ":1.9", "");
    failed(r, &b, names[1]);
    r.wait_ms(later_ms).owner_changed(":1.8", ":1.8", "");
    failed(r, &a, names[0]);
}

#[test]
fn failed_starts_of_a_chain_are_attributed_to_its_last_service() {
    let blamed = |later_ms: i64| -> Vec<(String, u64)> {
        let mut recording = scene();
        failing_chain(&mut recording, later_ms);
        let found = lint(&recording.capture(), LintRule::all());
        let failed = found.into_iter().filter(|finding| finding.rule == LintRuleId(54));
        let mut failed: Vec<_> = failed.map(|it| (it.party.label, it.evidence.count)).collect();
        failed.sort();
        failed
    };
    assert_eq!(blamed(5), [("org.example.C".to_owned(), 3)]);
    let each = ["A", "B", "C"].map(|name| (format!("org.example.{name}"), 1));
    assert_eq!(blamed(9000), each, "they failed much later, so for other reasons");
}

#[test]
fn failed_starts_are_not_attributed_to_a_client_that_connects_before_the_timeout() {
    let blamed = |comes_at_ms: i64| -> Vec<String> {
        let mut recording = scene();
        let r = &mut recording;
        let hangs = pending(r, CLIENT, "org.example.Hangs", "Load");
        r.wait_ms(comes_at_ms).owner_changed(":1.8", "", ":1.8").wait_ms(1);
        let exits = pending(r, ":1.8", "org.example.Exits", "Load");
        let time_out = "org.freedesktop.DBus.Error.TimedOut";
        r.wait_ms(3999 - comes_at_ms).error(&hangs, DRIVER, time_out, "Failed to activate");
        let error = "org.freedesktop.DBus.Error.Spawn.ChildExited";
        r.wait_ms(50).error(&exits, DRIVER, error, "exited with status 1");
        let found = lint(&recording.capture(), LintRule::all());
        let failed = found.into_iter().filter(|finding| finding.rule == LintRuleId(54));
        let mut failed: Vec<_> = failed.map(|it| it.party.label).collect();
        failed.sort();
        failed
    };
    assert_eq!(blamed(3900), ["org.example.Exits", "org.example.Hangs"]);
    assert_eq!(blamed(20), ["org.example.Exits"], "the first service needed the second one");
}

#[test]
fn a_start_that_timed_out_is_attributed_to_the_service() {
    let mut recording = scene();
    let what = format!("/org/freedesktop/DBus {DRIVER}.StartServiceByName");
    let call = recording.call(CLIENT, DRIVER, &what, &("org.example.Hang", 0_u32));
    let error = "org.freedesktop.DBus.Error.TimedOut";
    recording.wait_ms(25_000).error(&call, DRIVER, error, "Failed to activate service");
    recording.wait_ms(1500).owner_changed(":1.9", "", ":1.9");
    recording.wait_ms(1).owner_changed("org.example.Hang", "", ":1.9");
    let found = lint(&recording.capture(), LintRule::all());
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((finding.rule, finding.party.label.as_str()), (LintRuleId(54), "org.example.Hang"));
    let expected = "failed to start 1 time: it did not acquire its name in time: Failed to activate \
                    service; it acquired its name 1.5 s later; 1 call waited, first \
                    DBus.StartServiceByName by client (:1.1)";
    assert_eq!(finding.says, expected);
}

fn storm(r: &mut TestRecording, count: i64) {
    for turn in 0..count {
        fail(r, "Send", "org.example.Error.Full");
        uneven(r, turn);
    }
}

fn probe(r: &mut TestRecording, turn: i64) {
    fail(r, "Undo", "org.freedesktop.DBus.Error.UnknownMethod");
    uneven(r, turn);
}

fn retry(r: &mut TestRecording, count: i64) {
    for turn in 0..count {
        let call = r.call(CLIENT, "org.example.Absent", &method("Count"), &());
        r.wait_us(90).error(&call, DRIVER, "org.freedesktop.DBus.Error.ServiceUnknown", "no");
        r.wait_ms(5000 + 2000 * turn);
    }
}

/// The client asks the bus to start an absent service and then for its owner, as GDBusProxy does.
fn look_up(r: &mut TestRecording, name: &str, turn: i64) {
    let failed = |r: &mut TestRecording, member: &str, error: &str| {
        let what = format!("/org/freedesktop/DBus {DRIVER}.{member}");
        let call = r.wait_us(300).call(CLIENT, DRIVER, &what, &(name,));
        let error = format!("org.freedesktop.DBus.Error.{error}");
        r.wait_us(90).error(&call, DRIVER, &error, "no");
    };
    failed(r, "StartServiceByName", "ServiceUnknown");
    failed(r, "GetNameOwner", "NameHasNoOwner");
    uneven(r, turn);
}

fn refused(r: &mut TestRecording, error: &str) {
    let what = format!("/org/freedesktop/DBus {DRIVER}.AddMatch");
    let call = r.call(CLIENT, DRIVER, &what, &(rule("New"),));
    r.wait_us(90).error(&call, DRIVER, error, "no");
}

fn left(r: &mut TestRecording, why: Option<&str>) {
    r.fact(Fact::Left { unique: OTHER.into(), why: why.map(str::to_owned) });
}

fn unwanted(r: &mut TestRecording, count: u32) {
    for number in 0..count {
        let call = r.call_with(Flags::NO_REPLY_EXPECTED, CLIENT, MAIL, &method("Note"), &());
        r.wait_us(90).reply(&call, SERVICE, &(number,)).wait_ms(5);
    }
}

fn two_signals(r: &mut TestRecording, micros: i64) {
    r.signal(SERVICE, &signal("New"), &()).wait_us(micros).signal(SERVICE, &signal("New"), &());
}

/// Adds connections without names and processes to the three known ones.
fn strangers(r: &mut TestRecording, count: u32) {
    for number in 0..count {
        r.wait_ms(50).signal(&format!(":1.{}", 50 + number), &signal("New"), &());
    }
}

fn start_in_vain(r: &mut TestRecording) {
    let call = pending(r, CLIENT, "org.example.Gone", "Count");
    let error = "org.freedesktop.DBus.Error.Spawn.ChildExited";
    r.wait_ms(2).error(&call, DRIVER, error, "Process org.example.Gone exited with status 1");
}

#[test]
fn a_service_that_disconnects_repeatedly_is_one_finding() {
    let mut recording = scene();
    for number in 20..23 {
        let unique = format!(":1.{number}");
        recording.wait_ms(2000).owner_changed(&unique, "", &unique);
        recording.process(&unique, 200 + number, "crasher");
        recording.owner_changed("org.example.Crash", "", &unique);
        let call = pending(&mut recording, CLIENT, "org.example.Crash", "Load");
        recording.wait_ms(5).owner_changed("org.example.Crash", &unique, "");
        recording.owner_changed(&unique, &unique, "");
        let text = "Message recipient disconnected from message bus without replying";
        recording.error(&call, DRIVER, "org.freedesktop.DBus.Error.NoReply", text);
    }
    let findings = lint(&recording.capture(), LintRule::all());
    let lost: Vec<_> = findings.iter().filter(|it| it.rule == LintRuleId(14)).collect();
    let says: Vec<_> = lost.iter().map(|finding| finding.says.as_str()).collect();
    let expected = "disconnected 3 times with 3 pending calls, first Mail1.Load by client (:1.1)";
    assert_eq!(says, [expected]);
}
