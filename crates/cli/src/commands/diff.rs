//! `diligence diff`: what is different between two recordings.
//!
//! What differs is found by [`capture::compare`], what must hold is checked by [`capture::budget`].

use std::process::ExitCode;

use capture::Capture;
use capture::budget::{self, Budget, BudgetOutcome, BudgetVerdict};
use capture::compare::{self, Difference};
use capture::query::Query;
use capture::table::DataTable;
use capture::text::Style;
use clap::{Args, ValueHint};
use serde::Serialize;

use crate::exit::ExitError;
use crate::output::print;
use crate::recording::{self, RecordingError};
use crate::style;

/// Which recordings to compare.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct Diff {
    /// The recording that was made before
    #[arg(value_hint = ValueHint::FilePath)]
    before: String,
    /// The recording that was made after
    #[arg(value_hint = ValueHint::FilePath)]
    after: String,
    /// Which messages count: `member:Get* dur>50ms` [default: all]
    query: Vec<String>,
    /// What the second recording must keep: 'p95(org.x.Iface.Get*) < 20ms'; may be given often
    #[arg(long = "assert", value_name = "BUDGET")]
    budgets: Vec<Budget>,
    /// JSON, with the unit in each key
    #[arg(long)]
    json: bool,
}

/// Whether what a query selects of a recording keeps its budgets: each of them, and all together.
pub(super) fn check_budgets(
    capture: &Capture,
    query: &Query,
    budgets: &[Budget],
) -> (DataTable, BudgetVerdict) {
    let outcomes: Vec<_> = budgets.iter().map(|budget| budget.check(capture, query)).collect();
    (budget::table(&outcomes), verdict(&outcomes))
}

fn verdict(outcomes: &[BudgetOutcome]) -> BudgetVerdict {
    let failed = outcomes.iter().find(|outcome| outcome.verdict != BudgetVerdict::Kept);
    failed.map_or(BudgetVerdict::Kept, |outcome| outcome.verdict)
}

impl Diff {
    /// Prints what differs.
    pub(crate) fn run(&self) -> Result<ExitCode, DiffError> {
        let found = self.compare()?;
        Ok(match print(&found.written(self)) {
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

/// What programs read.
#[derive(Serialize)]
struct DiffJson<'f> {
    differences: &'f DataTable,
    budgets: &'f DataTable,
}

impl DiffResult {
    fn is_same(&self) -> bool {
        self.differences.is_empty() && self.verdict == BudgetVerdict::Kept
    }

    fn written(&self, diff: &Diff) -> String {
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

/// Why recordings were not compared.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct DiffError(#[from] RecordingError);

impl ExitError for DiffError {
    /// As of diff(1), where 1 means that there is a difference.
    fn status(&self) -> u8 {
        2
    }
}

const LONG_HELP: &str = "\
A member is what has the same service, interface and name in both recordings; services that have no \
well-known name go by their program, and the number of a process in a name is left out: \
org.gtk.vfs.mountpoint_*. Members of one recording alone are new or gone. Other members are \
reported only if the change is statistically significant and at least 10 %: how often a member is \
used, how often it fails, and the 95th percentile of its calls. Of 7 to 19 calls, nearly all must be \
slower or faster.

A budget is MEASURE(WHAT) RELATION LIMIT. Measures are calls, signals, messages, errors, time-outs, \
unanswered, bytes, p50, p90, p95, p99, max, mean and total. What is measured is an interface with a \
member, in which * stands for anything, or a query.

The exit status is 0 when there is no difference and all budgets are kept, 1 when there is one or one \
is not kept, and 2 when the recordings could not be compared.";
