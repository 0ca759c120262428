//! Serving objects to other programs.

mod support;

use std::collections::BTreeMap;
use std::time::Duration;

use diligence_client::wire::body::Value;
use diligence_client::wire::message::Builder;
use diligence_client::wire::names::{BusName, InterfaceName, MemberName, ObjectPath};
use diligence_client::{
    CallError, CallOptions, Connection, EmitsChange, MethodError, NameFlags, Processed,
    ServedInterface, error_name,
};
use support::PrivateTestBus;

const NAME: &str = "org.example.Player";
const PATH: &str = "/org/example/Player";

struct TestPlayer {
    song: String,
    volume: f64,
    secret: u32,
}

fn player() -> ServedInterface<TestPlayer> {
    ServedInterface::<TestPlayer>::builder(NAME)
        .method("Play", &["song"], &["length"], |player, request, (song,): (String,)| {
            request.properties_changed(&["Song", "Volume"]);
            if song.is_empty() {
                return Err(MethodError::invalid_args("the song has no name"));
            }
            player.song = song;
            Ok((215_u32,))
        })
        .method("Fail", &[], &[], |_, _, ()| {
            Err::<(), _>(MethodError::failed("the test expects this"))
        })
        .method("FailWith", &["length"], &[], |_, _, (length,): (u32,)| {
            let text = format!("{}\0", "x".repeat(length as usize));
            Err::<(), _>(MethodError::failed(text))
        })
        .property("Song", |player| player.song.clone())
        .emits_change(EmitsChange::Invalidates)
        .writable_property(
            "Volume",
            |player| player.volume,
            |player, volume: f64| {
                if !(0.0..=1.0).contains(&volume) {
                    return Err(MethodError::invalid_args("the volume is from 0 to 1"));
                }
                player.volume = volume;
                Ok(())
            },
        )
        .write_only_property("Secret", |player, secret: u32| {
            player.secret = secret;
            Ok(())
        })
        .property("Any", |player| Value::from(player.secret))
        .emits_change(EmitsChange::No)
        .signal::<(String,)>("Ended", &["song"])
        .annotate("org.freedesktop.DBus.Deprecated", "true")
        .build()
        .expect("a valid interface")
}

fn serve_player(connection: &Connection) {
    let state = TestPlayer { song: "none".into(), volume: 0.5, secret: 0 };
    connection.add_object(PATH, &player(), state).expect("the path is free");
    connection.request_name(NAME, NameFlags::NONE).expect("the name has no owner");
}

