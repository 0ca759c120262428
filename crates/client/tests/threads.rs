//! One connection in several threads: no thread waits for the messages of another.

mod support;

use std::sync::mpsc;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use diligence_client::wire::message::Builder;
use diligence_client::wire::names::{BusName, InterfaceName, MemberName, ObjectPath};
use diligence_client::{
    CallError, CallOptions, Connection, IncomingCall, MethodError, NameFlags, Object, Proxy,
    ServedInterface, StartedCall, Subscription, Timeout,
};
use support::PrivateTestBus;

const NAME: &str = "org.example.Clock";
const PATH: &str = "/org/example/Clock";

#[test]
fn everything_can_be_sent_to_another_thread() {
    fn check<T: Send + Sync>() {}
    check::<Connection>();
    check::<Proxy<'_>>();
    check::<Subscription>();
    check::<Object<u32>>();
    check::<StartedCall>();
    check::<IncomingCall>();
    check::<ServedInterface<u32>>();
}

/// Serves a method that returns its argument after that many milliseconds, each call in a thread of
/// its own, and one that emits a signal first.
fn serve(bus: &PrivateTestBus) {
    let connection = bus.connect();
    let interface = ServedInterface::<()>::builder(NAME)
        .raw_method("Sleep", &[("ms", "t")], &[("ms", "t")], |(), call| {
            let (ms,): (u64,) = call.read().expect("the types were checked");
            thread::spawn(move || {
                thread::sleep(Duration::from_millis(ms));
                call.reply(&(ms,)).expect("the connection lives");
                call.connection().flush().expect("the connection lives");
            });
        })
        .method("Ring", &["times"], &[], |(), call, (times,): (u32,)| {
            for number in 0..times {
                call.emit("Rang", &(number,))
                    .map_err(|error| MethodError::failed(error.to_string()))?;
            }
            Ok(())
        })
        .signal::<(u32,)>("Rang", &["number"])
        .build()
        .expect("a valid interface");
    connection.add_object(PATH, &interface, ()).expect("a new object");
    connection.request_name(NAME, NameFlags::NONE).expect("a free name");
    thread::spawn(move || connection.serve());
}

fn sleep(connection: &Connection, ms: u64) -> Result<u64, CallError> {
    let (answer,) = connection.call(NAME, PATH, NAME, "Sleep", &(ms,))?.read()?;
    Ok(answer)
}

#[test]
fn a_thread_does_not_wait_for_the_replies_of_others() {
    let bus = PrivateTestBus::start();
    serve(&bus);
    let connection = bus.connect();
    let (sender, finished) = mpsc::channel();
    let begun = Instant::now();
    // The slowest first, so that it reads for all others.
    for ms in [900, 600, 300, 1] {
        let (connection, sender) = (connection.clone(), sender.clone());
        thread::spawn(move || sender.send(sleep(&connection, ms).unwrap()));
        thread::sleep(Duration::from_millis(50));
    }
    let order: Vec<u64> = finished.iter().take(4).collect();
    assert_eq!(order, [1, 300, 600, 900]);
    assert!(begun.elapsed() < Duration::from_millis(1800), "{:?}", begun.elapsed());
}

#[test]
fn every_thread_gets_its_own_replies() {
    let bus = PrivateTestBus::start();
    let connection = bus.connect();
    let start = Arc::new(Barrier::new(THREADS));
    let threads: Vec<_> = (0..THREADS)
        .map(|number| {
            let (connection, start) = (connection.clone(), Arc::clone(&start));
            thread::spawn(move || {
                start.wait();
                for round in 0..CALLS {
                    let name = format!("org.example.T{number}.R{round}");
                    let (bus, path) = ("org.freedesktop.DBus", "/org/freedesktop/DBus");
                    let error = connection.call(bus, path, bus, "GetNameOwner", &(name.as_str(),));
                    let error = error.expect_err("nobody has the name").to_string();
                    assert!(error.contains(&name), "{error}");
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("no reply of another thread"));
}

#[test]
fn deadlines_pass_while_another_thread_reads() {
    let bus = PrivateTestBus::start();
    serve(&bus);
    let connection = bus.connect();
    let reader = {
        let connection = connection.clone();
        thread::spawn(move || sleep(&connection, 1000).unwrap())
    };
    thread::sleep(Duration::from_millis(100));
    let call = Builder::method_call(ObjectPath::literal(PATH), MemberName::literal("Sleep"))
        .interface(InterfaceName::literal(NAME))
        .destination(BusName::new(NAME).unwrap());
    let timeout = Timeout::After(Duration::from_millis(200));
    let options = CallOptions { timeout, ..CallOptions::default() };
    let begun = Instant::now();
    let outcome = connection.start_call(&call, &(700_u64,), options).unwrap().wait();
    assert!(matches!(outcome, Err(CallError::TimedOut { .. })), "{outcome:?}");
    let waited = begun.elapsed();
    assert!(
        waited >= Duration::from_millis(199) && waited < Duration::from_millis(600),
        "{waited:?}"
    );
    assert_eq!(reader.join().unwrap(), 1000);
}

#[test]
fn messages_are_sent_while_another_thread_waits() {
    let bus = PrivateTestBus::start();
    let (emitter, listener) = (bus.connect(), bus.connect());
    let rang = listener.subscribe_to(PATH, NAME, "Rang").unwrap();
    let never = emitter.subscribe_to(PATH, NAME, "Never").unwrap();
    let waiting = thread::spawn(move || never.next(Some(Duration::from_secs(2))).is_ok());
    thread::sleep(Duration::from_millis(100));
    let begun = Instant::now();
    emitter.emit(PATH, NAME, "Rang", &(7_u32,)).unwrap();
    let signal = rang.next(Some(Duration::from_secs(4))).unwrap().expect("the signal was sent");
    assert_eq!(signal.read::<(u32,)>().unwrap(), (7,));
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    drop(emitter);
    assert!(waiting.join().unwrap());
}

#[test]
fn signals_reach_threads_while_another_thread_calls() {
    let bus = PrivateTestBus::start();
    serve(&bus);
    let connection = bus.connect();
    let rang = connection.subscribe_to(PATH, NAME, "Rang").unwrap();
    let listener = thread::spawn(move || {
        let mut numbers = Vec::new();
        while numbers.len() < 100 {
            let signal = rang.next(Some(Duration::from_secs(10))).unwrap().expect("a signal");
            numbers.push(signal.read::<(u32,)>().unwrap().0);
        }
        numbers
    });
    for _ in 0..10 {
        connection.call(NAME, PATH, NAME, "Ring", &(10_u32,)).unwrap();
    }
    let expected: Vec<u32> = (0..10).flat_map(|_| 0..10).collect();
    assert_eq!(listener.join().unwrap(), expected);
}

#[test]
fn all_threads_learn_of_the_end() {
    let mut bus = PrivateTestBus::start();
    let connection = bus.connect();
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let connection = connection.clone();
            thread::spawn(move || connection.serve())
        })
        .collect();
    thread::sleep(Duration::from_millis(100));
    bus.kill();
    for thread in threads {
        thread.join().unwrap();
    }
    assert!(connection.ended().is_some());
}

const THREADS: usize = 8;
const CALLS: usize = 300;
