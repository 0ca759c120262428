//! Services that answer slowly, never, or with garbage.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use client::IncomingCall;
use client::wire::body::Value;
use client::wire::names::ErrorName;
use inspector::{
    Carried, Emission, Heard, InspectorFailure, MESSAGE_MAX, Manner, NodeContent, ObjectCall,
    PropertyReading, SignalName, Tree, TreeOptions,
};

use crate::support::{HASTE, InspectorBus, NAME, SLEEPER};

const BROKEN: ErrorName<'static> = ErrorName::literal("org.example.Error.Broken");

/// What a request asks for: its path, and its member.
fn asked(request: &IncomingCall) -> (&str, &str) {
    let message = request.message();
    (message.path().unwrap_or_default(), message.member().unwrap_or_default())
}

fn tree_of(bus: &InspectorBus, options: &TreeOptions) -> Tree {
    bus.inspector().tree(NAME, options).expect("the names are names")
}

fn hasty() -> TreeOptions {
    TreeOptions { patience: HASTE, ..TreeOptions::default() }
}

/// `path` of each node that told, `path: why` of each that did not.
fn told(tree: &Tree) -> Vec<String> {
    let nodes = tree.nodes.iter().map(|node| match &node.told {
        NodeContent::Interfaces(_) => node.path.clone(),
        NodeContent::Failure(failure) => format!("{}: {failure}", node.path),
    });
    nodes.collect()
}

