//! `diligence timeline`: where the time went that a recording shows.
//!
//! What is told is found by [`capture::timeline`].

mod screen;

use std::io;
use std::path::{Path, PathBuf};

use capture::Capture;
use capture::model::CapturedMessage;
use capture::query::Query;
use capture::text::Style;
use capture::timeline::chrome_trace;
use clap::{Args, ValueHint};

use crate::exit::ExitError;
use crate::live::{LiveError, LiveOptions, LiveReportForm};
use crate::output::{DocumentOutput, print};
use crate::progress::{ShownWork, WorkTask, conclude_file};
use crate::recording::{self, RecordingError, warn_if_unmatched};
use crate::style;
use screen::{TimelineScreen, TimelineSource};

/// Of which recordings, or which bus, and in which form.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct TimelineArgs {
    /// Recordings, which are looked at together, then a query that says which calls count; with
    /// --live only the query
    #[arg(required_unless_present = "live", value_name = "FILE... [QUERY]",
          value_hint = ValueHint::FilePath)]
    words: Vec<String>,
    #[command(flatten)]
    live: LiveOptions,
    /// How many rows each part has; 0 for all [default: as many as a screen]
    #[arg(long, value_name = "COUNT")]
    top: Option<usize>,
    /// Write a trace that ui.perfetto.dev opens to this file instead; `-` is the standard output
    #[arg(long, value_name = "OUT", conflicts_with_all = ["json", "top"])]
    perfetto: Option<PathBuf>,
    /// JSON, with the unit in each key
    #[arg(long)]
    json: bool,
}

impl TimelineArgs {
    /// Prints where the time went.
    pub(crate) fn run(&self) -> Result<String, TimelineError> {
        if self.live.live { self.watch() } else { self.tell() }
    }

    fn tell(&self) -> Result<String, TimelineError> {
        let (files, query) = recording::files_and_query(&self.words)?;
        let capture = recording::open(files)?;
        warn_if_unmatched("timeline", &capture, &query);
        recording::note_hidden(&query, &capture);
        let _work = ShownWork::start(WorkTask::Other("finding where the time went"));
        let files = capture.files_read().map(|path| path.display().to_string()).collect();
        let source = TimelineSource::Recordings { files, heading: recording::heading(&capture) };
        self.conclude(source, &capture, &query)
    }

    /// Tells of a bus, again and again. A bus that goes away has been told of when that is said.
    fn watch(&self) -> Result<String, TimelineError> {
        if let Some(file) = self.words.iter().find(|word| Path::new(word).is_file()) {
            return Err(TimelineError::LiveWithFile { file: file.clone() });
        }
        let query = recording::query(&self.words)?;
        let form = if self.json { LiveReportForm::Json } else { LiveReportForm::Text };
        let source = || TimelineSource::Bus { bus: self.live.name() };
        let mut tell = |capture: &Capture, style| {
            self.form(&TimelineScreen::of(source(), capture, &query, self.rows()), style)
        };
        let kept = self.live.watch(form, &mut tell)?;
        recording::note_unknown_recipients(&query, kept.capture());
        let told = self.conclude(source(), kept.capture(), &query)?;
        let text = match form {
            LiveReportForm::Text if !told.is_empty() => format!("{}\n\n{told}", kept.summary()),
            LiveReportForm::Text | LiveReportForm::Json => told,
        };
        match kept.is_bus_gone() {
            true => {
                print(&text);
                Err(LiveError::Gone.into())
            }
            false => Ok(text),
        }
    }

    fn conclude(
        &self,
        source: TimelineSource,
        capture: &Capture,
        query: &Query,
    ) -> Result<String, TimelineError> {
        if let Some(path) = &self.perfetto {
            let failed = |error| TimelineError::Write { path: path.clone(), error };
            let messages = write_trace(capture, query, path).map_err(failed)?;
            conclude_file(path, messages);
            return Ok(String::new());
        }
        Ok(self.form(&TimelineScreen::of(source, capture, query, self.rows()), style::of_stdout()))
    }

    fn form(&self, screen: &TimelineScreen, style: Style) -> String {
        match self.json {
            true => recording::json(screen),
            false => screen.text(style),
        }
    }

    fn rows(&self) -> usize {
        match self.top {
            Some(0) => usize::MAX,
            Some(rows) => rows,
            None if self.json => usize::MAX,
            None => ROWS,
        }
    }
}

/// Returns how many messages are in the trace.
fn write_trace(capture: &Capture, query: &Query, path: &Path) -> io::Result<u64> {
    let mut matcher = query.matcher();
    DocumentOutput::check_inputs(Some(path), capture)?;
    let mut out = DocumentOutput::create(Some(path))?;
    let mut written = 0;
    let selects = |message: &CapturedMessage<'_>| {
        let is_selected = matcher.selects(message);
        written += u64::from(is_selected);
        is_selected
    };
    chrome_trace(capture, selects, &mut out)?;
    out.finish()?;
    Ok(written)
}

/// Why there is no timeline.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TimelineError {
    #[error(transparent)]
    Live(#[from] LiveError),
    #[error(transparent)]
    Read(#[from] RecordingError),
    #[error("cannot write {}: {error}", path.display())]
    Write { path: PathBuf, error: io::Error },
    #[error("--live watches a bus and reads no file: leave out {file} or --live")]
    LiveWithFile { file: String },
}

impl ExitError for TimelineError {
    fn status(&self) -> u8 {
        match self {
            Self::Live(error) => error.status(),
            Self::Read(error) => error.status(),
            Self::Write { .. } => 1,
            Self::LiveWithFile { .. } => 2,
        }
    }

    fn is_quiet(&self) -> bool {
        match self {
            Self::Live(error) => error.is_quiet(),
            Self::Write { error, .. } => error.kind() == io::ErrorKind::BrokenPipe,
            Self::Read(_) | Self::LiveWithFile { .. } => false,
        }
    }
}

/// Rows of one part of a screen.
const ROWS: usize = 7;

const LONG_HELP: &str = "\
The first screen tells who was blocked on whom, which calls took longest, and how services came up \
while the recording was made: the longest steps of what each waited for until it owned its name, or \
until its first reply if a call waited for it already. Services that did not start are listed with the reason, and \
with the service to blame if one failed because it needs another one.

A caller counts as blocked by a call if it had no other call pending and sent nothing until the \
answer came, as programs do that call synchronously; one that had nothing else to do looks the same.

If the bus itself has recorded, there is also what part of the time of calls the bus was, and what \
the services. For signals, calls and replies there is where the bus spends its time: receiving, waiting \
while it routes other messages of the same read, dispatch, the search of match rules, sending. Of a monitor's recording that cannot be known: its times are those at which it has \
read its copies.

With --live the same is told of the last messages of a bus, every second on a terminal, where q or \
Ctrl-C ends it; the numbers of messages are left out, since nothing is recorded.

The exit status is 0 when it was told, 1 when it could not be, and 2 when the command line is wrong.";
