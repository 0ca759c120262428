//! The asynchronous front end, in each of its runtimes.

#![expect(clippy::unwrap_used, reason = "the tests are functions that several runtimes call")]

mod runtimes;
mod support;

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use diligence_client::asynchronous::{self, Runtime};
use diligence_client::wire::body::Value;
use diligence_client::wire::message::Builder;
use diligence_client::wire::names::{BusName, InterfaceName, MemberName, ObjectPath};
use diligence_client::{
    CallError, CallOptions, Ended, MethodError, NameFlags, Processed, RequestReply,
    ServedInterface, Timeout,
};
use runtimes::in_each_runtime;
use support::PrivateTestBus;

const NAME: &str = "org.example.Clock";
const PATH: &str = "/org/example/Clock";
const BUS: &str = "org.freedesktop.DBus";
const BUS_PATH: &str = "/org/freedesktop/DBus";

in_each_runtime! {
    calls_return_results_and_errors
    pending_calls_do_not_wait_for_each_other
    finished_futures_do_not_keep_others_waiting
    calls_time_out_and_can_be_dropped
    signals_arrive_in_order
    objects_are_served_while_others_call
    large_messages_pass_in_both_directions
    all_tasks_learn_of_the_end
    a_stopped_bus_does_not_answer
    sockets_that_no_task_reads_cost_no_time
    a_future_that_is_always_ready_does_not_keep_others_waiting
    processing_reports_what_the_blocking_front_end_reports
}

async fn connect(
    bus: &PrivateTestBus,
    runtime: &(impl Runtime + Sync),
) -> asynchronous::Connection {
    asynchronous::Connection::open(&bus.address, runtime).await.expect("the bus runs")
}

async fn calls_return_results_and_errors(runtime: &(impl Runtime + Sync)) {
    let bus = PrivateTestBus::start();
    let connection = connect(&bus, runtime).await;
    let proxy = connection.proxy(BUS, BUS_PATH, BUS).unwrap();
    let own = connection.unique_name();
    let (owner,): (String,) = proxy.call("GetNameOwner", &(own,)).await.unwrap().read().unwrap();
    assert_eq!(own, owner.as_str());
    let error = proxy.call("GetNameOwner", &("org.example.Nobody",)).await.unwrap_err();
    assert!(error.to_string().contains("org.example.Nobody"), "{error}");
    let features: Vec<String> = proxy.get("Features").await.unwrap();
    assert!(!features.is_empty());
    let all: std::collections::BTreeMap<String, Value> = proxy.get_all().await.unwrap();
    assert!(all.contains_key("Interfaces"), "{all:?}");
    let reply = connection.request_name(NAME, NameFlags::NONE).await.unwrap();
    assert_eq!(reply, RequestReply::PrimaryOwner);
    connection.wait_for_owner(NAME).await.unwrap();
    connection.release_name(NAME).await.unwrap();
    let unreachable = asynchronous::Connection::open("unix:path=/nowhere", runtime).await;
    assert!(unreachable.is_err());
}

/// Starts a service in a thread, whose method `Sleep` returns its argument after that many
/// milliseconds.
fn serve(bus: &PrivateTestBus) {
    let connection = bus.connect();
    let sleep = |(): &mut (), call: diligence_client::IncomingCall| {
        let (ms,): (u64,) = call.read().expect("the types were checked");
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(ms));
            // The caller may have left.
            let _ = call.reply(&(ms,));
            let _ = call.connection().flush();
        });
    };
    let interface = ServedInterface::<()>::builder(NAME)
        .raw_method("Sleep", &[("ms", "t")], &[("ms", "t")], sleep)
        .build()
        .expect("a valid interface");
    connection.add_object(PATH, &interface, ()).expect("a new object");
    connection.request_name(NAME, NameFlags::NONE).expect("a free name");
    thread::spawn(move || connection.serve());
}

async fn sleep(connection: &asynchronous::Connection, ms: u64) -> u64 {
    let reply = connection.call(NAME, PATH, NAME, "Sleep", &(ms,)).await.unwrap();
    reply.read::<(u64,)>().unwrap().0
}