#[test]
fn documents_that_are_none_are_told() {
    let bus = InspectorBus::start();
    let bomb = "<!DOCTYPE n [<!ENTITY a 'aaaaaaaaaa'>]><node>&a;</node>";
    let _service = bus.answer(move |request| {
        let long = format!("<node>{}</node>", " ".repeat(600_000));
        let deep = format!("{}{}", "<node name='a'>".repeat(9_000), "</node>".repeat(9_000));
        let document = match asked(&request).0 {
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
    let told = told(&tree_of(&bus, &TreeOptions::default()));
    let unreadable = "what the object says it has cannot be read: ";
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
        assert!(told.contains(&expected), "{expected}: {told:#?}");
    }
    let begin_with = |start: &str| told.iter().any(|one| one.starts_with(start));
    assert!(begin_with("/none: the answer cannot be read: "), "{told:#?}");
    assert!(begin_with("/a b: \"/a b\" is not a valid object path: "), "{told:#?}");
    assert!(begin_with("/../up: \"/../up\" is not a valid object path: "), "{told:#?}");
}

#[test]
fn trees_without_end_are_bounded() {
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
    assert_eq!(tree.nodes.len(), 66, "64 below the root, and one that is not asked");
    let last = told(&tree).pop().expect("there are some");
    assert!(last.ends_with("/a: left out: it is too deep below the others"), "{last}");
}

#[test]
fn several_objects_are_asked_at_once() {
    let bus = InspectorBus::start();
    let _service = bus.answer(|request| match asked(&request).0 {
        "/silent" => drop(request),
        "/broken" => request.reply(&("no document",)).expect("it can be sent"),
        path => {
            let document = format!("<node><node name='below{}'/></node>", path.replace('/', "_"));
            request.reply(&(document,)).expect("it can be sent");
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
    let told = bus.hasty_inspector().introspections(&objects);
    assert!(begun.elapsed() < HASTE.whole, "{:?}", begun.elapsed());
    let kinds: Vec<_> = told
        .iter()
        .map(|told| match told {
            Ok(told) => told.children[0].as_str(),
            Err(failure) => failure.kind(),
        })
        .collect();
    // Of what does not run nothing is told, and it is not started.
    let expected = ["below_a", "silent", "refused", "document", "refused", "name", "below_b"];
    assert_eq!(kinds, expected);
}

#[test]
fn objects_that_keep_silent_do_not_hold_up_the_others() {
    let bus = InspectorBus::start();
    let _service = bus.answer(move |request| match asked(&request).0 {
        "/" => {
            let children: String = (0..100).map(|n| format!("<node name='n{n}'/>")).collect();
            request.reply(&(format!("<node>{children}</node>"),)).expect("the bus is there");
        }
        path if path.ends_with('7') => drop(request),
        _ => request.reply(&("<node/>",)).expect("the bus is there"),
    });
    let begun = Instant::now();
    let told = told(&tree_of(&bus, &hasty()));
    let silent = told.iter().filter(|one| one.ends_with("no answer came within 300ms")).count();
    assert_eq!((told.len(), silent), (101, 10), "{told:#?}");
    assert!(begun.elapsed() < 2 * HASTE.answer, "{:?}", begun.elapsed());
}

#[test]
fn who_answers_slowly_has_so_much_time_in_all() {
    let bus = InspectorBus::start();
    let _service = bus.answer(|request| {
        std::thread::sleep(Duration::from_millis(20));
        let children: String = (0..500).map(|n| format!("<node name='n{n}'/>")).collect();
        let document = format!("<node>{children}</node>");
        let document = if asked(&request).0 == "/" { document } else { "<node/>".into() };
        request.reply(&(document,)).expect("the bus is there");
    });
    let begun = Instant::now();
    let options = TreeOptions { at_once: 4, ..hasty() };
    let told = told(&tree_of(&bus, &options));
    assert!(begun.elapsed() < HASTE.whole + HASTE.answer, "{:?}", begun.elapsed());
    let answered = told.iter().filter(|one| !one.contains(':')).count();
    let out = "left out: the time for all questions was used up";
    let left_out = told.iter().filter(|one| one.ends_with(out)).count();
    assert_eq!(told.len(), 501);
    assert!(answered > 20 && left_out > 300, "{answered} {left_out}");
}

#[test]
fn properties_are_read_one_by_one_where_they_must() {
    let bus = InspectorBus::start();
    let _service = bus.answer(move |request| match asked(&request).1 {
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
    let object = bus.hasty_inspector().object(NAME, "/").expect("it tells what it has");
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
    assert!(all[2].starts_with("Odd: the answer cannot be read: "), "{}", all[2]);
    assert_eq!(all[3], "Silent: no answer came within 300ms");
    assert_eq!(all[4], "Set: -");
    assert_eq!(all[5], format!("Kept: {}", text("v")));
    assert_eq!(all[6], format!("Forgotten: {}", text("one")));
    let [broken, whole] = object.interfaces.as_slice() else { panic!("{object:?}") };
    assert!(broken.failure.as_ref().is_some_and(|failure| failure.to_string().ends_with("broken")));
    assert_eq!(whole.undescribed.keys().collect::<Vec<_>>(), ["Unheard"]);
}

#[test]
fn calls_end_in_time() {
    let bus = InspectorBus::start();
    let _service = bus.answer(drop);
    let inspector = bus.inspector();
    let manner = Manner { timeout_ms: 200, ..Manner::default() };
    let begun = Instant::now();
    let call = ObjectCall { signature: Some(String::new()), ..ObjectCall::new(NAME, "/", "Wait") };
    let answer = inspector.call(&call, &manner).expect("it is sent");
    let failure = answer.outcome.failure().expect("it keeps silent");
    assert_eq!(failure.to_string(), "no answer came within 200ms");
    let untyped = ObjectCall::new(NAME, "/", "Wait");
    let failure = inspector.call(&untyped, &manner).expect_err("it does not tell its types");
    assert_eq!(failure, InspectorFailure::Silent { after: Duration::from_millis(200) });
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}

#[test]
fn more_than_can_be_shown_is_not_read() {
    let bus = InspectorBus::start();
    let _service = bus.answer(|request| {
        let bytes = vec![0_u8; MESSAGE_MAX];
        request.reply(&(bytes,)).expect("the bus is there");
    });
    let inspector = bus.inspector();
    let call = ObjectCall { signature: Some(String::new()), ..ObjectCall::new(NAME, "/", "Much") };
    let answer = inspector.call(&call, &Manner::default()).expect("it is sent");
    let failure = answer.outcome.failure().expect("it is too long").to_string();
    assert!(failure.ends_with("and at most 8388608 are read"), "{failure}");

    let sender = bus.inspector();
    let own = sender.connection().unique_name();
    let watch = inspector.watch(own.as_str(), "/").expect("the bus takes the rule");
    let text = "x".repeat(MESSAGE_MAX);
    sender.connection().emit("/", NAME, "Much", &(text,)).expect("a signal");
    sender.connection().flush().expect("the bus is there");
    let heard = watch.next(Some(Duration::from_secs(5))).expect("the bus is there");
    let Some(Heard::Signal(signal)) = heard else { panic!("none came") };
    let Carried::Failure(failure) = signal.carried else { panic!("it was read") };
    assert_eq!(failure.kind(), "too-long");
}

#[test]
fn values_of_one_object_are_bounded_together() {
    let bus = InspectorBus::start();
    let _service = bus.answer(|request| match asked(&request).1 {
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
    let object = bus.inspector().object(NAME, "/").expect("it tells what it has");
    let is_left_out = |failure: &InspectorFailure| failure.kind() == "left-out";
    let left_out = object.interfaces.iter().filter_map(|one| one.failure.as_ref());
    assert_eq!(left_out.filter(|failure| is_left_out(failure)).count(), 4);
}

#[test]
fn a_bus_that_takes_nothing_is_told() {
    let bus = InspectorBus::start();
    let inspector = bus.hasty_inspector();
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
    let failure = inspector.emit(&emission).expect_err("it is stopped");
    assert_eq!(failure.to_string(), "the bus did not take it within 300ms");
    let manner = Manner { timeout_ms: 200, ..Manner::default() };
    let call = ObjectCall {
        signature: Some("s".into()),
        arguments: std::mem::take(&mut emission.arguments),
        ..ObjectCall::new(NAME, "/", "Long")
    };
    let answer = inspector.call(&call, &manner).expect("it is queued");
    let silent = InspectorFailure::Silent { after: Duration::from_millis(200) };
    assert_eq!(answer.outcome.failure().map(ToString::to_string), Some(silent.to_string()));
    assert_eq!(inspector.names().expect_err("it is stopped").kind(), "silent");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[test]
fn a_bus_that_ends_is_told() {
    let bus = InspectorBus::start();
    let inspector = bus.inspector();
    let watch = inspector.watch("org.freedesktop.DBus", "/").expect("the bus takes the rule");
    drop(bus);
    assert_eq!(inspector.names().expect_err("it is gone").kind(), "disconnected");
    let tree = inspector.tree(NAME, &TreeOptions::default()).expect("the names are names");
    let NodeContent::Failure(failure) = &tree.nodes[0].told else { panic!("{tree:?}") };
    assert_eq!(failure.kind(), "disconnected");
    assert_eq!(watch.next(None).expect_err("it is gone").kind(), "disconnected");
}
