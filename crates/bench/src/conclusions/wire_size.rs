//! Compares sizes on the wire with the size of the payload.

use crate::number::grouped;
use crate::result::Metric;
use crate::summary::{CaseComparison, ScenarioSummary, SubjectRole};

/// States by how many bytes calls and replies exceed their payload.
pub(super) fn sentences(scenario: &ScenarioSummary) -> Option<String> {
    let has = |setting: fn(&CaseComparison) -> bool| scenario.comparisons.iter().all(setting);
    let is_sized = has(|comparison| comparison.case.number("size").is_some());
    let is_empty = has(|comparison| comparison.case.word("reply") == Some("empty"));
    let calls = Range::of(scenario, Metric::CallBytes, is_sized)?;
    let replies = Range::of(scenario, Metric::ReplyBytes, is_sized && !is_empty)?;
    Some(match (is_sized, is_empty) {
        (true, false) => format!(
            "On the wire, a call is {calls} larger than its payload, and its reply {replies} larger."
        ),
        (true, true) => format!(
            "On the wire, a call is {calls} larger than its payload, and its reply is {replies}."
        ),
        (false, _) => format!("On the wire, a call is {calls}, and its reply {replies}."),
    })
}

/// The smallest and the largest size over all cases and buses, in bytes.
struct Range {
    least: f64,
    most: f64,
}

impl Range {
    /// Computes the range of a size metric; `beyond_payload` subtracts the payload.
    fn of(scenario: &ScenarioSummary, metric: Metric, beyond_payload: bool) -> Option<Self> {
        let of_case = |comparison: &CaseComparison| -> Vec<f64> {
            let payload =
                comparison.case.number("size").filter(|_| beyond_payload).unwrap_or_default();
            let buses =
                comparison.outcomes.iter().filter(|it| SubjectRole::of(&it.subject).is_bus());
            let figures = buses.filter_map(|outcome| outcome.figures.get(&metric));
            figures.map(|figure| figure.median - payload as f64).collect()
        };
        let sizes: Vec<f64> = scenario.comparisons.iter().flat_map(of_case).collect();
        let least = sizes.iter().copied().reduce(f64::min)?;
        let most = sizes.iter().copied().reduce(f64::max)?;
        Some(Self { least, most })
    }
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.least == self.most {
            true => write!(f, "{} B", grouped(self.least)),
            false => write!(f, "{} to {} B", grouped(self.least), grouped(self.most)),
        }
    }
}
