//! Compares the buses with the floor.

use super::noise::FigureRelation;
use super::{WARNING, main_rows};
use crate::number;
use crate::scenario_info::ScenarioHeading;
use crate::summary::{Figure, MetricRow, OURS, ScenarioSummary, SubjectRole};

/// Describes how close our bus comes to the floor, and warns if a bus is faster than the floor.
pub(super) fn sentences(heading: &ScenarioHeading<'_>, scenario: &ScenarioSummary) -> Vec<String> {
    let rows = main_rows(heading, scenario);
    distance(&rows).into_iter().chain(warning(&rows)).collect()
}

fn distance(rows: &[MetricRow<'_>]) -> Option<String> {
    let mut shares: Vec<f64> = rows.iter().filter_map(MetricRow::floor_share).collect();
    shares.sort_unstable_by(f64::total_cmp);
    let (least, most) = (shares.first()?, shares.last()?);
    let [least, most] = [least, most].map(|share| number::percent(share.min(1.0)));
    let range = if least == most { least } else { format!("{least} to {most}") };
    Some(format!(
        "A process that only reads and writes (floor) takes {range} of the time that {OURS} takes."
    ))
}

/// Warns if a bus is faster than the floor. No bus does less than read and write, so one of the two
/// measurements is wrong.
fn warning(rows: &[MetricRow<'_>]) -> Option<String> {
    let beaten: Vec<String> = rows.iter().flat_map(beaten).collect();
    let (named, others) = beaten.split_at(beaten.len().min(NAMED_MAX));
    let others = match others.len() {
        0 => String::new(),
        count => format!(", and {count} more"),
    };
    (!named.is_empty()).then(|| {
        format!(
            "{WARNING} a bus is faster than the floor, which is impossible: {}{others}. Do not \
             rely on the floor in these cases.",
            named.join("; "),
        )
    })
}

/// Returns the buses that are faster than the floor.
fn beaten(row: &MetricRow<'_>) -> Vec<String> {
    let Some(floor) = row.floor() else { return Vec::new() };
    let is_faster = |figure: &Figure| {
        let relation = FigureRelation::of(figure, floor, row.metric.info().better);
        relation.better().is_some_and(|times| times >= TOLERANCE)
    };
    let buses = row.figures().filter(|(subject, _)| SubjectRole::of(subject).is_bus());
    let faster = buses.filter(|(_, figure)| is_faster(figure));
    faster.map(|(bus, _)| format!("{bus} at {}", row.comparison.case.label)).collect()
}

/// A bus may seem to be faster than the floor by this factor. If the clients take nearly all of the
/// time, two figures of the same work differ by this much from run to run.
const TOLERANCE: f64 = 1.05;

/// The number of cases that a warning names.
const NAMED_MAX: usize = 3;
