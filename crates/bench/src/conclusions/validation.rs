//! States the cost of body validation.

use super::noise::FigureRelation;
use crate::number::{percent, significant};
use crate::result::Metric;
use crate::summary::{CaseComparison, Figure, ScenarioSummary};

/// Returns a sentence for each subject that was measured with and without validation.
pub(super) fn sentences(scenario: &ScenarioSummary) -> Vec<String> {
    let subjects = scenario.subjects.iter();
    subjects.filter_map(|subject| without(scenario, subject)).collect()
}

fn without(scenario: &ScenarioSummary, subject: &str) -> Option<String> {
    let find = |bus: &str, client: &str| {
        let is_meant = |comparison: &&CaseComparison| {
            comparison.case.word("bus") == Some(bus)
                && comparison.case.word("client") == Some(client)
        };
        let comparison = scenario.comparisons.iter().find(is_meant)?;
        comparison.find(subject)?.figures.get(&Metric::RoundTripUs)
    };
    let all = find("on", "on")?;
    let cases = [("the bus", "off", "on"), ("the clients", "on", "off"), ("both", "off", "off")];
    let saved: Vec<String> = cases
        .into_iter()
        .filter_map(|(place, bus, client)| {
            Some(format!("in {place} {}", saved(all, find(bus, client)?)))
        })
        .collect();
    (!saved.is_empty())
        .then(|| format!("A call through {subject} without validation: {}.", saved.join(", ")))
}

/// Describes the time that `after` saves compared with `before`.
fn saved(before: &Figure, after: &Figure) -> String {
    match FigureRelation::of(after, before, Metric::RoundTripUs.info().better) {
        FigureRelation::WithinNoise => "no difference beyond noise".to_owned(),
        FigureRelation::Times(times) => {
            let (less, share) = (before.median - after.median, 1.0 - times.recip());
            let word = if less < 0.0 { "more" } else { "less" };
            format!("{} µs {word} ({})", significant(less.abs()), percent(share.abs()))
        }
    }
}