#[test]
fn error_texts_that_a_message_cannot_have_do_not_hide_the_error() {
    let bus = PrivateTestBus::start();
    let _service = bus.serve(serve_player);
    let player = bus.connect().proxy(NAME, PATH, NAME).expect("valid names");
    let text_of = |length: u32| match player.call("FailWith", &(length,)) {
        Err(CallError::Remote { name, message, .. }) => {
            assert_eq!(name, "org.freedesktop.DBus.Error.Failed");
            message
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(text_of(2), "xx\u{fffd}");
    assert_eq!(text_of(130 * 1024 * 1024), "");
}

#[test]
fn gdbus_reads_the_introspection() {
    let bus = PrivateTestBus::start();
    let _service = bus.serve(serve_player);
    let seen = bus.gdbus(&["introspect", "--session", "--dest", NAME, "--object-path", PATH]);
    for line in [
        "interface org.example.Player {",
        "Play(in  s song,",
        "out u length);",
        "Ended(s song);",
        "readwrite d Volume = 0.5;",
        "readonly s Song = 'none';",
        "writeonly u Secret;",
        "readonly v Any = <uint32 0>;",
        "@org.freedesktop.DBus.Property.EmitsChangedSignal(\"invalidates\")",
        "@org.freedesktop.DBus.Deprecated(\"true\")",
        "interface org.freedesktop.DBus.Properties {",
        "interface org.freedesktop.DBus.Peer {",
    ] {
        assert!(seen.contains(line), "{line}: {seen}");
    }
    let tree = bus.gdbus(&[
        "introspect",
        "--session",
        "--recurse",
        "--only-properties",
        "--dest",
        NAME,
        "--object-path",
        "/",
    ]);
    assert!(tree.contains("node /org/example/Player {") && tree.contains("Volume"), "{tree}");
}

#[test]
fn busctl_reads_the_introspection() {
    let bus = PrivateTestBus::start();
    let _service = bus.serve(serve_player);
    let seen = bus.busctl(&["introspect", NAME, PATH]);
    let rows: Vec<Vec<&str>> = seen.lines().map(|line| line.split_whitespace().collect()).collect();
    for row in [
        vec![".Play", "method", "s", "u", "-"],
        vec![".Ended", "signal", "s", "-", "deprecated"],
        vec![".Volume", "property", "d", "0.5", "emits-change", "writable"],
        vec![".Song", "property", "s", "\"none\"", "emits-invalidation"],
        vec![".Any", "property", "v", "-", "-"],
        vec![".Secret", "property", "u", "-", "writable"],
        vec![".GetMachineId", "method", "-", "s", "-"],
    ] {
        assert!(rows.contains(&row), "{row:?}: {seen}");
    }
    let tree = bus.busctl(&["tree", "--list", NAME]);
    let paths: Vec<&str> = tree.lines().collect();
    assert_eq!(paths, ["/", "/org", "/org/example", PATH]);
}

#[test]
fn properties_work_with_busctl_and_gdbus() {
    let bus = PrivateTestBus::start();
    let _service = bus.serve(serve_player);
    assert_eq!(bus.busctl(&["get-property", NAME, PATH, NAME, "Volume"]), "d 0.5\n");
    bus.busctl(&["set-property", NAME, PATH, NAME, "Volume", "d", "0.25"]);
    let get = "org.freedesktop.DBus.Properties.Get";
    let call = ["call", "--session", "--dest", NAME, "--object-path", PATH, "--method"];
    let printed = bus.gdbus(&[&call[..], &[get, NAME, "Volume"][..]].concat());
    assert_eq!(printed, "(<0.25>,)\n");
    let all = "org.freedesktop.DBus.Properties.GetAll";
    let printed = bus.gdbus(&[&call[..], &[all, NAME][..]].concat());
    assert_eq!(printed, "({'Any': <<uint32 0>>, 'Song': <'none'>, 'Volume': <0.25>},)\n");
    let peer = "org.freedesktop.DBus.Peer.GetMachineId";
    let id = bus.gdbus(&[&call[..], &[peer][..]].concat());
    assert_eq!(id.len(), "('',)\n".len() + 32, "{id}");
}

#[test]
fn property_changes_are_announced_as_configured() {
    let bus = PrivateTestBus::start();
    let connection = bus.connect();
    let changes = {
        let proxy = connection.proxy(NAME, PATH, NAME).unwrap();
        proxy.property_changes().unwrap()
    };
    let _service = bus.serve(|service| {
        let state = TestPlayer { song: "none".into(), volume: 0.5, secret: 0 };
        let object = service.add_object(PATH, &player(), state).unwrap();
        service.request_name(NAME, NameFlags::NONE).unwrap();
        object.state().volume = 1.0;
        object.properties_changed(&["Volume", "Song", "Any", "Secret", "Other"]);
        object.properties_changed(&["Any"]);
        object.emit("Ended", &("none",)).unwrap();
        service.flush().unwrap();
    });
    let next = || changes.next(Some(Duration::from_secs(5))).unwrap().expect("a signal");
    let signal = next();
    let (interface, changed, invalidated): ObservedChanges<'_> = signal.read().unwrap();
    assert_eq!(interface, NAME);
    assert_eq!(changed, BTreeMap::from([("Volume", Value::Double(1.0))]));
    assert_eq!(invalidated, ["Song"]);

    let proxy = connection.proxy(NAME, PATH, NAME).unwrap();
    proxy.set("Volume", &0.75).unwrap();
    let signal = next();
    let (_, changed, _): ObservedChanges<'_> = signal.read().unwrap();
    assert_eq!(changed, BTreeMap::from([("Volume", Value::Double(0.75))]));
    assert_eq!(proxy.get::<f64>("Volume"), Ok(0.75));
    assert_eq!(proxy.get::<Value>("Any"), Ok(Value::Variant(Value::from(0_u32).into())));
    proxy.call("Play", &("another",)).unwrap();
    let signal = next();
    let (_, changed, invalidated): ObservedChanges<'_> = signal.read().unwrap();
    assert_eq!(changed, BTreeMap::from([("Volume", Value::Double(0.75))]));
    assert_eq!(invalidated, ["Song"]);
    proxy.set("Secret", &Value::from(7_u32)).unwrap();
    assert_eq!(proxy.get::<Value>("Any"), Ok(Value::Variant(Value::from(7_u32).into())));
}

#[test]
fn errors_have_the_names_of_other_bindings() {
    let bus = PrivateTestBus::start();
    let _service = bus.serve(serve_player);
    let connection = bus.connect();
    let properties = "org.freedesktop.DBus.Properties";
    let check = |path: &str, interface: &str, member: &str, arguments: &[Value], expected| {
        let arguments = diligence_client::Values(arguments);
        let error = connection.call(NAME, path, interface, member, &arguments).unwrap_err();
        let CallError::Remote { name, message, .. } = error else { panic!("{error}") };
        assert_eq!(name, error_name_text(expected), "{path} {interface}.{member}: {message}");
        assert!(!message.is_empty());
    };
    let text = |text: &str| Value::from(text);
    let value = |value: Value| Value::Variant(value.into());
    let volume = value(Value::Double(2.0));
    check("/nowhere", NAME, "Play", &[text("a")], "UnknownObject");
    check("/org", NAME, "Play", &[text("a")], "UnknownObject");
    check("/nowhere", properties, "GetAll", &[text(NAME)], "UnknownObject");
    check(PATH, "org.example.Other", "Play", &[text("a")], "UnknownInterface");
    check(PATH, NAME, "Stop", &[], "UnknownMethod");
    check(PATH, properties, "Stop", &[], "UnknownMethod");
    check(PATH, NAME, "Play", &[], "InvalidArgs");
    check(PATH, NAME, "Play", &[text("")], "InvalidArgs");
    check(PATH, NAME, "Fail", &[], "Failed");
    check(PATH, properties, "Get", &[text(NAME)], "InvalidArgs");
    check(PATH, properties, "Get", &[text(NAME), text("Mood")], "UnknownProperty");
    check(PATH, properties, "Get", &[text("a.b"), text("Volume")], "UnknownInterface");
    check(PATH, properties, "Get", &[text(NAME), text("Secret")], "AccessDenied");
    check(PATH, properties, "GetAll", &[text("a.b")], "UnknownInterface");
    let song = value(text("b"));
    check(PATH, properties, "Set", &[text(NAME), text("Song"), song.clone()], "PropertyReadOnly");
    check(PATH, properties, "Set", &[text(NAME), text("Volume"), song], "InvalidArgs");
    check(PATH, properties, "Set", &[text(NAME), text("Volume"), volume], "InvalidArgs");
    check(PATH, properties, "Set", &[text(NAME), text("Volume")], "InvalidArgs");
    check(PATH, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", &[], "UnknownInterface");
}

fn error_name_text(name: &str) -> String {
    format!("org.freedesktop.DBus.Error.{name}")
}

#[test]
fn calls_without_interface_find_the_method() {
    let bus = PrivateTestBus::start();
    let _service = bus.serve(serve_player);
    let connection = bus.connect();
    let call = |member: &str| {
        let member = MemberName::new(member).unwrap();
        let message = Builder::method_call(ObjectPath::new(PATH).unwrap(), member)
            .destination(BusName::new(NAME).unwrap());
        connection.start_call(&message, &(), Default::default()).unwrap().wait()
    };
    assert_eq!(call("Fail").unwrap_err().remote_name(), Some(error_name::FAILED.as_str()));
    assert!(call("Introspect").unwrap().read::<(&str,)>().unwrap().0.contains("<node>"));
    let error = call("Nothing").unwrap_err();
    assert_eq!(error.remote_name(), Some(error_name::UNKNOWN_METHOD.as_str()));
}

#[test]
fn methods_emit_signals_of_their_interface() {
    let bus = PrivateTestBus::start();
    let interface = ServedInterface::<()>::builder(NAME)
        .method("Stop", &[], &[], |(), request, ()| Ok(request.emit("Ended", &("a song",))?))
        .method("Misspell", &[], &[], |(), request, ()| Ok(request.emit("a b", &())?))
        .signal::<(String,)>("Ended", &["song"])
        .build()
        .unwrap();
    let service = bus.connect();
    service.add_object(PATH, &interface, ()).unwrap();
    let name = service.unique_name();
    let caller = bus.connect();
    let player = caller.proxy(name, PATH, NAME).unwrap();
    let signals = player.signals("Ended").unwrap();
    let member = |text| MemberName::new(text).unwrap();
    let without_interface = |text| {
        let path = ObjectPath::new(PATH).unwrap();
        Builder::method_call(path, member(text)).destination(name)
    };
    let mut named = player.start_call("Stop", &(), CallOptions::default()).unwrap();
    let bare = caller.start_call(&without_interface("Stop"), &(), CallOptions::default());
    let wrong = caller.start_call(&without_interface("Misspell"), &(), CallOptions::default());
    caller.flush().unwrap();
    let mut answered = 0;
    while answered < 3 {
        match service.process(Some(Duration::from_secs(5))).unwrap() {
            Processed::Request => answered += 1,
            other => assert_ne!(other, Processed::Nothing, "only {answered} calls arrived"),
        }
    }
    service.flush().unwrap();
    for _ in 0..2 {
        let signal = signals.next(None).unwrap().unwrap();
        assert_eq!(signal.read(), Ok(("a song",)));
        assert_eq!((signal.path(), signal.interface()), (Some(PATH), Some(NAME)));
    }
    let error = wrong.unwrap().wait().unwrap_err();
    assert_eq!(error.remote_name(), Some(error_name::FAILED.as_str()));
    named.poll().unwrap().unwrap();
    bare.unwrap().wait().unwrap();
}

#[test]
fn object_managers_list_and_announce_objects() {
    let bus = PrivateTestBus::start();
    let _service = bus.serve(|service| {
        service.add_object_manager("/org/example").unwrap();
        let commands = ServedInterface::<Connection>::builder("org.example.Commands")
            .method("Add", &["name"], &[], |service, _, (name,): (String,)| {
                let state = TestPlayer { song: name.clone(), volume: 0.0, secret: 0 };
                let path = format!("/org/example/{name}");
                let object = service.add_object(&path, &player(), state);
                object.map(drop).map_err(|error| MethodError::failed(error.to_string()))
            })
            .build()
            .unwrap();
        service.add_object("/commands", &commands, service.clone()).unwrap();
        let state = TestPlayer { song: "kept".into(), volume: 0.0, secret: 0 };
        let removed = service.add_object("/org/example/a", &player(), state).unwrap();
        service.request_name(NAME, NameFlags::NONE).unwrap();
        removed.remove();
        service.flush().unwrap();
    });
    let connection = bus.connect();
    let manager = "org.freedesktop.DBus.ObjectManager";
    let manager = connection.proxy(NAME, "/org/example", manager).unwrap();
    let added = manager.signals("InterfacesAdded").unwrap();
    let add =
        |name: &str| connection.call(NAME, "/commands", "org.example.Commands", "Add", &(name,));
    add("b").unwrap();
    let taken = format!("/org/example/b already has the interface {NAME}");
    assert!(add("b").unwrap_err().to_string().contains(&taken));

    type Interfaces = BTreeMap<String, BTreeMap<String, Value>>;
    let signal =
        added.next(Some(Duration::from_secs(5))).unwrap().expect("a signal for the added object");
    let (path, interfaces): (ObjectPath<'_>, Interfaces) = signal.read().unwrap();
    assert_eq!(path, "/org/example/b");
    assert_eq!(interfaces[NAME]["Song"], Value::from("b"));
    let printed = bus.gdbus(&[
        "call",
        "--session",
        "--dest",
        NAME,
        "--object-path",
        "/org/example",
        "--method",
        "org.freedesktop.DBus.ObjectManager.GetManagedObjects",
    ]);
    assert!(printed.starts_with("({objectpath '/org/example/b': {'org.example.Player': {'Any'"));
    assert_eq!(printed.matches("objectpath").count(), 1, "{printed}");
}

#[test]
fn a_method_that_panics_answers_with_an_error() {
    let bus = PrivateTestBus::start();
    let service = bus.connect();
    let interface = ServedInterface::<()>::builder("org.example.Faulty")
        .method("Panic", &[], &[], |(), _, ()| -> Result<(), MethodError> {
            panic!("the test expects this")
        })
        .build()
        .unwrap();
    service.add_object("/faulty", &interface, ()).unwrap();
    service.request_name(NAME, NameFlags::NONE).unwrap();
    let thread = std::thread::spawn(move || service.serve());
    let connection = bus.connect();
    let error = connection.call(NAME, "/faulty", "org.example.Faulty", "Panic", &()).unwrap_err();
    assert_eq!(error.remote_name(), Some(error_name::FAILED.as_str()));
    assert!(error.to_string().contains("the method panicked"), "{error}");
    assert!(thread.join().is_err());
}

#[test]
fn objects_reject_nested_calls() {
    let bus = PrivateTestBus::start();
    let _service = bus.serve(|service| {
        let interface = ServedInterface::<u32>::builder("org.example.Nested")
            .method("Wait", &[], &["count"], |count, request, ()| {
                *count += 1;
                request.properties_changed(&["Count"]);
                // Serves a nested call, which is for the same object.
                request.connection().process(None).expect("the bus runs");
                Ok((*count,))
            })
            .property("Count", |count| *count)
            .build()
            .unwrap();
        service.add_object("/nested", &interface, 0).unwrap();
        service.request_name(NAME, NameFlags::NONE).unwrap();
    });
    let connection = bus.connect();
    let nested = connection.proxy(NAME, "/nested", "org.example.Nested").unwrap();
    let changes = nested.property_changes().unwrap();
    let first = nested.start_call("Wait", &(), CallOptions::default()).unwrap();
    let error = nested.get::<u32>("Count").unwrap_err();
    assert_eq!(error.remote_name(), Some(error_name::FAILED.as_str()));
    assert_eq!(first.wait().unwrap().read::<(u32,)>(), Ok((1,)));
    // The change signal was deferred while the method ran.
    let signal = changes.next(Some(Duration::from_secs(5))).unwrap().expect("a change");
    let (_, changed, _): ObservedChanges<'_> = signal.read().unwrap();
    assert_eq!(changed, BTreeMap::from([("Count", Value::from(1_u32))]));
}

/// The arguments of `PropertiesChanged`.
type ObservedChanges<'a> = (&'a str, BTreeMap<&'a str, Value>, Vec<&'a str>);

#[test]
fn equal_calls_find_the_object_that_is_there_at_the_time() {
    let bus = PrivateTestBus::start();
    let (service, caller) = (bus.connect(), bus.connect());
    let number = |first: &str| {
        ServedInterface::<u32>::builder(NAME)
            .method(first, &[], &["number"], |_, _, ()| Ok((0_u32,)))
            .method("Number", &[], &["number"], |number, _, ()| Ok((*number,)))
            .build()
            .expect("a valid interface")
    };
    let message = Builder::method_call(ObjectPath::literal(PATH), MemberName::literal("Number"))
        .interface(InterfaceName::literal(NAME))
        .destination(service.unique_name());
    let ask = || {
        let call = caller.start_call(&message, &(), CallOptions::default()).expect("it is sent");
        while service.process(Some(Duration::from_secs(5))) != Ok(Processed::Request) {}
        service.flush().expect("the connection lives");
        call.wait().map(|reply| reply.read::<(u32,)>().expect("a number").0)
    };
    for (turn, first) in ["Earlier", "Other", "Third"].into_iter().enumerate() {
        let turn = turn as u32;
        let object = service.add_object(PATH, &number(first), turn).expect("the path is free");
        assert_eq!([ask(), ask(), ask()], [Ok(turn), Ok(turn), Ok(turn)]);
        object.remove();
        for _ in 0..2 {
            let error = ask().expect_err("the object was removed");
            assert_eq!(error.remote_name(), Some(error_name::UNKNOWN_OBJECT.as_str()));
        }
    }
}
