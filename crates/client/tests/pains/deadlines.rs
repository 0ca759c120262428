//! Calls wait for ever, or time out without a word about the time; a late reply confuses the next
//! call. Here, each call and each connection has a time limit, the error has the one that passed,
//! and a late reply is discarded and counted.

use std::time::Duration;

use diligence_client::asynchronous::{self, Runtime};
use diligence_client::{CallError, CallOptions, ReceivedMessage, Timeout};

use crate::silent_service::{SilentService, wait_method};
use crate::support::{BusProgram, PATIENCE, PrivateTestBus};

mod tests {
    crate::pains! {
        blocking: calls_have_deadlines_and_late_replies_are_counted;
        asynchronous: calls_have_deadlines_and_late_replies_are_counted_in_a_task;
    }
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

const DEFAULT: Duration = Duration::from_millis(120);
const SHORTER: Duration = Duration::from_millis(40);
