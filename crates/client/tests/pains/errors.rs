//! "Did not receive a reply" does not say from whom. Here, errors have the callee, the method and
//! the time, and [`Connection::explain`] finds the connection, the process and the unit behind a
//! name.

use std::time::{Duration, Instant};

use diligence_client::asynchronous::{self, Runtime};
use diligence_client::{
    CallError, CallOptions, CalleeOwner, Connection, ErrorExplanation, ReceivedMessage, Timeout,
};

use crate::silent_service::{NAME, SilentService, wait_method};
use crate::support::{BusProgram, PrivateTestBus};

mod tests {
    crate::pains! {
        blocking:
            errors_name_the_callee_and_the_time
            callees_that_left_are_named
            explaining_is_bounded_and_asks_no_bus_that_is_gone;
        asynchronous:
            errors_name_the_callee_and_the_time_in_a_task;
    }
}

fn options() -> CallOptions {
    CallOptions { timeout: Timeout::After(LIMIT), ..CallOptions::default() }
}

fn timed_out(connection: &Connection) -> CallError {
    let call = connection.start_call(&wait_method(), &(1_u32,), options()).unwrap();
    call.wait().expect_err("the service does not answer")
}

/// Checks the texts of a call that timed out, and of its explanation.
fn check(error: &CallError, explanation: &ErrorExplanation, service: &SilentService) {
    assert_eq!(error.to_string(), format!("no reply from {NAME} to Wait after 100 ms"));
    let callee = explanation.callee().expect("a callee");
    let unique = service.connection.unique_name();
    assert_eq!(callee.owner, CalleeOwner::UniqueName(unique.to_string()));
    let process = callee.process.as_ref().expect("the process is known");
    assert_eq!(process.pid, std::process::id());
    let program = process.program.as_deref().expect("it is this program");
    let test = std::env::current_exe().unwrap();
    assert_eq!(test.file_name().unwrap().to_str(), Some(program));
    let shown = process.unit.as_deref().unwrap_or(program);
    let details = format!("{unique}, {shown}, pid {}", process.pid);
    let expected = format!("no reply from {NAME} ({details}) to Wait after 100 ms");
    assert_eq!(explanation.to_string(), expected);
}

fn errors_name_the_callee_and_the_time(program: BusProgram) {
    let bus = PrivateTestBus::start_this(program);
    let service = SilentService::start(&bus);
    let connection = bus.connect();
    let error = timed_out(&connection);
    check(&error, &connection.explain(&error), &service);
}

async fn errors_name_the_callee_and_the_time_in_a_task(
    program: BusProgram,
    runtime: &(impl Runtime + Sync),
) {
    let bus = PrivateTestBus::start_this(program);
    let service = SilentService::start(&bus);
    let connection = asynchronous::Connection::open(&bus.address, runtime).await.unwrap();
    let call = connection.start_call(&wait_method(), &(1_u32,), options());
    let error = call.await.expect_err("the service does not answer");
    check(&error, &connection.explain(&error).await, &service);
}

fn callees_that_left_are_named(program: BusProgram) {
    let bus = PrivateTestBus::start_this(program);
    let service = SilentService::start(&bus);
    let connection = bus.connect();
    let call = connection.start_call(&wait_method(), &(1_u32,), CallOptions::default()).unwrap();
    connection.flush().unwrap();
    let (request, _) = service.next_call();
    drop((request, service));
    let outcome: Result<ReceivedMessage, CallError> = call.wait();
    let error = outcome.expect_err("the service left");
    let Some(name) = error.remote_name() else { panic!("{error}") };
    assert_eq!(name, "org.freedesktop.DBus.Error.NoReply");
    let explanation = connection.explain(&error);
    assert_eq!(explanation.callee().unwrap().owner, CalleeOwner::Nobody);
    let text = explanation.to_string();
    assert!(
        text.starts_with(&format!("Wait of {NAME} (without an owner) failed: {name}")),
        "{text}"
    );
}

fn explaining_is_bounded_and_asks_no_bus_that_is_gone(program: BusProgram) {
    let mut bus = PrivateTestBus::start_this(program);
    let _service = SilentService::start(&bus);
    let connection = bus.connect();
    let error = timed_out(&connection);
    bus.stop();
    let begun = Instant::now();
    let explanation = connection.explain(&error);
    let taken = begun.elapsed();
    assert!(taken < Duration::from_millis(1500), "{taken:?}");
    assert_eq!(explanation.to_string(), error.to_string());
    bus.kill();
    while connection.process(None).is_ok() {}
    assert!(connection.ended().is_some());
    let before = Instant::now();
    assert_eq!(connection.explain(&error).to_string(), error.to_string());
    assert!(before.elapsed() < Duration::from_millis(100), "{:?}", before.elapsed());
}

const LIMIT: Duration = Duration::from_millis(100);
