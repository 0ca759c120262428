//! Lanes of programs that do not block: tasks of a runtime, and programs with their own event loop.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::mpsc;
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use diligence_client::asynchronous::{self, Runtime};
use diligence_client::{Connection, LaneUse, NameFlags, Processed, ServedInterface};
use unix::poll::{Interest, wait_for_any};

use super::{NAME, ServiceStep, call, echo, routed, service, start, with_lane};
use crate::runtimes::in_each_runtime;
use crate::support::{BusProgram, PrivateTestBus};

in_each_runtime! {
    tasks_call_and_serve_on_lanes
    a_task_that_waits_already_gets_messages_of_lanes
    many_tasks_share_a_lane
    lanes_of_a_task_end_when_it_asks
}

async fn connect(
    bus: &PrivateTestBus,
    runtime: &(impl Runtime + Sync),
) -> asynchronous::Connection {
    asynchronous::Connection::open(&bus.address, runtime).await.expect("the bus runs")
}

fn echo_interface() -> ServedInterface<()> {
    ServedInterface::builder(NAME)
        .method("Echo", &["number"], &["number"], |(), _, (number,): (u64,)| Ok((number,)))
        .build()
        .expect("a valid interface")
}

async fn echo_in_task(connection: &asynchronous::Connection, number: u64) {
    let reply = connection.call(NAME, "/", NAME, "Echo", &(number,)).await.expect("a reply");
    assert_eq!(reply.read::<(u64,)>().expect("a number"), (number,));
}

/// Waits until `work` is done, while a connection serves its objects.
async fn while_serving<T>(server: &asynchronous::Connection, work: impl Future<Output = T>) -> T {
    let (mut serving, mut work) = (pin!(server.serve()), pin!(work));
    poll_fn(|context| {
        assert!(serving.as_mut().poll(context).is_pending(), "the connection ended");
        work.as_mut().poll(context)
    })
    .await
}

async fn tasks_call_and_serve_on_lanes(runtime: &(impl Runtime + Sync)) {
    let bus = PrivateTestBus::start_this(BusProgram::Diligence);
    let observer = bus.connect();
    let (server, client) = (connect(&bus, runtime).await, connect(&bus, runtime).await);
    for connection in [&server, &client] {
        connection.set_lane_use(LaneUse::On).expect("descriptors are left");
    }
    server.add_object("/", &echo_interface(), ()).expect("a new object");
    server.request_name(NAME, NameFlags::NONE).await.expect("the name is free");
    let calling = async {
        for number in 0..100 {
            echo_in_task(&client, number).await;
        }
        assert_eq!((client.lane_count(), server.lane_count()), (1, 1));
        let before = routed(&observer);
        for number in 0..1000 {
            echo_in_task(&client, number).await;
        }
        routed(&observer) - before
    };
    let over_bus = while_serving(&server, calling).await;
    assert!(over_bus < 20, "{over_bus}");
}

async fn a_task_that_waits_already_gets_messages_of_lanes(runtime: &(impl Runtime + Sync)) {
    let bus = PrivateTestBus::start_this(BusProgram::Diligence);
    let server = connect(&bus, runtime).await;
    server.add_object("/", &echo_interface(), ()).expect("a new object");
    server.request_name(NAME, NameFlags::NONE).await.expect("the name is free");
    let caller = bus.connect();
    caller.set_lane_use(LaneUse::On);
    let (done, is_done) = mpsc::channel();
    let (begin, may_begin) = mpsc::channel::<()>();
    let calling = thread::spawn(move || {
        (0..20).for_each(|number| call(&caller, "Echo", number));
        may_begin.recv().expect("the test lives");
        (0..300).for_each(|number| call(&caller, "Echo", number));
        done.send(caller.lane_count()).expect("the test lives");
    });
    // The task that serves waits when lanes are turned on.
    let client = connect(&bus, runtime).await;
    let lanes = while_serving(&server, async {
        echo_in_task(&client, 1).await;
        server.set_lane_use(LaneUse::On).expect("descriptors are left");
        begin.send(()).expect("the thread lives");
        let deadline = Instant::now() + PATIENCE;
        loop {
            echo_in_task(&client, 2).await;
            match is_done.try_recv() {
                Ok(lanes) => break lanes,
                Err(_) => assert!(Instant::now() < deadline, "the calls are not answered"),
            }
        }
    })
    .await;
    assert_eq!(lanes, 1);
    calling.join().expect("all calls were answered");
}

