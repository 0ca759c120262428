//! Tests with services that reply slowly, never, or with invalid data.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use client::IncomingCall;
use client::wire::body::Value;
use client::wire::names::ErrorName;
use inspector::{
    CallSettings, Emission, InspectorFailure, MESSAGE_MAX, NodeContent, ObjectCall,
    PropertyReading, SignalBody, SignalEvent, SignalName, Tree, TreeOptions,
};

use crate::support::{InspectorBus, NAME, SHORT_TIMEOUTS, SLEEPER};

const BROKEN: ErrorName<'static> = ErrorName::literal("org.example.Error.Broken");

/// Returns the path and the member of a request.
fn path_and_member(request: &IncomingCall) -> (&str, &str) {
    let message = request.message();
    (message.path().unwrap_or_default(), message.member().unwrap_or_default())
}

fn tree_of(bus: &InspectorBus, options: &TreeOptions) -> Tree {
    bus.inspector().tree(NAME, options).expect("valid names")
}

fn short_timeouts() -> TreeOptions {
    TreeOptions { timeouts: SHORT_TIMEOUTS, ..TreeOptions::default() }
}

/// Returns `path` for each node with interfaces, and `path: failure` for each other node.
fn summaries(tree: &Tree) -> Vec<String> {
    let nodes = tree.nodes.iter().map(|node| match &node.content {
        NodeContent::Interfaces(_) => node.path.clone(),
        NodeContent::Failure(failure) => format!("{}: {failure}", node.path),
    });
    nodes.collect()
}

#[test]
fn invalid_introspection_data_is_reported() {
    let bus = InspectorBus::start();
    let bomb = "<!DOCTYPE n [<!ENTITY a 'aaaaaaaaaa'>]><node>&a;</node>";
    let _service = bus.answer(move |request| {
        let long = format!("<node>{}</node>", " ".repeat(600_000));
        let deep = format!("{}{}", "<node name='a'>".repeat(9_000), "</node>".repeat(9_000));
        let document = match path_and_member(&request).0 {
            "/" => {
                "<node><node name='bomb'/><node name='deep'/><node name='empty'/>\
                 <node name='long'/><node name='none'/><node name='broken'/><node name='gone'/>\
                 <node name='a b'/><node name='../up'/><node name='good'/></node>"
            }
            "/bomb" => bomb,
            "/deep" => deep.as_str(),
            "/empty" => "",
            "/long" => long.as_str(),
            "/good" => "<node/>",
            "/none" => return request.reply(&(7_u32,)).expect("the bus is there"),
            "/broken" => {
                return request.reply_error(BROKEN, "it is broken").expect("the bus is there");
            }
            _ => return request.reply(&("<node/>",)).expect("the bus is there"),
        };
        request.reply(&(document,)).expect("the bus is there");
    });
    let nodes = summaries(&tree_of(&bus, &TreeOptions::default()));
    let unreadable = "invalid introspection data: ";
    for expected in [
        "/".to_owned(),
        format!("/bomb: {unreadable}it declares entities"),
        format!("/empty: {unreadable}it is not XML, or it has too many elements"),
        format!("/long: {unreadable}it is longer than 524288 bytes"),
        "/broken: org.example.Error.Broken: it is broken".to_owned(),
        "/deep".to_owned(),
        "/deep/a/a".to_owned(),
        "/good".to_owned(),
        "/gone".to_owned(),
    ] {
        assert!(nodes.contains(&expected), "{expected}: {nodes:#?}");
    }
    let begin_with = |start: &str| nodes.iter().any(|one| one.starts_with(start));
    assert!(begin_with("/none: cannot decode the reply: "), "{nodes:#?}");
    assert!(begin_with("/a b: \"/a b\" is not a valid object path: "), "{nodes:#?}");
    assert!(begin_with("/../up: \"/../up\" is not a valid object path: "), "{nodes:#?}");
}

