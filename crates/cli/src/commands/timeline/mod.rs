//! `diligence timeline`: where the time went that a recording shows.
//!
//! What is told is found by [`capture::timeline`].

mod screen;

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use capture::Capture;
use capture::query::{Query, QueryError};
use capture::timeline::chrome_trace;
use clap::Args;

use crate::output::{complain, print};
use crate::recording::{self, OpenError};
use crate::style;
use screen::Screen;

/// Of which recordings, and in which form.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct Timeline {
    /// Recordings, which are looked at together, then a query that says which calls count
    #[arg(required = true, value_name = "FILE... [QUERY]")]
    words: Vec<String>,
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

/// Prints where the time went.
pub(crate) fn run(timeline: &Timeline) -> ExitCode {
    match timeline.tell() {
        Ok(text) => print(&text),
        Err(TimelineError::Write { error, .. }) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(error) => {
            complain(&format!("diligence timeline: {error}\n"));
            match error {
                TimelineError::Query(_) => ExitCode::from(2),
                _ => ExitCode::FAILURE,
            }
        }
    }
}

impl Timeline {
    fn tell(&self) -> Result<String, TimelineError> {
        let (files, query) = recording::files_and_query(&self.words);
        let query = Query::parse(&query).map_err(TimelineError::Query)?;
        let capture = recording::open(files).map_err(TimelineError::Open)?;
        if let Some(path) = &self.perfetto {
            let failed = |error| TimelineError::Write { path: path.clone(), error };
            write_trace(&capture, &query, path).map_err(failed)?;
            return Ok(String::new());
        }
        let screen = Screen::of(files, &capture, &query, self.rows());
        Ok(match self.json {
            true => recording::json(&screen),
            false => screen.text(style::of_stdout()),
        })
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

fn write_trace(capture: &Capture, query: &Query, path: &Path) -> io::Result<()> {
    let mut matcher = query.matcher();
    let out: Box<dyn Write> = match path.to_str() {
        Some("-") => Box::new(io::stdout().lock()),
        _ => Box::new(File::create(path)?),
    };
    chrome_trace(capture, |message| matcher.selects(message), BufWriter::new(out))
}

/// Why nothing is told.
#[derive(Debug)]
enum TimelineError {
    Open(OpenError),
    Query(QueryError),
    Write { path: PathBuf, error: io::Error },
}

impl fmt::Display for TimelineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(error) => write!(f, "cannot read {error}"),
            Self::Query(error) => write!(f, "the query: {error}"),
            Self::Write { path, error } => write!(f, "cannot write {}: {error}", path.display()),
        }
    }
}

impl std::error::Error for TimelineError {}

/// Rows of one part of a screen.
const ROWS: usize = 7;

const LONG_HELP: &str = "\
The first screen tells who was blocked on whom, which calls took longest, and how services came up \
while the recording was made: the longest steps of what each waited for until it owned its name, or \
until its first reply if a call waited for it already.

A caller counts as blocked by a call if it had no other call pending and sent nothing until the \
answer came, as programs do that call synchronously; one that had nothing else to do looks the same.

If the bus itself has recorded, there is also what part of the time of calls the bus was, and what \
the services. Of a monitor's recording that cannot be known: its times are those at which it has \
read its copies.

The exit status is 0 when it was told, 1 when it could not be, and 2 when the command line is wrong.";
