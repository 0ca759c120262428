//! Objects that several threads use at once. No thread waits for ever, and every change of a
//! property is announced as soon as its object is free.

mod support;

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use diligence_client::{
    Connection, MethodError, NameFlags, Object, Proxy, ServedInterface, Subscription,
};
use support::{BusProgram, PATIENCE, PrivateTestBus};

const NAME: &str = "org.example.Counter";
const PATH: &str = "/org/example/Counter";

/// A bus with a service whose only object counts calls.
struct CounterStage {
    bus: PrivateTestBus,
    service: Connection,
    object: Object<u64>,
}

impl CounterStage {
    /// Starts the service with this number of threads, which end with the bus.
    fn start(threads: usize) -> Self {
        let bus = PrivateTestBus::start_this(BusProgram::Diligence);
        let service = bus.connect();
        let emitter = service.clone();
        let interface = ServedInterface::<u64>::builder(NAME)
            .method("Count", &[], &["number"], |number, _, ()| {
                *number += 1;
                let begun = Instant::now();
                while begun.elapsed() < Duration::from_micros(*number % 40) {}
                Ok((*number,))
            })
            .method("Fail", &[], &[], |_, call, ()| -> Result<(), MethodError> {
                call.properties_changed(&["Number"]);
                panic!("the method fails, as the test wants");
            })
            .property("Number", |number| *number)
            .property("Read", move |number| {
                emitter.emit(PATH, NAME, "WasRead", &()).expect("the connection lives");
                *number
            })
            .build()
            .expect("a valid interface");
        let object = service.add_object(PATH, &interface, 0).expect("the path is free");
        service.request_name(NAME, NameFlags::NONE).expect("the name is free");
        for _ in 0..threads {
            let service = service.clone();
            thread::spawn(move || service.serve());
        }
        Self { bus, service, object }
    }

    fn connect(&self) -> Connection {
        let connection = self.bus.connect();
        connection.set_call_timeout(Some(PATIENCE));
        connection
    }
}

fn proxy(connection: &Connection) -> Proxy<'_> {
    connection.proxy(NAME, PATH, NAME).expect("valid names")
}

/// Waits for this number of signals.
fn wait_for_changes(changes: &Subscription, count: usize) {
    for number in 0..count {
        let change = changes.next(Some(PATIENCE)).expect("the connection lives");
        assert!(change.is_some(), "change {number} of {count} is announced");
    }
}

#[test]
fn a_property_is_read_when_the_thread_that_holds_the_state_has_left() {
    let stage = CounterStage::start(1);
    let connection = stage.connect();
    let (held, is_held) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut number = stage.object.state();
            *number = 7;
            held.send(()).expect("the test waits");
            thread::sleep(Duration::from_millis(300));
            stage.object.emit("Changed", &()).expect("the connection lives");
        });
        is_held.recv().expect("the thread lives");
        assert_eq!(proxy(&connection).get::<u64>("Number").expect("a reply"), 7);
    });
}

#[test]
fn two_threads_serve_methods_and_properties() {
    let stage = CounterStage::start(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            let connection = stage.connect();
            let proxy = proxy(&connection);
            for _ in 0..5000 {
                proxy.get::<u64>("Number").expect("a reply");
            }
        });
        let connection = stage.connect();
        let proxy = proxy(&connection);
        (0..5000).for_each(|_| drop(proxy.call("Count", &()).expect("a reply")));
    });
    assert_eq!(*stage.object.state(), 5000);
}

#[test]
fn a_getter_may_emit_a_signal() {
    let stage = CounterStage::start(1);
    let connection = stage.connect();
    let signals = proxy(&connection).signals("WasRead").expect("a valid rule");
    assert_eq!(proxy(&connection).get::<u64>("Read").expect("a reply"), 0);
    assert!(signals.next(Some(PATIENCE)).expect("the connection lives").is_some());
}

#[test]
fn a_change_is_announced_when_the_state_is_free() {
    let stage = CounterStage::start(1);
    let connection = stage.connect();
    let changes = proxy(&connection).property_changes().expect("a valid rule");
    let mut number = stage.object.state();
    *number = 7;
    stage.object.properties_changed(&["Number"]);
    assert!(changes.next(Some(Duration::from_millis(100))).expect("it lives").is_none());
    drop(number);
    stage.service.flush().expect("the connection lives");
    wait_for_changes(&changes, 1);
}

#[test]
fn changes_that_two_threads_announce_arrive_without_another_message() {
    let stage = CounterStage::start(1);
    let connection = stage.connect();
    let changes = proxy(&connection).property_changes().expect("a valid rule");
    for _ in 0..50 {
        thread::scope(|scope| {
            for _ in 0..2 {
                let announce = || stage.object.properties_changed(&["Number"]);
                scope.spawn(move || (0..50).for_each(|_| announce()));
            }
        });
        wait_for_changes(&changes, 100);
    }
}

#[test]
fn changes_that_are_announced_while_methods_run_arrive() {
    let stage = CounterStage::start(1);
    let connection = stage.connect();
    let proxy = proxy(&connection);
    let changes = proxy.property_changes().expect("a valid rule");
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..5000 {
                stage.object.properties_changed(&["Number"]);
                thread::sleep(Duration::from_micros(number % 40));
            }
        });
        (0..5000).for_each(|_| drop(proxy.call("Count", &()).expect("a reply")));
    });
    wait_for_changes(&changes, 5000);
}

#[test]
fn changes_of_a_method_that_panics_are_announced() {
    let stage = CounterStage::start(0);
    let service = stage.service.clone();
    thread::spawn(move || {
        let serve = || service.serve();
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(serve))
            .expect_err("the method fails");
        service.serve()
    });
    let connection = stage.connect();
    let proxy = proxy(&connection);
    let changes = proxy.property_changes().expect("a valid rule");
    proxy.call("Fail", &()).expect_err("the method fails");
    wait_for_changes(&changes, 1);
}
