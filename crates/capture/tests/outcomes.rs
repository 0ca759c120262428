//! How calls end, how long their callers wait, and to whom calls go.

use std::time::Duration;

use diligence_capture::Capture;
use diligence_capture::model::CallOutcome::{self, *};
use diligence_capture::query::Query;
use diligence_capture::record::{Bus, Clock, EndCause, Fact};
use diligence_capture::statistics::{By, Groups, Summary, replies};
use diligence_capture::timeline::{blocked, blocked_table, slowest, slowest_table};
use diligence_testkit::recording::{Call, DRIVER, Recording};
use wire::message::Flags;

const NO_REPLY: &str = "org.freedesktop.DBus.Error.NoReply";
const TIMED_OUT: &str = "org.freedesktop.DBus.Error.TimedOut";
const DISCONNECTED: &str = "Message recipient disconnected from message bus without replying";
const EXPIRED: &str = "Message did not receive a reply (timeout by message bus)";

/// The last call of a recording to which something was added.
fn after_a_call(act: impl FnOnce(&mut Recording, &Call)) -> Capture {
    let mut recording = Recording::new();
    recording.owner("org.x.Mail", ":1.6");
    let call = recording.call(":1.5", "org.x.Mail", "/m org.x.Mail.Get", &());
    act(&mut recording, &call);
    recording.capture()
}

fn left(unique: &str) -> Fact {
    Fact::Left { unique: unique.to_owned(), why: None }
}

#[test]
fn every_call_has_one_outcome_and_one_waiting_time() {
    type Act = fn(&mut Recording, &Call);
    let cases: [(&str, Act, CallOutcome, Option<u64>); 12] = [
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
fn a_call_that_expects_no_reply_waits_for_none() {
    let mut recording = Recording::new();
    recording.call_with(Flags::NO_REPLY_EXPECTED, ":1.5", ":1.6", "/m org.x.Mail.Go", &());
    let capture = recording.wait_ms(5).fact(left(":1.5")).capture();
    let call = capture.messages().next().expect("a call");
    assert_eq!((call.outcome(), call.waited()), (Some(NoReplyExpected), None));
}

#[test]
fn messages_without_times_have_no_durations() {
    let mut recording = Recording::new();
    recording.bus(Bus { clock: Clock::Absent, ..Bus::default() });
    let call = recording.call(":1.5", ":1.6", "/m org.x.Mail.Get", &());
    recording.reply(&call, ":1.6", &()).call(":1.5", ":1.6", "/m org.x.Mail.Get", &());
    let capture = recording.capture();
    assert!(capture.messages().all(|message| message.duration().is_none()));
    assert!(capture.messages().all(|message| message.waited().is_none()));
}

/// A caller gives up after two seconds, and its service leaves two seconds later.
fn given_up() -> Capture {
    let mut recording = Recording::new();
    recording.process(":1.5", 42, "gdbus").owner("org.x.Slow", ":1.6");
    recording.call(":1.5", "org.x.Slow", "/s org.x.Slow.Never", &());
    recording.wait_ms(2000).owner_changed(":1.5", ":1.5", "");
    recording.wait_ms(1800).owner_changed(":1.6", ":1.6", "");
    recording.wait_ms(9000).signal(":1.9", "/ a.B.C", &());
    recording.capture()
}

#[test]
fn a_call_whose_caller_gave_up_is_in_every_table_with_its_waiting_time() {
    let capture = given_up();
    let calls = slowest(&capture, |_| true, 10);
    assert_eq!(
        slowest_table(&calls).to_csv().lines().nth(1),
        Some("1,gdbus,org.x.Slow.Never,org.x.Slow,2000000000,,,,████████████████,caller left")
    );
    assert_eq!(
        blocked_table(&blocked(&capture, |_| true)).to_csv().lines().nth(1),
        Some("gdbus,org.x.Slow.Never,org.x.Slow,1,2000000000,2000000000,1")
    );
    let rows = replies(&capture, |_| true).to_csv();
    let row = "1,caller left,2000000000,gdbus (:1.5),org.x.Slow,org.x.Slow.Never";
    assert_eq!(rows.lines().nth(1), Some(row));
    let mut groups = Groups::new(&capture, By::Member);
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

/// The unique name of the connection that the first message went to.
fn callee(capture: &Capture) -> Option<&str> {
    let call = capture.messages().next().expect("a call");
    call.to().map(|peer| capture.strings().get(capture.directory().peer(peer).unique))
}

#[test]
fn a_held_call_goes_to_the_connection_that_takes_the_name() {
    let mut recording = Recording::new();
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
fn a_call_to_a_name_that_nobody_takes_has_no_callee() {
    let mut recording = Recording::new();
    let call = recording.call(":1.5", "org.x.Late", "/l org.x.Late.Get", &());
    recording.wait_ms(20).error(&call, DRIVER, TIMED_OUT, "Failed to activate service");
    recording.wait_ms(5).owner_changed("org.x.Late", "", ":1.7");
    assert_eq!(callee(&recording.capture()), None);
}

#[test]
fn the_bus_is_the_callee_of_calls_to_its_own_name_only() {
    let mut recording = Recording::new();
    recording.ask_bus(":1.5", "GetId", &(), &("abc",));
    assert_eq!(callee(&recording.capture()), Some(DRIVER));
}

#[test]
fn a_traced_call_goes_to_the_connection_that_the_bus_delivered_it_to() {
    let mut recording = Recording::new();
    let call = recording.call(":1.5", "org.x.Late", "/l org.x.Late.Get", &());
    recording.delivered(10, &[(3, 30, 0)]).wait_ms(1);
    recording.error(&call, DRIVER, NO_REPLY, DISCONNECTED);
    recording.signal(":1.3", "/ a.B.C", &());
    assert_eq!(callee(&recording.capture()), Some(":1.3"));
}

#[test]
fn cut_headers_make_outcomes_unknown_and_not_unanswered() {
    let mut recording = Recording::new();
    let call = recording.call(":1.5", ":1.6", "/m org.x.Mail.Get", &());
    recording.wait_ms(1).reply(&call, ":1.6", &()).cut(16);
    recording.call(":1.5", ":1.6", "/m org.x.Mail.Get", &());
    recording.cut(60);
    let capture = recording.capture();
    let mut summary = Summary::default();
    capture.messages().for_each(|message| summary.add(&message));
    summary.add_loose(&capture, |_| true);
    assert_eq!((summary.unanswered, summary.unknown_outcome), (0, 2));
    assert_eq!((summary.orphans, summary.unknown_call), (0, 1));
    assert!(slowest(&capture, |_| true, 10).is_empty());
}

#[test]
fn a_reply_whose_caller_was_cut_is_not_paired_by_its_serial_alone() {
    let mut recording = Recording::new();
    let call = recording.call(":1.5", ":1.6", "/m org.x.Mail.Get", &());
    recording.cut(16);
    recording.wait_ms(1).reply(&call, ":1.6", &()).cut(40);
    let capture = recording.capture();
    assert!(capture.messages().all(|message| message.partner().is_none()));
}