async fn processing_reports_what_the_blocking_front_end_reports(runtime: &(impl Runtime + Sync)) {
    let bus = PrivateTestBus::start();
    let interface = ServedInterface::<u32>::builder(NAME)
        .method("Next", &[], &["number"], |number, _, ()| {
            *number += 1;
            Ok((*number,))
        })
        .build()
        .unwrap();
    let blocking = bus.connect();
    let tasks = connect(&bus, runtime).await;
    blocking.add_object(PATH, &interface, 0).unwrap();
    tasks.add_object(PATH, &interface, 0).unwrap();
    let signals = (blocking.subscribe("member='C'").unwrap(), tasks.subscribe("member='C'"));
    let signals = (signals.0, signals.1.await.unwrap());
    let sender = bus.connect();
    let mut calls = Vec::new();
    for name in [blocking.unique_name(), tasks.unique_name()] {
        let proxy = sender.proxy(name, PATH, NAME).unwrap();
        calls.push(proxy.start_call("Next", &(), CallOptions::default()).unwrap());
    }
    sender.emit("/a", "a.b", "C", &()).unwrap();
    sender.flush().unwrap();
    let expected = [Processed::Request, Processed::Signal { subscriptions: 1 }];
    for expected in expected {
        // NameAcquired may come first.
        let mut found = Processed::Other;
        while found == Processed::Other {
            found = blocking.process(None).unwrap();
        }
        assert_eq!(found, expected);
        found = Processed::Other;
        while found == Processed::Other {
            found = tasks.process().await.unwrap();
        }
        assert_eq!(found, expected);
    }
    blocking.flush().unwrap();
    tasks.flush().await.unwrap();
    for call in calls {
        assert_eq!(call.wait().unwrap().read::<(u32,)>().unwrap(), (1,));
    }
    assert!(signals.0.poll().unwrap().is_some() && signals.1.poll().unwrap().is_some());
}

