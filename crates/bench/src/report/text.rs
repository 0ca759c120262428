//! Tables for a terminal. The table of a scenario grows by a few lines whenever a case is done, so
//! the width of its columns depends on the subjects and the metrics alone.
//!
//! ```text
//! ping-pong: Sequential calls
//!                               floor  diligence  dbus-daemon  dbus-broker      busd  to best
//! 8 B
//!   round trip, µs ↓             22.4      *26.1         38.5         32.3      33.3±    0.81
//!   transfer rate, MiB/s ↑      0.681     *0.585        0.396        0.472    0.413±     1.24
//! ```

use std::env;
use std::fmt::Write as _;
use std::io::IsTerminal as _;

use super::model::{CellTone, ReportCell, Spread};
use crate::conclusions::conclusions;
use crate::number;
use crate::result::Metric;
use crate::scenario_info::{ScenarioHeading, ScenarioInfo};
use crate::summary::{CaseComparison, LOOSE_SPREAD, MetricRow, OURS, RunSummary, WILD_SPREAD};
use crate::wording::{self, RATIO_TITLE};

/// The table of a scenario.
#[derive(Debug)]
pub(crate) struct ScenarioTable {
    title: String,
    metrics: Vec<Metric>,
    label_width: usize,
    /// The subjects with the widths of their columns.
    columns: Vec<(String, usize)>,
    style: TableStyle,
    /// The distinct reasons of failures, in the order of their numbers.
    notes: Vec<String>,
}

/// Whether a table may use terminal control sequences.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableStyle {
    /// Plain text, in which a star marks the best figure.
    Plain,
    /// Control sequences, in which bold marks the best figure.
    Terminal,
}

impl TableStyle {
    /// Returns the style for standard output: plain text if it is not a terminal, or if the
    /// environment variable `NO_COLOR` is not empty.
    #[must_use]
    pub fn of_stdout() -> Self {
        let is_unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if std::io::stdout().is_terminal() && !is_unwanted { Self::Terminal } else { Self::Plain }
    }
}

impl ScenarioTable {
    /// Creates an empty table with a column for each subject.
    pub(crate) fn new(
        heading: &ScenarioHeading<'_>,
        subjects: &[String],
        style: TableStyle,
    ) -> Self {
        let title = match heading.title {
            title if title == heading.name => title.to_owned(),
            title => format!("{}: {title}", heading.name),
        };
        let metrics = heading.metrics.clone();
        let label_width = label_width(&metrics);
        let width = |name: &str| length(name).clamp(COLUMN_WIDTH_MIN, COLUMN_WIDTH_MAX);
        let columns = subjects.iter().map(|subject| (subject.clone(), width(subject))).collect();
        Self { title, metrics, label_width, columns, style, notes: Vec::new() }
    }

    /// Formats the lines above the first row.
    pub(crate) fn heading(&self) -> String {
        let unit = match self.metrics[..] {
            [only] => format!(" ({}, {})", wording::metric(only), wording::direction(only)),
            _ => String::new(),
        };
        let mut text = format!("{}{unit}\n{:2$}", self.emphasis(&self.title), "", self.label_width);
        for (subject, width) in &self.columns {
            let _ = write!(text, " {:>width$} ", shortened(subject, *width));
        }
        let _ = writeln!(text, " {RATIO_TITLE:>RATIO_WIDTH$}");
        text
    }

    pub(crate) fn case(&mut self, comparison: &CaseComparison) -> String {
        let label = &comparison.case.label;
        let mut rows: Vec<_> = comparison.rows(&self.metrics).collect();
        if rows.is_empty() {
            // A case in which all subjects failed also needs a row.
            rows.extend(self.metrics.first().map(|&metric| MetricRow { comparison, metric }));
        }
        if let [row] = rows[..] {
            let label = match self.metrics[..] {
                [_] => label.clone(),
                _ => format!("{label}, {}", wording::unit(row.metric)),
            };
            if length(&label) <= self.label_width {
                return self.row(&label, &row);
            }
        }
        let mut text = format!("{label}\n");
        for row in rows {
            let name = format!("  {} {}", wording::metric(row.metric), wording::arrow(row.metric));
            text.push_str(&self.row(&name, &row));
        }
        text
    }

