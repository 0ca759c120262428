//! Compares the bus of this project with each other bus.

use super::main_rows;
use super::noise::FigureRelation;
use crate::number;
use crate::scenario_info::ScenarioHeading;
use crate::summary::{MetricRow, OURS, ScenarioSummary, SubjectRole};

/// Returns a sentence for each other bus.
pub(super) fn sentences(heading: &ScenarioHeading<'_>, scenario: &ScenarioSummary) -> Vec<String> {
    let rows = main_rows(heading, scenario);
    let peers =
        scenario.subjects.iter().filter(|subject| SubjectRole::of(subject) == SubjectRole::Peer);
    peers.filter_map(|peer| compare_with_peer(peer, &rows)).collect()
}

/// Compares our bus with another over all cases that both have; `None` if there are none.
fn compare_with_peer(peer: &str, rows: &[MetricRow<'_>]) -> Option<String> {
    let relation = |row: &MetricRow<'_>| {
        let relation = FigureRelation::of(row.ours()?, row.figure(peer)?, row.metric.info().better);
        Some((row.comparison.case.label.clone(), relation))
    };
    let relations: Vec<(String, FigureRelation)> = rows.iter().filter_map(relation).collect();
    if relations.is_empty() {
        return None;
    }
    let chosen = |choose: fn(FigureRelation) -> Option<f64>| -> Vec<(&str, f64)> {
        let chosen = relations
            .iter()
            .filter_map(|(case, relation)| Some((case.as_str(), choose(*relation)?)));
        chosen.collect()
    };
    let (better, worse) = (chosen(FigureRelation::better), chosen(FigureRelation::worse));
    let same = relations.len() - better.len() - worse.len();
    let mut parts = Vec::new();
    if !better.is_empty() {
        parts.push(format!("{OURS} is {} as fast as {peer}", span(&better)));
    }
    if !worse.is_empty() {
        parts.push(format!("{peer} is {} as fast as {OURS}", span(&worse)));
    }
    if same > 0 {
        let cases = match (same, relations.len()) {
            (same, all) if same == all => String::new(),
            (same, all) => format!(" in {same} of {all} cases"),
        };
        parts.push(format!("{OURS} and {peer} do not differ beyond noise{cases}"));
    }
    Some(parts.join("; ") + ".")
}

/// Formats a range of ratios: `2.10 times (at 1 B) to 5.31 times (at 10 MB)`.
fn span(found: &[(&str, f64)]) -> String {
    let by = |one: &&(&str, f64), other: &&(&str, f64)| one.1.total_cmp(&other.1);
    let (Some(least), Some(most)) = (found.iter().min_by(by), found.iter().max_by(by)) else {
        return String::new();
    };
    let case_ratio =
        |(case, times): &(&str, f64)| format!("{} times (at {case})", number::ratio(*times));
    match found {
        [only] => case_ratio(only),
        _ => format!("{} to {}", case_ratio(least), case_ratio(most)),
    }
}
