//! Figures of a workload that is measured in several turns.

use std::collections::{BTreeMap, BTreeSet};

use crate::result::{Figures, Metric};

/// Returns the median of each metric; with an even number of values, the lower one in the middle.
pub(super) fn medians(turns: &[Figures]) -> Figures {
    let metrics = turns.iter().flat_map(BTreeMap::keys).copied();
    let median = |metric: Metric| {
        let mut values: Vec<f64> = turns.iter().filter_map(|it| it.get(&metric)).copied().collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len().saturating_sub(1) / 2).map(|&value| (metric, value))
    };
    metrics.collect::<BTreeSet<_>>().into_iter().filter_map(median).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_the_median_over_turns() {
        let turn = |added| Figures::from([(Metric::AddedPercent, added)]);
        for (added, expected) in [(&[3.0][..], 3.0), (&[1.0, 90.0, 2.0], 2.0), (&[4.0, 1.0], 1.0)] {
            let turns: Vec<_> = added.iter().copied().map(turn).collect();
            assert_eq!(medians(&turns), turn(expected));
        }
    }
}