    /// Formats the lines below the last row, which give the reasons of failures; empty if nothing
    /// failed.
    pub(crate) fn footnotes(&self) -> String {
        let notes = self.notes.iter().enumerate();
        notes.map(|(index, reason)| format!("{} {reason}\n", superscript(index + 1))).collect()
    }

    fn row(&mut self, label: &str, row: &MetricRow<'_>) -> String {
        let mut text = format!("{label:0$}", self.label_width);
        for index in 0..self.columns.len() {
            text.push(' ');
            text.push_str(&self.cell(index, row));
        }
        let _ = writeln!(text, " {:>RATIO_WIDTH$}", ReportCell::of_ratio(row).text);
        text
    }

    /// Formats a cell. The sign of an unsteady figure is to the right of the column, so that the
    /// digits align.
    fn cell(&mut self, column: usize, row: &MetricRow<'_>) -> String {
        let (subject, width) = self.columns[column].clone();
        let outcome = row.comparison.find(&subject);
        let ReportCell { mut text, tone, .. } =
            ReportCell::of_figure(row, &subject, Spread::Hidden);
        if let Some(reason) = outcome.and_then(|outcome| outcome.failures.first()) {
            text.push_str(&superscript(self.note(reason)));
        }
        let sign = row.figure(&subject).map_or("", |figure| figure.steadiness().sign());
        match (tone == CellTone::Best, self.style) {
            (false, _) => format!("{text:>width$}{sign:1}"),
            (true, TableStyle::Plain) => format!("{:>width$}{sign:1}", format!("*{text}")),
            (true, TableStyle::Terminal) => {
                let padding = width.saturating_sub(length(&text));
                format!("{:padding$}{}{sign:1}", "", self.emphasis(&text))
            }
        }
    }

    /// Returns the number of the footnote with this reason.
    fn note(&mut self, reason: &str) -> usize {
        let known = self.notes.iter().position(|note| note == reason);
        let index = known.unwrap_or_else(|| {
            self.notes.push(reason.to_owned());
            self.notes.len() - 1
        });
        index + 1
    }

    fn emphasis(&self, text: &str) -> String {
        match self.style {
            TableStyle::Plain => text.to_owned(),
            TableStyle::Terminal => format!("{BOLD}{text}{NORMAL}"),
        }
    }
}

/// Formats the tables of all scenarios of a run, followed by the [`legend`].
pub(super) fn all(summary: &RunSummary, infos: &[ScenarioInfo], style: TableStyle) -> String {
    let mut text = String::new();
    for scenario in &summary.scenarios {
        let heading = ScenarioHeading::of(scenario, infos);
        let mut table = ScenarioTable::new(&heading, &scenario.subjects, style);
        text.push_str(&table.heading());
        for comparison in &scenario.comparisons {
            text.push_str(&table.case(comparison));
        }
        text.push_str(&table.footnotes());
        text.push_str(&wording::list(&conclusions(&heading, scenario), WIDTH));
        text.push('\n');
    }
    text + &legend(style)
}

/// Explains the signs in tables.
pub(crate) fn legend(style: TableStyle) -> String {
    let best = match style {
        TableStyle::Plain => "* the best bus",
        TableStyle::Terminal => "bold: the best bus",
    };
    format!(
        "Medians of all rounds; the round trip of one round is the median of its calls.\n\
         ↓ lower is better, ↑ higher is better; {best}.\n\
         ±, ~ the rounds differ by more than {}, {}. {RATIO_TITLE}: {OURS} / the best other bus.\n",
        number::percent(LOOSE_SPREAD),
        number::percent(WILD_SPREAD),
    )
}

/// Returns the width of the label column, which fits the metrics and the labels of most cases.
fn label_width(metrics: &[Metric]) -> usize {
    let of_metric =
        |&metric: &Metric| length(&wording::metric(metric)) + length("  ") + length(" ↓");
    let widest = match metrics {
        [] | [_] => 0,
        _ => metrics.iter().map(of_metric).max().unwrap_or(0),
    };
    widest.max(LABEL_WIDTH_MIN)
}

/// Shortens the name of a subject to the width of its column.
fn shortened(name: &str, width: usize) -> String {
    if length(name) <= width {
        return name.to_owned();
    }
    let kept: String = name.chars().take(width - 1).collect();
    format!("{kept}…")
}

