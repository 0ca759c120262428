//! `diligence show`: the messages of a recording, as tools print them, or as commands.

use std::fmt;
use std::io::{self, BufWriter, Write as _};
use std::process::ExitCode;

use capture::Capture;
use capture::query::Query;
use capture::show::{Command, Format, Inexpressible};
use capture::statistics::Caveat;
use clap::{Args, ValueEnum, ValueHint};

use crate::output::{Output, complain, controls, failed};
use crate::recording::{self, ReadError, Scope, warn_if_unmatched};

/// Which messages to show, and how.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct Show {
    /// The recording
    #[arg(value_hint = ValueHint::FilePath)]
    file: String,
    /// Which messages: `member:Get* dur>50ms` [default: all]
    query: Vec<String>,
    /// As which tool prints them
    #[arg(long, value_enum, default_value = "busctl")]
    format: Form,
    /// Instead, the command that sends the like
    #[arg(long, value_enum, value_name = "PROGRAM", conflicts_with = "format")]
    as_command: Option<Program>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Form {
    /// As `busctl monitor`
    Busctl,
    /// As `gdbus monitor`: a line for each
    Gdbus,
    /// As `dbus-monitor`, and `dbus-send --print-reply`
    DbusSend,
    /// As `busctl --json=short monitor`, with more keys
    Json,
    /// The same, with the type of each value
    Lossless,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Program {
    /// `busctl call` or `busctl emit`
    Busctl,
    /// `gdbus call` or `gdbus emit`
    Gdbus,
    /// `dbus-send`
    DbusSend,
    /// A Python program
    Python,
    /// The match rule for such messages
    MatchRule,
}

impl From<Form> for Format {
    fn from(form: Form) -> Self {
        match form {
            Form::Busctl => Self::Busctl,
            Form::Gdbus => Self::Gdbus,
            Form::DbusSend => Self::DbusSend,
            Form::Json => Self::Json,
            Form::Lossless => Self::Lossless,
        }
    }
}

impl From<Program> for Command {
    fn from(program: Program) -> Self {
        match program {
            Program::Busctl => Self::Busctl,
            Program::Gdbus => Self::Gdbus,
            Program::DbusSend => Self::DbusSend,
            Program::Python => Self::Python,
            Program::MatchRule => Self::MatchRule,
        }
    }
}

/// Prints the messages.
pub(crate) fn run(show: &Show) -> ExitCode {
    match show.print() {
        Ok(()) => ExitCode::SUCCESS,
        Err(ShowError::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => failed("show", &error, error.status()),
    }
}

impl Show {
    fn print(&self) -> Result<(), ShowError> {
        recording::check_order(&self.file, &self.query)?;
        let query = recording::query(&self.query)?;
        let capture = recording::open(&[&self.file])?;
        for caveat in Caveat::of_end(&capture) {
            complain(&format!("note: {}: {caveat}\n", self.file));
        }
        warn_if_unmatched("show", &capture, &query, Scope::Recording);
        recording::note_unknown_recipients(&query, &capture);
        match self.as_command {
            Some(program) => commands(&capture, &query, program.into()),
            None => messages(&capture, &query, self.format.into()).map_err(ShowError::Io),
        }
    }
}

/// Prints the messages that a query selects.
fn messages(capture: &Capture, query: &Query, format: Format) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    let (mut text, mut buffer, mut matcher) = (String::new(), Vec::new(), query.matcher());
    let controls = controls();
    for message in capture.messages().filter(|message| matcher.selects(message)) {
        text.clear();
        format.push(&mut text, &message, &mut buffer, controls)?;
        out.write_all(text.as_bytes())?;
    }
    out.flush()
}

/// What has no command is told on standard error, and the rest is printed.
fn commands(capture: &Capture, query: &Query, command: Command) -> Result<(), ShowError> {
    let mut out = Output::create(None).map_err(ShowError::Io)?;
    let (mut buffer, mut matcher) = (Vec::new(), query.matcher());
    let mut refused = 0;
    for message in capture.messages() {
        // A reply has the command of its call, which is printed once.
        let call = message.call().filter(|call| call.id() != message.id());
        if !matcher.selects(&message) || call.is_some_and(|call| matcher.selects(&call)) {
            continue;
        }
        match command.of(&message, &mut buffer) {
            Ok(text) => out.write_all(text.as_bytes()).map_err(ShowError::Io)?,
            Err(Inexpressible::Io(error)) => return Err(ShowError::Io(error)),
            Err(error) => {
                refused += 1;
                complain(&format!("message {}: {error}\n", message.id().number()));
            }
        }
    }
    out.finish().map_err(ShowError::Io)?;
    if refused > 0 { Err(ShowError::Inexpressible(refused)) } else { Ok(()) }
}

/// Why messages are not shown.
#[derive(Debug)]
enum ShowError {
    Read(ReadError),
    Io(io::Error),
    /// So many have no such command.
    Inexpressible(u64),
}

impl ShowError {
    fn status(&self) -> ExitCode {
        match self {
            Self::Read(error) => error.status(),
            Self::Io(_) | Self::Inexpressible(_) => ExitCode::FAILURE,
        }
    }
}

impl From<ReadError> for ShowError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl fmt::Display for ShowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => error.fmt(f),
            Self::Io(error) => error.fmt(f),
            Self::Inexpressible(1) => f.write_str("1 message cannot be written as such a command"),
            Self::Inexpressible(count) => {
                write!(f, "{count} messages cannot be written as such commands")
            }
        }
    }
}

impl std::error::Error for ShowError {}

const LONG_HELP: &str = "\
The words behind the file are a query; see docs/query.md. A match rule is one, too.

With --as-command a reply stands for its call. Commands address the session bus unless the recording \
says that it is of the system bus.

The exit status is 0 when all was shown, 1 when it could not be, and 2 when the command line is wrong.";
