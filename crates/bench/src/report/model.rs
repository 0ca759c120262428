//! A report independent of its format: sections of paragraphs, lists, tables and plots.

use super::plot::Plot;
use crate::number;
use crate::result::Metric;
use crate::summary::{MetricRow, SubjectOutcome};
use crate::wording;

/// A report of one or more runs.
pub(super) struct BenchReport<'a> {
    pub(super) title: &'static str,
    pub(super) introduction: Vec<ReportBlock<'a>>,
    pub(super) sections: Vec<ReportSection<'a>>,
}

/// A part of a report with a title.
pub(super) struct ReportSection<'a> {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) blocks: Vec<ReportBlock<'a>>,
}

/// A paragraph, list, table, block of commands or group of plots.
pub(super) enum ReportBlock<'a> {
    Paragraph(MarkedText),
    List(Vec<ListItem>),
    Table(ReportTable),
    /// A table that is collapsed until the reader opens it.
    FoldedTable {
        title: String,
        table: ReportTable,
    },
    Commands(Vec<String>),
    /// Plots, which only the HTML format shows.
    Plots(Vec<Plot<'a>>),
}

/// An item of a list, with its nested items.
pub(super) struct ListItem {
    pub(super) text: MarkedText,
    pub(super) nested: Vec<MarkedText>,
}

/// A text with emphasized parts and code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct MarkedText(pub(super) Vec<MarkedSpan>);

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum MarkedSpan {
    Plain(String),
    Emphasis(String),
    Code(String),
}

pub(super) struct ReportTable {
    pub(super) columns: Vec<ReportColumn>,
    pub(super) rows: Vec<Vec<ReportCell>>,
}

/// The heading of a column.
pub(super) enum ReportColumn {
    Label,
    Subject(String),
    /// A column of other numbers, with this title.
    Number(&'static str),
}

#[derive(Default)]
pub(super) struct ReportCell {
    pub(super) text: String,
    pub(super) detail: String,
    pub(super) tone: CellTone,
    /// The middle half of the rounds, for formats with tooltips.
    pub(super) range: String,
    /// The figure as a share of the largest figure of its row, for formats with pictures.
    pub(super) share: Option<f64>,
}

/// How a cell is highlighted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum CellTone {
    #[default]
    Plain,
    /// The figure of the best bus.
    Best,
    /// This project's bus is better than the best other bus.
    Better,
    /// This project's bus is worse than the best other bus, or a measurement failed.
    Worse,
}

/// Whether the label of a row names the metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RowLabels {
    Case,
    CaseAndMetric,
}

/// Whether figures show the spread of the rounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Spread {
    Shown,
    Hidden,
}

impl MarkedText {
    /// Parses a text in which `*` encloses emphasis and a backtick encloses code.
    pub(super) fn marked(text: &str) -> Self {
        let mut spans = Vec::new();
        for (index, part) in text.split('`').enumerate() {
            if index % 2 == 1 {
                spans.push(MarkedSpan::Code(part.to_owned()));
                continue;
            }
            for (index, part) in part.split('*').enumerate().filter(|(_, part)| !part.is_empty()) {
                let is_emphasized = index % 2 == 1;
                let span = if is_emphasized { MarkedSpan::Emphasis } else { MarkedSpan::Plain };
                spans.push(span(part.to_owned()));
            }
        }
        Self(spans)
    }
}

impl<T: Into<String>> From<T> for MarkedText {
    fn from(text: T) -> Self {
        Self(vec![MarkedSpan::Plain(text.into())])
    }
}

impl<T: Into<MarkedText>> From<T> for ListItem {
    fn from(text: T) -> Self {
        Self { text: text.into(), nested: Vec::new() }
    }
}

