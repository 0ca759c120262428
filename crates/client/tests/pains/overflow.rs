//! A full queue of signals silently loses some, or holds up all others. Here, a slow subscriber
//! loses only its own signals, at one place, and learns how many.

use diligence_client::asynchronous::{self, Runtime};
use diligence_client::core::CoreConfig;
use diligence_client::{ConnectOptions, Connection, ReceivedMessage, SubscriptionError};

use crate::support::{BusProgram, PATIENCE, PrivateTestBus};

mod tests {
    crate::pains! {
        blocking: slow_subscribers_lose_only_their_own_signals;
        asynchronous: slow_subscribers_lose_only_their_own_signals_in_a_task;
    }
}

fn options() -> ConnectOptions {
    let core = CoreConfig { signals_max: QUEUE, ..CoreConfig::default() };
    ConnectOptions { core, ..ConnectOptions::default() }
}

fn emit(sender: &Connection, number: u32) {
    sender.emit("/a", "a.b", "C", &(number,)).unwrap();
    sender.flush().unwrap();
}

fn number(signal: &ReceivedMessage) -> u32 {
    signal.read::<(u32,)>().unwrap().0
}

fn slow_subscribers_lose_only_their_own_signals(program: BusProgram) {
    let bus = PrivateTestBus::start_this(program);
    let receiver = Connection::open_with(&bus.address.parse().unwrap(), &options()).unwrap();
    let slow = receiver.subscribe("member='C'").unwrap();
    let fast = receiver.subscribe("interface='a.b'").unwrap();
    let same = receiver.subscribe("member='C'").unwrap();
    let sender = bus.connect();
    for expected in 0..SIGNALS {
        emit(&sender, expected);
        for subscription in [&fast, &same] {
            let signal = subscription.next(Some(PATIENCE)).unwrap().expect("a signal");
            assert_eq!(number(&signal), expected);
        }
    }
    for expected in 0..QUEUE as u32 {
        assert_eq!(number(&slow.next(None).unwrap().unwrap()), expected);
    }
    let count = u64::from(SIGNALS) - QUEUE as u64;
    assert_eq!(slow.next(None).unwrap_err(), SubscriptionError::Lost { count });
    assert_eq!(receiver.counters().dropped_signals, count);
    emit(&sender, SIGNALS);
    for subscription in [&slow, &fast, &same] {
        let signal = subscription.next(Some(PATIENCE)).unwrap().expect("a signal");
        assert_eq!(number(&signal), SIGNALS);
    }
}

async fn slow_subscribers_lose_only_their_own_signals_in_a_task(
    program: BusProgram,
    runtime: &(impl Runtime + Sync),
) {
    let bus = PrivateTestBus::start_this(program);
    let address = bus.address.parse().unwrap();
    let receiver =
        asynchronous::Connection::open_with(&address, &options(), runtime).await.unwrap();
    let slow = receiver.subscribe("member='C'").await.unwrap();
    let fast = receiver.subscribe("interface='a.b'").await.unwrap();
    let same = receiver.subscribe("member='C'").await.unwrap();
    let sender = bus.connect();
    for expected in 0..SIGNALS {
        emit(&sender, expected);
        for subscription in [&fast, &same] {
            assert_eq!(number(&subscription.next().await.unwrap()), expected);
        }
    }
    for expected in 0..QUEUE as u32 {
        assert_eq!(number(&slow.next().await.unwrap()), expected);
    }
    let count = u64::from(SIGNALS) - QUEUE as u64;
    assert_eq!(slow.next().await.unwrap_err(), SubscriptionError::Lost { count });
    assert_eq!(receiver.counters().dropped_signals, count);
    emit(&sender, SIGNALS);
    for subscription in [&slow, &fast, &same] {
        assert_eq!(number(&subscription.next().await.unwrap()), SIGNALS);
    }
}

/// Number of signals that a subscription queues.
const QUEUE: usize = 5;
const SIGNALS: u32 = 40;