#[test]
fn endless_trees_are_cut_at_the_limits() {
    let bus = InspectorBus::start();
    let _service = bus.answer(|request| {
        let document = "<node><node name='a'/><node name='b'/></node>";
        request.reply(&(document,)).expect("the bus is there");
    });
    let tree = tree_of(&bus, &TreeOptions { nodes: 500, ..TreeOptions::default() });
    assert_eq!(tree.nodes.len(), 500);
    assert!(tree.left_out > 0);

    let chain = InspectorBus::start();
    let _service = chain.answer(|request| {
        request.reply(&("<node><node name='a'/></node>",)).expect("the bus is there");
    });
    let tree = tree_of(&chain, &TreeOptions::default());
    assert_eq!(tree.nodes.len(), 66, "64 below the root, and one that exceeds the depth limit");
    let last = summaries(&tree).pop().expect("at least one node");
    assert!(last.ends_with("/a: skipped: the object is nested too deeply"), "{last}");
}

#[test]
fn introspections_of_several_objects_run_in_parallel() {
    let bus = InspectorBus::start();
    let _service = bus.answer(|request| match path_and_member(&request).0 {
        "/silent" => drop(request),
        "/broken" => request.reply(&("no document",)).expect("the bus is there"),
        path => {
            let document = format!("<node><node name='below{}'/></node>", path.replace('/', "_"));
            request.reply(&(document,)).expect("the bus is there");
        }
    });
    let objects = [
        (NAME, "/a"),
        (NAME, "/silent"),
        (SLEEPER, "/a"),
        (NAME, "/broken"),
        ("org.example.None", "/a"),
        (NAME, "no path"),
        (NAME, "/b"),
    ];
    let begun = Instant::now();
    let results = bus.inspector_with_short_timeouts().introspections(&objects);
    assert!(begun.elapsed() < SHORT_TIMEOUTS.total, "{:?}", begun.elapsed());
    let kinds: Vec<_> = results
        .iter()
        .map(|result| match result {
            Ok(introspection) => introspection.children[0].as_str(),
            Err(failure) => failure.kind(),
        })
        .collect();
    // The service of SLEEPER is activatable, and the inspector must not start it.
    let expected = ["below_a", "silent", "refused", "document", "refused", "name", "below_b"];
    assert_eq!(kinds, expected);
}

#[test]
fn silent_objects_do_not_delay_the_other_objects_of_a_tree() {
    let bus = InspectorBus::start();
    let _service = bus.answer(move |request| match path_and_member(&request).0 {
        "/" => {
            let children: String = (0..100).map(|n| format!("<node name='n{n}'/>")).collect();
            request.reply(&(format!("<node>{children}</node>"),)).expect("the bus is there");
        }
        path if path.ends_with('7') => drop(request),
        _ => request.reply(&("<node/>",)).expect("the bus is there"),
    });
    let begun = Instant::now();
    let nodes = summaries(&tree_of(&bus, &short_timeouts()));
    let silent = nodes.iter().filter(|one| one.ends_with("no reply within 300ms")).count();
    assert_eq!((nodes.len(), silent), (101, 10), "{nodes:#?}");
    assert!(begun.elapsed() < 2 * SHORT_TIMEOUTS.reply, "{:?}", begun.elapsed());
}

#[test]
fn slow_services_are_limited_by_the_total_timeout() {
    let bus = InspectorBus::start();
    let _service = bus.answer(|request| {
        // 501 replies of 20 ms each exceed the total timeout.
        std::thread::sleep(Duration::from_millis(20));
        let children: String = (0..500).map(|n| format!("<node name='n{n}'/>")).collect();
        let document = format!("<node>{children}</node>");
        let document = if path_and_member(&request).0 == "/" { document } else { "<node/>".into() };
        request.reply(&(document,)).expect("the bus is there");
    });
    let begun = Instant::now();
    let options = TreeOptions { at_once: 4, ..short_timeouts() };
    let nodes = summaries(&tree_of(&bus, &options));
    assert!(begun.elapsed() < SHORT_TIMEOUTS.total + SHORT_TIMEOUTS.reply, "{:?}", begun.elapsed());
    let answered = nodes.iter().filter(|one| !one.contains(':')).count();
    let skipped = "skipped: the time limit for all requests was reached";
    let left_out = nodes.iter().filter(|one| one.ends_with(skipped)).count();
    assert_eq!(nodes.len(), 501);
    assert!(answered > 20 && left_out > 300, "{answered} {left_out}");
}

