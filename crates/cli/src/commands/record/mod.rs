//! `diligence record`: records the messages of buses into a file.

mod error;
mod progress;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IsTerminal as _, stdout};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use capture::bodies::Bodies;
use capture::query::Query;
use capture::record::EndCause;
use clap::Args;
use recorder::{
    BusPlace, ObjectIntrospection, ProcessorRecording, RecordingDestination, RecordingOptions,
    RecordingPace, RecordingSession, RecordingWriter, SessionLimits, SessionReport, SessionTurn,
    origin,
};
use sys::poll::{Events, Interest, Poller};
use sys::signals::{ProcessSignal, SignalSource};

pub(crate) use error::RecordError;
pub(crate) use progress::{RecordProgress, report};

use crate::amount;
use crate::bus_choice::BusChoices;
use crate::output::{print_message, print_to_stderr};
use crate::private_bus::end_requested;
use crate::rule::match_rule;
use crate::user_command::{self, UserCommand, shell_status};

/// Arguments of `diligence record`.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct RecordArgs {
    #[command(flatten)]
    buses: BusChoices,
    /// The file for the recording; `-` is standard output [default: recording.pcapng, or recording-2.pcapng and so on if that exists]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Record only messages that match this match rule; can be repeated
    #[arg(long, value_name = "RULE", value_parser = match_rule)]
    filter: Vec<String>,
    /// Keep only the latest messages: in FILE and FILE.1, each of this size
    #[arg(long, value_name = "SIZE", value_parser = amount::recording_size)]
    ring: Option<u64>,
    /// Keep the latest messages in memory, and write them when a message matches this query:
    /// 'dur>50ms'
    #[arg(long, value_name = "QUERY")]
    trigger: Option<Query>,
    /// End before the file is larger than this
    #[arg(long, value_name = "SIZE", value_parser = amount::recording_size, conflicts_with_all = ["ring", "trigger"])]
    max_size: Option<u64>,
    /// End after this time
    #[arg(long, value_name = "TIME", value_parser = amount::time)]
    max_time: Option<Duration>,
    /// Keep only this number of bytes of each message
    #[arg(long, value_name = "N")]
    kept: Option<u32>,
    /// Keep only the types and lengths of values: numbers become 0, and texts become x
    #[arg(long, conflicts_with = "kept")]
    redact: bool,
    /// Introspect the objects in the traffic, for the names of arguments
    #[arg(long)]
    introspect: bool,
    /// Also record when the processes of the bus and of its connections were running, as far as the
    /// kernel permits it
    #[arg(long)]
    switches: bool,
    /// Record while this command runs
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
}

impl RecordArgs {
    /// Records until a signal, a limit or the command ends the recording. Returns the exit status
    /// of the command, if there is one.
    pub(crate) fn run(self) -> Result<u8, RecordError> {
        let signals = SignalSource::block(&user_command::SIGNALS)?;
        let command = match self.command.as_slice() {
            [] => None,
            words => Some(user_command::command(words)?),
        };
        let limits = SessionLimits { bytes: self.max_size, time: self.max_time };
        let places = self.buses.places();
        let options = self.recording_options();
        let bodies = self.bodies();
        let stdout = self.standard_output()?;
        // The name of a new file is chosen when the file is created.
        let open = || {
            RecordingWriter::open(stdout.unwrap_or_else(|| self.file()), bodies, origin(PROGRAM))
        };
        let session = RecordingSession::start(&places, &options, open, limits)?;
        if let Bodies::Cut(kept) = bodies
            && kept < HEADERS_FIT
        {
            print_to_stderr(&format!(
                "diligence record: --kept {kept} cuts headers, so senders, recipients and outcomes will be \
                 unknown, and the messages of the recorder cannot be distinguished from others; \
                 --kept {HEADERS_FIT} keeps nearly all headers\n"
            ));
        }
        let user_command = match command.map(UserCommand::start).transpose() {
            Ok(user_command) => user_command,
            Err(error) => {
                session.discard();
                return Err(error.into());
            }
        };
        ActiveRecording { session, progress: RecordProgress::new() }
            .record_until_end(user_command, &signals)
    }

    fn recording_options(&self) -> RecordingOptions {
        let objects = if self.introspect {
            ObjectIntrospection::Introspected
        } else {
            ObjectIntrospection::Ignored
        };
        let processors =
            if self.switches { ProcessorRecording::Switches } else { ProcessorRecording::Off };
        RecordingOptions {
            filters: self.filter.clone(),
            pace: RecordingPace::Complete,
            objects,
            processors,
        }
    }

    const fn bodies(&self) -> Bodies {
        match (self.kept, self.redact) {
            (Some(kept), _) => Bodies::Cut(kept),
            (None, true) => Bodies::Redacted,
            (None, false) => Bodies::Whole,
        }
    }

