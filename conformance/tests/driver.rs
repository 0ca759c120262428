//! The object of the bus: every method and property, with valid and invalid arguments.

use conformance::{
    BUS_NAME, BUS_PATH, BusUnderTest, PlainMessage, PlainValue, RunAs, TestPeer, WireByteOrder,
    check_all, fail_with, field, flag, kind, signature_of,
};

/// The expected result of a call.
enum Gives {
    /// An error with this name, without the usual prefix.
    Error(&'static str),
    /// A return without arguments.
    Nothing,
    /// A return with exactly this value.
    Value(fn() -> PlainValue),
    /// A return with any values of this signature.
    Signature(&'static str),
}

struct DriverCase {
    name: &'static str,
    call: fn() -> PlainMessage,
    gives: Gives,
}

const fn row(name: &'static str, call: fn() -> PlainMessage, gives: Gives) -> DriverCase {
    DriverCase { name, call, gives }
}

const fn fails(name: &'static str, call: fn() -> PlainMessage, error: &'static str) -> DriverCase {
    DriverCase { name, call, gives: Gives::Error(error) }
}

fn request(name: &str, flags: u32) -> PlainMessage {
    PlainMessage::asking("RequestName", name).arg(PlainValue::U32(flags))
}

fn at(path: &str, interface: &str, member: &str) -> PlainMessage {
    PlainMessage::call(BUS_NAME, path, interface, member)
}

fn property(member: &str, interface: &str) -> PlainMessage {
    at(BUS_PATH, PROPERTIES, member).arg(PlainValue::text(interface))
}

fn get(interface: &str, name: &str) -> PlainMessage {
    property("Get", interface).arg(PlainValue::text(name))
}

fn set(interface: &str, name: &str) -> PlainMessage {
    property("Set", interface)
        .arg(PlainValue::text(name))
        .arg(PlainValue::variant(PlainValue::U32(1)))
}

fn environment() -> PlainValue {
    let entry = PlainValue::Entry(Box::new(PlainValue::text("A")), Box::new(PlainValue::text("b")));
    PlainValue::Array("{ss}".into(), vec![entry])
}

fn monitor(path: &str, flags: u32) -> PlainMessage {
    let rules = PlainValue::Array("s".into(), Vec::new());
    at(path, MONITORING, "BecomeMonitor").arg(rules).arg(PlainValue::U32(flags))
}

const PROPERTIES: &str = "org.freedesktop.DBus.Properties";
const INTROSPECTABLE: &str = "org.freedesktop.DBus.Introspectable";
const PEER: &str = "org.freedesktop.DBus.Peer";
const MONITORING: &str = "org.freedesktop.DBus.Monitoring";
const STATS: &str = "org.freedesktop.DBus.Debug.Stats";
const NOBODY: &str = "com.example.Nobody";

/// Each call comes from a new client on the same bus.
#[rustfmt::skip]
const CALLS: &[DriverCase] = &[
    // Errors in finding a method.
    fails("an unknown member", || PlainMessage::to_bus("Nonsense"), "UnknownMethod"),
    fails("an unknown member without an interface", || PlainMessage::to_bus("Nonsense").without(field::INTERFACE), "UnknownMethod"),
    fails("an unknown interface", || at(BUS_PATH, "com.example.None", "GetId"), "UnknownInterface"),
    fails("a member of another interface", || at(BUS_PATH, PEER, "GetId"), "UnknownMethod"),
    row("a method without an interface", || PlainMessage::to_bus("GetId").without(field::INTERFACE), Gives::Signature("s")),
    row("any object will do", || at("/any/object", BUS_NAME, "GetId"), Gives::Signature("s")),
    row("the interface left out, the member of a later one", || PlainMessage::to_bus("GetMachineId").without(field::INTERFACE), Gives::Signature("s")),
    row("big-endian", || PlainMessage::asking("NameHasOwner", BUS_NAME).order(WireByteOrder::Big), Gives::Value(|| PlainValue::Bool(true))),
    // Errors in the arguments.
    fails("an argument too few", || PlainMessage::to_bus("GetNameOwner"), "InvalidArgs"),
    fails("an argument too many", || PlainMessage::asking("ListNames", ""), "InvalidArgs"),
    fails("an argument of another type", || PlainMessage::to_bus("GetNameOwner").arg(PlainValue::U32(1)), "InvalidArgs"),
    fails("Hello again", || PlainMessage::to_bus("Hello"), "Failed"),
    // Well-known and unique names.
    row("ListNames", || PlainMessage::to_bus("ListNames"), Gives::Signature("as")),
    row("ListActivatableNames", || PlainMessage::to_bus("ListActivatableNames"), Gives::Value(|| PlainValue::texts(&[BUS_NAME]))),
    row("NameHasOwner, the bus", || PlainMessage::asking("NameHasOwner", BUS_NAME), Gives::Value(|| PlainValue::Bool(true))),
    row("NameHasOwner, nobody", || PlainMessage::asking("NameHasOwner", NOBODY), Gives::Value(|| PlainValue::Bool(false))),
    row("NameHasOwner, no name", || PlainMessage::asking("NameHasOwner", "no name!"), Gives::Value(|| PlainValue::Bool(false))),
    row("GetNameOwner, the bus", || PlainMessage::asking("GetNameOwner", BUS_NAME), Gives::Value(|| PlainValue::text(BUS_NAME))),
    fails("GetNameOwner, nobody", || PlainMessage::asking("GetNameOwner", NOBODY), "NameHasNoOwner"),
    fails("GetNameOwner, nobody unique", || PlainMessage::asking("GetNameOwner", ":1.999"), "NameHasNoOwner"),
    fails("GetNameOwner, no name", || PlainMessage::asking("GetNameOwner", "no name!"), "NameHasNoOwner"),
    row("ListQueuedOwners, the bus", || PlainMessage::asking("ListQueuedOwners", BUS_NAME), Gives::Value(|| PlainValue::texts(&[BUS_NAME]))),
    fails("ListQueuedOwners, nobody", || PlainMessage::asking("ListQueuedOwners", NOBODY), "NameHasNoOwner"),
    fails("RequestName, no dot", || request("name", 0), "InvalidArgs"),
    fails("RequestName, empty", || request("", 0), "InvalidArgs"),
    fails("RequestName, empty element", || request("com..example", 0), "InvalidArgs"),
    fails("RequestName, dot first", || request(".com.example", 0), "InvalidArgs"),
    fails("RequestName, dot last", || request("com.example.", 0), "InvalidArgs"),
    fails("RequestName, digit first", || request("com.1example", 0), "InvalidArgs"),
    fails("RequestName, a space", || request("com.exa mple", 0), "InvalidArgs"),
    fails("RequestName, not ASCII", || request("com.exämple", 0), "InvalidArgs"),
    fails("RequestName, a unique name", || request(":1.999", 0), "InvalidArgs"),
    fails("RequestName, the bus", || request(BUS_NAME, 0), "InvalidArgs"),
    fails("RequestName, 256 bytes", || request(&long_name(256), 0), "InvalidArgs"),
    row("RequestName, 255 bytes", || request(&long_name(255), 0), Gives::Value(|| PlainValue::U32(1))),
    row("RequestName, a dash and an underscore", || request("com.my-example._1", 0), Gives::Value(|| PlainValue::U32(1))),
    row("RequestName, flags of the future", || request("com.example.Flags", 0xfff8), Gives::Value(|| PlainValue::U32(1))),
    fails("ReleaseName, no name", || PlainMessage::asking("ReleaseName", "name"), "InvalidArgs"),
    fails("ReleaseName, a unique name", || PlainMessage::asking("ReleaseName", ":1.0"), "InvalidArgs"),
    fails("ReleaseName, the bus", || PlainMessage::asking("ReleaseName", BUS_NAME), "InvalidArgs"),
    row("ReleaseName, nobody", || PlainMessage::asking("ReleaseName", NOBODY), Gives::Value(|| PlainValue::U32(2))),
    fails("StartServiceByName, nobody", || PlainMessage::asking("StartServiceByName", NOBODY).arg(PlainValue::U32(0)), "ServiceUnknown"),
    fails("StartServiceByName, the bus", || PlainMessage::asking("StartServiceByName", BUS_NAME).arg(PlainValue::U32(0)), "ServiceUnknown"),
    // Credentials and other data of connections.
    row("GetConnectionUnixUser, the bus", || PlainMessage::asking("GetConnectionUnixUser", BUS_NAME), Gives::Signature("u")),
    fails("GetConnectionUnixUser, nobody", || PlainMessage::asking("GetConnectionUnixUser", NOBODY), "NameHasNoOwner"),
    row("GetConnectionUnixProcessID, the bus", || PlainMessage::asking("GetConnectionUnixProcessID", BUS_NAME), Gives::Signature("u")),
    fails("GetConnectionUnixProcessID, nobody", || PlainMessage::asking("GetConnectionUnixProcessID", NOBODY), "NameHasNoOwner"),
    row("GetConnectionCredentials, the bus", || PlainMessage::asking("GetConnectionCredentials", BUS_NAME), Gives::Signature("a{sv}")),
    fails("GetConnectionCredentials, nobody", || PlainMessage::asking("GetConnectionCredentials", NOBODY), "NameHasNoOwner"),
    fails("GetAdtAuditSessionData, the bus", || PlainMessage::asking("GetAdtAuditSessionData", BUS_NAME), "AdtAuditDataUnknown"),
    fails("GetAdtAuditSessionData, nobody", || PlainMessage::asking("GetAdtAuditSessionData", NOBODY), "NameHasNoOwner"),
    fails("GetConnectionSELinuxSecurityContext, nobody", || PlainMessage::asking("GetConnectionSELinuxSecurityContext", NOBODY), "NameHasNoOwner"),
    row("GetId", || PlainMessage::to_bus("GetId"), Gives::Signature("s")),
    row("ReloadConfig", || PlainMessage::to_bus("ReloadConfig"), Gives::Nothing),
    // The environment of activated services.
    row("UpdateActivationEnvironment", || PlainMessage::to_bus("UpdateActivationEnvironment").arg(environment()), Gives::Nothing),
    fails("UpdateActivationEnvironment, another object", || at("/", BUS_NAME, "UpdateActivationEnvironment").arg(environment()), "AccessDenied"),
    fails("UpdateActivationEnvironment, no entries", || PlainMessage::to_bus("UpdateActivationEnvironment").arg(PlainValue::texts(&[])), "InvalidArgs"),
    // Properties of the bus object.
    row("Get Features", || get(BUS_NAME, "Features"), Gives::Signature("v")),
    row("Get Interfaces", || get(BUS_NAME, "Interfaces"), Gives::Signature("v")),
    row("GetAll", || property("GetAll", BUS_NAME), Gives::Signature("a{sv}")),
    row("GetAll of an interface without properties", || property("GetAll", PEER), Gives::Signature("a{sv}")),
    fails("Get, an unknown property", || get(BUS_NAME, "Nonsense"), "UnknownProperty"),
    fails("Get, an unknown interface", || get("com.example.None", "Features"), "UnknownInterface"),
    fails("GetAll, an unknown interface", || property("GetAll", "com.example.None"), "UnknownInterface"),
    fails("Get, another object", || at("/", PROPERTIES, "Get").arg(PlainValue::text(BUS_NAME)).arg(PlainValue::text("Features")), "UnknownInterface"),
    fails("Set", || set(BUS_NAME, "Features"), "PropertyReadOnly"),
    fails("Set, an unknown property", || set(BUS_NAME, "Nonsense"), "UnknownProperty"),
    fails("Set, an unknown interface", || set("com.example.None", "Features"), "UnknownInterface"),
    // The interfaces Peer and Introspectable.
    row("Ping", || at(BUS_PATH, PEER, "Ping"), Gives::Nothing),
    row("Ping, any object", || at("/any/object", PEER, "Ping"), Gives::Nothing),
    fails("Ping, an argument", || at(BUS_PATH, PEER, "Ping").arg(PlainValue::U32(1)), "InvalidArgs"),
    row("GetMachineId", || at("/", PEER, "GetMachineId"), Gives::Signature("s")),
    row("Introspect", || at(BUS_PATH, INTROSPECTABLE, "Introspect"), Gives::Signature("s")),
    row("Introspect, the root", || at("/", INTROSPECTABLE, "Introspect"), Gives::Signature("s")),
    row("Introspect, any object", || at("/any/object", INTROSPECTABLE, "Introspect"), Gives::Signature("s")),
    // Calls without a destination.
    row("Ping, no destination", || at(BUS_PATH, PEER, "Ping").without(field::DESTINATION), Gives::Nothing),
    row("GetMachineId, no destination", || at("/x", PEER, "GetMachineId").without(field::DESTINATION), Gives::Signature("s")),
    fails("GetId, no destination", || PlainMessage::to_bus("GetId").without(field::DESTINATION), "UnknownMethod"),
    fails("anything, no destination", || at("/x", "com.example.X", "Y").without(field::DESTINATION), "UnknownMethod"),
    // Privileged and debugging methods.
    fails("BecomeMonitor, flags", || monitor(BUS_PATH, 1), "InvalidArgs"),
    fails("BecomeMonitor, another object", || monitor("/", 0), "UnknownInterface"),
    fails("BecomeMonitor, a broken rule", || at(BUS_PATH, MONITORING, "BecomeMonitor").arg(PlainValue::texts(&["nonsense"])).arg(PlainValue::U32(0)), "MatchRuleInvalid"),
    row("GetStats", || at(BUS_PATH, STATS, "GetStats"), Gives::Signature("a{sv}")),
    fails("GetStats, another object", || at("/", STATS, "GetStats"), "UnknownInterface"),
    row("GetAllMatchRules", || at(BUS_PATH, STATS, "GetAllMatchRules"), Gives::Signature("a{sas}")),
    fails("GetConnectionStats, nobody", || at(BUS_PATH, STATS, "GetConnectionStats").arg(PlainValue::text(NOBODY)), "NameHasNoOwner"),
    fails("GetConnectionStats, the bus", || at(BUS_PATH, STATS, "GetConnectionStats").arg(PlainValue::text(BUS_NAME)), "InvalidArgs"),
    // Adding and removing match rules.
    fails("RemoveMatch, never added", || PlainMessage::asking("RemoveMatch", "type='signal'"), "MatchRuleNotFound"),
    fails("RemoveMatch, broken", || PlainMessage::asking("RemoveMatch", "nonsense"), "MatchRuleInvalid"),
    // Calls to names without an owner.
    fails("a call to nobody", || PlainMessage::call(NOBODY, "/x", "com.example.X", "Y"), "ServiceUnknown"),
    fails("a call to nobody, not to be started", || PlainMessage::call(NOBODY, "/x", "com.example.X", "Y").flags(flag::NO_AUTO_START), "NameHasNoOwner"),
    fails("a call to nobody unique", || PlainMessage::call(":1.999", "/x", "com.example.X", "Y"), "ServiceUnknown"),
];

#[test]
fn calls() {
    let bus = BusUnderTest::session();
    check_all(
        CALLS,
        |row| row.name.to_owned(),
        |row| {
            let mut peer = bus.peer();
            let call = (row.call)();
            let reply = peer.call(call);
            assert_gives(&row.gives, &reply);
            let from_bus = !row.name.contains("no destination");
            assert!(!from_bus || reply.sender() == BUS_NAME, "the sender is {:?}", reply.sender());
            let to = reply.get(field::DESTINATION).and_then(PlainValue::as_str);
            assert!(!from_bus || to == Some(peer.name()), "the destination is {to:?}");
            assert_ne!(reply.serial, 0);
            assert!(peer.is_alive());
        },
    );
    bus.stop();
}

/// A call with NO_REPLY_EXPECTED gets no reply if the bus has no result to return. dbus-daemon
/// replies to some of these calls, which the specification allows.
#[test]
fn calls_without_expected_reply_get_none_for_empty_results() {
    let bus = BusUnderTest::session();
    let mut peer = bus.peer();
    let calls = [
        at("/", PEER, "Ping"),
        PlainMessage::asking("AddMatch", "type='signal'"),
        PlainMessage::asking("RemoveMatch", "type='signal'"),
        PlainMessage::to_bus("UpdateActivationEnvironment").arg(environment()),
    ];
    for call in calls {
        let serial = peer.send(call.flags(flag::NO_REPLY_EXPECTED));
        let answers = peer.collect();
        let to_it = answers.iter().filter(|found| found.reply_serial() == Some(serial));
        assert_eq!(to_it.count(), 0, "call {serial}");
    }
    bus.stop();
}

/// Signals, returns and errors that are sent to the bus are accepted and ignored.
#[test]
fn messages_to_the_bus_other_than_calls_are_ignored() {
    let bus = BusUnderTest::session();
    let mut peer = bus.peer();
    let to_bus = |message: PlainMessage| message.text(field::DESTINATION, BUS_NAME);
    let signal = to_bus(PlainMessage::signal("/x", "com.example.X", "Y"));
    let reply =
        to_bus(PlainMessage::new(kind::RETURN).field(field::REPLY_SERIAL, PlainValue::U32(77)));
    let error = reply.clone().text(field::ERROR_NAME, "com.example.Error");
    let error = PlainMessage { kind: kind::ERROR, ..error };
    for message in [signal, reply, error] {
        let serial = peer.send(message);
        let answers = peer.collect();
        let to_it = answers.iter().filter(|found| found.reply_serial() == Some(serial));
        assert_eq!(to_it.map(PlainMessage::summary).collect::<Vec<_>>(), Vec::<String>::new());
    }
    bus.stop();
}

#[test]
fn values_that_can_be_known() {
    let mut bus = BusUnderTest::session();
    let bus_pid = bus.process().id();
    let (ours, uid) = (std::process::id(), RunAs::own_uid());
    let mut peer = bus.peer();
    let name = peer.name().to_owned();
    assert!(name.starts_with(":1."), "some clients know no other form: {name}");
    let number = |peer: &mut TestPeer, member, of: &str| peer.ask_bus(member, of).first_u32();
    assert_eq!(number(&mut peer, "GetConnectionUnixUser", &name), Some(uid));
    assert_eq!(number(&mut peer, "GetConnectionUnixUser", BUS_NAME), Some(uid));
    assert_eq!(number(&mut peer, "GetConnectionUnixProcessID", &name), Some(ours));
    assert_eq!(number(&mut peer, "GetConnectionUnixProcessID", BUS_NAME), Some(bus_pid));
    for (of, pid) in [(name.as_str(), ours), (BUS_NAME, bus_pid)] {
        let reply = peer.ask_bus("GetConnectionCredentials", of);
        let entries = reply.body[0].entries().expect("a dictionary");
        assert_eq!(entries.get("UnixUserID"), Some(&&PlainValue::U32(uid)), "{of}");
        assert_eq!(entries.get("ProcessID"), Some(&&PlainValue::U32(pid)), "{of}");
        // dbus-daemon omits its own groups.
        let groups = entries.get("UnixGroupIDs").and_then(|groups| groups.elements());
        assert!(groups.is_some() || of == BUS_NAME, "the groups of a client");
        let groups = groups.unwrap_or_default().iter().filter_map(PlainValue::as_u32);
        assert!(groups.is_sorted(), "{of}: in ascending order");
    }
    let id = peer.call(PlainMessage::to_bus("GetId"));
    assert!(id.first_text().len() == 32 && !bus.address().contains(id.first_text()));
    bus.stop();
}

/// The statistics have the keys that the specification lists.
#[test]
fn statistics_have_the_keys_of_the_specification() {
    let bus = BusUnderTest::session();
    let mut peer = bus.peer();
    peer.add_match("type='signal',member='A'");
    peer.request_name("com.example.Stats", 0);
    let stats = peer.call(at(BUS_PATH, STATS, "GetStats"));
    let entries = stats.body[0].entries().expect("a dictionary");
    let missing = STATS_KEYS.iter().filter(|key| !entries.contains_key(**key));
    fail_with("keys of GetStats", &missing.collect::<Vec<_>>());
    assert_eq!(entries["ActiveConnections"], &PlainValue::U32(1));
    assert_eq!(entries["MatchRules"], &PlainValue::U32(1));
    assert_eq!(entries["BusNames"], &PlainValue::U32(2), "the unique one and the other");

    let call = at(BUS_PATH, STATS, "GetConnectionStats").arg(PlainValue::text("com.example.Stats"));
    let stats = peer.call(call);
    let entries = stats.body[0].entries().expect("a dictionary");
    let missing = CONNECTION_KEYS.iter().filter(|key| !entries.contains_key(**key));
    fail_with("keys of GetConnectionStats", &missing.collect::<Vec<_>>());
    assert_eq!(entries["UniqueName"], &PlainValue::text(peer.name()));
    assert_eq!(entries["MatchRules"], &PlainValue::U32(1));

    let other = bus.peer();
    let rules = peer.call(at(BUS_PATH, STATS, "GetAllMatchRules"));
    let rules = rules.body[0].elements().expect("a dictionary").to_vec();
    let of = |name: &str, rules: &[&str]| {
        PlainValue::Entry(Box::new(PlainValue::text(name)), Box::new(PlainValue::texts(rules)))
    };
    assert!(rules.contains(&of(peer.name(), &["type='signal',member='A'"])), "{rules:?}");
    assert!(rules.contains(&of(other.name(), &[])), "{rules:?}");
    bus.stop();
}

/// Method returns, errors and signals of the bus have the flag NO_REPLY_EXPECTED.
#[test]
fn messages_of_the_bus_expect_no_reply() {
    let bus = BusUnderTest::session();
    let mut peer = bus.peer();
    peer.add_match("type='signal'");
    let (reply, signals) = peer.call_and_collect(request("com.example.Flags", 0));
    for message in signals.iter().chain([&reply]) {
        assert_ne!(message.flags & flag::NO_REPLY_EXPECTED, 0, "{}", message.summary());
    }
    assert!(!signals.is_empty());
    bus.stop();
}

fn assert_gives(gives: &Gives, reply: &PlainMessage) {
    let found = reply.summary();
    match gives {
        Gives::Error(name) => {
            assert_eq!((reply.kind, reply.error_name()), (kind::ERROR, *name), "{found}");
            assert!(!reply.first_text().is_empty(), "an error says something");
        }
        Gives::Nothing => assert_eq!((reply.kind, reply.body.len()), (kind::RETURN, 0), "{found}"),
        Gives::Value(value) => assert_eq!(reply.body, [value()], "{found}"),
        Gives::Signature(signature) => {
            let has = signature_of(&reply.body);
            assert_eq!((reply.kind, has.as_str()), (kind::RETURN, *signature), "{found}");
        }
    }
}

fn long_name(length: usize) -> String {
    format!("com.{}", "x".repeat(length - "com.".len()))
}

const STATS_KEYS: [&str; 9] = [
    "Serial",
    "ActiveConnections",
    "IncompleteConnections",
    "MatchRules",
    "PeakMatchRules",
    "PeakMatchRulesPerConnection",
    "BusNames",
    "PeakBusNames",
    "PeakBusNamesPerConnection",
];

const CONNECTION_KEYS: [&str; 16] = [
    "Serial",
    "UniqueName",
    "MatchRules",
    "PeakMatchRules",
    "BusNames",
    "PeakBusNames",
    "IncomingMessages",
    "IncomingBytes",
    "IncomingFDs",
    "PeakIncomingBytes",
    "PeakIncomingFDs",
    "OutgoingMessages",
    "OutgoingBytes",
    "OutgoingFDs",
    "PeakOutgoingBytes",
    "PeakOutgoingFDs",
];