#[test]
fn properties_without_a_value_from_get_all_are_read_one_by_one() {
    let bus = InspectorBus::start();
    let _service = bus.answer(move |request| match path_and_member(&request).1 {
        "Introspect" => {
            let document = "<node><interface name='org.example.A'>\
                <property name='Good' type='s' access='read'/>\
                <property name='Bad' type='s' access='read'/>\
                <property name='Odd' type='s' access='read'/>\
                <property name='Silent' type='s' access='read'/>\
                <property name='Set' type='s' access='write'/></interface>\
                <interface name='org.example.B'>\
                <property name='Kept' type='s' access='readwrite'/>\
                <property name='Forgotten' type='s' access='read'/></interface></node>";
            request.reply(&(document,)).expect("the bus is there");
        }
        "GetAll" => match request.read::<(&str,)>() {
            Ok(("org.example.B",)) => {
                let value = Value::from("v");
                let values = BTreeMap::from([("Kept", value.clone()), ("Unheard", value)]);
                request.reply(&(values,)).expect("the bus is there");
            }
            _ => request.reply_error(BROKEN, "all is broken").expect("the bus is there"),
        },
        _ => match request.read::<(&str, &str)>() {
            Ok((_, "Bad")) => request.reply_error(BROKEN, "this").expect("the bus is there"),
            Ok((_, "Odd")) => request.reply(&("no variant",)).expect("the bus is there"),
            Ok((_, "Silent")) => drop(request),
            _ => request.reply(&(Value::from("one"),)).expect("the bus is there"),
        },
    });
    let object = bus.inspector_with_short_timeouts().object(NAME, "/").expect("introspection data");
    let all = object.interfaces.iter().flat_map(|interface| &interface.properties);
    let all = all.map(|one| {
        let reading = match &one.reading {
            None => String::from("-"),
            Some(PropertyReading::Value(value)) => serde_json::to_string(value).expect("JSON"),
            Some(PropertyReading::Failure(failure)) => failure.to_string(),
        };
        format!("{}: {reading}", one.description.name)
    });
    let text = |text: &str| format!(r#"{{"type":"s","data":"{text}"}}"#);
    let all: Vec<_> = all.collect();
    assert_eq!(all[0], format!("Good: {}", text("one")));
    assert_eq!(all[1], "Bad: org.example.Error.Broken: this");
    assert!(all[2].starts_with("Odd: cannot decode the reply: "), "{}", all[2]);
    assert_eq!(all[3], "Silent: no reply within 300ms");
    assert_eq!(all[4], "Set: -");
    assert_eq!(all[5], format!("Kept: {}", text("v")));
    assert_eq!(all[6], format!("Forgotten: {}", text("one")));
    let [broken, whole] = object.interfaces.as_slice() else { panic!("{object:?}") };
    assert!(broken.failure.as_ref().is_some_and(|failure| failure.to_string().ends_with("broken")));
    assert_eq!(whole.undescribed.keys().collect::<Vec<_>>(), ["Unheard"]);
}

#[test]
fn calls_without_a_reply_time_out() {
    let bus = InspectorBus::start();
    let _service = bus.answer(drop);
    let inspector = bus.inspector();
    let settings = CallSettings { timeout_ms: 200, ..CallSettings::default() };
    let begun = Instant::now();
    let call = ObjectCall { signature: Some(String::new()), ..ObjectCall::new(NAME, "/", "Wait") };
    let answer = inspector.call(&call, &settings).expect("the call is sent");
    let failure = answer.outcome.failure().expect("no reply");
    assert_eq!(failure.to_string(), "no reply within 200ms");
    let untyped = ObjectCall::new(NAME, "/", "Wait");
    let failure = inspector.call(&untyped, &settings).expect_err("no introspection data");
    assert_eq!(failure, InspectorFailure::Silent { after: Duration::from_millis(200) });
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}

#[test]
fn messages_over_the_size_limit_are_not_decoded() {
    let bus = InspectorBus::start();
    let _service = bus.answer(|request| {
        let bytes = vec![0_u8; MESSAGE_MAX];
        request.reply(&(bytes,)).expect("the bus is there");
    });
    let inspector = bus.inspector();
    let call = ObjectCall { signature: Some(String::new()), ..ObjectCall::new(NAME, "/", "Much") };
    let answer = inspector.call(&call, &CallSettings::default()).expect("the call is sent");
    let failure = answer.outcome.failure().expect("a failure").to_string();
    assert!(failure.ends_with("the limit is 8388608"), "{failure}");

    let sender = bus.inspector();
    let sender_name = sender.connection().unique_name();
    let watch = inspector.watch(sender_name.as_str(), "/").expect("the bus accepts the match rule");
    let text = "x".repeat(MESSAGE_MAX);
    sender.connection().emit("/", NAME, "Much", &(text,)).expect("a signal");
    sender.connection().flush().expect("the bus is there");
    let event = watch.next(Some(Duration::from_secs(5))).expect("the bus is there");
    let Some(SignalEvent::Signal(signal)) = event else { panic!("no signal arrived") };
    let SignalBody::Failure(failure) = signal.body else { panic!("the signal was decoded") };
    assert_eq!(failure.kind(), "too-long");
}

#[test]
fn property_values_of_an_object_share_a_size_limit() {
    let bus = InspectorBus::start();
    let _service = bus.answer(|request| match path_and_member(&request).1 {
        "Introspect" => {
            let interface =
                |n| format!("<interface name='a.I{n}'><property name='P' type='s'/></interface>");
            let document: String = (0..8).map(interface).collect();
            request.reply(&(format!("<node>{document}</node>"),)).expect("the bus is there");
        }
        "GetAll" => {
            let value = Value::from("x".repeat(MESSAGE_MAX - 1000));
            request.reply(&(BTreeMap::from([("P", value)]),)).expect("the bus is there");
        }
        _ => request.reply_error(BROKEN, "once was enough").expect("the bus is there"),
    });
    let object = bus.inspector().object(NAME, "/").expect("introspection data");
    let is_left_out = |failure: &InspectorFailure| failure.kind() == "left-out";
    let left_out = object.interfaces.iter().filter_map(|one| one.failure.as_ref());
    assert_eq!(left_out.filter(|failure| is_left_out(failure)).count(), 4);
}

#[test]
fn a_stopped_bus_causes_timeouts() {
    let bus = InspectorBus::start();
    let inspector = bus.inspector_with_short_timeouts();
    bus.stop();
    let begun = Instant::now();
    let mut emission = Emission {
        signal: SignalName {
            path: "/".into(),
            interface: NAME.into(),
            signal: "Long".into(),
            destination: None,
        },
        signature: "s".into(),
        arguments: vec!["x".repeat(8 << 20).into()],
    };
    let failure = inspector.emit(&emission).expect_err("the bus is stopped");
    assert_eq!(failure.to_string(), "the bus did not accept the message within 300ms");
    let settings = CallSettings { timeout_ms: 200, ..CallSettings::default() };
    let call = ObjectCall {
        signature: Some("s".into()),
        arguments: std::mem::take(&mut emission.arguments),
        ..ObjectCall::new(NAME, "/", "Long")
    };
    let answer = inspector.call(&call, &settings).expect("the call is queued");
    let silent = InspectorFailure::Silent { after: Duration::from_millis(200) };
    assert_eq!(answer.outcome.failure().map(ToString::to_string), Some(silent.to_string()));
    assert_eq!(inspector.names().expect_err("the bus is stopped").kind(), "silent");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[test]
fn requests_fail_when_the_bus_exits() {
    let bus = InspectorBus::start();
    let inspector = bus.inspector();
    let watch =
        inspector.watch("org.freedesktop.DBus", "/").expect("the bus accepts the match rule");
    drop(bus);
    assert_eq!(inspector.names().expect_err("the bus has exited").kind(), "disconnected");
    let tree = inspector.tree(NAME, &TreeOptions::default()).expect("valid names");
    let NodeContent::Failure(failure) = &tree.nodes[0].content else { panic!("{tree:?}") };
    assert_eq!(failure.kind(), "disconnected");
    assert_eq!(watch.next(None).expect_err("the bus has exited").kind(), "disconnected");
}
