//! `diligence export`: converts the messages of a recording to formats of other programs.
//!
//! [`export`] writes most formats, [`capture::timeline`] writes traces, and [`capture::save`]
//! writes recordings.

use std::io;
use std::path::{Path, PathBuf};

use ::export::{ExportError, write_csv, write_dot, write_json};
use capture::Capture;
use capture::model::CapturedMessage;
use capture::query::Query;
use capture::save::FileFormat;
use capture::timeline::chrome_trace;
use clap::{Args, ValueEnum, ValueHint};

use crate::exit::ExitError;
use crate::output::DocumentOutput;
use crate::progress::{WorkProgress, WorkTask, conclude_file};
use crate::recording::{self, RecordingError, warn_if_unmatched};
use crate::saving::save_matching;

/// Arguments of `diligence export`.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct Export {
    /// Recordings on one time axis, then a query that selects messages: `member:Get* dur>50ms`
    #[arg(required = true, value_name = "FILE... [QUERY]", value_hint = ValueHint::FilePath)]
    words: Vec<String>,
    /// The format of the output
    #[arg(long, value_enum)]
    format: ExportFormat,
    /// The output file; only its owner can read it, and it replaces an old one when it is complete;
    /// `-` is standard output [default: -]
    #[arg(long, short, value_name = "OUT")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum ExportFormat {
    /// One JSON object per line, with the arguments
    Json,
    /// Comma-separated values, with the arguments as JSON
    Csv,
    /// A SQLite database with views for frequent questions; needs -o
    #[cfg(feature = "sqlite")]
    Sqlite,
    /// The columns of csv for DuckDB, Spark and other analysis tools
    #[cfg(feature = "parquet")]
    Parquet,
    /// A trace for ui.perfetto.dev
    ChromeTrace,
    /// A graph of senders and recipients for Graphviz
    Dot,
    /// A recording for Wireshark and all commands: messages with names, processes and phases
    Pcapng,
    /// A recording in the older format: only messages and times
    Pcap,
}

impl Export {
    /// Writes the selected messages in the chosen format.
    pub(crate) fn run(&self) -> Result<(), ExportFailure> {
        let (files, query) = recording::files_and_query(&self.words)?;
        // A file that cannot be written is reported before a large recording is read.
        let target = self.target();
        let mut out = DocumentOutput::create(target).map_err(|error| self.write_error(error))?;
        match self.format {
            #[cfg(feature = "sqlite")]
            ExportFormat::Sqlite if out.path().is_none() => return Err(ExportFailure::NotAFile),
            #[cfg(feature = "parquet")]
            ExportFormat::Parquet if out.is_terminal() => return Err(ExportFailure::Terminal),
            ExportFormat::Pcapng | ExportFormat::Pcap if out.is_terminal() => {
                return Err(ExportFailure::Terminal);
            }
            _ => {}
        }
        let capture = recording::open(files)?;
        DocumentOutput::check_inputs(target, &capture).map_err(|error| self.write_error(error))?;
        warn_if_unmatched("export", &capture, &query);
        self.note_hidden(&capture, &query);
        // Output on a terminal needs no progress line.
        let task = WorkTask::Messages("writing", capture.len() as u64);
        let work = (!out.is_terminal()).then(|| WorkProgress::start(task));
        let written = self.format.write(&capture, &query, &mut out, work.as_ref());
        let messages = written.map_err(|error| self.write_error(error))?;
        out.finish().map_err(|error| self.write_error(error))?;
        drop(work);
        if let Some(path) = target {
            conclude_file(path, messages);
        }
        Ok(())
    }

    /// Prints a note about messages of the recorder that the query skips. A whole recording in
    /// pcapng contains them, so it needs no note.
    fn note_hidden(&self, capture: &Capture, query: &Query) {
        if self.format != ExportFormat::Pcapng || query.expression().is_some() {
            recording::note_hidden(query, capture);
        }
    }

    /// The file to write; `None` for standard output.
    fn target(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| *path != Path::new("-"))
    }

    fn write_error(&self, error: impl Into<ExportError>) -> ExportFailure {
        let file = self.target().map(|path| path.display().to_string());
        let to = file.unwrap_or_else(|| String::from("to standard output"));
        ExportFailure::Write { to, error: error.into() }
    }
}

impl ExportFormat {
    /// Writes the selected messages, and returns their number.
    fn write(
        self,
        capture: &Capture,
        query: &Query,
        out: &mut DocumentOutput,
        work: Option<&WorkProgress>,
    ) -> Result<u64, ExportError> {
        let mut matcher = query.matcher();
        let mut selected = 0;
        let selects = |message: &CapturedMessage<'_>| {
            work.into_iter().for_each(WorkProgress::count);
            let is_selected = matcher.selects(message);
            selected += u64::from(is_selected);
            is_selected
        };
        match self {
            Self::Json => write_json(capture, selects, out)?,
            Self::Csv => write_csv(capture, selects, out)?,
            #[cfg(feature = "sqlite")]
            Self::Sqlite => {
                let path = out.path().map(Path::to_owned);
                let path = path.ok_or(io::Error::from(io::ErrorKind::InvalidInput))?;
                ::export::write_sqlite(capture, selects, &path)?;
            }
            #[cfg(feature = "parquet")]
            Self::Parquet => ::export::write_parquet(capture, selects, out)?,
            Self::ChromeTrace => chrome_trace(capture, selects, out)?,
            Self::Dot => write_dot(capture, selects, out)?,
            Self::Pcapng => return Ok(save_matching(capture, query, FileFormat::Pcapng, out)?),
            Self::Pcap => return Ok(save_matching(capture, query, FileFormat::Pcap, out)?),
        }
        Ok(selected)
    }
}

/// The messages could not be exported.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExportFailure {
    #[error(transparent)]
    Read(#[from] RecordingError),
    #[cfg(feature = "sqlite")]
    #[error("--format sqlite needs -o FILE")]
    NotAFile,
    #[error("cannot write this format to a terminal: write it to a file with -o FILE")]
    Terminal,
    #[error("cannot write {to}: {error}")]
    Write { to: String, error: ExportError },
}

impl ExitError for ExportFailure {
    fn status(&self) -> u8 {
        match self {
            Self::Read(error) => error.status(),
            Self::Write { .. } => 1,
            #[cfg(feature = "sqlite")]
            Self::NotAFile => 2,
            Self::Terminal => 2,
        }
    }

    fn is_quiet(&self) -> bool {
        matches!(self, Self::Write { error: ExportError::Io(error), .. }
            if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

const LONG_HELP: &str = "\
JSON has the keys of `busctl --json=short monitor` and more: number, size, names, process, duration_ns, \
partner, recipients. CSV begins with a line of column names; times are nanoseconds since 1970. In csv, \
parquet and sqlite, the arguments of a message are a JSON list under `body`. docs/export.md describes \
the tables and views of a database and the columns of csv and parquet, with examples.

pcapng and pcap contain the reply of each selected call, and the call of each selected reply. pcapng \
also contains the known facts about the connections, names and services in these messages, and is \
marked as an excerpt. To open a file of the flight recorder in Wireshark:
  diligence export flight.trace --format pcapng -o flight.pcapng

A graph of senders and recipients, without the bus itself:
  diligence export FILE '!is:driver' --format dot | dot -Tsvg > picture.svg

The exit status is 0 if everything was written, 1 if it was not, and 2 if the command line is wrong.";
