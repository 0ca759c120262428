//! Names, and who is behind them.

use diligence_inspector::{Call, Manner, Name, Outcome, Starting, Told, TreeOptions};

use crate::support::{NAME, SLEEPER, TestBus};

#[test]
fn names_have_owners_and_processes() {
    let bus = TestBus::start();
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
fn names_come_in_order() {
    let bus = TestBus::start();
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
    let bus = TestBus::start();
    let inspector = bus.inspector();
    let tree = inspector.tree(SLEEPER, &TreeOptions::default()).expect("the names are names");
    let [root] = tree.nodes.as_slice() else { panic!("{tree:?}") };
    let Told::Failure(failure) = &root.told else { panic!("{tree:?}") };
    assert_eq!(failure.kind(), "refused", "{failure}");
    let error = failure.error_name().expect("it is one").to_owned();
    assert!(error.ends_with("ServiceUnknown") || error.ends_with("NameHasNoOwner"), "{error}");
    inspector.object(SLEEPER, "/").expect_err("nobody is there");
    let _watch = inspector.watch(SLEEPER, "/").expect("it may come some day");

    // Who wants it started sees that it is tried.
    let mut call = Call::new(SLEEPER, "/", "Anything");
    call.signature = Some(String::new());
    let manner = Manner { starting: Starting::Allowed, ..Manner::default() };
    let answer = inspector.call(&call, &manner).expect("it is sent");
    let Outcome::Failed(failure) = answer.outcome else { panic!("{answer:?}") };
    assert!(failure.error_name().is_some_and(|name| name.contains("Spawn")), "{failure}");
}
