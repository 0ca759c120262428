//! `diligence stats`: what a recording shows in numbers.
//!
//! The numbers are those of [`capture::statistics`]. What is here chooses among them, and lays out
//! the first screen.

mod overview;

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use capture::Capture;
use capture::budget::{Budget, BudgetVerdict};
use capture::query::Query;
use capture::statistics::{Sweep, SweepChoice, SweepError, TableSubject, Unknowable};
use capture::table::{DataTable, NoSuchColumn};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};

use super::diff::check_budgets;
use crate::exit::ExitError;
use crate::output::print;
use crate::progress::{ShownWork, WorkTask};
use crate::recording::{self, RecordingError, warn_if_unmatched};
use crate::style;

/// What to tell of which recordings.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct Stats {
    /// Recordings, on one clock, then a query that says which messages count: `member:Get* dur>50ms`
    #[arg(required = true, value_name = "FILE... [QUERY]", value_hint = ValueHint::FilePath)]
    words: Vec<String>,
    /// One table, of these
    #[arg(long, value_parser = subject())]
    by: Option<TableSubject>,
    /// The column to sort by: the largest first, texts by the alphabet
    #[arg(long, value_name = "COLUMN", requires = "by")]
    sort: Option<String>,
    /// How many rows a table has; 0 for all [default: as many as a screen, all for programs]
    #[arg(long, value_name = "COUNT")]
    top: Option<usize>,
    /// Results of `bench ping-pong --save` on this machine: adds how long messages of each size take
    #[arg(long, value_name = "FILE")]
    sweep: Option<PathBuf>,
    /// The bus of these results to go by [default: the first]
    #[arg(long, value_name = "NAME", requires = "sweep")]
    sweep_bus: Option<String>,
    /// The read buffer of these results to go by, as in `bench --read-buffers` [default: ours]
    #[arg(long, value_name = "BYTES", requires = "sweep")]
    sweep_read_buffer: Option<String>,
    /// What the recording must keep: 'p95(org.x.Iface.Get*) < 20ms'; may be given often, see `diff`
    #[arg(long = "assert", value_name = "BUDGET", conflicts_with_all = ["by", "sweep"])]
    budgets: Vec<Budget>,
    #[command(flatten)]
    form: StatsFormat,
}

/// How the numbers are written.
#[derive(Clone, Copy, Debug, Args)]
#[group(multiple = false)]
struct StatsFormat {
    /// Lines for people; so without any of these
    #[arg(long)]
    text: bool,
    /// Comma-separated values, with the unit in the name of each column
    #[arg(long, requires = "by")]
    csv: bool,
    /// JSON, with the unit in each key
    #[arg(long)]
    json: bool,
}

impl Stats {
    /// Prints what there is to tell.
    pub(crate) fn run(&self) -> Result<ExitCode, StatsError> {
        let (text, verdict) = self.tell()?;
        let printed = print(&text);
        Ok(if verdict == BudgetVerdict::Kept { printed } else { ExitCode::FAILURE })
    }

    fn tell(&self) -> Result<(String, BudgetVerdict), StatsError> {
        let (files, query) = recording::files_and_query(&self.words)?;
        let sweep = self.sweep.as_deref().map(|file| self.read_sweep(file)).transpose()?;
        let capture = recording::open(files)?;
        warn_if_unmatched("stats", &capture, &query);
        let _work = ShownWork::start(WorkTask::Other("computing statistics"));
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
        let mut matcher = query.matcher();
        let table = subject.table(capture, |message| matcher.selects(message), sweep);
        let mut table = table.map_err(StatsError::Unknowable)?;
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

/// The names of what there are tables of.
fn subject() -> impl TypedValueParser<Value = TableSubject> {
    let choices = TableSubject::all()
        .map(|subject| PossibleValue::new(subject.as_str()).help(subject.about()));
    PossibleValuesParser::new(choices).try_map(|name| name.parse())
}

/// Why there is no table.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StatsError {
    #[error(transparent)]
    Read(#[from] RecordingError),
    #[error(transparent)]
    Sort(NoSuchColumn),
    #[error("{}: {error}", path.display())]
    Sweep { path: PathBuf, error: SweepError },
    #[error(transparent)]
    Unknowable(Unknowable),
    /// A query selects messages, but the table is about match rules.
    #[error(
        "match rules are of connections, so a query that selects messages says nothing \
         about them: leave out the query, or ask for `show FILE member:AddMatch`"
    )]
    RulesOfMessages,
}

impl ExitError for StatsError {
    fn status(&self) -> u8 {
        match self {
            Self::Read(error) => error.status(),
            Self::Sort(_) | Self::RulesOfMessages => 2,
            Self::Sweep { .. } | Self::Unknowable(_) => 1,
        }
    }
}

/// Rows of one table on a screen.
const ROWS: usize = 30;

const LONG_HELP: &str = "\
Without --by, the first screen: what there is, who talks most, what is used most, and for what \
callers wait longest, all calls together.

Durations are from a call to its return: until the bus had written the return, if the bus itself has \
recorded, otherwise until the monitor saw it. Errors, time-outs and calls without a reply have columns \
of their own and are in no percentile. docs/statistics.md defines outcomes, durations and percentiles.

Several files are read as one recording. A file that is named twice or is a part of another (FILE.1 of \
FILE) is read once, and so is a message that several files have.

Words behind the files are a query; see docs/query.md.

The exit status is 0 when it was told, 1 when it could not be or a budget is not kept, and 2 when the command line is wrong.";
