//! `diligence show`: prints the messages of a recording in several formats, or as commands, or
//! saves them to a file.

use std::io::{self, BufWriter, IsTerminal as _, Write as _, stdout};
use std::path::{Path, PathBuf};

use capture::Capture;
use capture::model::{CapturedMessage, MessageBuffer};
use capture::query::{Matcher, Query};
use capture::save::FileFormat;
use capture::show::{
    CallDetails, Inexpressible, Knowledge, LineClock, MessageFormat, MessageLines, SendCommand,
};
use capture::statistics::Caveat;
use capture::text::Style;
use clap::{Args, ValueEnum, ValueHint};

use crate::choices::{Choice, one_of};
use crate::exit::ExitError;
use crate::output::{DocumentOutput, controls, print_to_stderr, write_text};
use crate::progress::{WorkProgress, WorkTask, conclude_file};
use crate::recording::{self, RecordingError, warn_if_unmatched};
use crate::saving::save_matching;
use crate::style::ColorChoice;

/// Arguments of `diligence show`.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct Show {
    /// The recording to read
    #[arg(value_hint = ValueHint::FilePath)]
    file: String,
    /// A query that selects messages: `member:Get* dur>50ms`, or `#1410` for one in detail
    /// [default: all]
    query: Vec<String>,
    /// Output format [default: details for a single number; else line on a terminal, busctl
    /// elsewhere]
    #[arg(long, value_enum)]
    format: Option<ShowFormat>,
    #[command(flatten)]
    color: ColorChoice,
    /// Instead, print commands that send the same messages
    #[arg(long, value_parser = one_of(&COMMANDS), value_name = "PROGRAM", conflicts_with = "format")]
    as_command: Option<SendCommand>,
    /// Instead, save the messages as a recording: OUT.pcapng, or OUT.pcap, which has no names and
    /// no phases
    #[arg(long, short = 'o', value_name = "OUT", conflicts_with_all = ["format", "as_command"])]
    save: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ShowFormat {
    /// One line per message: number, seconds, caller, callee, member, duration, result
    Line,
    /// Like the output of `busctl monitor`
    Busctl,
    /// Like `gdbus monitor`, one line per message
    Gdbus,
    /// Like `dbus-monitor`, and `dbus-send --print-reply`
    DbusSend,
    /// Like `busctl --json=short monitor`, with more keys
    Json,
    /// The same, with the type of each value
    Lossless,
    /// The call with its reply, the peers, and where the time went
    Details,
}

impl ShowFormat {
    /// The format if none is selected.
    fn default_for(query: &Query) -> Self {
        match query.message_number() {
            Some(_) => Self::Details,
            None if stdout().is_terminal() => Self::Line,
            None => Self::Busctl,
        }
    }
}

const COMMANDS: [Choice<SendCommand>; 5] = [
    ("busctl", "`busctl call` or `busctl emit`", SendCommand::Busctl),
    ("gdbus", "`gdbus call` or `gdbus emit`", SendCommand::Gdbus),
    ("dbus-send", "`dbus-send`", SendCommand::DbusSend),
    ("python", "A Python program", SendCommand::Python),
    ("match-rule", "The match rule for such messages", SendCommand::MatchRule),
];

impl Show {
    /// Prints the messages, or saves them.
    pub(crate) fn run(&self) -> Result<(), ShowError> {
        recording::check_order(&self.file, &self.query)?;
        let query = recording::query(&self.query)?;
        // A file that cannot be written is reported before a large recording is read.
        let file = self.save.as_deref().map(SavedFile::create).transpose()?;
        let capture = recording::open(&[&self.file])?;
        for caveat in Caveat::of_end(&capture) {
            print_to_stderr(&format!("note: {}: {caveat}\n", self.file));
        }
        warn_if_unmatched("show", &capture, &query);
        recording::note_hidden(&query, &capture);
        if let Some(file) = file {
            return file.write(&capture, &query);
        }
        if let Some(program) = self.as_command {
            return commands(&capture, &query, program);
        }
        let format = match self.format.unwrap_or_else(|| ShowFormat::default_for(&query)) {
            ShowFormat::Line => {
                let lines =
                    MessageLines::new(self.color.of_lines(), LineClock::of_recording(&capture));
                return Ok(print_each(&capture, &query, |text, message, buffer| {
                    lines.push(text, message, Knowledge::Whole, buffer)
                })?);
            }
            ShowFormat::Details => return Ok(details(&capture, &query, self.color.of_stdout())?),
            ShowFormat::Busctl => MessageFormat::Busctl,
            ShowFormat::Gdbus => MessageFormat::Gdbus,
            ShowFormat::DbusSend => MessageFormat::DbusSend,
            ShowFormat::Json => MessageFormat::Json,
            ShowFormat::Lossless => MessageFormat::Lossless,
        };
        let controls = controls();
        Ok(print_each(&capture, &query, |text, message, buffer| {
            format.push(text, message, buffer, controls)
        })?)
    }
}

/// A file to which messages are saved.
struct SavedFile {
    path: PathBuf,
    format: FileFormat,
    out: DocumentOutput,
}

