//! `diligence lint`: finds problems in how programs use D-Bus, in a recording or on a running bus.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use capture::Capture;
use capture::lint::baseline::{BaselineError, Filter};
use capture::lint::report::{Extent, to_json, to_text};
use capture::lint::{Baseline, FindingSeverity, Report, ReportSource, document};
use capture::lint::{LintRule, LintRuleId};
use capture::model::distinct_files;
use capture::text::Style;
use capture::text::units::counted;
use clap::Args;

use crate::choices::{Choice, one_of};
use crate::exit::ExitError;
use crate::live::{LiveError, LiveOptions, LiveReportForm};
use crate::output::{DocumentOutput, print, print_to_stderr};
use crate::progress::{WorkProgress, WorkTask};
use crate::recording::{self, RecordingError};
use crate::style;

/// Arguments of `diligence lint`.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct Lint {
    /// The recordings to check
    #[arg(required_unless_present_any = ["explain", "live"], value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    live: LiveOptions,
    /// Apply only this rule; can be repeated
    #[arg(long = "rule", value_name = "ID")]
    rules: Vec<LintRuleId>,
    /// Show all findings, not only the first ten
    #[arg(long)]
    all: bool,
    /// Print a line of JSON for each recording
    #[arg(long)]
    json: bool,
    /// Omit the findings that this file lists
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write the current findings to the baseline, and succeed
    #[arg(long, requires = "baseline")]
    update_baseline: bool,
    /// Exit with status 1 if there is a finding of this severity, or a worse one
    #[arg(long, value_name = "SEVERITY", value_parser = one_of(&SEVERITIES))]
    fail_on: Option<FindingSeverity>,
    /// Explain a rule, and what to do about its findings
    #[arg(long, value_name = "ID", conflicts_with_all = ["files", "live"])]
    explain: Option<LintRuleId>,
}

const SEVERITIES: [Choice<FindingSeverity>; 3] = [
    ("low", "A small waste", FindingSeverity::Low),
    (
        "med",
        "A program waited for 100 ms or longer, or wastes a noticeable part of a processor",
        FindingSeverity::Med,
    ),
    (
        "high",
        "A program waited for a second or longer, or something was lost",
        FindingSeverity::High,
    ),
];

/// The text to print, and the exit status.
struct LintOutcome {
    text: String,
    remarks: String,
    status: ExitCode,
}

impl LintOutcome {
    fn print(&self) -> ExitCode {
        let printed = print(&self.text);
        print_to_stderr(&self.remarks);
        if self.status == ExitCode::SUCCESS { printed } else { self.status }
    }
}

fn check_recordings(lint: &Lint) -> Result<LintOutcome, LintError> {
    let mut reports = Vec::new();
    for file in distinct_files(&lint.files) {
        let capture = recording::open(&[file])?;
        let _work = WorkProgress::start(WorkTask::Other("checking rules"));
        reports.push(lint.report(ReportSource::Recording(file.display().to_string()), &capture));
    }
    conclude(lint, reports)
}

/// Prints the findings on a bus repeatedly, and at the end determines the exit status.
fn check_bus(lint: &Lint) -> Result<LintOutcome, LintError> {
    // clap cannot report this, because it would then accept the options of --live without it.
    if let Some(file) = lint.files.first() {
        return Err(LintError::FileAndBus { file: file.clone() });
    }
    let baseline = lint.known()?;
    let form = if lint.json { LiveReportForm::Json } else { LiveReportForm::Text };
    let source = || ReportSource::Bus(lint.live.name());
    let kept = lint.live.watch(form, &mut |capture, style| {
        let mut report = lint.report(source(), capture);
        if let Some((_, baseline)) = &baseline {
            report.leave_out(&mut baseline.filter());
        }
        lint.text(&report, style)
    })?;
    let outcome = conclude(lint, vec![lint.report(source(), kept.capture())])?;
    Ok(match kept.is_bus_gone() {
        true => LintOutcome {
            remarks: format!("{}diligence lint: {}\n", outcome.remarks, LiveError::Gone),
            status: ExitCode::FAILURE,
            ..outcome
        },
        false => outcome,
    })
}

/// The final text about all findings, and the exit status.
fn conclude(lint: &Lint, mut reports: Vec<Report>) -> Result<LintOutcome, LintError> {
    if let Some(path) = lint.baseline.as_deref().filter(|_| lint.update_baseline) {
        return update(path, &reports);
    }
    let mut remarks = String::new();
    if let Some((path, baseline)) = lint.known()? {
        let mut filter = baseline.filter();
        reports.iter_mut().for_each(|report| report.leave_out(&mut filter));
        remarks = unused(path, &filter);
    }
    let worst = reports.iter().filter_map(Report::worst).max();
    let has_failed = lint.fail_on.is_some_and(|limit| worst >= Some(limit));
    let status = if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    Ok(LintOutcome { text: render(lint, &reports), remarks, status })
}