async fn pending_calls_do_not_wait_for_each_other(runtime: &(impl Runtime + Sync)) {
    let bus = PrivateTestBus::start();
    serve(&bus);
    let connection = connect(&bus, runtime).await;
    let begun = Instant::now();
    let mut finished = Vec::new();
    let mut calls: Vec<Pin<Box<dyn Future<Output = u64>>>> = Vec::new();
    for ms in [600, 300, 1] {
        calls.push(Box::pin(sleep(&connection, ms)));
    }
    poll_fn(|context| {
        calls.retain_mut(|call| match call.as_mut().poll(context) {
            Poll::Ready(ms) => {
                finished.push(ms);
                false
            }
            Poll::Pending => true,
        });
        if calls.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    assert_eq!(finished, [1, 300, 600]);
    assert!(begun.elapsed() < Duration::from_millis(900), "{:?}", begun.elapsed());
}

async fn finished_futures_do_not_keep_others_waiting(runtime: &(impl Runtime + Sync)) {
    let bus = PrivateTestBus::start();
    serve(&bus);
    let connection = connect(&bus, runtime).await;
    connection.set_call_timeout(Some(Duration::from_secs(10)));
    // The first reads for both, and is not dropped when it has ended.
    let call = |ms: u64| connection.call(NAME, PATH, NAME, "Sleep", &(ms,));
    let (mut first, mut second) = (call(1), call(200));
    let mut first_ended = false;
    let reply = poll_fn(|context| {
        first_ended = first_ended || Pin::new(&mut first).poll(context).is_ready();
        Pin::new(&mut second).poll(context)
    });
    assert_eq!(reply.await.unwrap().read::<(u64,)>().unwrap(), (200,));
    assert!(first_ended);
}

async fn calls_time_out_and_can_be_dropped(runtime: &(impl Runtime + Sync)) {
    let bus = PrivateTestBus::start();
    serve(&bus);
    let connection = connect(&bus, runtime).await;
    let call = Builder::method_call(ObjectPath::literal(PATH), MemberName::literal("Sleep"))
        .interface(InterfaceName::literal(NAME))
        .destination(BusName::new(NAME).unwrap());
    let begun = Instant::now();
    let timeout = Timeout::After(Duration::from_millis(200));
    let options = CallOptions { timeout, ..CallOptions::default() };
    let outcome = connection.start_call(&call, &(5000_u64,), options).await;
    assert!(matches!(outcome, Err(CallError::TimedOut { .. })), "{outcome:?}");
    let waited = begun.elapsed();
    assert!(waited >= Duration::from_millis(199) && waited < Duration::from_secs(2), "{waited:?}");
    // A call leaves before its future is polled.
    let silent = bus.connect();
    assert!(silent.next_request(Some(Duration::ZERO)).unwrap().is_none());
    let call = Builder::method_call(ObjectPath::ROOT, MemberName::literal("Ask"))
        .destination(silent.unique_name());
    let unpolled = connection.start_call(&call, &(), CallOptions::default());
    assert!(silent.next_request(Some(Duration::from_secs(5))).unwrap().is_some());
    drop(unpolled);
    // The first becomes the reader. It is dropped, and the second must read instead.
    let mut first = Box::pin(sleep(&connection, 4000));
    let mut second = pin!(sleep(&connection, 300));
    poll_fn(|context| {
        assert!(first.as_mut().poll(context).is_pending());
        assert!(second.as_mut().poll(context).is_pending());
        Poll::Ready(())
    })
    .await;
    drop(first);
    assert_eq!(second.await, 300);
}

async fn signals_arrive_in_order(runtime: &(impl Runtime + Sync)) {
    let bus = PrivateTestBus::start();
    let (emitter, listener) = (connect(&bus, runtime).await, connect(&bus, runtime).await);
    let rang = listener.subscribe_to(PATH, NAME, "Rang").await.unwrap();
    for number in 0..5000_u32 {
        emitter.emit(PATH, NAME, "Rang", &(number,)).await.unwrap();
    }
    emitter.flush().await.unwrap();
    for number in 0..5000_u32 {
        let signal = rang.next().await.unwrap();
        assert_eq!(signal.read::<(u32,)>().unwrap(), (number,));
    }
    assert!(rang.poll().unwrap().is_none());
}

async fn objects_are_served_while_others_call(runtime: &(impl Runtime + Sync)) {
    let bus = PrivateTestBus::start();
    let (server, client) = (connect(&bus, runtime).await, connect(&bus, runtime).await);
    let interface = ServedInterface::<u32>::builder("org.example.Counter")
        .method("Add", &["number"], &["sum"], |sum, _, (number,): (u32,)| {
            *sum = sum.checked_add(number).ok_or_else(|| MethodError::failed("too much"))?;
            Ok((*sum,))
        })
        .property("Sum", |sum| *sum)
        .build()
        .unwrap();
    let object = server.add_object("/counter", &interface, 0).unwrap();
    let serving = server.serve();
    let destination = server.unique_name();
    let calling = async {
        let counter = client.proxy(destination, "/counter", "org.example.Counter").unwrap();
        for number in 1..=500_u32 {
            let (sum,): (u32,) = counter.call("Add", &(number,)).await.unwrap().read().unwrap();
            assert_eq!(sum, number * (number + 1) / 2);
        }
        // The server calls, too, while it serves.
        server.call(BUS, BUS_PATH, BUS, "GetId", &()).await.unwrap();
        counter.get::<u32>("Sum").await.unwrap()
    };
    let (mut serving, mut calling) = (pin!(serving), pin!(calling));
    let sum = poll_fn(|context| {
        assert!(serving.as_mut().poll(context).is_pending());
        calling.as_mut().poll(context)
    })
    .await;
    assert_eq!((sum, *object.state()), (125_250, 125_250));
}

async fn large_messages_pass_in_both_directions(runtime: &(impl Runtime + Sync)) {
    let bus = PrivateTestBus::start();
    let connection = connect(&bus, runtime).await;
    let echo = connect(&bus, runtime).await;
    let destination = echo.unique_name();
    let bytes = vec![7_u8; 8 << 20];
    let calling = async {
        let reply = connection.call(destination, "/", "org.example.Echo", "Echo", &(&bytes[..],));
        reply.await.unwrap().read::<(Vec<u8>,)>().unwrap().0
    };
    let answering = async {
        let call = echo.next_request().await.unwrap();
        let (bytes,): (Vec<u8>,) = call.read().unwrap();
        call.reply(&(&bytes[..],)).unwrap();
        echo.flush().await.unwrap();
        echo.next_request().await.map(drop)
    };
    let (mut calling, mut answering) = (pin!(calling), pin!(answering));
    let echoed = poll_fn(|context| {
        assert!(answering.as_mut().poll(context).is_pending());
        calling.as_mut().poll(context)
    })
    .await;
    assert!(echoed == bytes);
}

async fn all_tasks_learn_of_the_end(runtime: &(impl Runtime + Sync)) {
    let mut bus = PrivateTestBus::start();
    let connection = connect(&bus, runtime).await;
    let never = connection.subscribe_to(PATH, NAME, "Never").await.unwrap();
    let mut waits: Vec<Pin<Box<dyn Future<Output = ()>>>> = vec![
        Box::pin(async { assert_eq!(connection.serve().await, Ended::Closed) }),
        Box::pin(async { assert!(never.next().await.is_err()) }),
        Box::pin(async { assert!(connection.process().await.is_err()) }),
    ];
    poll_fn(|context| {
        assert!(waits.iter_mut().all(|wait| wait.as_mut().poll(context).is_pending()));
        Poll::Ready(())
    })
    .await;
    bus.kill();
    for wait in waits {
        wait.await;
    }
    assert!(connection.ended().is_some());
    assert!(connection.flush().await.is_err());
}

async fn a_stopped_bus_does_not_answer(runtime: &(impl Runtime + Sync)) {
    let bus = PrivateTestBus::start();
    let connection = connect(&bus, runtime).await;
    connection.set_call_timeout(Some(Duration::from_millis(300)));
    bus.stop();
    // More than the socket has room for.
    let bytes = vec![0_u8; 4 << 20];
    let call = |_| connection.call(BUS, BUS_PATH, BUS, "GetNameOwner", &(&bytes[..],));
    let calls: Vec<_> = (0..4).map(call).collect();
    let begun = Instant::now();
    for call in calls {
        assert!(matches!(call.await, Err(CallError::TimedOut { .. })));
    }
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    let options = diligence_client::ConnectOptions {
        timeout: Some(Duration::from_millis(300)),
        ..diligence_client::ConnectOptions::default()
    };
    let address = bus.address.parse().unwrap();
    let late = asynchronous::Connection::open_with(&address, &options, runtime).await;
    assert!(late.is_err());
}

async fn sockets_that_no_task_reads_cost_no_time(runtime: &(impl Runtime + Sync)) {
    let bus = PrivateTestBus::start();
    let connection = connect(&bus, runtime).await;
    let get_id = || connection.call(BUS, BUS_PATH, BUS, "GetId", &());
    get_id().await.unwrap();
    let other = bus.connect();
    let member = MemberName::new("Ping").unwrap();
    let message = Builder::method_call(ObjectPath::ROOT, member)
        .destination(BusName::new(connection.unique_name().as_str()).unwrap());
    other.send(&message, &(), Vec::new()).unwrap();
    other.flush().unwrap();
    check_idle(Duration::from_millis(300)).await;
    get_id().await.unwrap();
    drop(bus);
    check_idle(Duration::from_millis(300)).await;
    assert!(matches!(get_id().await, Err(CallError::Disconnected(_) | CallError::Send(_))));
}

async fn a_future_that_is_always_ready_does_not_keep_others_waiting(
    runtime: &(impl Runtime + Sync),
) {
    let bus = PrivateTestBus::start();
    let connection = connect(&bus, runtime).await;
    let mut call = pin!(connection.call(BUS, BUS_PATH, BUS, "GetId", &()));
    let begun = Instant::now();
    poll_fn(|context| {
        context.waker().wake_by_ref();
        assert!(begun.elapsed() < Duration::from_secs(10), "the call waits");
        call.as_mut().poll(context)
    })
    .await
    .unwrap();
}

/// Waits for another thread, and checks that this one sleeps meanwhile.
async fn check_idle(duration: Duration) {
    let (begun, mut is_started) = (time_of_thread(), false);
    let end = Instant::now() + duration;
    poll_fn(|context| {
        if Instant::now() >= end {
            return Poll::Ready(());
        }
        if !is_started {
            let waker = context.waker().clone();
            thread::spawn(move || {
                thread::sleep(duration);
                waker.wake();
            });
            is_started = true;
        }
        Poll::Pending
    })
    .await;
    let used = time_of_thread().saturating_sub(begun);
    assert!(used < duration / 10, "{used:?} of {duration:?}");
}

/// The processor time of the current thread.
fn time_of_thread() -> Duration {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(times.split(' ').next().unwrap().parse().unwrap())
}
