//! `diligence stats`: the statistics of a recording.
//!
//! [`capture::statistics`] computes the figures. This module selects the tables, and lays out the
//! overview.

mod overview;

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use capture::Capture;
use capture::budget::{Budget, BudgetVerdict};
use capture::query::Query;
use capture::statistics::{Sweep, SweepChoice, SweepError, TableSubject, UnknownReason};
use capture::table::{DataTable, NoSuchColumn};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};

use super::diff::check_budgets;
use crate::exit::ExitError;
use crate::output::print;
use crate::progress::{WorkProgress, WorkTask};
use crate::recording::{self, RecordingError, warn_if_unmatched};
use crate::style;

/// Arguments of `diligence stats`.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct Stats {
    /// Recordings on one time axis, then a query that selects messages: `member:Get* dur>50ms`
    #[arg(required = true, value_name = "FILE... [QUERY]", value_hint = ValueHint::FilePath)]
    words: Vec<String>,
    /// Print one table, about this subject
    #[arg(long, value_parser = subject())]
    by: Option<TableSubject>,
    /// The column to sort by: the largest numbers first, texts in alphabetical order
    #[arg(long, value_name = "COLUMN", requires = "by")]
    sort: Option<String>,
    /// The number of rows of a table; 0 for all [default: one screen; all for programs]
    #[arg(long, value_name = "COUNT")]
    top: Option<usize>,
    /// Add the latency that `bench ping-pong --save FILE` measured on this machine for each message size
    #[arg(long, value_name = "FILE")]
    sweep: Option<PathBuf>,
    /// The bus to use from these results [default: the first]
    #[arg(long, value_name = "NAME", requires = "sweep")]
    sweep_bus: Option<String>,
    /// The read buffer to use from these results, as in `bench --read-buffers` [default:
    /// Diligence's]
    #[arg(long, value_name = "BYTES", requires = "sweep")]
    sweep_read_buffer: Option<String>,
    /// A limit for the recording: 'p95(org.x.Iface.Get*) < 20ms'; can be repeated, see `diff`
    #[arg(long = "assert", value_name = "BUDGET", conflicts_with_all = ["by", "sweep"])]
    budgets: Vec<Budget>,
    #[command(flatten)]
    form: StatsFormat,
}

/// Options for the output format of the statistics.
#[derive(Clone, Copy, Debug, Args)]
#[group(multiple = false)]
struct StatsFormat {
    /// Print text for people (default)
    #[arg(long)]
    text: bool,
    /// Print comma-separated values, with the unit in the name of each column
    #[arg(long, requires = "by")]
    csv: bool,
    /// Print JSON, with the unit in each key
    #[arg(long)]
    json: bool,
}

impl Stats {
    /// Prints the statistics. The exit status shows whether all budgets are kept.
    pub(crate) fn run(&self) -> Result<ExitCode, StatsError> {
        let (text, verdict) = self.report()?;
        let printed = print(&text);
        Ok(if verdict == BudgetVerdict::Kept { printed } else { ExitCode::FAILURE })
    }

    fn report(&self) -> Result<(String, BudgetVerdict), StatsError> {
        let (files, query) = recording::files_and_query(&self.words)?;
        let sweep = self.sweep.as_deref().map(|file| self.read_sweep(file)).transpose()?;
        let capture = recording::open(files)?;
        warn_if_unmatched("stats", &capture, &query);
        let _work = WorkProgress::start(WorkTask::Other("computing statistics"));
        if !self.budgets.is_empty() {
            let (table, verdict) = check_budgets(&capture, &query, &self.budgets);
            return Ok((self.form.write(&table), verdict));
        }
        let text = self.numbers(&capture, &query, sweep.as_ref())?;
        Ok((text, BudgetVerdict::Kept))
    }

    fn numbers(
        &self,
        capture: &Capture,
        query: &Query,
        sweep: Option<&Sweep>,
    ) -> Result<String, StatsError> {
        let Some(subject) = self.by.or(sweep.map(|_| TableSubject::Size)) else {
            let overview = overview::Overview::of(capture, query);
            return Ok(match self.form.json {
                true => overview.json(),
                false => overview.text(style::of_stdout(), self.top),
            });
        };
        if subject == TableSubject::Rules && query.expression().is_some() {
            return Err(StatsError::RulesOfMessages);
        }
        recording::note_hidden(query, capture);
        let matches = query.matches(capture);
        let table = subject.table(capture, |message| matches.has(message), sweep);
        let mut table = table.map_err(StatsError::UnknownReason)?;
        table.notes().iter().for_each(|text| recording::note(text));
        if let Some(column) = &self.sort {
            table.sort(column).map_err(StatsError::Sort)?;
        }
        let usual = if self.form.json || self.form.csv { 0 } else { ROWS };
        match self.top.unwrap_or(usual) {
            0 => {}
            rows => table.truncate(rows),
        }
        Ok(self.form.write(&table))
    }

    fn read_sweep(&self, path: &Path) -> Result<Sweep, StatsError> {
        let failed = |error| StatsError::Sweep { path: path.to_owned(), error };
        let file = File::open(path).map_err(|error| failed(SweepError::Io(error)))?;
        let choice = SweepChoice {
            subject: self.sweep_bus.as_deref(),
            read_buffer: self.sweep_read_buffer.as_deref(),
        };
        Sweep::read(BufReader::new(file), choice).map_err(failed)
    }
}

impl StatsFormat {
    fn write(self, table: &DataTable) -> String {
        match self {
            Self { csv: true, .. } => table.to_csv(),
            Self { json: true, .. } => recording::json(table),
            Self { .. } => overview::with_omitted(table, style::of_stdout()),
        }
    }
}

/// The parser for the value of `--by`.
fn subject() -> impl TypedValueParser<Value = TableSubject> {
    let choices = TableSubject::all()
        .map(|subject| PossibleValue::new(subject.as_str()).help(subject.about()));
    PossibleValuesParser::new(choices).try_map(|name| name.parse())
}

/// The statistics could not be computed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StatsError {
    #[error(transparent)]
    Read(#[from] RecordingError),
    #[error(transparent)]
    Sort(NoSuchColumn),
    #[error("{}: {error}", path.display())]
    Sweep { path: PathBuf, error: SweepError },
    #[error(transparent)]
    UnknownReason(UnknownReason),
    /// A query selects messages, but the table is about match rules.
    #[error(
        "match rules belong to connections, so a query that selects messages does not apply to \
         them: leave out the query, or use `show FILE member:AddMatch`"
    )]
    RulesOfMessages,
}

impl ExitError for StatsError {
    fn status(&self) -> u8 {
        match self {
            Self::Read(error) => error.status(),
            Self::Sort(_) | Self::RulesOfMessages => 2,
            Self::Sweep { .. } | Self::UnknownReason(_) => 1,
        }
    }
}

/// The number of rows of a table on a terminal.
const ROWS: usize = 30;

const LONG_HELP: &str = "\
Without --by, it prints an overview: the contents of the recording, the busiest connections, the most \
used members, and the calls with the longest total wait.

A duration is the time from a call to its return: until the bus had written the return if the bus \
itself recorded, otherwise until the monitor received it. Errors, calls that timed out and calls without a reply \
have separate columns and are not part of percentiles. docs/statistics.md defines outcomes, durations \
and percentiles.

Several files are merged into one recording. A file that is named twice, or is part of another one (FILE.1 \
of FILE), is read once, and a message that several files contain counts once.

The words after the files are a query; see docs/query.md.

The exit status is 0 if the statistics were printed, 1 if they were not or a budget is exceeded, and 2 \
if the command line is wrong.";