    /// Standard output, if it is the destination of the recording.
    fn standard_output(&self) -> Result<Option<RecordingDestination>, RecordError> {
        if self.output.as_deref() != Some(Path::new("-")) {
            return Ok(None);
        }
        match (self.ring, &self.trigger) {
            (None, None) => standard_output().map(Some),
            _ => Err(RecordError::NotAFile),
        }
    }

    fn file(self) -> RecordingDestination {
        let path = self.output.unwrap_or_else(new_name);
        match (self.trigger, self.ring) {
            (Some(query), size) => {
                RecordingDestination::Trigger { path, size: size.unwrap_or(TRIGGER_SIZE), query }
            }
            (None, Some(size)) => RecordingDestination::Ring { path, size },
            (None, None) => RecordingDestination::File(path),
        }
    }
}

/// A running recording, and its progress.
#[derive(Debug)]
pub(crate) struct ActiveRecording {
    session: RecordingSession,
    progress: RecordProgress,
}

impl ActiveRecording {
    /// Records one bus into a file, without showing the progress.
    pub(crate) fn of(place: BusPlace, path: PathBuf) -> Result<Self, RecordError> {
        let open = || {
            RecordingWriter::open(RecordingDestination::File(path), Bodies::Whole, origin(PROGRAM))
        };
        let session = RecordingSession::start(
            &[place],
            &RecordingOptions::default(),
            open,
            SessionLimits::default(),
        )?;
        Ok(Self { session, progress: RecordProgress::silent() })
    }

    /// The recording session, whose descriptor is readable when messages are available.
    pub(crate) const fn session(&self) -> &RecordingSession {
        &self.session
    }

    /// Ends the recording and removes its file.
    pub(crate) fn discard(self) {
        self.session.discard();
    }

    /// Reads the available messages; returns the time to wait, or the reason why the recording is
    /// over.
    pub(crate) fn turn(&mut self) -> SessionTurn {
        let turn = self.session.turn();
        for notice in self.session.notices() {
            self.progress.print_message(&notice.to_string());
        }
        self.progress.show(&self.session);
        match (turn, self.progress.time_until_update()) {
            (SessionTurn::Rest(rest), Some(line)) => SessionTurn::Rest(rest.min(line)),
            (turn, _) => turn,
        }
    }

    /// Ends the recording, and returns its report.
    pub(crate) fn finish(mut self, cause: EndCause) -> Result<SessionReport, RecordError> {
        self.progress.clear();
        Ok(self.session.finish(cause)?)
    }

    /// Records until the command, a signal or the recording itself ends it; then waits for the end
    /// of the command.
    fn record_until_end(
        mut self,
        mut user_command: Option<UserCommand>,
        signals: &SignalSource,
    ) -> Result<u8, RecordError> {
        let poller = Poller::new()?;
        poller.add(signals, 0, Interest::Read)?;
        let end = self.follow(user_command.as_mut(), signals, &poller)?;
        // Close the connections now, so that no bus queues messages for a recorder that no longer
        // reads.
        let finished = self.finish(end.cause());
        if let Ok(summary) = &finished {
            print_to_stderr(&report(summary));
        }
        let status = match (end, user_command) {
            (RecordingEnd::Command(status) | RecordingEnd::Interrupted(status), _) => status,
            (_, Some(mut user_command)) => wait_for(&mut user_command, signals, &poller)?,
            (RecordingEnd::Itself(cause @ EndCause::NoBus), None) => {
                return Err(finished.err().unwrap_or(RecordError::Ended(cause)));
            }
            (RecordingEnd::Itself(_) | RecordingEnd::Asked, None) => 0,
        };
        status_with(status, finished.err(), "record")
    }

    /// Records until an event ends it.
    fn follow(
        &mut self,
        mut user_command: Option<&mut UserCommand>,
        signals: &SignalSource,
        poller: &Poller,
    ) -> Result<RecordingEnd, RecordError> {
        poller.add(self.session.as_fd(), 1, Interest::Read)?;
        let mut events = Events::with_capacity(2);
        let mut is_asked = false;
        loop {
            let rest = match self.turn() {
                SessionTurn::More => Duration::ZERO,
                SessionTurn::Rest(rest) => rest,
                SessionTurn::Over(cause) => return Ok(RecordingEnd::Itself(cause)),
            };
            if let Some(user_command) = user_command.as_deref_mut()
                && let Some(status) = user_command.ended()?
            {
                let status = shell_status(status);
                return Ok(if is_asked {
                    RecordingEnd::Interrupted(status)
                } else {
                    RecordingEnd::Command(status)
                });
            }
            poller.wait(&mut events, Some(rest))?;
            is_asked |= forward_signals(signals, user_command.as_deref_mut())?;
            if is_asked && user_command.is_none() {
                return Ok(RecordingEnd::Asked);
            }
        }
    }
}

