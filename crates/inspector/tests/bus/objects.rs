//! Tests with well-behaved services: trees, properties, calls and signals.

use std::collections::BTreeMap;
use std::fs::File;
use std::time::Duration;

use client::wire::body::{UnixFd, Value};
use client::{Connection, MethodError, NameFlags, ServedInterface, Values};
use inspector::introspection::{EmitsChange, PropertyAccess};
use inspector::json::Json;
use inspector::{
    CallAnswer, CallSettings, Emission, InspectedObject, Inspector, InspectorFailure, NodeContent,
    ObjectCall, ObjectCallOutcome, ObjectProperty, PropertyName, PropertyReading, ReplyExpectation,
    SignalEvent, SignalName, TreeOptions,
};
use serde_json::json;

use crate::support::{InspectorBus, NAME};

const PATH: &str = "/org/example/Player";
const PLAYER: &str = "org.example.Player";

struct InspectedPlayer {
    volume: f64,
    tags: BTreeMap<String, Value>,
}

fn player() -> ServedInterface<InspectedPlayer> {
    ServedInterface::<InspectedPlayer>::builder(PLAYER)
        .method("Play", &["song"], &["length"], |_, _, (song,): (String,)| match song.as_str() {
            "" => Err(MethodError::invalid_args("the song has no name")),
            _ => Ok((215_u32,)),
        })
        .method("Tag", &["tags", "id"], &["count"], |player, _, arguments| {
            let (tags, id): (BTreeMap<String, Value>, u64) = arguments;
            player.tags.extend(tags);
            Ok((id + player.tags.len() as u64,))
        })
        .annotate("org.freedesktop.DBus.Deprecated", "true")
        .writable_property(
            "Volume",
            |player| player.volume,
            |player, volume: f64| {
                player.volume = volume;
                Ok(())
            },
        )
        .property("Tags", |player| player.tags.clone())
        .emits_change(EmitsChange::Invalidates)
        .write_only_property("Secret", |_, _: u32| Ok(()))
        .signal::<(String,)>("Ended", &["song"])
        .build()
        .expect("a valid interface")
}

fn serve_player(connection: &Connection) {
    let tags = BTreeMap::from([("year".to_owned(), Value::Uint16(1999))]);
    connection
        .add_object(PATH, &player(), InspectedPlayer { volume: 0.5, tags })
        .expect("the path is free");
}

fn inspect(inspector: &Inspector) -> InspectedObject {
    inspector.object(NAME, PATH).unwrap_or_else(|failure| panic!("{failure}"))
}

fn property<'o>(object: &'o InspectedObject, name: &str) -> &'o ObjectProperty {
    let mut all = object.interfaces.iter().flat_map(|interface| &interface.properties);
    all.find(|one| one.description.name == name).unwrap_or_else(|| panic!("{name}: {object:?}"))
}

fn results(answer: Result<CallAnswer, InspectorFailure>) -> Json {
    match answer.unwrap_or_else(|failure| panic!("{failure}")).outcome {
        ObjectCallOutcome::Returned { results, .. } => serde_json::to_value(results).expect("JSON"),
        other => panic!("{other:?}"),
    }
}

fn property_name(name: &str) -> PropertyName {
    PropertyName {
        service: NAME.into(),
        path: PATH.into(),
        interface: PLAYER.into(),
        property: name.into(),
    }
}

fn player_call(method: &str, arguments: Vec<Json>) -> ObjectCall {
    let mut call = ObjectCall { arguments, ..ObjectCall::new(NAME, PATH, method) };
    call.method.interface = Some(PLAYER.into());
    call
}

#[test]
fn trees_list_all_objects_in_path_order() {
    let bus = InspectorBus::start();
    let _service = bus.serve(|connection| {
        serve_player(connection);
        for number in 0..1000 {
            let path = format!("/org/example/Song{number}");
            let song = InspectedPlayer { volume: 0.0, tags: BTreeMap::new() };
            connection.add_object(&path, &player(), song).expect("the path is free");
        }
    });
    let tree = bus.inspector().tree(NAME, &TreeOptions::default()).expect("valid names");
    assert_eq!(tree.nodes.len(), 1004, "{} {}", tree.nodes[0].path, tree.left_out);
    let paths: Vec<_> = tree.nodes.iter().map(|node| node.path.as_str()).collect();
    assert_eq!(paths[..5], ["/", "/org", "/org/example", PATH, "/org/example/Song0"]);
    let NodeContent::Interfaces(interfaces) = &tree.nodes[3].content else {
        panic!("{:?}", tree.nodes[3])
    };
    assert!(interfaces.iter().any(|name| name == PLAYER), "{interfaces:?}");
    println!("1004 objects in {:?}", Duration::from_nanos(tree.took_ns));
    assert!(Duration::from_nanos(tree.took_ns) < Duration::from_secs(5));
}

