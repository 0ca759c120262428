//! The program of this project's library: this process, started by the
//! [command](super::BuiltLibrary::command) of [`Library::Diligence`](super::Library::Diligence).

mod asynchronous;

use std::env;
use std::io::{self, BufRead, Read, Write};
use std::process::ExitCode;
use std::time::Duration;

use client::wire::body::ReadError;
use client::{
    CallError, ConnectError, Connection, EmitError, Ended, InterfaceError, InvalidName, LaneUse,
    Proxy, ReceivedMessage, ServeError, ServedInterface, SubscribeError, SubscriptionError,
};
use serde::Serialize;
use sys::clock;

use super::{
    CallReport, EmitReport, INTERFACE, LANES_VARIABLE, ListenReport, METHOD, ModeError, PATH,
    ProgramMode, SIGNAL,
};
use crate::durations::{Distribution, Durations};

/// A front end of the library.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrontEnd {
    /// Blocks the thread that waits.
    Blocking,
    /// Waits in a task of the runtime of the library.
    Asynchronous,
}

impl FrontEnd {
    /// The argument that selects it.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Blocking => "blocking",
            Self::Asynchronous => "asynchronous",
        }
    }
}

/// Runs the [`ProgramMode`] in the arguments after the first, which selects the front end, with the
/// standard streams of this process.
pub fn main(words: &[String]) -> ExitCode {
    let streams = Streams { input: io::BufReader::new(io::stdin()), output: io::stdout() };
    let (front_end, words) = match words.split_first() {
        Some((word, rest)) if word == FrontEnd::Asynchronous.word() => {
            (FrontEnd::Asynchronous, rest)
        }
        Some((_, rest)) => (FrontEnd::Blocking, rest),
        None => (FrontEnd::Blocking, words),
    };
    let mode = ProgramMode::parse(words).map_err(ProgramError::from);
    match mode.and_then(|mode| run(front_end, mode, streams)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

/// The streams between the program and the process that started it.
#[derive(Debug)]
pub struct Streams<I, O> {
    /// The source of the line that starts the measurement.
    pub input: I,
    /// The destination of the program's lines.
    pub output: O,
}

/// Runs the given mode with a front end.
///
/// # Errors
///
/// Fails if the bus, a message or a stream fails.
pub fn run<I: BufRead, O: Write>(
    front_end: FrontEnd,
    mode: ProgramMode,
    mut streams: Streams<I, O>,
) -> Result<(), ProgramError> {
    if front_end == FrontEnd::Asynchronous {
        return asynchronous::run(mode, streams);
    }
    match mode {
        ProgramMode::Serve { address } => serve(&address, &mut streams),
        ProgramMode::Call { address, destination, count, length } => {
            call(&address, &destination, count, &"x".repeat(length), &mut streams)
        }
        ProgramMode::Emit { address, count, size } => {
            emit(&address, count, &vec![b'x'; size], &mut streams)
        }
        ProgramMode::Listen { address, sender, count } => {
            listen(&address, &sender, count, &mut streams)
        }
    }
}

fn serve<I, O: Write>(address: &str, streams: &mut Streams<I, O>) -> Result<(), ProgramError> {
    let echo = echo_interface()?;
    let connection = Connection::open(address)?;
    connection.set_lane_use(lane_use());
    connection.add_object(PATH, &echo, ())?;
    streams.say(connection.unique_name().as_str())?;
    Err(ProgramError::Ended(connection.serve()))
}

/// Whether the environment asks for lanes.
fn lane_use() -> LaneUse {
    match env::var_os(LANES_VARIABLE).is_some_and(|value| value == "1") {
        true => LaneUse::On,
        false => LaneUse::Off,
    }
}

fn echo_interface() -> Result<ServedInterface<()>, InterfaceError> {
    ServedInterface::builder(INTERFACE)
        .method(METHOD, &["text"], &["back"], |(), _, (text,): (String,)| Ok((text,)))
        .signal::<(u64, Vec<u8>)>(SIGNAL, &["sent_ns", "payload"])
        .build()
}

fn call<I: BufRead, O: Write>(
    address: &str,
    destination: &str,
    count: u64,
    text: &str,
    streams: &mut Streams<I, O>,
) -> Result<(), ProgramError> {
    let connection = Connection::open(address)?;
    connection.set_lane_use(lane_use());
    let proxy = connection.proxy(destination, PATH, INTERFACE)?;
    for _ in 0..(count / 10).clamp(1, WARM_UP_CALLS_MAX) {
        echo(&proxy, text)?;
    }
    streams.say("ready")?;
    while streams.read_line()? {
        let mut turn = CallTurn::begin();
        for _ in 0..count {
            echo(&proxy, text)?;
            turn.answered();
        }
        streams.report(&turn.report())?;
    }
    Ok(())
}

fn echo(proxy: &Proxy<'_>, text: &str) -> Result<(), ProgramError> {
    check_echo(&proxy.call(METHOD, &(text,))?, text)
}

fn check_echo(reply: &ReceivedMessage, text: &str) -> Result<(), ProgramError> {
    let (back,): (&str,) = reply.read()?;
    if back == text { Ok(()) } else { Err(ProgramError::OtherText) }
}

fn emit<I: BufRead, O: Write>(
    address: &str,
    count: u64,
    payload: &[u8],
    streams: &mut Streams<I, O>,
) -> Result<(), ProgramError> {
    let connection = Connection::open(address)?;
    streams.say(connection.unique_name().as_str())?;
    streams.wait_for_line()?;
    let begin = now_ns();
    for _ in 0..count {
        // Sends in batches, and waits while the socket is full; no signal is refused.
        connection.emit(PATH, INTERFACE, SIGNAL, &(now_ns(), payload))?;
    }
    connection.flush()?;
    let elapsed_ns = now_ns() - begin;
    streams.report(&EmitReport { sent: count, timeouts: 0, elapsed_ns })?;
    wait_for_end(&mut streams.input);
    Ok(())
}

fn listen<I: BufRead, O: Write>(
    address: &str,
    sender: &str,
    count: u64,
    streams: &mut Streams<I, O>,
) -> Result<(), ProgramError> {
    let connection = Connection::open(address)?;
    let samples = connection.proxy(sender, PATH, INTERFACE)?.signals(SIGNAL)?;
    streams.say("ready")?;
    let mut received = ReceivedSignals::default();
    let mut timeout = FIRST_SIGNAL;
    while received.received < count {
        match samples.next(Some(timeout)) {
            Ok(Some(signal)) => received.take(&signal)?,
            Ok(None) => break,
            // Lost signals are missing in the count.
            Err(SubscriptionError::Lost { .. } | SubscriptionError::Reconnected) => {}
            Err(SubscriptionError::Disconnected(ended)) => return Err(ended.into()),
        }
        timeout = SILENCE;
    }
    streams.report(&received.report())
}

/// The calls that follow a line from standard input.
struct CallTurn {
    begin_ns: u64,
    last_reply_ns: u64,
    durations: Durations,
}

impl CallTurn {
    fn begin() -> Self {
        let now = now_ns();
        Self { begin_ns: now, last_reply_ns: now, durations: Durations::default() }
    }

    /// Notes that a call was answered, and that the next one begins.
    fn answered(&mut self) {
        let now = now_ns();
        self.durations.record(Duration::from_nanos(now - self.last_reply_ns));
        self.last_reply_ns = now;
    }

    fn report(self) -> CallReport {
        let elapsed_ns = self.last_reply_ns - self.begin_ns;
        let Distribution { count: calls, p50_ns, p99_ns, .. } = self.durations.distribution();
        CallReport { calls, elapsed_ns, p50_ns, p99_ns }
    }
}

/// The signals that a listener has received.
#[derive(Default)]
struct ReceivedSignals {
    received: u64,
    bytes: u64,
    first_sent_ns: u64,
    last_received_ns: u64,
    delays: Durations,
}

impl ReceivedSignals {
    fn take(&mut self, signal: &ReceivedMessage) -> Result<(), ProgramError> {
        let (sent_ns, payload): (u64, Vec<u8>) = signal.read()?;
        let now = now_ns();
        if self.received == 0 {
            self.first_sent_ns = sent_ns;
        }
        self.received += 1;
        self.last_received_ns = now;
        self.bytes += payload.len() as u64;
        self.delays.record(Duration::from_nanos(now.saturating_sub(sent_ns)));
        Ok(())
    }

    fn report(self) -> ListenReport {
        let delays = self.delays.distribution();
        ListenReport {
            received: self.received,
            elapsed_ns: self.last_received_ns.saturating_sub(self.first_sent_ns),
            delay_mean_ns: delays.mean_ns as u64,
            delay_p99_ns: delays.p99_ns,
            bytes: self.bytes,
        }
    }
}

impl<I, O: Write> Streams<I, O> {
    fn say(&mut self, line: &str) -> io::Result<()> {
        writeln!(self.output, "{line}")?;
        self.output.flush()
    }

    fn report(&mut self, report: &impl Serialize) -> Result<(), ProgramError> {
        let line = serde_json::to_string(report).map_err(io::Error::from)?;
        Ok(self.say(&line)?)
    }
}

impl<I: BufRead, O> Streams<I, O> {
    /// Waits for a line. Returns false at the end of the input.
    fn read_line(&mut self) -> io::Result<bool> {
        Ok(self.input.read_line(&mut String::new())? > 0)
    }

    fn wait_for_line(&mut self) -> Result<(), ProgramError> {
        match self.read_line()? {
            true => Ok(()),
            false => Err(ProgramError::NoLine),
        }
    }
}

fn wait_for_end(input: &mut impl Read) {
    // A read error also ends the input.
    let _ = io::copy(input, &mut io::sink());
}

fn now_ns() -> u64 {
    clock::monotonic().as_nanos() as u64
}

/// The program of this project's library failed.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// The command line is wrong.
    #[error(transparent)]
    ProgramMode(#[from] ModeError),
    /// The connection to the bus failed.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The connection to the bus ended.
    #[error(transparent)]
    Ended(#[from] Ended),
    /// The destination or the sender is not a name.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// The interface cannot be defined.
    #[error(transparent)]
    Interface(#[from] InterfaceError),
    /// The object cannot be served.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// A method call failed.
    #[error("the call failed: {0}")]
    Call(#[from] CallError),
    /// The text of a reply differs from the text of its call.
    #[error("the reply carries a different text than the call")]
    OtherText,
    /// A signal was not queued.
    #[error("cannot send the signal: {0}")]
    Emit(#[from] EmitError),
    /// The bus rejected the match rule.
    #[error(transparent)]
    Subscribe(#[from] SubscribeError),
    /// A message has unexpected argument types.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Standard input ended before the line that starts the measurement.
    #[error("standard input ended before the line that starts the measurement")]
    NoLine,
    /// Standard input or output failed.
    #[error("standard input or output failed: {0}")]
    Io(#[from] io::Error),
}

/// The hidden command of this program, followed by the arguments of a [`ProgramMode`], that
/// [`main`] runs.
pub const COMMAND: &str = "bench-library";

const WARM_UP_CALLS_MAX: u64 = 100;
/// After this time without a signal, no further signal is expected.
const SILENCE: Duration = Duration::from_secs(2);
/// Time to wait for the first signal.
const FIRST_SIGNAL: Duration = Duration::from_secs(25);