async fn many_tasks_share_a_lane(runtime: &(impl Runtime + Sync)) {
    let bus = PrivateTestBus::start_this(BusProgram::Diligence);
    let _service = service(&bus, LaneUse::On, echo);
    let client = connect(&bus, runtime).await;
    client.set_lane_use(LaneUse::On).expect("descriptors are left");
    let task = |first: u64| {
        let client = client.clone();
        Box::pin(async move {
            for number in 0..200 {
                echo_in_task(&client, first + number).await;
            }
        })
    };
    let mut tasks: Vec<_> = (0..8).map(|first| Some(task(first * 1000))).collect();
    poll_fn(|context| {
        for task in &mut tasks {
            let is_ready = task.as_mut().is_some_and(|it| it.as_mut().poll(context).is_ready());
            task.take_if(|_| is_ready);
        }
        match tasks.iter().all(Option::is_none) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
    assert_eq!(client.lane_count(), 1);
}

async fn lanes_of_a_task_end_when_it_asks(runtime: &(impl Runtime + Sync)) {
    let bus = PrivateTestBus::start_this(BusProgram::Diligence);
    let _service = service(&bus, LaneUse::On, echo);
    let client = connect(&bus, runtime).await;
    for _ in 0..3 {
        client.set_lane_use(LaneUse::On).expect("descriptors are left");
        for number in 0..100 {
            echo_in_task(&client, number).await;
        }
        assert_eq!(client.lane_count(), 1);
        client.set_lane_use(LaneUse::Off).expect("nothing is needed");
        for number in 0..100 {
            echo_in_task(&client, number).await;
        }
        assert_eq!(client.lane_count(), 0);
    }
}

/// Waits for the one descriptor of a connection, and processes everything.
fn turn(connection: &Connection, wait: Duration) {
    connection.flush().expect("the bus lives");
    let incoming = connection.incoming_descriptor().expect("descriptors are left");
    wait_for_any(&[(incoming, Interest::Read)], Some(wait)).expect("the kernel waits");
    while connection.process(Some(Duration::ZERO)) != Ok(Processed::Nothing) {}
}

#[test]
fn an_event_loop_waits_for_one_descriptor() {
    let bus = PrivateTestBus::start_this(BusProgram::Diligence);
    let server = bus.connect();
    server.set_lane_use(LaneUse::On);
    server.add_object("/", &echo_interface(), ()).expect("a new object");
    server.request_name(NAME, NameFlags::NONE).expect("the name is free");
    let caller = bus.connect();
    caller.set_lane_use(LaneUse::On);
    let calling = thread::spawn(move || {
        (0..1000).for_each(|number| call(&caller, "Echo", number));
        caller.lane_count()
    });
    let deadline = Instant::now() + PATIENCE;
    while !calling.is_finished() {
        assert!(Instant::now() < deadline, "a call is not answered");
        // Longer than the test may take: each message must wake the loop.
        let wait = if server.lane_count() == 1 { PATIENCE } else { Duration::from_millis(10) };
        turn(&server, wait);
    }
    assert_eq!(calling.join().expect("all calls were answered"), 1);
}

/// Emits more than fits into the socket of a connection, so that the bus keeps the rest.
fn announce_all(connection: &Connection) {
    let content = vec![0_u8; 32 * 1024];
    for number in 0..SIGNALS {
        connection.emit("/", NAME, "Announced", &(number, &content[..])).expect("the bus lives");
    }
    let bus = "org.freedesktop.DBus";
    connection.call(bus, "/", bus, "GetId", &()).expect("the bus has all signals now");
}

#[test]
fn a_message_that_waits_for_the_bus_does_not_wake_the_program() {
    let bus = PrivateTestBus::start_this(BusProgram::Diligence);
    let (says_ready, is_ready) = mpsc::channel();
    let _service = service(&bus, LaneUse::On, move |call| {
        if call.message().member() == Some("Announce") {
            announce_all(call.connection());
        }
        let (number,): (u64,) = call.read().expect("a number");
        call.reply(&(number,)).expect("the connection lives");
        if number == LAST {
            says_ready.send(()).expect("the test waits");
        }
        ServiceStep::Continue
    });
    let caller = with_lane(&bus);
    let signals = caller.subscribe_to("/", NAME, "Announced").expect("a valid rule");
    let incoming = caller.incoming_descriptor().expect("descriptors are left");
    let mut calls = [start(&caller, "Announce", 0), start(&caller, "Echo", LAST)];
    is_ready.recv_timeout(PATIENCE).expect("the service answers");
    bus.stop();
    let mut received = 0;
    // Returns the number of signals so far.
    let mut process_all = || {
        while caller.process(Some(Duration::ZERO)) != Ok(Processed::Nothing) {
            while let Some(signal) = signals.poll().expect("nothing is lost") {
                assert_eq!(signal.read::<(u64, Vec<u8>)>().expect("the content").0, received);
                received += 1;
            }
            let is_early = received < SIGNALS && calls.iter_mut().any(|call| call.poll().is_some());
            assert!(!is_early, "a reply before the signals");
        }
        received
    };
    let is_readable =
        |wait| wait_for_any(&[(incoming, Interest::Read)], Some(wait)).expect("memory")[0];
    let before = process_all();
    assert!(before > 0 && before < SIGNALS, "the bus keeps some signals: {before}");
    assert!(!is_readable(Duration::from_millis(20)), "the program wakes up in vain");
    bus.resume();
    while process_all() < SIGNALS {
        assert!(is_readable(PATIENCE), "the messages do not come");
    }
    for call in calls {
        call.wait().expect("a reply");
    }
}

/// Together longer than the buffer of a socket.
const SIGNALS: u64 = 100;
/// The number of the last call.
const LAST: u64 = 12345;

/// The longest time that a test waits for another program.
const PATIENCE: Duration = Duration::from_secs(20);
