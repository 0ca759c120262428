//! Messages, strings and arrays at the limits of a message's size.

use bus::{BusLimits, Configuration, PeerId};
use testkit::world::{BusWorld, SeenEffect, build, interface, member, messages_to, name, path};
use wire::Message;
use wire::body::Value;
use wire::limits::{ARRAY_LEN_MAX, MESSAGE_LEN_MAX};
use wire::message::Builder;
use wire::names::ObjectPath;
use wire::signature::Signature;

/// Creates a bus without limits and two connections; the second subscribes to all signals.
fn world() -> (BusWorld, [PeerId; 2]) {
    let mut limits = BusLimits::session();
    limits.max_names_per_connection = 1_000_000;
    limits.max_match_rules_per_connection = 1_000_000;
    let mut world = BusWorld::new(Configuration { limits, ..Configuration::default() });
    let peers = [world.join(0), world.join(0)];
    world.call_bus(peers[1], "AddMatch", &["type='signal'".into()]);
    (world, peers)
}

/// Returns the last message of a connection if it is an error: its name without the common prefix.
fn last_error(seen: &[SeenEffect], peer: PeerId) -> Option<String> {
    let bytes = *messages_to(seen, peer).last()?;
    let error = Message::parse(bytes).expect("a message").error_name()?;
    error.as_str().strip_prefix("org.freedesktop.DBus.Error.").map(str::to_owned)
}

/// Builds a message of exactly `len` bytes.
fn message_of_length(builder: Builder<'_>, len: usize) -> Vec<u8> {
    let empty = build(builder, 9, &["".into()]).len();
    let bytes = build(builder, 9, &["x".repeat(len - empty).as_str().into()]);
    assert_eq!(bytes.len(), len);
    bytes
}

#[test]
#[cfg_attr(miri, ignore = "too many bytes for an interpreter")]
fn messages_too_long_with_the_sender_field_are_refused() {
    let (mut world, [a, b]) = world();
    let monitor = world.join(0);
    let element = Signature::new("s").expect("valid").into();
    let rules = Value::Array { element, items: vec!["interface='a.b'".into()] };
    world.call_bus(monitor, "Monitoring.BecomeMonitor", &[rules, 0_u32.into()]);
    let signal = Builder::signal(path("/x"), interface("a.b"), member("S"));
    let sender_field_len = 24;
    for (builder, case) in [(signal, "broadcast"), (signal.destination(name(":1.1")), "unicast")] {
        let fits = message_of_length(builder, MESSAGE_LEN_MAX - sender_field_len);
        let seen = world.send_bytes(a, &fits);
        assert_eq!(messages_to(&seen, b).len(), 1, "{case} that fits");
        assert_eq!(messages_to(&seen, monitor).len(), 1, "{case} that fits");
        let too_long = message_of_length(builder, MESSAGE_LEN_MAX);
        let seen = world.send_bytes(a, &too_long);
        assert_eq!(messages_to(&seen, b).len(), 0, "{case} that does not fit");
        assert_eq!(messages_to(&seen, monitor).len(), 0, "{case} that does not fit");
        assert_eq!(last_error(&seen, a).as_deref(), Some("LimitsExceeded"), "{case}");
    }
    world.end();
}

#[test]
#[cfg_attr(miri, ignore = "too many bytes for an interpreter")]
fn headers_too_long_with_the_sender_field_are_refused() {
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
#[cfg_attr(miri, ignore = "too many bytes for an interpreter")]
fn paths_with_millions_of_elements_are_matched() {
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
#[cfg_attr(miri, ignore = "too many bytes for an interpreter")]
fn errors_truncate_huge_quoted_texts() {
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
#[cfg_attr(miri, ignore = "too many bytes for an interpreter")]
fn lists_too_long_for_a_message_return_limits_exceeded() {
    let (mut world, [a, _]) = world();
    // Each name occupies 260 bytes in the array.
    let count = ARRAY_LEN_MAX / 260 + 1;
    for number in 0..count {
        let text = format!("com.{}{number:08}", "x".repeat(243));
        assert_eq!(text.len(), 255);
        world.call_bus(a, "RequestName", &[text.as_str().into(), 0_u32.into()]);
    }
    let seen = world.call_bus(a, "ListNames", &[]);
    assert_eq!(last_error(&seen, a).as_deref(), Some("LimitsExceeded"));
    let seen = world.call_bus(a, "GetId", &[]);
    assert_eq!(last_error(&seen, a), None, "the bus still replies");
    world.end();
}

#[test]
#[cfg_attr(miri, ignore = "too many bytes for an interpreter")]
fn match_rules_too_long_for_a_message_return_limits_exceeded() {
    let (mut world, [a, _]) = world();
    let rule = format!("arg0='{}'", "x".repeat(1000));
    for _ in 0..ARRAY_LEN_MAX / 1000 {
        world.call_bus(a, "AddMatch", &[rule.as_str().into()]);
    }
    let seen = world.call_bus(a, "Debug.Stats.GetAllMatchRules", &[]);
    assert_eq!(last_error(&seen, a).as_deref(), Some("LimitsExceeded"));
    world.end();
}

#[test]
#[cfg_attr(miri, ignore = "too many bytes for an interpreter")]
fn one_message_resumes_as_many_calls_as_a_connection_has_on_lanes() {
    let (mut world, [a, _]) = world();
    let mut resume = |count: u32| {
        let element = Signature::new("u").expect("valid").into();
        let items = (1..=count).map(Value::from).collect();
        let call = Builder::method_call(path("/org/freedesktop/DBus"), member("Resume"))
            .interface(interface("org.diligence.Lanes1"))
            .destination(name("org.freedesktop.DBus"));
        let args = [":1.999".into(), Value::Array { element, items }];
        let seen = world.send(a, call, &args);
        (messages_to(&seen, a).len(), last_error(&seen, a))
    };
    let max = u32::try_from(lane::CALLS_MAX).expect("a small number");
    let answers = lane::CALLS_MAX + 1;
    assert_eq!(resume(max), (answers, None), "an error for each call, and the reply");
    assert_eq!(resume(max + 1), (1, Some("LimitsExceeded".to_owned())));
}

/// Most programs never share the wish for a lane, so a connection must not fill the memory of the bus.
#[test]
fn a_connection_wishes_for_a_limited_number_of_lanes() {
    let (mut world, [a, _]) = world();
    let mut refusals = Vec::new();
    for _ in 0..300 {
        let partner = format!(":1.{}", world.join(0).index());
        let call = Builder::method_call(path("/org/freedesktop/DBus"), member("Request"))
            .interface(interface("org.diligence.Lanes1"))
            .destination(name("org.freedesktop.DBus"));
        let seen = world.send(a, call, &[partner.as_str().into()]);
        refusals.extend(last_error(&seen, a));
    }
    assert_eq!(refusals, vec!["LimitsExceeded"; 300 - 256]);
    world.end();
}
