//! Subscriptions over a real bus, and the match rules that they add.

#![expect(clippy::unwrap_used, reason = "a panic in a test is its report")]

mod support;

use std::collections::BTreeMap;
use std::time::Duration;

use diligence_client::core::CoreConfig;
use diligence_client::wire::address::AddressList;
use diligence_client::wire::body::Value;
use diligence_client::{
    ConnectOptions, Connection, NameFlags, SubscribeError, Subscription, SubscriptionError,
    error_name,
};
use support::{PrivateTestBus, TestDirectory};

const TIMEOUT: Option<Duration> = Some(Duration::from_secs(5));

/// Number of match rules of `connection` at the bus; `observer` queries it.
fn rules(observer: &Connection, connection: &Connection) -> u32 {
    // RemoveMatch calls are queued without a reply; the reply to Ping shows that they were
    // processed.
    let bus = "org.freedesktop.DBus";
    connection.call(bus, "/", "org.freedesktop.DBus.Peer", "Ping", &()).unwrap();
    let stats = "org.freedesktop.DBus.Debug.Stats";
    let arguments = (connection.unique_name(),);
    let reply =
        observer.call(bus, "/org/freedesktop/DBus", stats, "GetConnectionStats", &arguments);
    let (stats,): (BTreeMap<String, Value>,) = reply.unwrap().read().unwrap();
    match stats["MatchRules"] {
        Value::Uint32(count) => count,
        ref other => panic!("{other:?}"),
    }
}

fn next(subscription: &Subscription) -> (String, u32) {
    let signal = subscription.next(TIMEOUT).unwrap().expect("a signal");
    (signal.member().expect("signals have one").into(), signal.read::<(u32,)>().unwrap().0)
}

#[test]
fn match_rules_are_shared_and_removed_with_the_last_subscription() {
    let bus = PrivateTestBus::start();
    let (observer, connection) = (bus.connect(), bus.connect());
    assert_eq!(rules(&observer, &connection), 0);
    let one = connection.subscribe("type='signal',interface='a.b',member='C'").unwrap();
    assert_eq!(rules(&observer, &connection), 1);
    // The same rule in another spelling.
    let two = connection.subscribe("member=C,interface=a.b,type=signal").unwrap();
    assert_eq!(rules(&observer, &connection), 1);
    let other = connection.subscribe("interface='a.b'").unwrap();
    assert_eq!(rules(&observer, &connection), 2);
    drop(one);
    assert_eq!(rules(&observer, &connection), 2);
    drop(two);
    assert_eq!(rules(&observer, &connection), 1);
    drop(other);
    assert_eq!(rules(&observer, &connection), 0);
}

#[test]
fn subscriptions_get_the_signals_their_rules_select() {
    let bus = PrivateTestBus::start();
    let (sender, receiver) = (bus.connect(), bus.connect());
    let all = receiver.subscribe("path_namespace='/org/example'").unwrap();
    let some = receiver.subscribe_to("/org/example/a", "a.b", "Second").unwrap();
    let members = receiver.subscribe("member='Second'").unwrap();
    for (path, member, number) in [
        ("/org/example/a", "First", 1_u32),
        ("/org/example/a", "Second", 2),
        ("/org/example/b", "Second", 3),
        ("/org", "Second", 4),
    ] {
        sender.emit(path, "a.b", member, &(number,)).unwrap();
    }
    sender.flush().unwrap();
    assert_eq!([next(&all).1, next(&all).1, next(&all).1], [1, 2, 3]);
    assert_eq!(next(&some), ("Second".into(), 2));
    assert_eq!([next(&members).1, next(&members).1, next(&members).1], [2, 3, 4]);
    assert!(some.poll().unwrap().is_none());
    assert!(all.next(Some(Duration::from_millis(10))).unwrap().is_none());
}

