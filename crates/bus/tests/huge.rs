//! Messages, texts and lists at the edge of what a message can hold.

use bus::{BusLimits, Configuration, PeerId};
use testkit::world::{BusWorld, SeenEffect, build, interface, member, messages_to, name, path};
use wire::Message;
use wire::body::Value;
use wire::limits::{ARRAY_LEN_MAX, MESSAGE_LEN_MAX};
use wire::message::Builder;
use wire::names::ObjectPath;
use wire::signature::Signature;

/// A bus that allows everything, with two connections, the second of which wants all signals.
fn world() -> (BusWorld, [PeerId; 2]) {
    let mut limits = BusLimits::session();
    limits.max_names_per_connection = 1_000_000;
    limits.max_match_rules_per_connection = 1_000_000;
    let mut world = BusWorld::new(Configuration { limits, ..Configuration::default() });
    let peers = [world.join(0), world.join(0)];
    world.call_bus(peers[1], "AddMatch", &["type='signal'".into()]);
    (world, peers)
}

/// The error that a connection got last, without the common prefix, or what else it got.
fn last_error(seen: &[SeenEffect], peer: PeerId) -> Option<String> {
    let bytes = *messages_to(seen, peer).last()?;
    let error = Message::parse(bytes).expect("a message").error_name()?;
    error.as_str().strip_prefix("org.freedesktop.DBus.Error.").map(str::to_owned)
}

/// A message whose length is exactly `len`.
fn message_of_length(builder: Builder<'_>, len: usize) -> Vec<u8> {
    let empty = build(builder, 9, &["".into()]).len();
    let bytes = build(builder, 9, &["x".repeat(len - empty).as_str().into()]);
    assert_eq!(bytes.len(), len);
    bytes
}

#[test]
#[cfg_attr(miri, ignore = "too many bytes to be interpreted")]
fn a_message_that_the_senders_name_makes_too_long_is_refused() {
    let (mut world, [a, b]) = world();
    let monitor = world.join(0);
    let element = Signature::new("s").expect("valid").into();
    let rules = Value::Array { element, items: vec!["interface='a.b'".into()] };
    world.call_bus(monitor, "Monitoring.BecomeMonitor", &[rules, 0_u32.into()]);
    let signal = Builder::signal(path("/x"), interface("a.b"), member("S"));
    let stamp = 24;
    for (builder, what) in [(signal, "broadcast"), (signal.destination(name(":1.1")), "unicast")] {
        let fits = message_of_length(builder, MESSAGE_LEN_MAX - stamp);
        let seen = world.send_bytes(a, &fits);
        assert_eq!(messages_to(&seen, b).len(), 1, "{what} that fits");
        assert_eq!(messages_to(&seen, monitor).len(), 1, "{what} that fits");
        let too_long = message_of_length(builder, MESSAGE_LEN_MAX);
        let seen = world.send_bytes(a, &too_long);
        assert_eq!(messages_to(&seen, b).len(), 0, "{what} that does not fit");
        assert_eq!(messages_to(&seen, monitor).len(), 0, "{what} that does not fit");
        assert_eq!(last_error(&seen, a).as_deref(), Some("LimitsExceeded"), "{what}");
    }
    world.end();
}

#[test]
#[cfg_attr(miri, ignore = "too many bytes to be interpreted")]
fn a_header_that_the_senders_name_makes_too_long_is_refused() {
    let (mut world, [a, b]) = world();
    world.call_bus(b, "AddMatch", &["path_namespace='/a'".into()]);
    let longest = {
        let text = format!("/{}", "a".repeat(ARRAY_LEN_MAX - 100));
        let builder = Builder::signal(path(&text), interface("a.b"), member("S"));
        let rest = build(builder, 9, &[]).len() - text.len();
        format!("/{}", "a".repeat(ARRAY_LEN_MAX + 16 - rest - 1 - 8))
    };
    for (cut, expected) in [(32, 1), (0, 0)] {
        let text = &longest[..longest.len() - cut];
        let builder = Builder::signal(path(text), interface("a.b"), member("S"));
        let seen = world.send(a, builder, &[]);
        assert_eq!(messages_to(&seen, b).len(), expected, "shorter by {cut}");
    }
    world.end();
}

#[test]
#[cfg_attr(miri, ignore = "too many bytes to be interpreted")]
fn a_path_of_very_many_elements_costs_no_more_than_its_length() {
    let (mut world, [a, b]) = world();
    world.call_bus(b, "AddMatch", &["path_namespace='/a/a'".into()]);
    world.call_bus(b, "AddMatch", &["arg0namespace='a.a'".into()]);
    let deep = "/a".repeat(1 << 22);
    let dotted = format!("a{}", ".a".repeat(1 << 22));
    let builder =
        Builder::signal(ObjectPath::new(&deep).expect("a path"), interface("a.b"), member("S"));
    let seen = world.send(a, builder, &[dotted.as_str().into()]);
    assert_eq!(messages_to(&seen, b).len(), 1);
    world.end();
}

#[test]
#[cfg_attr(miri, ignore = "too many bytes to be interpreted")]
fn an_error_that_quotes_a_huge_text_fits() {
    let (mut world, [a, _]) = world();
    let text = Value::from("ä".repeat(MESSAGE_LEN_MAX / 2 - 200));
    for (method, error) in [
        ("RequestName", "InvalidArgs"),
        ("ReleaseName", "InvalidArgs"),
        ("GetNameOwner", "NameHasNoOwner"),
        ("AddMatch", "LimitsExceeded"),
        ("Properties.GetAll", "UnknownInterface"),
    ] {
        let mut args = vec![text.clone()];
        args.extend((method == "RequestName").then_some(Value::Uint32(0)));
        let seen = world.call_bus(a, method, &args);
        assert_eq!(last_error(&seen, a).as_deref(), Some(error), "{method}");
        assert!(messages_to(&seen, a)[0].len() < 10_000, "{method}");
    }
    world.end();
}

#[test]
#[cfg_attr(miri, ignore = "too many bytes to be interpreted")]
fn a_list_that_does_not_fit_in_a_message_is_an_error() {
    let (mut world, [a, _]) = world();
    // Each name takes 260 bytes in the list.
    let count = ARRAY_LEN_MAX / 260 + 1;
    for number in 0..count {
        let text = format!("com.{}{number:08}", "x".repeat(243));
        assert_eq!(text.len(), 255);
        world.call_bus(a, "RequestName", &[text.as_str().into(), 0_u32.into()]);
    }
    let seen = world.call_bus(a, "ListNames", &[]);
    assert_eq!(last_error(&seen, a).as_deref(), Some("LimitsExceeded"));
    let seen = world.call_bus(a, "GetId", &[]);
    assert_eq!(last_error(&seen, a), None, "and the bus lives on");
    world.end();
}

#[test]
#[cfg_attr(miri, ignore = "too many bytes to be interpreted")]
fn rules_that_do_not_fit_in_a_message_are_an_error() {
    let (mut world, [a, _]) = world();
    let rule = format!("arg0='{}'", "x".repeat(1000));
    for _ in 0..ARRAY_LEN_MAX / 1000 {
        world.call_bus(a, "AddMatch", &[rule.as_str().into()]);
    }
    let seen = world.call_bus(a, "Debug.Stats.GetAllMatchRules", &[]);
    assert_eq!(last_error(&seen, a).as_deref(), Some("LimitsExceeded"));
    world.end();
}
