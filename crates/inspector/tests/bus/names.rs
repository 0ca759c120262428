//! Tests of bus names, their owners and processes.

use std::time::Duration;

use inspector::{
    CallSettings, Name, NodeContent, ObjectCall, ObjectCallOutcome, SignalEvent, Starting,
    TreeOptions,
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
    let owner = own.owner_process.as_ref().expect("our own process");
    assert_eq!(owner.process.pid, Some(std::process::id()));
    assert!(owner.process.comm.is_some() && owner.process.exe.is_some());
    assert!(!owner.process.command.is_empty() && owner.user.is_some());
    assert!(owner.process.started.is_some_and(|started| started.0 > 1_500_000_000_000_000_000));

    let service = find(NAME);
    let owner = service.owner.as_ref().expect("an owner");
    assert!(owner.starts_with(':') && *owner != own.name);
    assert_eq!(service.owner_process, find(owner).owner_process);
    assert!(!service.is_activatable);

    let sleeper = find(SLEEPER);
    assert!(sleeper.is_activatable && sleeper.failure.is_none());
    assert_eq!((&sleeper.owner, &sleeper.owner_process), (&None, &None));

    let driver = find("org.freedesktop.DBus");
    let owner = driver.owner_process.as_ref().expect("the bus describes itself");
    assert_eq!(owner.process.pid, Some(bus.pid()));
}

#[test]
fn single_lookups_match_the_list_of_names() {
    let bus = InspectorBus::start();
    let _service = bus.serve(|_| {});
    let inspector = bus.inspector();
    let own = inspector.connection().unique_name().as_str().to_owned();
    let all = inspector.names().expect("the bus answers");
    let summary = |name: &Name| {
        let pid = name.owner_process.as_ref().and_then(|owner| owner.process.pid);
        (name.name.clone(), name.owner.clone(), name.is_activatable, pid)
    };
    for name in [NAME, SLEEPER, "org.freedesktop.DBus", &own] {
        let single = inspector.name(name).expect("the bus answers");
        let in_list = all.iter().find(|one| one.name == name).map(summary);
        assert!(single.is_some(), "{name}");
        assert_eq!(single.as_ref().map(summary), in_list, "{name}");
    }
    for unowned in ["org.example.Nobody", ":1.4000"] {
        assert_eq!(inspector.name(unowned), Ok(None), "{unowned}");
    }
    assert_eq!(inspector.name("no name").expect_err("an invalid name").kind(), "name");
}

#[test]
fn acquired_and_lost_names_are_reported_by_watches() {
    let bus = InspectorBus::start();
    let listening = bus.inspector();
    let watch = listening.watch_names().expect("the bus accepts the match rule");
    let wait_for = |name: &str, is_owned: bool| {
        loop {
            let event = watch.next(Some(Duration::from_secs(5))).expect("the bus is there");
            let Some(SignalEvent::Signal(signal)) = event else { panic!("{name}: {event:?}") };
            let json = serde_json::to_value(&signal).expect("JSON");
            if signal.member == "NameOwnerChanged" && json["arguments"][0]["data"] == name {
                assert_eq!(json["arguments"][2]["data"] != "", is_owned, "{json}");
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
fn names_are_sorted() {
    let bus = InspectorBus::start();
    let _others: Vec<_> = (0..12).map(|_| bus.connect()).collect();
    let names = bus.inspector().names().expect("the bus answers");
    let names: Vec<_> = names.iter().map(|one| one.name.as_str()).collect();
    let position = |name| names.iter().position(|one| *one == name);
    assert!(position(SLEEPER) < position("org.freedesktop.DBus"));
    assert!(
        position("org.freedesktop.DBus") < position(":1.2"),
        "well-known names come first: {names:?}"
    );
    assert!(position(":1.2") < position(":1.10"), "by number: {names:?}");
}

#[test]
fn inspection_starts_no_service() {
    let bus = InspectorBus::start();
    let inspector = bus.inspector();
    let tree = inspector.tree(SLEEPER, &TreeOptions::default()).expect("valid names");
    let [root] = tree.nodes.as_slice() else { panic!("{tree:?}") };
    let NodeContent::Failure(failure) = &root.content else { panic!("{tree:?}") };
    assert_eq!(failure.kind(), "refused", "{failure}");
    let error = failure.error_name().expect("an error reply").to_owned();
    assert!(error.ends_with("ServiceUnknown") || error.ends_with("NameHasNoOwner"), "{error}");
    inspector.object(SLEEPER, "/").expect_err("the service does not run");
    let _watch = inspector.watch(SLEEPER, "/").expect("the name may get an owner later");

    // With `Starting::Allowed`, the bus tries to start the service.
    let mut call = ObjectCall::new(SLEEPER, "/", "Anything");
    call.signature = Some(String::new());
    let settings = CallSettings { starting: Starting::Allowed, ..CallSettings::default() };
    let answer = inspector.call(&call, &settings).expect("the call is sent");
    let ObjectCallOutcome::Failed(failure) = answer.outcome else { panic!("{answer:?}") };
    assert!(failure.error_name().is_some_and(|name| name.contains("Spawn")), "{failure}");
}
