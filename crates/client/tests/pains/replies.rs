//! A queue of unread signals holds up the replies behind it, until the program deadlocks. Here,
//! calls complete beside a full queue: in the same thread, and in others.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::thread;

use diligence_client::asynchronous::{self, Runtime};
use diligence_client::{CallOptions, Connection, SubscriptionError};

use crate::silent_service::{SilentService, wait_method};
use crate::support::{BusProgram, PATIENCE, PrivateTestBus};

mod tests {
    crate::pains! {
        blocking: replies_do_not_wait_behind_unread_signals
            answers_leave_before_the_next_call_is_served;
        asynchronous: replies_do_not_wait_behind_unread_signals_in_a_task;
    }
}

/// A call that takes long does not hold up the answers to those before it.
fn answers_leave_before_the_next_call_is_served(program: BusProgram) {
    let bus = PrivateTestBus::start_this(program);
    let service = SilentService::start(&bus);
    let caller = bus.connect();
    let start = |number: u32| {
        caller.start_call(&wait_method(), &(number,), CallOptions::default()).unwrap()
    };
    let (first, second) = (start(1), start(2));
    // The bus has routed both when it replies.
    call(&caller);
    let (request, _) = service.next_call();
    request.reply(&(10_u32,)).unwrap();
    let (next, _) = service.next_call();
    assert_eq!(first.wait().unwrap().read::<(u32,)>().unwrap(), (10,));
    service.answer(&next, 20);
    assert_eq!(second.wait().unwrap().read::<(u32,)>().unwrap(), (20,));
}

const BUS: &str = "org.freedesktop.DBus";
const BUS_PATH: &str = "/org/freedesktop/DBus";

/// Emits more signals than a subscription queues.
fn flood(bus: &PrivateTestBus) {
    let sender = bus.connect();
    for number in 0..FLOOD {
        sender.emit("/a", "a.b", "C", &(number,)).unwrap();
    }
    // The bus has routed all of them when it replies.
    call(&sender);
}

fn call(connection: &Connection) {
    let name = connection.unique_name();
    let reply = connection.call(BUS, BUS_PATH, BUS, "GetNameOwner", &(name,)).unwrap();
    assert_eq!(reply.read::<(&str,)>().unwrap().0, connection.unique_name().as_str());
}

fn replies_do_not_wait_behind_unread_signals(program: BusProgram) {
    let bus = PrivateTestBus::start_this(program);
    let connection = bus.connect();
    connection.set_call_timeout(Some(PATIENCE));
    let unread = connection.subscribe("member='C'").unwrap();
    let never = connection.subscribe("member='Never'").unwrap();
    flood(&bus);
    (0..CALLS).for_each(|_| call(&connection));

    // The waiting thread reads for the others.
    let waiting = thread::spawn(move || never.next(Some(PATIENCE)).map(|signal| signal.is_some()));
    let callers: Vec<_> = (0..3)
        .map(|_| {
            let connection = connection.clone();
            thread::spawn(move || (0..CALLS).for_each(|_| call(&connection)))
        })
        .collect();
    callers.into_iter().for_each(|caller| caller.join().expect("its calls succeed"));
    connection.emit("/a", "a.b", "Never", &()).unwrap();
    assert_eq!(waiting.join().unwrap(), Ok(true));

    let mut read = 0;
    let lost = loop {
        match unread.next(Some(PATIENCE)) {
            Ok(signal) => read += u64::from(signal.is_some()),
            Err(SubscriptionError::Lost { count }) => break count,
            Err(other) => panic!("{other}"),
        }
    };
    assert_eq!(read + lost, u64::from(FLOOD));
}

async fn replies_do_not_wait_behind_unread_signals_in_a_task(
    program: BusProgram,
    runtime: &(impl Runtime + Sync),
) {
    let bus = PrivateTestBus::start_this(program);
    let connection = asynchronous::Connection::open(&bus.address, runtime).await.unwrap();
    connection.set_call_timeout(Some(PATIENCE));
    let unread = connection.subscribe("member='C'").await.unwrap();
    let never = connection.subscribe("member='Never'").await.unwrap();
    flood(&bus);
    let calls = async {
        for _ in 0..CALLS {
            let name = connection.unique_name();
            connection.call(BUS, BUS_PATH, BUS, "GetNameOwner", &(name,)).await.unwrap();
        }
    };
    // The task that waits for a signal reads for the other one.
    let mut waiting = pin!(never.next());
    let mut calls = pin!(calls);
    poll_fn(|context| {
        assert!(waiting.as_mut().poll(context).is_pending());
        calls.as_mut().poll(context)
    })
    .await;
    let mut read = 0;
    let lost = loop {
        match unread.next().await {
            Ok(_) => read += 1,
            Err(SubscriptionError::Lost { count }) => break count,
            Err(other) => panic!("{other}"),
        }
    };
    assert_eq!(read + lost, u64::from(FLOOD));
    connection.emit("/a", "a.b", "Never", &()).await.unwrap();
    waiting.await.unwrap();
}

/// More than a subscription queues by default.
const FLOOD: u32 = 20_000;
const CALLS: usize = 50;
