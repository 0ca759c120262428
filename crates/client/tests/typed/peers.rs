//! Typed proxies between two programs without a bus.

use std::thread;
use std::time::Duration;

use diligence_client::asynchronous::{self, LocalRuntime};
use diligence_client::{
    CallError, Connection, ListenOptions, NameFlags, PeerListener, SendError, SubscribeError,
};

use crate::lamp::{AsyncLampProxy, LampProxy, NAME, PATH, TestLamp};
use crate::support::{PATIENCE, TestDirectory};

/// Uses the address of a program that serves a lamp.
fn with_lamp_at(name: &str, look: impl FnOnce(&str)) {
    let directory = TestDirectory::new(name);
    let address = format!("unix:path={}", directory.file("socket"));
    let listener = PeerListener::bind(&address, ListenOptions::default()).unwrap();
    let server = thread::spawn(move || {
        let peer = listener.accept(Some(PATIENCE)).unwrap().expect("a connection");
        let connection = Connection::accept_peer(peer).unwrap();
        let _lamp = connection.export(PATH, TestLamp::new()).unwrap();
        connection.serve()
    });
    look(&address);
    server.join().unwrap();
}

#[test]
fn proxies_of_peers_call_and_subscribe() {
    with_lamp_at("typed-peer", |address| {
        let connection = Connection::open_peer(address).unwrap();
        let lamp = LampProxy::of_peer(&connection, PATH).unwrap();
        let (toggled, changes) =
            (lamp.subscribe_toggled().unwrap(), lamp.property_changes().unwrap());
        assert_eq!(lamp.toggle(), Ok(true));
        assert!(toggled.next(Some(PATIENCE)).unwrap().expect("a signal").0);
        assert_eq!(changes.next(Some(PATIENCE)).unwrap().unwrap().changed.uses, Some(1));
        assert!(LampProxy::of_peer(&connection, "no path").is_err());
    });
}

#[test]
fn proxies_of_peers_call_and_subscribe_in_tasks() {
    with_lamp_at("typed-peer-task", |address| {
        let runtime = LocalRuntime::new().unwrap();
        runtime.block_on(async {
            let connection = asynchronous::Connection::open_peer(address, &runtime).await.unwrap();
            let lamp = AsyncLampProxy::of_peer(&connection, PATH).unwrap();
            let toggled = lamp.subscribe_toggled().await.unwrap();
            assert_eq!(lamp.toggle().await, Ok(true));
            assert!(toggled.next().await.unwrap().0);
            let no_bus = connection.request_name(NAME, NameFlags::NONE).await;
            assert_eq!(no_bus, Err(CallError::Send(SendError::NoBus)));
        });
    });
}

/// A peer has no name, so no signal is from one.
#[test]
fn names_on_a_connection_without_a_bus_are_errors() {
    with_lamp_at("typed-no-bus", |address| {
        let connection = Connection::open_peer(address).unwrap();
        let no_bus = || CallError::Send(SendError::NoBus);
        let refused = LampProxy::new(&connection).subscribe_toggled();
        assert_eq!(refused.unwrap_err(), SubscribeError::Call(no_bus()));
        assert_eq!(connection.request_name(NAME, NameFlags::NONE), Err(no_bus()));
        assert_eq!(connection.release_name(NAME), Err(no_bus()));
        let waited = connection.wait_for_owner(NAME, Some(Duration::from_millis(1)));
        assert_eq!(waited, Err(SubscribeError::Call(no_bus())));
        // The connection is still usable.
        assert_eq!(LampProxy::of_peer(&connection, PATH).unwrap().toggle(), Ok(true));
    });
}
