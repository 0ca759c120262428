//! The modes of the program with the asynchronous front end.

use std::io::{BufRead, Write};

use client::SubscriptionError;
use client::asynchronous::{Connection, LocalRuntime};

use super::{
    CallTurn, ProgramError, ReceivedSignals, Streams, WARM_UP_CALLS_MAX, check_echo,
    echo_interface, lane_use, now_ns, wait_for_end,
};
use crate::library::{EmitReport, INTERFACE, METHOD, PATH, ProgramMode, SIGNAL};

/// Runs the given mode, like [`super::run`].
pub(super) fn run<I: BufRead, O: Write>(
    mode: ProgramMode,
    mut streams: Streams<I, O>,
) -> Result<(), ProgramError> {
    let runtime = LocalRuntime::new()?;
    let runtime = &runtime;
    match mode {
        ProgramMode::Serve { address } => runtime.block_on(serve(runtime, &address, &mut streams)),
        ProgramMode::Call { address, destination, count, length } => {
            let text = "x".repeat(length);
            runtime.block_on(call(runtime, &address, (&destination, &text), count, &mut streams))
        }
        ProgramMode::Emit { address, count, size } => {
            runtime.block_on(emit(runtime, &address, count, &vec![b'x'; size], &mut streams))
        }
        ProgramMode::Listen { address, sender, count } => {
            runtime.block_on(listen(runtime, &address, &sender, count, &mut streams))
        }
    }
}

async fn serve<I, O: Write>(
    runtime: &LocalRuntime,
    address: &str,
    streams: &mut Streams<I, O>,
) -> Result<(), ProgramError> {
    let echo = echo_interface()?;
    let connection = Connection::open(address, runtime).await?;
    connection.set_lane_use(lane_use())?;
    connection.add_object(PATH, &echo, ())?;
    streams.say(connection.unique_name().as_str())?;
    Err(ProgramError::Ended(connection.serve().await))
}

async fn call<I: BufRead, O: Write>(
    runtime: &LocalRuntime,
    address: &str,
    (destination, text): (&str, &str),
    count: u64,
    streams: &mut Streams<I, O>,
) -> Result<(), ProgramError> {
    let connection = Connection::open(address, runtime).await?;
    connection.set_lane_use(lane_use())?;
    let proxy = connection.proxy(destination, PATH, INTERFACE)?;
    for _ in 0..(count / 10).clamp(1, WARM_UP_CALLS_MAX) {
        check_echo(&proxy.call(METHOD, &(text,)).await?, text)?;
    }
    streams.say("ready")?;
    while streams.read_line()? {
        let mut turn = CallTurn::begin();
        for _ in 0..count {
            check_echo(&proxy.call(METHOD, &(text,)).await?, text)?;
            turn.answered();
        }
        streams.report(&turn.report())?;
    }
    Ok(())
}

async fn emit<I: BufRead, O: Write>(
    runtime: &LocalRuntime,
    address: &str,
    count: u64,
    payload: &[u8],
    streams: &mut Streams<I, O>,
) -> Result<(), ProgramError> {
    let connection = Connection::open(address, runtime).await?;
    streams.say(connection.unique_name().as_str())?;
    streams.wait_for_line()?;
    let begin = now_ns();
    for _ in 0..count {
        // Sends in batches, and waits while the socket is full; no signal is refused.
        connection.emit(PATH, INTERFACE, SIGNAL, &(now_ns(), payload)).await?;
    }
    connection.flush().await?;
    let elapsed_ns = now_ns() - begin;
    streams.report(&EmitReport { sent: count, timeouts: 0, elapsed_ns })?;
    wait_for_end(&mut streams.input);
    Ok(())
}

/// Receives until all signals have arrived: the benchmark ends a program that waits too long.
async fn listen<I: BufRead, O: Write>(
    runtime: &LocalRuntime,
    address: &str,
    sender: &str,
    count: u64,
    streams: &mut Streams<I, O>,
) -> Result<(), ProgramError> {
    let connection = Connection::open(address, runtime).await?;
    let samples = connection.proxy(sender, PATH, INTERFACE)?.signals(SIGNAL).await?;
    streams.say("ready")?;
    let mut received = ReceivedSignals::default();
    while received.received < count {
        match samples.next().await {
            Ok(signal) => received.take(&signal)?,
            // Lost signals are missing in the count.
            Err(SubscriptionError::Lost { .. } | SubscriptionError::Reconnected) => {}
            Err(SubscriptionError::Disconnected(ended)) => return Err(ended.into()),
        }
    }
    streams.report(&received.report())
}
