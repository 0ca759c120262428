//! `diligence timeline`: where the time in a recording went.
//!
//! [`capture::timeline`] computes the results.

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
use crate::progress::{WorkProgress, WorkTask, conclude_file};
use crate::recording::{self, RecordingError, warn_if_unmatched};
use crate::style;
use screen::{TimelineScreen, TimelineSource};

/// Arguments of `diligence timeline`.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct TimelineArgs {
    /// Recordings, which are shown together, then a query that selects calls; with --live only the
    /// query
    #[arg(required_unless_present = "live", value_name = "FILE... [QUERY]",
          value_hint = ValueHint::FilePath)]
    words: Vec<String>,
    #[command(flatten)]
    live: LiveOptions,
    /// The number of rows of each part; 0 for all [default: one screen]
    #[arg(long, value_name = "COUNT")]
    top: Option<usize>,
    /// Write a trace for ui.perfetto.dev to this file instead; `-` is standard output
    #[arg(long, value_name = "OUT", conflicts_with_all = ["json", "top"])]
    perfetto: Option<PathBuf>,
    /// Print JSON, with the unit in each key
    #[arg(long)]
    json: bool,
}

impl TimelineArgs {
    /// Creates the report, or writes the trace and returns an empty text.
    pub(crate) fn run(&self) -> Result<String, TimelineError> {
        if self.live.live { self.report_bus() } else { self.report_recordings() }
    }

    fn report_recordings(&self) -> Result<String, TimelineError> {
        let (files, query) = recording::files_and_query(&self.words)?;
        let capture = recording::open(files)?;
        warn_if_unmatched("timeline", &capture, &query);
        recording::note_hidden(&query, &capture);
        let _work = WorkProgress::start(WorkTask::Other("finding where the time went"));
        let files = capture.files_read().map(|path| path.display().to_string()).collect();
        let source = TimelineSource::Recordings { files, heading: recording::heading(&capture) };
        self.conclude(source, &capture, &query)
    }

    /// Watches a bus, shows reports, and returns the last one.
    fn report_bus(&self) -> Result<String, TimelineError> {
        if let Some(file) = self.words.iter().find(|word| Path::new(word).is_file()) {
            return Err(TimelineError::LiveWithFile { file: file.clone() });
        }
        let query = recording::query(&self.words)?;
        let form = if self.json { LiveReportForm::Json } else { LiveReportForm::Text };
        let source = || TimelineSource::Bus { bus: self.live.name() };
        let mut report = |capture: &Capture, style| {
            self.form(&TimelineScreen::of(source(), capture, &query, self.rows()), style)
        };
        let kept = self.live.watch(form, &mut report)?;
        recording::note_unknown_recipients(&query, kept.capture());
        let report = self.conclude(source(), kept.capture(), &query)?;
        let text = match form {
            LiveReportForm::Text if !report.is_empty() => format!(
                "{}

{report}",
                kept.summary()
            ),
            LiveReportForm::Text | LiveReportForm::Json => report,
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

/// Writes a trace of the selected messages, and returns their number.
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

/// The timeline could not be computed or written.
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

/// The number of rows of each part on a terminal.
const ROWS: usize = 7;

const LONG_HELP: &str = "\
The report shows blocked callers and the services that they waited for, the slowest calls, and how \
services started during the recording: the longest steps of each start, until the service owned its \
name, or until its first reply if a call was waiting for it. Services that did not start are listed with \
the reason, and with the responsible service if one failed because it needs another one.

A caller counts as blocked by a call if it had no other call pending and sent no message until the \
reply arrived, like programs that make synchronous calls; an idle caller looks the same.

If the bus itself recorded, the report also divides the time of calls between the bus and the services. \
For signals, calls and replies it shows where the bus spends its time: receiving, waiting while it routes \
other messages of the same read, dispatch, the search of match rules, sending. The recording of a \
monitor does not contain this: its times are those at which the monitor read its copies.

With --live, the report covers the latest messages of a bus and is renewed every second on a terminal, \
where q or Ctrl-C ends it. Message numbers are omitted, because no messages are recorded.

The exit status is 0 if the report was printed, 1 if it was not, and 2 if the command line is wrong.";