fn superscript(number: usize) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digits = number.to_string();
    digits.bytes().map(|digit| DIGITS[usize::from(digit - b'0')]).collect()
}

/// Returns the width in terminal columns: each character of a table takes one.
fn length(text: &str) -> usize {
    text.chars().count()
}

const RATIO_WIDTH: usize = 7;

/// Width of the widest row in columns: five buses and the longest labels.
pub(crate) const WIDTH: usize = 100;

/// With this width, a row with five buses and the longest labels has 100 columns.
const LABEL_WIDTH_MIN: usize = 34;

/// Space for a star and six digits.
const COLUMN_WIDTH_MIN: usize = 8;

/// Longer names of subjects, in practice addresses, are shortened.
const COLUMN_WIDTH_MAX: usize = 16;

const BOLD: &str = "\x1b[1m";
const NORMAL: &str = "\x1b[0m";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{BenchCase, BenchFailure, BenchRecord, BenchSample};

    const METRIC: Metric = Metric::RoundTripUs;

    fn sample(subject: &str, round: u32, figure: f64) -> BenchRecord {
        BenchRecord::Sample(BenchSample {
            scenario: "s".to_owned(),
            case: BenchCase::new("8 B", []),
            subject: subject.to_owned(),
            round,
            figures: [(METRIC, figure)].into(),
            disturbance: 0.0,
        })
    }

    fn failure(subject: &str, reason: &str) -> BenchRecord {
        BenchRecord::Failure(BenchFailure {
            scenario: "s".to_owned(),
            case: BenchCase::new("8 B", []),
            subject: subject.to_owned(),
            round: 1,
            reason: reason.to_owned(),
        })
    }

    /// Formats the only row of a table of these records.
    fn row(records: &[BenchRecord], subjects: &[&str], style: TableStyle) -> String {
        let summary = RunSummary::of(records);
        let heading = ScenarioHeading { name: "s", title: "s", about: "", metrics: vec![METRIC] };
        let subjects: Vec<_> = subjects.iter().map(|subject| (*subject).to_owned()).collect();
        let mut table = ScenarioTable::new(&heading, &subjects, style);
        table.case(&summary.scenarios[0].comparisons[0]) + &table.footnotes()
    }

    #[test]
    fn table_marks_show_the_best_figure_and_the_spread() {
        let label = format!("{:34}", "8 B");
        let cases: [(&[BenchRecord], &str); 5] = [
            (
                &[sample("diligence", 1, 20.0), sample("busd", 1, 40.0)],
                "     *20        40     0.50\n",
            ),
            (
                &[sample("diligence", 1, 20.0), sample("diligence", 2, 24.0)],
                "      22         -        -\n",
            ),
            (
                &[sample("diligence", 1, 20.0), sample("diligence", 2, 30.0)],
                "      25±        -        -\n",
            ),
            (
                &[sample("busd", 1, 20.0), sample("busd", 2, 60.0), sample("diligence", 1, 80.0)],
                "      80       *40~    2.00\n",
            ),
            (
                &[sample("diligence", 1, 20.0), failure("busd", "it died")],
                "      20   failed¹        -\n¹ it died\n",
            ),
        ];
        for (records, expected) in cases {
            let text = row(records, &["diligence", "busd"], TableStyle::Plain);
            assert_eq!(text.strip_prefix(&label), Some(&*format!("  {expected}")), "{records:?}");
        }
    }

    #[test]
    fn best_figures_are_bold_and_aligned_on_a_terminal() {
        let records = [sample("diligence", 1, 20.0), sample("busd", 1, 40.0)];
        let plain = row(&records, &["diligence", "busd"], TableStyle::Plain);
        let bold = row(&records, &["diligence", "busd"], TableStyle::Terminal);
        assert_eq!(bold, plain.replace(" *20", "  \x1b[1m20\x1b[0m"));
    }

    #[test]
    fn long_subject_names_are_shortened() {
        assert_eq!(shortened("unix:path=/tmp/somewhere/bus", 16), "unix:path=/tmp/…");
        assert_eq!(shortened("dbus-daemon", 11), "dbus-daemon");
    }
}
