//! `diligence diff`: the differences between two recordings.
//!
//! [`capture::compare`] finds the differences, and [`capture::budget`] checks the limits.

use std::process::ExitCode;

use capture::Capture;
use capture::budget::{self, Budget, BudgetOutcome, BudgetVerdict};
use capture::compare::{self, Difference};
use capture::query::Query;
use capture::table::DataTable;
use capture::text::Style;
use capture::text::nearest::suggestion;
use clap::{Args, ValueHint};
use serde::Serialize;

use crate::exit::ExitError;
use crate::output::print;
use crate::recording::{self, RecordingError};
use crate::style;

/// Arguments of `diligence diff`.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct Diff {
    /// The recording from before the change
    #[arg(value_hint = ValueHint::FilePath)]
    before: String,
    /// The recording from after the change
    #[arg(value_hint = ValueHint::FilePath)]
    after: String,
    /// A query that selects messages: `member:Get* dur>50ms` [default: all]
    query: Vec<String>,
    /// A limit for the second recording: 'p95(org.x.Iface.Get*) < 20ms'; can be repeated
    #[arg(long = "assert", value_name = "BUDGET")]
    budgets: Vec<Budget>,
    /// Print JSON, with the unit in each key
    #[arg(long)]
    json: bool,
}

/// Checks the budgets for the selected messages of a recording. Returns a table of the results, and
/// `Kept` if all budgets are kept.
pub(super) fn check_budgets(
    capture: &Capture,
    query: &Query,
    budgets: &[Budget],
) -> (DataTable, BudgetVerdict) {
    let outcomes: Vec<_> = budgets.iter().map(|budget| budget.check(capture, query)).collect();
    for (budget, outcome) in budgets.iter().zip(&outcomes) {
        if outcome.verdict != BudgetVerdict::Kept
            && let names @ [_, ..] = &*budget.similar_members(capture)
        {
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            recording::note(&format!("no such call: {}{}", outcome.text, suggestion(&names)));
        }
    }
    (budget::table(&outcomes), verdict(&outcomes))
}

fn verdict(outcomes: &[BudgetOutcome]) -> BudgetVerdict {
    let failed = outcomes.iter().find(|outcome| outcome.verdict != BudgetVerdict::Kept);
    failed.map_or(BudgetVerdict::Kept, |outcome| outcome.verdict)
}

impl Diff {
    /// Prints the differences and returns the exit status.
    pub(crate) fn run(&self) -> Result<ExitCode, DiffError> {
        let found = self.compare()?;
        Ok(match print(&found.output(self)) {
            ExitCode::SUCCESS if found.is_same() => ExitCode::SUCCESS,
            _ => ExitCode::FAILURE,
        })
    }

    fn compare(&self) -> Result<DiffResult, RecordingError> {
        let query = recording::query(&self.query)?;
        let before = recording::open(&[&self.before])?;
        let after = recording::open(&[&self.after])?;
        let is_unknown = |capture: &&&Capture| query.unknown_recipients(capture).is_some();
        if let Some(capture) = [&before, &after].iter().find(is_unknown) {
            recording::note_unknown_recipients(&query, capture);
        }
        let members = |capture| {
            let mut matcher = query.matcher();
            compare::members(capture, |message| matcher.selects(message))
        };
        let differences = compare::differences(&members(&before), &members(&after));
        let methods = |capture: &Capture| -> Vec<_> {
            capture.buses().iter().map(|bus| bus.method).collect()
        };
        if let Some(note) = compare::unlike_durations(methods(&before), methods(&after)) {
            recording::note(&note);
        }
        let (budgets, verdict) = check_budgets(&after, &query, &self.budgets);
        Ok(DiffResult { differences, budgets, verdict })
    }
}

struct DiffResult {
    differences: Vec<Difference>,
    budgets: DataTable,
    verdict: BudgetVerdict,
}

/// The JSON form of the differences.
#[derive(Serialize)]
struct DiffJson<'f> {
    differences: &'f DataTable,
    budgets: &'f DataTable,
}

impl DiffResult {
    fn is_same(&self) -> bool {
        self.differences.is_empty() && self.verdict == BudgetVerdict::Kept
    }

    fn output(&self, diff: &Diff) -> String {
        let differences = compare::table(&self.differences);
        match diff.json {
            true => {
                recording::json(&DiffJson { differences: &differences, budgets: &self.budgets })
            }
            false => self.text(&differences, style::of_stdout()),
        }
    }

    fn text(&self, differences: &DataTable, style: Style) -> String {
        let mut text = match self.differences.is_empty() {
            true => String::from("no difference beyond noise\n"),
            false => differences.to_text(style),
        };
        if !self.budgets.rows().is_empty() {
            text += &format!("\n{}", self.budgets.to_text(style));
        }
        text
    }
}

/// The recordings could not be compared.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct DiffError(#[from] RecordingError);

impl ExitError for DiffError {
    /// The status of errors, like diff(1), where 1 means that there is a difference.
    fn status(&self) -> u8 {
        2
    }
}

const LONG_HELP: &str = "\
A member is identified by its service, interface and name. A service without a well-known name is \
identified by its program, and the number of a process in a name is replaced: org.gtk.vfs.mountpoint_*. \
Members that only one recording contains are new or gone. Other members are reported only if the change \
is statistically significant and at least 10 %: in how often a member is used, how often it fails, or \
the 95th percentile of its calls. With 7 to 19 calls, nearly all of them must be slower or faster.

A budget is MEASURE(SUBJECT) RELATION LIMIT. Measures are calls, signals, messages, errors, time-outs, \
unanswered, bytes, p50, p90, p95, p99, max, mean and total. The subject is an interface with a member, \
in which * matches any text, or a query.

The exit status is 0 if there is no difference and all budgets are met, 1 if there is a difference or \
a budget is exceeded, and 2 if the recordings could not be compared.";
