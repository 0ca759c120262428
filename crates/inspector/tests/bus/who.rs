//! Names, and who is behind them.

use std::time::Duration;

use inspector::{
    Heard, Manner, Name, NodeContent, ObjectCall, ObjectCallOutcome, Starting, TreeOptions,
};

use crate::support::{InspectorBus, NAME, SLEEPER};

#[test]
fn names_have_owners_and_processes() {
    let bus = InspectorBus::start();
    let _service = bus.serve(|_| {});
    let inspector = bus.inspector();
    let names = inspector.names().expect("the bus answers");
    let find = |name: &str| -> &Name {
        names.iter().find(|one| one.name == name).unwrap_or_else(|| panic!("{name}: {names:?}"))
    };

    let own = find(inspector.connection().unique_name().as_str());
    assert_eq!(own.owner.as_ref(), Some(&own.name));
    let who = own.who.as_ref().expect("the bus knows us");
    assert_eq!(who.process.pid, Some(std::process::id()));
    assert!(who.process.comm.is_some() && who.process.exe.is_some());
    assert!(!who.process.command.is_empty() && who.user.is_some());
    assert!(who.process.started.is_some_and(|started| started.0 > 1_500_000_000_000_000_000));

    let service = find(NAME);
    let owner = service.owner.as_ref().expect("somebody has it");
    assert!(owner.starts_with(':') && *owner != own.name);
    assert_eq!(service.who, find(owner).who);
    assert!(!service.is_activatable);

    let sleeper = find(SLEEPER);
    assert!(sleeper.is_activatable && sleeper.failure.is_none());
    assert_eq!((&sleeper.owner, &sleeper.who), (&None, &None));

    let driver = find("org.freedesktop.DBus");
    let who = driver.who.as_ref().expect("it tells of itself");
    assert_eq!(who.process.pid, Some(bus.pid()));
}

#[test]
fn one_name_is_told_as_among_all() {
    let bus = InspectorBus::start();
    let _service = bus.serve(|_| {});
    let inspector = bus.inspector();
    let own = inspector.connection().unique_name().as_str().to_owned();
    let all = inspector.names().expect("the bus answers");
    let seen = |name: &Name| {
        let pid = name.who.as_ref().and_then(|who| who.process.pid);
        (name.name.clone(), name.owner.clone(), name.is_activatable, pid)
    };
    for name in [NAME, SLEEPER, "org.freedesktop.DBus", &own] {
        let told = inspector.name(name).expect("the bus answers");
        let among_all = all.iter().find(|one| one.name == name).map(seen);
        assert!(told.is_some(), "{name}");
        assert_eq!(told.as_ref().map(seen), among_all, "{name}");
    }
    for nobody in ["org.example.Nobody", ":1.4000"] {
        assert_eq!(inspector.name(nobody), Ok(None), "{nobody}");
    }
    assert_eq!(inspector.name("no name").expect_err("it is none").kind(), "name");
}

#[test]
fn names_that_come_and_go_are_heard() {
    let bus = InspectorBus::start();
    let listening = bus.inspector();
    let watch = listening.watch_names().expect("the bus takes the rule");
    let wait_for = |name: &str, is_owned: bool| {
        loop {
            let heard = watch.next(Some(Duration::from_secs(5))).expect("the bus is there");
            let Some(Heard::Signal(signal)) = heard else { panic!("{name}: {heard:?}") };
            let told = serde_json::to_value(&signal).expect("JSON");
            if signal.member == "NameOwnerChanged" && told["arguments"][0]["data"] == name {
                assert_eq!(told["arguments"][2]["data"] != "", is_owned, "{told}");
                return;
            }
        }
    };
    let service = bus.serve(|_| {});
    wait_for(NAME, true);
    drop(service);
    wait_for(NAME, false);
}

#[test]
fn names_come_in_order() {
    let bus = InspectorBus::start();
    let _others: Vec<_> = (0..12).map(|_| bus.connect()).collect();
    let names = bus.inspector().names().expect("the bus answers");
    let names: Vec<_> = names.iter().map(|one| one.name.as_str()).collect();
    let place = |name| names.iter().position(|one| *one == name);
    assert!(place(SLEEPER) < place("org.freedesktop.DBus"));
    assert!(place("org.freedesktop.DBus") < place(":1.2"), "services come first: {names:?}");
    assert!(place(":1.2") < place(":1.10"), "by number: {names:?}");
}

#[test]
fn looking_starts_nothing() {
    let bus = InspectorBus::start();
    let inspector = bus.inspector();
    let tree = inspector.tree(SLEEPER, &TreeOptions::default()).expect("the names are names");
    let [root] = tree.nodes.as_slice() else { panic!("{tree:?}") };
    let NodeContent::Failure(failure) = &root.told else { panic!("{tree:?}") };
    assert_eq!(failure.kind(), "refused", "{failure}");
    let error = failure.error_name().expect("it is one").to_owned();
    assert!(error.ends_with("ServiceUnknown") || error.ends_with("NameHasNoOwner"), "{error}");
    inspector.object(SLEEPER, "/").expect_err("nobody is there");
    let _watch = inspector.watch(SLEEPER, "/").expect("it may come some day");

    // Who wants it started sees that it is tried.
    let mut call = ObjectCall::new(SLEEPER, "/", "Anything");
    call.signature = Some(String::new());
    let manner = Manner { starting: Starting::Allowed, ..Manner::default() };
    let answer = inspector.call(&call, &manner).expect("it is sent");
    let ObjectCallOutcome::Failed(failure) = answer.outcome else { panic!("{answer:?}") };
    assert!(failure.error_name().is_some_and(|name| name.contains("Spawn")), "{failure}");
}
