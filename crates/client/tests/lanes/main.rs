//! Direct sockets between two connections of a Diligence bus.

#[path = "../support/mod.rs"]
mod support;

mod causes;

use std::time::{Duration, Instant};

use diligence_client::{Connection, LaneUse, NameFlags};
use support::{PrivateTestBus, TestService};

/// A service that returns its argument, and allows lanes.
fn echo(bus: &PrivateTestBus) -> TestService {
    bus.run_thread(|connection, ready, stop| {
        connection.set_lane_use(LaneUse::On);
        connection.request_name("org.example.Echo", NameFlags::NONE).expect("the name is free");
        ready.send(()).expect("the test waits");
        while !stop.load(std::sync::atomic::Ordering::Relaxed) {
            if let Ok(Some(call)) = connection.next_request(Some(Duration::from_millis(20))) {
                let (number,): (u64,) = call.read().expect("a number");
                call.reply(&(number,)).expect("the connection lives");
            }
        }
    })
}

fn call(connection: &Connection, number: u64) {
    let reply = connection.call("org.example.Echo", "/", "org.example.Echo", "Echo", &(number,));
    let (found,): (u64,) = reply.expect("a reply").read().expect("a number");
    assert_eq!(found, number);
}

#[test]
fn two_connections_get_a_lane_after_some_calls() {
    let bus = PrivateTestBus::start_ours();
    let _service = echo(&bus);
    let connection = bus.connect();
    connection.set_lane_use(LaneUse::On);
    for number in 0..100 {
        call(&connection, number);
    }
    assert_eq!(connection.lane_count(), 1);
    let start = Instant::now();
    for number in 0..10_000 {
        call(&connection, number);
    }
    println!("{:?} per call", start.elapsed() / 10_000);
}