impl SavedFile {
    fn create(path: &Path) -> Result<Self, ShowError> {
        let format = FileFormat::of_path(path);
        let format = format.ok_or_else(|| ShowError::Extension(path.to_owned()))?;
        let created = DocumentOutput::create(Some(path));
        let out = created.map_err(|error| ShowError::Write(path.to_owned(), error))?;
        Ok(Self { path: path.to_owned(), format, out })
    }

    fn write(self, capture: &Capture, query: &Query) -> Result<(), ShowError> {
        let Self { path, format, mut out } = self;
        let work = WorkProgress::start(WorkTask::Other("writing"));
        let written = DocumentOutput::check_inputs(Some(&path), capture)
            .and_then(|()| save_matching(capture, query, format, &mut out))
            .and_then(|messages| out.finish().map(|()| messages));
        drop(work);
        match written {
            Ok(messages) => conclude_file(&path, messages),
            Err(error) => return Err(ShowError::Write(path, error)),
        }
        Ok(())
    }
}

/// Prints details of the messages that a query selects; a call and its reply are printed together.
fn details(capture: &Capture, query: &Query, style: Style) -> io::Result<()> {
    let (mut details, mut matcher) = (CallDetails::new(capture, style), query.matcher());
    let mut gap = "";
    for message in capture.messages().filter(|message| selects_alone(&mut matcher, message)) {
        write_text(&format!("{gap}{}", details.of(&message)?))?;
        gap = "\n";
    }
    Ok(())
}

/// Returns true if a query selects a message, unless it is a reply whose call is selected too: the
/// details of a call include its reply.
fn selects_alone(matcher: &mut Matcher<'_>, message: &CapturedMessage<'_>) -> bool {
    let call = message.call().filter(|call| call.id() != message.id());
    matcher.selects(message) && !call.is_some_and(|call| matcher.selects(&call))
}

/// Prints the messages that a query selects. `push` appends the text of a message.
fn print_each(
    capture: &Capture,
    query: &Query,
    push: impl Fn(&mut String, &CapturedMessage<'_>, &mut MessageBuffer) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::new(stdout().lock());
    let (mut text, mut buffer, mut matcher) =
        (String::new(), MessageBuffer::default(), query.matcher());
    // Output on a terminal needs no progress line.
    let task = WorkTask::Messages("printing", capture.len() as u64);
    let work = (!stdout().is_terminal()).then(|| WorkProgress::start(task));
    let selects = |message: &CapturedMessage<'_>| {
        work.iter().for_each(WorkProgress::count);
        matcher.selects(message)
    };
    for message in capture.messages().filter(selects) {
        text.clear();
        push(&mut text, &message, &mut buffer)?;
        out.write_all(text.as_bytes())?;
    }
    out.flush()
}

/// Prints commands that send the selected messages. Messages that cannot be expressed are reported
/// on standard error.
fn commands(capture: &Capture, query: &Query, command: SendCommand) -> Result<(), ShowError> {
    let mut out = DocumentOutput::create(None)?;
    let (mut buffer, mut matcher) = (MessageBuffer::default(), query.matcher());
    let mut refused = 0;
    for message in capture.messages().filter(|message| selects_alone(&mut matcher, message)) {
        match command.of(&message, &mut buffer) {
            Ok(text) => out.write_all(text.as_bytes())?,
            Err(Inexpressible::Io(error)) => return Err(ShowError::Io(error)),
            Err(error) => {
                refused += 1;
                print_to_stderr(&format!("message {}: {error}\n", message.id().number()));
            }
        }
    }
    out.finish()?;
    if refused > 0 { Err(ShowError::Inexpressible(refused)) } else { Ok(()) }
}

/// The messages could not be shown or saved.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ShowError {
    #[error(transparent)]
    Read(#[from] RecordingError),
    #[error(transparent)]
    Io(#[from] io::Error),
    /// This number of messages cannot be expressed as a command.
    #[error("{}", match .0 {
        1 => "1 message cannot be expressed as a command".to_owned(),
        count => format!("{count} messages cannot be expressed as commands"),
    })]
    Inexpressible(u64),
    /// The extension of the file is not a known format.
    #[error(
        "cannot save as {}: expected a name that ends in .pcapng or .pcap; for other formats \
         there is diligence export", .0.display()
    )]
    Extension(PathBuf),
    #[error("cannot write {path}: {1}", path = .0.display())]
    Write(PathBuf, io::Error),
}

impl ExitError for ShowError {
    fn status(&self) -> u8 {
        match self {
            Self::Read(error) => error.status(),
            Self::Io(_) | Self::Inexpressible(_) | Self::Write(..) => 1,
            Self::Extension(_) => 2,
        }
    }

    fn is_quiet(&self) -> bool {
        matches!(self, Self::Io(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

const LONG_HELP: &str = "\
The words after the file are a query; see docs/query.md. A match rule is a query too.

A single number, `'#1410'`, prints that call with its reply, the processes of both peers, the result, and \
the duration of each phase. --format details prints the same for all selected messages.

With --as-command, the command for a reply is the command of its call. Commands use the session bus, \
unless the recording is from the system bus.

--save writes the selected messages, each call with its reply, like `diligence export` does; see \
docs/export.md.

The exit status is 0 if all messages were shown, 1 if they were not, and 2 if the command line is wrong.";