#[test]
fn trees_start_at_their_root_and_respect_limits() {
    let bus = InspectorBus::start();
    let _service = bus.serve(serve_player);
    let inspector = bus.inspector();
    let tree = |options: TreeOptions| {
        let tree = inspector.tree(NAME, &options).expect("valid names");
        let nodes = tree.nodes.iter().map(|node| match &node.content {
            NodeContent::Interfaces(_) => node.path.clone(),
            NodeContent::Failure(failure) => format!("{} {failure}", node.path),
        });
        (nodes.collect::<Vec<_>>(), tree.left_out)
    };
    let all = TreeOptions::default;
    let (nodes, left_out) = tree(TreeOptions { root: "/org/example".into(), ..all() });
    assert_eq!((nodes.join(" "), left_out), (format!("/org/example {PATH}"), 0));
    let (nodes, _) = tree(TreeOptions { depth: 1, ..all() });
    assert_eq!(nodes, ["/", "/org", "/org/example skipped: the object is nested too deeply"]);
    let (nodes, left_out) = tree(TreeOptions { nodes: 2, ..all() });
    assert_eq!((nodes.join(" "), left_out), ("/ /org".into(), 1));
    let (nodes, _) = tree(TreeOptions { bytes: 0, ..all() });
    assert_eq!(nodes, ["/", "/org skipped: the limit on the size of the results was reached"]);
}

#[test]
fn objects_have_members_and_property_values() {
    let bus = InspectorBus::start();
    let _service = bus.serve(serve_player);
    let object = inspect(&bus.inspector());
    let player = object.interfaces.iter().find(|one| one.name == PLAYER).expect("the member");
    let tag = player.methods.iter().find(|one| one.name == "Tag").expect("the member");
    assert_eq!(tag.signature(), "a{sv}t");
    assert_eq!(tag.arguments[1].name.as_deref(), Some("id"));
    assert_eq!(tag.annotations[0].name, "org.freedesktop.DBus.Deprecated");
    assert_eq!(player.signals[0].arguments[0].name.as_deref(), Some("song"));
    assert!(player.undescribed.is_empty() && player.failure.is_none());

    let volume = property(&object, "Volume");
    assert_eq!(volume.description.access, PropertyAccess::ReadWrite);
    assert_eq!(volume.reading, Some(PropertyReading::Value(Value::Double(0.5).into())));
    let tags = property(&object, "Tags");
    assert_eq!(tags.description.emits_change, EmitsChange::Invalidates);
    assert_eq!(
        serde_json::to_value(tags).expect("JSON"),
        json!({
            "name": "Tags", "type": "a{sv}", "access": "read", "emits_change": "invalidates",
            "annotations": [{
                "name": "org.freedesktop.DBus.Property.EmitsChangedSignal",
                "value": "invalidates",
            }],
            "value": {"type": "a{sv}", "data": [["year", {"type": "q", "data": 1999}]]},
        })
    );
    assert_eq!(property(&object, "Secret").reading, None);
}

