//! The section about cases in which this project's bus does worse, largest difference first.

use super::build::push_list;
use super::model::{ReportBlock, ReportCell, ReportColumn, ReportSection, ReportTable};
use crate::number;
use crate::result::MetricUnit;
use crate::scenario_info::ScenarioHeading;
use crate::summary::{Figure, MetricRow, OURS, ScenarioSummary};
use crate::wording;

/// A figure of this project's bus, and the better figure of another bus or of the floor.
struct Loss<'a> {
    title: &'a str,
    row: MetricRow<'a>,
    ours: &'a Figure,
    winner: &'a str,
    theirs: &'a Figure,
    times_worse: f64,
    /// True if this is the first metric of the case.
    is_main: bool,
}

/// A scenario with its heading.
type DescribedScenario<'a> = (ScenarioHeading<'a>, &'a ScenarioSummary);

pub(super) fn section<'a>(scenarios: &[DescribedScenario<'_>]) -> ReportSection<'a> {
    let mut blocks = Vec::new();
    push_list(&mut blocks, failures(scenarios));
    let to_buses = losses(scenarios, |row| row.best_peer(), 1.0);
    // The floor is a bound for the figure that a case measures, not for its side effects.
    let mut to_floor = losses(scenarios, |row| Some(("floor", row.floor()?)), FLOOR_FACTOR);
    to_floor.retain(|loss| loss.is_main);
    if to_buses.is_empty() {
        let text = "No other bus has a better figure in this run.";
        blocks.push(ReportBlock::Paragraph(text.into()));
    } else {
        let text = "Cases in which another bus has the better figure, largest difference first:";
        blocks.push(ReportBlock::Paragraph(text.into()));
        blocks.extend(tables(&to_buses));
    }
    if !to_floor.is_empty() {
        let margin = number::percent(FLOOR_FACTOR - 1.0);
        let text =
            format!("Cases more than {margin} worse than the floor, largest difference first:");
        blocks.push(ReportBlock::Paragraph(text.into()));
        blocks.extend(tables(&to_floor));
    }
    ReportSection {
        name: "losses".to_owned(),
        title: "Where Diligence does worse".to_owned(),
        blocks,
    }
}

/// Lists the cases in which this project's bus failed.
fn failures(scenarios: &[DescribedScenario<'_>]) -> Vec<String> {
    let mut failures = Vec::new();
    for (heading, scenario) in scenarios {
        for comparison in &scenario.comparisons {
            let Some(ours) = comparison.find(OURS) else { continue };
            if let Some(reason) = ours.failures.first() {
                let (title, case) = (heading.title, &comparison.case.label);
                let count = wording::times(ours.failures.len());
                failures.push(format!("Failed {count} at {title}: {case}: {reason}"));
            }
        }
    }
    failures
}

/// Returns the figures of our bus that are worse than the rival's by more than `factor`, largest
/// difference first.
fn losses<'a>(
    scenarios: &'a [DescribedScenario<'a>],
    rival: fn(&MetricRow<'a>) -> Option<(&'a str, &'a Figure)>,
    factor: f64,
) -> Vec<Loss<'a>> {
    let loss = |title: &'a str, row: MetricRow<'a>, is_main: bool| {
        let (winner, theirs) = rival(&row)?;
        let (ours, times_worse) = (row.ours()?, row.times_worse(theirs)?);
        (times_worse > factor).then_some(Loss {
            title,
            row,
            ours,
            winner,
            theirs,
            times_worse,
            is_main,
        })
    };
    let mut losses = Vec::new();
    for (heading, scenario) in scenarios {
        for comparison in &scenario.comparisons {
            let rows = comparison.rows(&heading.metrics).enumerate();
            losses.extend(rows.filter_map(|(index, row)| loss(heading.title, row, index == 0)));
        }
    }
    losses.sort_by(|one, other| other.times_worse.total_cmp(&one.times_worse));
    losses
}

/// Returns a table of the main metrics, and a folded table of the others.
fn tables<'a>(losses: &[Loss<'_>]) -> Vec<ReportBlock<'a>> {
    let (main, others): (Vec<&Loss<'_>>, Vec<&Loss<'_>>) =
        losses.iter().partition(|loss| loss.is_main);
    let title = format!("Other metrics ({})", others.len());
    let main = (!main.is_empty()).then(|| ReportBlock::Table(table(&main)));
    let others =
        (!others.is_empty()).then(|| ReportBlock::FoldedTable { title, table: table(&others) });
    main.into_iter().chain(others).collect()
}

fn table(losses: &[&Loss<'_>]) -> ReportTable {
    let numbers = ["ours", "theirs", "worse"].map(ReportColumn::Number);
    let columns = [ReportColumn::Label, ReportColumn::Label].into_iter().chain(numbers).collect();
    ReportTable { columns, rows: losses.iter().map(|loss| cells(loss)).collect() }
}

fn cells(loss: &Loss<'_>) -> Vec<ReportCell> {
    let Loss { title, row, ours, winner, theirs, times_worse, .. } = loss;
    let info = row.metric.info();
    let with_unit = |figure: &Figure| {
        let median = number::significant(figure.median);
        if info.unit == MetricUnit::Count { median } else { format!("{median} {}", info.unit) }
    };
    let remark = if ours.overlaps(theirs) { ", within the spread" } else { "" };
    let texts = [
        format!("{title}: {}", row.comparison.case.label),
        wording::capitalized(info.label),
        with_unit(ours),
        format!("{winner}: {}", with_unit(theirs)),
        format!("×{}{remark}", number::ratio(*times_worse)),
    ];
    texts.map(ReportCell::from).into()
}

/// A figure of our bus is listed if it is worse than the floor by this factor.
const FLOOR_FACTOR: f64 = 1.15;