impl Lint {
    /// Checks the recordings or the bus, and prints the findings.
    pub(crate) fn run(&self) -> Result<ExitCode, LintError> {
        if let Some(rule) = self.explain.and_then(LintRule::find) {
            return Ok(print(&document::explain(rule)));
        }
        let outcome = if self.live.live { check_bus(self) } else { check_recordings(self) };
        Ok(outcome?.print())
    }

    fn report(&self, source: ReportSource, capture: &Capture) -> Report {
        let is_wanted = |rule: &&LintRule| self.rules.is_empty() || self.rules.contains(&rule.id);
        Report::new(source, capture, LintRule::all().iter().filter(is_wanted))
    }

    /// The baseline whose findings are omitted, and its path.
    fn known(&self) -> Result<Option<(&Path, Baseline)>, LintError> {
        let path = self.baseline.as_deref().filter(|_| !self.update_baseline);
        path.map(|path| Ok((path, read_baseline(path)?))).transpose()
    }

    fn text(&self, report: &Report, style: Style) -> String {
        let extent = if self.all { Extent::All } else { Extent::First };
        match self.json {
            true => to_json(report),
            false => to_text(report, extent, style),
        }
    }
}

fn render(lint: &Lint, reports: &[Report]) -> String {
    let texts: Vec<_> =
        reports.iter().map(|report| lint.text(report, style::of_stdout())).collect();
    texts.join(if lint.json { "" } else { "\n" })
}

fn update(path: &Path, reports: &[Report]) -> Result<LintOutcome, LintError> {
    let findings: Vec<_> = reports.iter().flat_map(|report| &report.findings).collect();
    let count = findings.len();
    write(path, &Baseline::of(findings))
        .map_err(|error| LintError::Write { file: path.to_owned(), error })?;
    let findings = counted(count as u64, "known finding", "known findings");
    let text = format!("wrote {findings} to {}\n", path.display());
    Ok(LintOutcome { text, remarks: String::new(), status: ExitCode::SUCCESS })
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut out = DocumentOutput::create(Some(path))?;
    out.write_all(text.as_bytes())?;
    out.finish()
}

fn read_baseline(path: &Path) -> Result<Baseline, LintError> {
    let text = fs::read_to_string(path)
        .map_err(|error| LintError::Read { file: path.to_owned(), error })?;
    Baseline::parse(&text).map_err(|error| LintError::Baseline { file: path.to_owned(), error })
}

/// A note about lines of the baseline without a finding.
fn unused(path: &Path, filter: &Filter<'_>) -> String {
    let lines = filter.unused().map(|entry| format!("{}: not found: {entry}\n", path.display()));
    lines.collect()
}

/// The check could not be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LintError {
    #[error("--live watches a bus and reads no file: leave out {file} or --live", file = file.display())]
    FileAndBus { file: PathBuf },
    #[error(transparent)]
    Live(#[from] LiveError),
    #[error(transparent)]
    Recording(#[from] RecordingError),
    #[error("cannot read the baseline {}: {error}; --update-baseline creates it", file.display())]
    Read { file: PathBuf, error: io::Error },
    #[error("{}, {error}", file.display())]
    Baseline { file: PathBuf, error: BaselineError },
    #[error("cannot write the baseline {}: {error}", file.display())]
    Write { file: PathBuf, error: io::Error },
}

impl ExitError for LintError {
    fn status(&self) -> u8 {
        match self {
            Self::FileAndBus { .. } => 2,
            Self::Live(error) => error.status(),
            Self::Recording(error) => error.status(),
            Self::Read { .. } | Self::Baseline { .. } | Self::Write { .. } => 1,
        }
    }

    fn is_quiet(&self) -> bool {
        matches!(self, Self::Live(error) if error.is_quiet())
    }
}

const LONG_HELP: &str = "\
Each finding has the program, the cost, the messages that show the problem, the advice, and the command \
that checks whether the change helped. Findings about gaps in the recording come first; the others are \
sorted by severity, and then by cost. docs/lint.md describes severities, rules and the baseline.

With --live, the findings cover the latest messages of a bus and are renewed every second on a \
terminal, where q or Ctrl-C ends it. The last report determines the exit status. Message numbers are \
omitted, because no messages are recorded.

The exit status is 0 if the recordings could be read, 1 if they could not or if a finding reaches the \
severity of --fail-on, and 2 if the command line is wrong.";