#[test]
fn methods_are_called_with_introspected_or_given_signatures() {
    let bus = InspectorBus::start();
    let _service = bus.serve(serve_player);
    let inspector = bus.inspector();
    let settings = CallSettings::default();
    let call = |call: &ObjectCall| inspector.call(call, &settings);

    let big = player_call(
        "Tag",
        vec![json!({"a": {"type": "s", "data": "b"}}), json!("9007199254740993")],
    );
    assert_eq!(results(call(&big)), json!([{"type": "t", "data": "9007199254740995"}]));
    let given =
        ObjectCall { signature: Some("s".into()), ..player_call("Play", vec![json!("a song")]) };
    assert_eq!(results(call(&given)), json!([{"type": "u", "data": 215}]));
    let mut without_interface = given;
    without_interface.method.interface = None;
    assert_eq!(results(call(&without_interface)), json!([{"type": "u", "data": 215}]));

    let failure = call(&player_call("Play", vec![json!(7)])).expect_err("7 is not a string");
    assert_eq!(failure.kind(), "arguments", "{failure}");
    assert_eq!(serde_json::to_value(&failure).expect("JSON")["argument"], json!(1));
    let failure = call(&player_call("Plya", vec![])).expect_err("no such member");
    assert_eq!(
        failure.to_string(),
        "the introspection data of the object has no method Plya of org.example.Player; specify the signature",
    );
    let failure = call(&player_call("no name", vec![])).expect_err("an invalid name");
    assert_eq!(failure.kind(), "name", "{failure}");

    let answer = call(&player_call("Play", vec![json!("")])).expect("the call is sent");
    let answer = serde_json::to_value(&answer).expect("JSON");
    assert_eq!(answer["failed"]["name"], json!("org.freedesktop.DBus.Error.InvalidArgs"));
    assert_eq!(answer["failed"]["message"], json!("the song has no name"));
    assert!(answer["took_ns"].as_u64().is_some_and(|took| took > 1000), "{answer}");

    let no_reply = CallSettings { reply: ReplyExpectation::Unwanted, ..CallSettings::default() };
    let answer = inspector.call(&given_play(), &no_reply).expect("the call is sent");
    assert_eq!(answer.outcome, ObjectCallOutcome::Sent {});
}

fn given_play() -> ObjectCall {
    ObjectCall { signature: Some("s".into()), ..player_call("Play", vec![json!("a song")]) }
}

#[test]
fn properties_are_read_and_set() {
    let bus = InspectorBus::start();
    let _service = bus.serve(serve_player);
    let inspector = bus.inspector();
    let settings = CallSettings::default();
    let get = |name: &str| inspector.get(&property_name(name), &settings);
    assert_eq!(results(get("Volume")), json!([{"type": "d", "data": 0.5}]));
    assert_eq!(
        results(inspector.set(&property_name("Volume"), None, &json!(0.75), &settings)),
        json!([])
    );
    assert_eq!(results(get("Volume")), json!([{"type": "d", "data": 0.75}]));
    let answer = inspector.set(&property_name("Volume"), Some("s"), &json!("loud"), &settings);
    let ObjectCallOutcome::Failed(failure) = answer.expect("the call is sent").outcome else {
        panic!()
    };
    assert!(failure.error_name().is_some_and(|name| name.ends_with("InvalidArgs")), "{failure}");
    let failure = inspector.set(&property_name("Volume"), None, &json!("loud"), &settings);
    let failure = failure.expect_err("not a number").to_string();
    assert_eq!(failure, "argument 1 must be a number (d), but is \"loud\"; example: 1.5");
    let failure = inspector.set(&property_name("Loudness"), None, &json!(1), &settings);
    assert_eq!(failure.expect_err("no such member").kind(), "undescribed");
    let ObjectCallOutcome::Failed(failure) = get("Secret").expect("the call is sent").outcome
    else {
        panic!()
    };
    assert_eq!(failure.kind(), "refused");
}

#[test]
fn values_of_every_type_survive_a_round_trip() {
    let bus = InspectorBus::start();
    let _service = bus.answer(|request| {
        let message = request.message();
        let mut reader = message.reader();
        let types = message.signature().types();
        let values: Result<Vec<_>, _> = types.map(|kind| Value::read(kind, &mut reader)).collect();
        request.reply(&Values(&values.expect("the bus checks bodies"))).expect("the bus is there");
    });
    let inspector = bus.inspector();
    let given = [
        ("y", json!(255)),
        ("bnqiu", json!([true, -1, 65535, -1, 4_294_967_295_u32])),
        ("xtd", json!(["-9223372036854775808", "18446744073709551615", "-Infinity"])),
        ("sog", json!(["ü", "/a", "a{sv}"])),
        ("v", json!({"type": "(av)", "data": [[{"type": "y", "data": 1}]]})),
        ("ay", json!([0, 1, 255])),
        ("a{us}", json!([[2, "b"], [1, "a"], [2, "c"]])),
        ("a(sa{sv})", json!([["a", [["k", {"type": "ad", "data": [0.1, "NaN"]}]]]])),
    ];
    for (signature, data) in given {
        let several = signature.len() > 1 && !signature.starts_with('a');
        let arguments =
            if several { data.as_array().cloned().expect("a list") } else { vec![data] };
        let mut call = ObjectCall::new(NAME, "/", "Echo");
        call.signature = Some(signature.into());
        call.arguments.clone_from(&arguments);
        let results = results(inspector.call(&call, &CallSettings::default()));
        let results = results.as_array().expect("a list").iter();
        let (types, data): (String, Vec<_>) =
            results.map(|one| (one["type"].as_str().expect("a text"), one["data"].clone())).unzip();
        assert_eq!((types.as_str(), data), (signature, arguments));
    }
}

