//! Match rules: which ones the bus accepts, and the messages that each selects.

use conformance::{BusUnderTest, PlainMessage, PlainValue, check_all, eventually, field, kind};

/// Results of RequestName for the owner.
const PRIMARY: u32 = 1;
const ALREADY: u32 = 4;

/// The expected result for a valid rule: no error.
const OK: &str = "";
const INVALID: &str = "MatchRuleInvalid";
const LIMIT: &str = "LimitsExceeded";

#[rustfmt::skip]
const RULES: &[(&str, &str)] = &[
    ("", OK),
    ("type='signal'", OK),
    ("type='method_call'", OK),
    ("type='method_return'", OK),
    ("type='error'", OK),
    ("type=signal", OK),
    (" type = 'signal' ", INVALID),
    (" type='signal', member='M'", OK),
    ("type='signal',", OK),
    (",type='signal'", INVALID),
    ("type='signal',,member='M'", INVALID),
    ("type='sig''nal'", OK),
    ("member='a", INVALID),
    ("type='nonsense'", INVALID),
    ("type", INVALID),
    ("type=", INVALID),
    ("nonsense='x'", INVALID),
    ("type='signal',type='signal'", INVALID),
    ("sender='com.example.A'", OK),
    ("sender=':1.5'", OK),
    ("sender='org.freedesktop.DBus'", OK),
    ("sender='nodots'", INVALID),
    ("sender=''", INVALID),
    ("destination='com.example.A'", OK),
    ("destination='no dots'", INVALID),
    ("interface='com.example.I'", OK),
    ("interface='nodots'", INVALID),
    ("member='M'", OK),
    ("member='a.b'", INVALID),
    ("path='/a/b'", OK),
    ("path='/'", OK),
    ("path='/a/'", INVALID),
    ("path='a'", INVALID),
    ("path_namespace='/a'", OK),
    ("path_namespace='/'", OK),
    ("path_namespace='/a/'", INVALID),
    ("path='/a',path_namespace='/a'", INVALID),
    ("arg0='x'", OK),
    ("arg0=''", OK),
    ("arg63='x'", OK),
    ("arg64='x'", INVALID),
    ("arg99999999999='x'", INVALID),
    ("arg='x'", INVALID),
    ("arg0='x',arg0='y'", INVALID),
    ("arg0='x',arg0path='/y'", INVALID),
    ("arg0path='/a/'", OK),
    ("arg5path='not/a/path'", OK),
    ("arg0namespace='com.example'", OK),
    ("arg0namespace='com'", OK),
    ("arg0namespace='com.'", INVALID),
    ("arg1namespace='com.example'", INVALID),
    ("arg0nonsense='x'", INVALID),
    ("eavesdrop='true'", OK),
    ("eavesdrop='false'", OK),
    ("eavesdrop='maybe'", INVALID),
];

#[test]
fn rules_that_are_taken() {
    let bus = BusUnderTest::session();
    let long = |length: usize| format!("arg0='{}'", "x".repeat(length - "arg0=''".len()));
    let mut rows: Vec<_> = RULES.iter().map(|(rule, says)| ((*rule).to_owned(), *says)).collect();
    rows.push((long(1024), OK));
    rows.push((long(1025), LIMIT));
    check_all(
        &rows,
        |(rule, _)| rule.clone(),
        |(rule, says)| {
            let mut peer = bus.peer();
            let reply = peer.ask_bus("AddMatch", rule);
            assert_eq!(reply.error_name(), *says, "{}", reply.summary());
            let removed = peer.ask_bus("RemoveMatch", rule);
            assert_eq!(removed.error_name().is_empty(), says.is_empty(), "{}", removed.summary());
        },
    );
    bus.stop();
}

/// The signals for the rules; the sender also owns `com.example.Sender`.
fn plain() -> PlainMessage {
    PlainMessage::signal("/a/b", "com.example.I", "M")
}

fn with(argument: PlainValue) -> PlainMessage {
    plain().arg(argument)
}

fn text(argument: &str) -> PlainMessage {
    with(PlainValue::text(argument))
}

fn path(argument: &str) -> PlainMessage {
    with(PlainValue::Path(argument.to_owned()))
}

fn root() -> PlainMessage {
    PlainMessage::signal("/", "com.example.I", "M")
}

