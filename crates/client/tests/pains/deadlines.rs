//! Calls wait for ever, or time out without a word about the time; a late reply confuses the next
//! call. Here, each call and each connection has a time limit, the error has the one that passed,
//! and a late reply is discarded and counted.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use diligence_client::asynchronous::{self, Runtime};
use diligence_client::{CallError, CallOptions, ReceivedMessage, Timeout};

use crate::silent_service::{SilentService, wait_method};
use crate::support::{BusProgram, PATIENCE, PrivateTestBus};

mod tests {
    crate::pains! {
        blocking: calls_have_deadlines_and_late_replies_are_counted
            deadlines_are_exact;
        asynchronous: calls_have_deadlines_and_late_replies_are_counted_in_a_task
            calls_have_deadlines_while_another_task_waits;
    }
}

/// The timers of the kernel for sockets are up to an eighth late.
fn deadlines_are_exact(program: BusProgram) {
    let bus = PrivateTestBus::start_this(program);
    let service = SilentService::start(&bus);
    let connection = bus.connect();
    for limit in [300, 700].map(Duration::from_millis) {
        let late = || {
            let start = Instant::now();
            let call = options(Timeout::After(limit));
            let call = connection.start_call(&wait_method(), &(1_u32,), call).unwrap();
            assert_eq!(passed_limit(call.wait()), limit);
            start.elapsed() - limit
        };
        // The machine can be busy.
        let least = (0..5).map(|_| late()).min().expect("five attempts");
        assert!(least < Duration::from_millis(10), "{limit:?}: {least:?} late");
    }
    drop(service);
}

fn options(timeout: Timeout) -> CallOptions {
    CallOptions { timeout, ..CallOptions::default() }
}

fn passed_limit(outcome: Result<ReceivedMessage, CallError>) -> Duration {
    match outcome {
        Err(CallError::TimedOut { limit, .. }) => limit,
        other => panic!("{other:?}"),
    }
}

fn calls_have_deadlines_and_late_replies_are_counted(program: BusProgram) {
    let bus = PrivateTestBus::start_this(program);
    let service = SilentService::start(&bus);
    let connection = bus.connect();
    connection.set_call_timeout(Some(DEFAULT));

    let by_default = connection.start_call(&wait_method(), &(1_u32,), CallOptions::default());
    assert_eq!(passed_limit(by_default.unwrap().wait()), DEFAULT);
    let shorter = options(Timeout::After(SHORTER));
    let shorter = connection.start_call(&wait_method(), &(2_u32,), shorter).unwrap();
    assert_eq!(passed_limit(shorter.wait()), SHORTER);
    drop(connection.start_call(&wait_method(), &(3_u32,), CallOptions::default()).unwrap());

    let patient = options(Timeout::After(PATIENCE));
    let patient = connection.start_call(&wait_method(), &(4_u32,), patient).unwrap();
    connection.flush().unwrap();
    // The late replies arrive while the last call waits for its own.
    for expected in 1..=4 {
        let (call, number) = service.next_call();
        assert_eq!(number, expected);
        service.answer(&call, number * 10);
    }
    assert_eq!(patient.wait().unwrap().read::<(u32,)>().unwrap(), (40,));
    assert_eq!(connection.counters().late_replies, 3);
}

async fn calls_have_deadlines_and_late_replies_are_counted_in_a_task(
    program: BusProgram,
    runtime: &(impl Runtime + Sync),
) {
    let bus = PrivateTestBus::start_this(program);
    let service = SilentService::start(&bus);
    let connection = asynchronous::Connection::open(&bus.address, runtime).await.unwrap();
    connection.set_call_timeout(Some(DEFAULT));

    let by_default = connection.start_call(&wait_method(), &(1_u32,), CallOptions::default());
    assert_eq!(passed_limit(by_default.await), DEFAULT);
    let shorter = options(Timeout::After(SHORTER));
    let shorter = connection.start_call(&wait_method(), &(2_u32,), shorter);
    assert_eq!(passed_limit(shorter.await), SHORTER);
    drop(connection.start_call(&wait_method(), &(3_u32,), CallOptions::default()));

    let patient = options(Timeout::After(PATIENCE));
    let patient = connection.start_call(&wait_method(), &(4_u32,), patient);
    connection.flush().await.unwrap();
    for expected in 1..=4 {
        let (call, number) = service.next_call();
        assert_eq!(number, expected);
        service.answer(&call, number * 10);
    }
    assert_eq!(patient.await.unwrap().read::<(u32,)>().unwrap(), (40,));
    assert_eq!(connection.counters().late_replies, 3);
}

/// Ends when the task has been polled a few times more, and everything so far was processed.
async fn polled_again() {
    let mut rest = 10;
    poll_fn(|context| {
        rest -= 1;
        if rest == 0 {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// The task that waits for a signal is the one that the runtime wakes, for all.
async fn calls_have_deadlines_while_another_task_waits(
    program: BusProgram,
    runtime: &(impl Runtime + Sync),
) {
    let bus = PrivateTestBus::start_this(program);
    let _service = SilentService::start(&bus);
    let connection = asynchronous::Connection::open(&bus.address, runtime).await.unwrap();
    let signals = connection.subscribe("type='signal'").await.unwrap();
    let mut waiting = pin!(async {
        loop {
            signals.next().await.unwrap();
        }
    });
    let mut calls = pin!(async {
        let call = |limit| {
            let options = options(Timeout::After(limit));
            connection.start_call(&wait_method(), &(1_u32,), options)
        };
        let _longest = call(PATIENCE);
        for limit in [DEFAULT, SHORTER] {
            // Nothing but the time limit wakes the task after the call has begun.
            polled_again().await;
            let start = Instant::now();
            assert_eq!(passed_limit(call(limit).await), limit);
            assert!(start.elapsed() < PATIENCE / 4, "{:?}", start.elapsed());
        }
    });
    poll_fn(|context| {
        let ended: Poll<()> = waiting.as_mut().poll(context);
        assert!(ended.is_pending());
        calls.as_mut().poll(context)
    })
    .await;
}

const DEFAULT: Duration = Duration::from_millis(120);
const SHORTER: Duration = Duration::from_millis(40);