#[test]
fn descriptors_in_replies_are_described() {
    let bus = InspectorBus::start();
    let _service = bus.answer(|request| {
        let file = File::open("/dev/null").expect("/dev/null exists").into();
        request.reply_with_descriptors(&(UnixFd(0),), vec![file]).expect("the bus is there");
    });
    let call = ObjectCall { signature: Some(String::new()), ..ObjectCall::new(NAME, "/", "Open") };
    let answer = bus.inspector().call(&call, &CallSettings::default()).expect("the call is sent");
    let answer = serde_json::to_value(&answer).expect("JSON");
    assert_eq!(answer["returned"]["results"], json!([{"type": "h", "data": 0}]));
    assert_eq!(answer["returned"]["descriptors"], json!([{"what": "/dev/null"}]));
}

#[test]
fn added_objects_are_reported_by_watches() {
    let bus = InspectorBus::start();
    let listening = bus.inspector();
    let watch = listening.watch_objects(NAME).expect("the bus accepts the match rule");
    let _service = bus.serve(|connection| {
        connection.request_name(NAME, NameFlags::NONE).expect("the name is free");
        connection.add_object_manager("/org/example").expect("the path is free");
        serve_player(connection);
    });
    let event = watch.next(Some(Duration::from_secs(5))).expect("the bus is there");
    let Some(SignalEvent::Signal(signal)) = event else { panic!("{event:?}") };
    assert_eq!((signal.path.as_str(), signal.member.as_str()), ("/org/example", "InterfacesAdded"));
    let json = serde_json::to_value(&signal).expect("JSON");
    assert_eq!(json["arguments"][0], json!({"type": "o", "data": PATH}));
}

#[test]
fn signals_of_one_object_are_reported_by_watches() {
    let bus = InspectorBus::start();
    let (listening, emitting) = (bus.inspector(), bus.inspector());
    let sender = emitting.connection().unique_name().as_str().to_owned();
    let watch = listening.watch(&sender, PATH).expect("the bus accepts the match rule");
    let mut emission = Emission {
        signal: SignalName {
            path: "/other".into(),
            interface: PLAYER.into(),
            signal: "Ended".into(),
            destination: None,
        },
        signature: "st".into(),
        arguments: vec![json!("a song"), json!("7")],
    };
    emitting.emit(&emission).expect("the bus is there");
    emission.signal.path = PATH.into();
    emitting.emit(&emission).expect("the bus is there");
    let event = watch.next(Some(Duration::from_secs(5))).expect("the bus is there");
    let Some(SignalEvent::Signal(signal)) = event else { panic!("{event:?}") };
    assert_eq!((signal.path.as_str(), signal.member.as_str()), (PATH, "Ended"));
    assert_eq!(signal.sender, sender);
    let json = serde_json::to_value(&signal).expect("JSON");
    assert_eq!(
        json["arguments"],
        json!([{"type": "s", "data": "a song"}, {"type": "t", "data": "7"}])
    );
    assert!(signal.at_us > 1_500_000_000_000_000);
    assert_eq!(watch.next(Some(Duration::from_millis(50))), Ok(None));

    emission.arguments.pop();
    let failure = emitting.emit(&emission).expect_err("an argument is missing").to_string();
    assert_eq!(failure, "too few arguments for signature \"st\": expected 2, got 1");
}