struct MatchCase(&'static str, fn() -> PlainMessage, bool);

#[rustfmt::skip]
const SELECTS: &[MatchCase] = &[
    MatchCase("", plain, true),
    MatchCase("type='signal'", plain, true),
    MatchCase("type='method_call'", plain, false),
    MatchCase("type='error'", plain, false),
    MatchCase("sender='com.example.Sender'", plain, true),
    MatchCase("sender='com.example.Other'", plain, false),
    MatchCase("sender='org.freedesktop.DBus'", plain, false),
    MatchCase("interface='com.example.I'", plain, true),
    MatchCase("interface='com.example.J'", plain, false),
    MatchCase("member='M'", plain, true),
    MatchCase("member='N'", plain, false),
    MatchCase("interface='com.example.I',member='M',path='/a/b',sender='com.example.Sender'", plain, true),
    MatchCase("interface='com.example.I',member='M',path='/a/c'", plain, false),
    MatchCase("destination='com.example.Sender'", plain, false),
    MatchCase("path='/a/b'", plain, true),
    MatchCase("path='/a'", plain, false),
    MatchCase("path='/a/b/c'", plain, false),
    MatchCase("path_namespace='/a/b'", plain, true),
    MatchCase("path_namespace='/a'", plain, true),
    MatchCase("path_namespace='/'", plain, true),
    MatchCase("path_namespace='/'", root, true),
    MatchCase("path_namespace='/a/b/c'", plain, false),
    MatchCase("path_namespace='/a'", || PlainMessage::signal("/aa", "com.example.I", "M"), false),
    MatchCase("arg0='x'", || text("x"), true),
    MatchCase("arg0='x'", || text("xx"), false),
    MatchCase("arg0='x'", plain, false),
    MatchCase("arg0=''", || text(""), true),
    MatchCase("arg0=''", plain, false),
    MatchCase("arg0='/x'", || path("/x"), false),
    MatchCase("arg0='1'", || with(PlainValue::U32(1)), false),
    MatchCase("arg1='y'", || text("x").arg(PlainValue::text("y")), true),
    MatchCase("arg1='y'", || with(PlainValue::U32(1)).arg(PlainValue::text("y")), true),
    MatchCase("arg1='y'", || with(PlainValue::texts(&["x", "y"])).arg(PlainValue::text("y")), true),
    MatchCase("arg0='x',arg1='y'", || text("x").arg(PlainValue::text("z")), false),
    MatchCase("arg0='it'\\''s'", || text("it's"), true),
    MatchCase("arg0='a,b'", || text("a,b"), true),
    MatchCase("arg0=a\\b", || text("a\\b"), true),
    MatchCase("arg0path='/a/'", || path("/a/b"), true),
    MatchCase("arg0path='/a/'", || text("/a/b"), true),
    MatchCase("arg0path='/a/'", || text("/a/"), true),
    MatchCase("arg0path='/a/'", || text("/a"), false),
    MatchCase("arg0path='/a/b'", || text("/a/"), true),
    MatchCase("arg0path='/a/b'", || path("/"), true),
    MatchCase("arg0path='/a/b'", || text("/a/b"), true),
    MatchCase("arg0path='/a/b'", || text("/a/bc"), false),
    MatchCase("arg0path='/a'", || text("/a/b"), false),
    MatchCase("arg0path='/'", || text("anything"), false),
    MatchCase("arg0namespace='com.example'", || text("com.example"), true),
    MatchCase("arg0namespace='com.example'", || text("com.example.A"), true),
    MatchCase("arg0namespace='com.example'", || text("com.examples"), false),
    MatchCase("arg0namespace='com.example'", || text("com"), false),
    MatchCase("arg0namespace='com'", || text("com.example"), true),
    MatchCase("arg0namespace='com'", || path("/com"), false),
];

#[test]
fn rules_select_messages_by_their_keys() {
    let bus = BusUnderTest::session();
    check_all(
        SELECTS,
        |row| format!("{:?} on {:?}", row.0, (row.1)().body),
        |row| {
            let [mut sender, mut listener] = [bus.peer(), bus.peer()];
            // The sender of the previous row may not have disconnected completely.
            eventually("the name", || {
                let result = sender.request_name("com.example.Sender", 0);
                matches!(result, PRIMARY | ALREADY).then_some(())
            });
            let _ = sender.collect();
            listener.add_match(row.0);
            let serial = sender.send((row.1)());
            assert!(sender.is_alive());
            let got = listener.collect();
            let from_it = got.iter().filter(|found| found.sender() == sender.name());
            let serials: Vec<_> = from_it.map(|found| found.serial).collect();
            assert_eq!(serials, vec![serial; usize::from(row.2)], "serials of what was selected");
        },
    );
    bus.stop();
}

/// A rule can select by the unique name of the sender; the owners of names are those at the time of
/// sending.
#[test]
fn rules_select_the_current_owner_of_a_sender() {
    let bus = BusUnderTest::session();
    let [mut sender, mut listener] = [bus.peer(), bus.peer()];
    listener.add_match(&format!("type='signal',member='M',sender='{}'", sender.name()));
    sender.send(plain());
    assert!(sender.is_alive());
    assert_eq!(listener.collect().len(), 1);
    let mut other = bus.peer();
    other.add_match("type='signal',member='M',sender='com.example.Late'");
    sender.send(plain());
    sender.request_name("com.example.Late", 0);
    sender.send(plain().arg(PlainValue::U32(2)));
    assert!(sender.is_alive());
    let received: Vec<_> = other.collect().into_iter().map(|found| found.body).collect();
    assert_eq!(received, [vec![PlainValue::U32(2)]]);
    bus.stop();
}

/// Rules are counted, and a client gets one copy, however many of its rules match.
#[test]
fn a_client_gets_one_copy_however_many_rules_match() {
    let bus = BusUnderTest::session();
    let [mut sender, mut listener] = [bus.peer(), bus.peer()];
    for rule in ["type='signal'", "type='signal'", "member='M'"] {
        listener.add_match(rule);
    }
    for (remove, copies) in [("", 1), ("type='signal'", 1), ("type='signal'", 1), ("member='M'", 0)]
    {
        if !remove.is_empty() {
            assert_eq!(listener.ask_bus("RemoveMatch", remove).error_name(), "");
        }
        sender.send(plain());
        assert!(sender.is_alive());
        assert_eq!(listener.collect().len(), copies, "after removing {remove:?}");
    }
    assert_eq!(listener.ask_bus("RemoveMatch", "member='M'").error_name(), "MatchRuleNotFound");
    bus.stop();
}

/// A rule is removed by its meaning, even if it is written differently.
#[test]
fn rules_are_removed_by_meaning() {
    let bus = BusUnderTest::session();
    let mut peer = bus.peer();
    peer.add_match("type='signal',member='M'");
    assert_eq!(peer.ask_bus("RemoveMatch", "member=M, type=signal").error_name(), "");
    bus.stop();
}

/// A message with a destination goes to that peer, with or without a rule, and to eavesdroppers.
#[test]
fn unicast_messages_reach_only_their_destination_and_eavesdroppers() {
    let bus = BusUnderTest::session();
    let [mut sender, mut addressed, mut listener, mut eavesdropper] = [(); 4].map(|()| bus.peer());
    addressed.add_match("member='M'");
    listener.add_match("member='M'");
    eavesdropper.add_match("eavesdrop='true',member='M'");
    sender.send(plain().text(field::DESTINATION, addressed.name()));
    assert!(sender.is_alive());
    let counts =
        [&mut addressed, &mut listener, &mut eavesdropper].map(|peer| peer.collect().len());
    assert_eq!(counts, [1, 0, 1]);
    bus.stop();
}

/// A sender gets its own broadcast if one of its rules matches.
#[test]
fn senders_get_their_own_broadcasts_if_a_rule_matches() {
    let bus = BusUnderTest::session();
    let mut peer = bus.peer();
    peer.send(plain());
    assert_eq!(peer.collect().len(), 0);
    peer.add_match("member='M'");
    peer.send(plain());
    assert_eq!(peer.collect().len(), 1);
    bus.stop();
}

/// The bus may remove a rule about a unique name when that client disconnects, because unique names
/// are never reused. Other rules of the subscriber stay.
#[test]
fn rules_for_disconnected_clients_do_not_affect_other_rules() {
    let bus = BusUnderTest::session();
    let mut listener = bus.peer();
    let gone = bus.peer();
    let rule = format!("sender='{}'", gone.name());
    listener.add_match(&rule);
    listener.add_match("member='NameOwnerChanged'");
    drop(gone);
    assert_eq!(listener.receive().map(|found| found.kind), Some(kind::SIGNAL));
    let reply = listener.ask_bus("RemoveMatch", &rule);
    assert!(["", "MatchRuleNotFound"].contains(&reply.error_name()), "{}", reply.summary());
    let reply = listener.ask_bus("RemoveMatch", "member='NameOwnerChanged'");
    assert_eq!(reply.error_name(), "");
    bus.stop();
}