impl ReportTable {
    /// Builds a table with a column for each subject, the ratio of this project's bus to the best
    /// other bus, and, if any row has it, the share of the floor.
    pub(super) fn of_figures(
        rows: &[MetricRow<'_>],
        subjects: &[String],
        labels: RowLabels,
        spread: Spread,
    ) -> Self {
        let has_floor = rows.iter().any(|row| row.floor_share().is_some());
        let subject_columns = subjects.iter().cloned().map(ReportColumn::Subject);
        let mut columns: Vec<_> =
            [ReportColumn::Label].into_iter().chain(subject_columns).collect();
        columns.push(ReportColumn::Number(wording::RATIO_TITLE));
        if has_floor {
            columns.push(ReportColumn::Number("floor's share"));
        }
        let cells = |row: &MetricRow<'_>| {
            let case = &row.comparison.case.label;
            let label = match labels {
                RowLabels::Case => case.clone(),
                RowLabels::CaseAndMetric => format!("{case}, {}", wording::unit(row.metric)),
            };
            let mut cells = vec![ReportCell::from(label)];
            cells
                .extend(subjects.iter().map(|subject| ReportCell::of_figure(row, subject, spread)));
            cells.push(ReportCell::of_ratio(row));
            if has_floor {
                cells.push(ReportCell::of_optional(row.floor_share(), number::percent));
            }
            cells
        };
        Self { columns, rows: rows.iter().map(cells).collect() }
    }
}

impl From<String> for ReportCell {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

impl ReportCell {
    pub(super) fn of_figure(row: &MetricRow<'_>, subject: &str, spread: Spread) -> Self {
        let Some(figure) = row.figure(subject) else {
            return match row.comparison.find(subject).is_some_and(SubjectOutcome::has_failed) {
                true => Self { tone: CellTone::Worse, ..Self::from("failed".to_owned()) },
                false => Self::from(number::ABSENT.to_owned()),
            };
        };
        let is_shown = spread == Spread::Shown && figure.spread() >= SHOWN_SPREAD_MIN;
        let [low, median, high] = [figure.low, figure.median, figure.high].map(number::significant);
        let largest = row.figures().map(|(_, figure)| figure.median).fold(0.0, f64::max);
        let is_compared = largest > 0.0 && row.figures().count() > 1;
        Self {
            text: median,
            detail: if is_shown {
                format!("±{}", number::percent(figure.spread()))
            } else {
                String::new()
            },
            tone: if row.is_best(subject) { CellTone::Best } else { CellTone::Plain },
            range: format!("{low} to {high}"),
            share: is_compared.then(|| (figure.median / largest).max(0.0)),
        }
    }

    pub(super) fn of_ratio(row: &MetricRow<'_>) -> Self {
        let worse = row.best_peer().and_then(|(_, figure)| row.times_worse(figure));
        let tone = match worse {
            Some(worse) if worse > 1.0 => CellTone::Worse,
            Some(worse) if worse < 1.0 => CellTone::Better,
            _ => CellTone::Plain,
        };
        Self { tone, ..Self::of_optional(row.ratio(), number::ratio) }
    }

    fn of_optional(value: Option<f64>, text: fn(f64) -> String) -> Self {
        Self::from(value.map_or(number::ABSENT.to_owned(), text))
    }
}

/// The title above the table of one metric: `Round trip, µs (lower is better)`.
pub(super) fn described(metric: Metric) -> String {
    let text = wording::capitalized(&wording::metric(metric));
    format!("{text} ({})", wording::direction(metric))
}

/// Smaller spreads are not shown.
const SHOWN_SPREAD_MIN: f64 = 0.005;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_texts_have_emphasis_and_code() {
        let span = |text: &str| text.to_owned();
        assert_eq!(
            MarkedText::marked("a *b* `c*d` e").0,
            [
                MarkedSpan::Plain(span("a ")),
                MarkedSpan::Emphasis(span("b")),
                MarkedSpan::Plain(span(" ")),
                MarkedSpan::Code(span("c*d")),
                MarkedSpan::Plain(span(" e")),
            ]
        );
    }
}
