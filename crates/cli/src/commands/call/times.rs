//! Durations of repeated calls.

use std::time::Duration;

use capture::text::units::duration;

/// The durations of all calls, in the order in which they were made.
#[derive(Debug)]
pub(super) struct RepeatedCallTimes {
    took_ns: Vec<u64>,
}

impl RepeatedCallTimes {
    pub(super) fn new(first_ns: u64) -> Self {
        Self { took_ns: vec![first_ns] }
    }

    pub(super) fn add(&mut self, took_ns: u64) {
        self.took_ns.push(took_ns);
    }

    /// The duration of the first call as text.
    pub(super) fn first(&self) -> String {
        format!("took {}\n", duration(Duration::from_nanos(self.took_ns[0])))
    }

    /// Statistics of the durations as text, with the number of calls per second.
    pub(super) fn statistics(&self) -> String {
        let mut sorted = self.took_ns.clone();
        sorted.sort_unstable();
        let count = sorted.len();
        let at = |percent: usize| {
            // The nearest-rank method; ranks are counted from 1.
            let rank = (count * percent).div_ceil(100).max(1);
            duration(Duration::from_nanos(sorted[rank - 1]))
        };
        let whole = Duration::from_nanos(sorted.iter().sum());
        let per_second = count as f64 / whole.as_secs_f64().max(f64::MIN_POSITIVE);
        let (least, median, most) = (at(0), at(50), at(100));
        let calls = if count == 1 { "call" } else { "calls" };
        format!(
            "{count} {calls}: min {least}, median {median}, p99 {}, max {most}, {per_second:.0} per \
             second\n",
            at(99)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_use_the_nearest_rank() {
        let mut times = RepeatedCallTimes::new(3_000_000);
        [1, 2, 4].into_iter().for_each(|took| times.add(took * 1_000_000));
        assert_eq!(
            times.statistics(),
            "4 calls: min 1.00 ms, median 2.00 ms, p99 4.00 ms, max 4.00 ms, 400 per second\n"
        );
        assert_eq!(times.first(), "took 3.00 ms\n");
    }
}