/// The exit status after a command whose recording may have failed. The status of a failed command
/// is more important, so the other failure is only printed.
pub(crate) fn status_with(
    status: u8,
    failure: Option<RecordError>,
    command: &str,
) -> Result<u8, RecordError> {
    match failure {
        None => Ok(status),
        Some(error) if status == 0 => Err(error),
        Some(error) => {
            print_message(&format!("diligence {command}"), &error);
            Ok(status)
        }
    }
}

/// The reason why a recording ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RecordingEnd {
    /// The user asked for the end with a signal.
    Asked,
    /// The command has ended with this status.
    Command(u8),
    /// The command has ended with this status after the user asked for the end.
    Interrupted(u8),
    /// The recording itself ended, for example at a limit.
    Itself(EndCause),
}

impl RecordingEnd {
    const fn cause(self) -> EndCause {
        match self {
            Self::Asked | Self::Interrupted(_) => EndCause::Asked,
            Self::Command(_) => EndCause::Command,
            Self::Itself(cause) => cause,
        }
    }
}

/// Waits for a command, and returns its status.
fn wait_for(
    user_command: &mut UserCommand,
    signals: &SignalSource,
    poller: &Poller,
) -> Result<u8, RecordError> {
    let mut events = Events::with_capacity(1);
    loop {
        if let Some(status) = user_command.ended()? {
            return Ok(shell_status(status));
        }
        poller.wait(&mut events, None)?;
        forward_signals(signals, Some(user_command))?;
    }
}

/// Forwards signals to the command, if there is one. Returns true if a signal asks to end.
fn forward_signals(
    signals: &SignalSource,
    user_command: Option<&mut UserCommand>,
) -> io::Result<bool> {
    let Some(user_command) = user_command else { return Ok(end_requested(signals)?.is_some()) };
    let mut is_asked = false;
    while let Some(signal) = signals.take()? {
        is_asked |= matches!(
            signal,
            ProcessSignal::Interrupt | ProcessSignal::Terminate | ProcessSignal::HangUp
        );
        user_command.forward(signal);
    }
    Ok(is_asked)
}

fn standard_output() -> Result<RecordingDestination, RecordError> {
    if stdout().is_terminal() {
        return Err(RecordError::Terminal);
    }
    let descriptor = stdout().as_fd().try_clone_to_owned()?;
    Ok(RecordingDestination::Open(File::from(descriptor)))
}

/// The first of these names that does not exist: `recording.pcapng`, `recording-2.pcapng`, ...
fn new_name() -> PathBuf {
    let numbered = (2..).map(|number| PathBuf::from(format!("recording-{number}.pcapng")));
    let mut names = std::iter::once(PathBuf::from("recording.pcapng")).chain(numbered);
    names.find(|name| !name.exists()).expect("there are enough numbers")
}

/// The name and version of this program, which recordings contain.
const PROGRAM: &str = concat!("diligence ", env!("CARGO_PKG_VERSION"));

/// A number of bytes that contains nearly all headers.
const HEADERS_FIT: u32 = 256;

/// The size in bytes of the memory for `--trigger`, unless --ring sets it.
const TRIGGER_SIZE: u64 = 16 << 20;

const LONG_HELP: &str = "\
Several buses can be recorded at once, with one clock. A bus of Diligence traces its own work, with the \
recipients of each message and the times of delivery. On other buses the recorder becomes a monitor; \
where it may not, it records messages that match rules can select. The file states how the bus \
was captured, and contains the connections and their processes.

The format is pcapng, which Wireshark opens too. The file can be read while the recording runs, and even \
if the recorder was killed. If FILE exists, it is kept until the new recording is complete and then replaced; \
until then the new recording is FILE.*.unfinished in the same directory, which can be read like any \
recording and stays there if the recorder is killed. Where messages are missing, because the bus closed \
the connection or the disk was full, the file says so. If the recorder was stopped or had no processor \
for 100 ms or longer, the file says how many messages were read late and by how much, because the \
times from a monitor are then too late.

With --introspect the recorder introspects the objects that messages name, until their service has \
described the interface: then `diligence show` prints arguments with their names. It starts no service, \
and sends each service one call at a time.

With --switches the kernel records when each thread of these processes gets and loses a processor. It \
covers up to 1024 threads, or half of the limit of open files; a new thread is followed within 50 ms. \
It works for your own processes if /proc/sys/kernel/perf_event_paranoid is 2 or less; processes that \
cannot be watched are counted at the end. `timeline` then shows delayed wake-ups and preemption, and \
`stats --by switches` their number for each call.

A SIZE is in bytes, or has a unit: kB, MB and GB are powers of 1000; KiB, MiB, GiB, K, M and G are \
powers of 1024. The minimum is 4 KiB: the beginning of a file, which describes the bus, and one message. \
Each connection takes some hundred bytes more. A TIME is in seconds, or has a unit: ms, s, min or h.

Ctrl-C, SIGTERM or the end of the command end the recording. The exit status is the status of the \
command; without a command 0, or 1 if the buses disconnected; 1 also if the command succeeded and the \
recording is incomplete; and 2 if the command line is wrong.";
