//! Connecting, calling, subscribing and reconnecting start no thread, in both front ends.
//!
//! This is the only test of its program, because it counts the threads of the process.

#![expect(clippy::unwrap_used, reason = "a panic in a test is its report")]

mod support;

use std::fs;

use diligence_client::asynchronous::{self, LocalRuntime};
use diligence_client::{
    ConnectOptions, Connection, ListenOptions, PeerListener, Reconnect, ReconnectLimits,
};
use support::{BusProgram, PATIENCE, PrivateTestBus, TestDirectory};

const BUS: &str = "org.freedesktop.DBus";
const BUS_PATH: &str = "/org/freedesktop/DBus";

fn threads() -> usize {
    fs::read_dir("/proc/self/task").unwrap().count()
}

#[test]
fn no_thread_is_hidden() {
    let directory = TestDirectory::new("hidden-threads");
    let mut bus = PrivateTestBus::start_this_in(BusProgram::Diligence, &directory);
    let before = threads();
    let check = |step: &str| assert_eq!(threads(), before, "{step}");
    let reconnect = Reconnect::WhenLost(ReconnectLimits::default());
    let options = ConnectOptions { reconnect, ..ConnectOptions::default() };
    let address = bus.address.parse().unwrap();

    let connection = Connection::open_with(&address, &options).unwrap();
    check("connecting");
    connection.call(BUS, BUS_PATH, BUS, "GetId", &()).unwrap();
    check("a call");
    let signals = connection.subscribe("member='C'").unwrap();
    connection.emit("/a", "a.b", "C", &()).unwrap();
    signals.next(Some(PATIENCE)).unwrap().expect("a signal");
    check("a signal");

    let runtime = LocalRuntime::new().unwrap();
    let tasks = runtime.block_on(async {
        let connection =
            asynchronous::Connection::open_with(&address, &options, &runtime).await.unwrap();
        connection.call(BUS, BUS_PATH, BUS, "GetId", &()).await.unwrap();
        check("a call in a task");
        let signals = connection.subscribe("member='D'").await.unwrap();
        connection.emit("/a", "a.b", "D", &()).await.unwrap();
        signals.next().await.unwrap();
        check("a signal in a task");
        connection
    });

    bus.kill();
    bus = PrivateTestBus::start_this_in(BusProgram::Diligence, &directory);
    connection.next_reconnection(Some(PATIENCE)).unwrap().expect("a report");
    runtime.block_on(tasks.next_reconnection()).unwrap();
    check("connecting again");

    let listen = format!("unix:path={}", directory.file("peer"));
    let listener = PeerListener::bind(&listen, ListenOptions::default()).unwrap();
    assert!(listener.accept(Some(std::time::Duration::ZERO)).unwrap().is_none());
    check("listening");
    drop((signals, connection, tasks, bus));
    check("the end");
}