#[test]
fn subscriptions_by_well_known_sender_follow_the_owner() {
    let bus = PrivateTestBus::start();
    let (one, other, receiver) = (bus.connect(), bus.connect(), bus.connect());
    let observer = bus.connect();
    let name = "org.example.Sender";
    one.request_name(name, NameFlags::ALLOW_REPLACEMENT).unwrap();
    let proxy = receiver.proxy(name, "/a", "a.b").unwrap();
    let owned = proxy.signals("C").unwrap();
    let any_sender = receiver.subscribe("member='C'").unwrap();
    let emit = |sender: &Connection, number: u32| {
        sender.emit("/a", "a.b", "C", &(number,)).unwrap();
        sender.flush().unwrap();
        // Waits, so that signals of the other sender arrive later.
        assert_eq!(next(&any_sender).1, number);
    };
    emit(&one, 1);
    emit(&other, 2);
    other.request_name(name, NameFlags::REPLACE_EXISTING).unwrap();
    emit(&one, 3);
    emit(&other, 4);
    other.release_name(name).unwrap();
    emit(&one, 5);
    let mut found = Vec::new();
    while let Some(signal) = owned.poll().unwrap() {
        found.push(signal.read::<(u32,)>().unwrap().0);
    }
    // The first owner waited in the queue and became the owner again.
    assert_eq!(found, [1, 4, 5]);

    assert_eq!(rules(&observer, &receiver), 3);
    drop(owned);
    assert_eq!(rules(&observer, &receiver), 1);
}

#[test]
fn invalid_subscriptions_report_reasons() {
    let bus = PrivateTestBus::start();
    let connection = bus.connect();
    let malformed = connection.subscribe("member=").unwrap_err();
    assert!(matches!(malformed, SubscribeError::Rule(_)), "{malformed}");
    let calls = connection.subscribe("type='method_call'").unwrap_err();
    assert_eq!(calls, SubscribeError::NotSignals);
    let name = connection.subscribe_to("a", "a.b", "C").unwrap_err();
    assert!(matches!(name, SubscribeError::Name(_)), "{name}");
}

#[test]
fn refused_match_rules_are_not_counted() {
    let directory = TestDirectory::new("limit");
    let limit = r#"<limit name="max_match_rules_per_connection">3</limit>"#;
    let bus =
        PrivateTestBus::at(&directory, &format!("unix:path={}", directory.file("bus")), limit);
    let connection = bus.connect();
    let mut held: Vec<_> =
        ["arg0='a'", "arg0='b'", "arg0='c'"].map(|rule| connection.subscribe(rule).unwrap()).into();
    let refused = connection.subscribe("arg0='x'").unwrap_err();
    let SubscribeError::Call(refused) = refused else { panic!("{refused}") };
    assert_eq!(refused.remote_name(), Some(error_name::LIMITS_EXCEEDED.as_str()));
    drop(held.pop());
    drop(connection.subscribe("arg0='x'").unwrap());
}

#[test]
fn dropped_signals_are_reported() {
    let bus = PrivateTestBus::start();
    let address: AddressList = bus.address.parse().unwrap();
    let core = CoreConfig { signals_max: 3, ..CoreConfig::default() };
    let options = ConnectOptions { core, ..ConnectOptions::default() };
    let receiver = Connection::open_with(&address, &options).unwrap();
    let few = receiver.subscribe("member='C'").unwrap();
    let sender = bus.connect();
    for number in 0..10_u32 {
        sender.emit("/a", "a.b", "C", &(number,)).unwrap();
    }
    let name = sender.unique_name();
    sender.flush().unwrap();
    // The reply arrives after the signals, so all of them have been received.
    let peer = "org.freedesktop.DBus";
    receiver.call(peer, "/org/freedesktop/DBus", peer, "GetNameOwner", &(name,)).unwrap();
    assert_eq!([next(&few).1, next(&few).1, next(&few).1], [0, 1, 2]);
    assert_eq!(few.next(TIMEOUT).unwrap_err(), SubscriptionError::Lost { count: 7 });
    sender.emit("/a", "a.b", "C", &(10_u32,)).unwrap();
    sender.flush().unwrap();
    assert_eq!(next(&few).1, 10);
}
