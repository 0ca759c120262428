//! How long calls took.

use std::time::Duration;

use capture::text::units::duration;

/// How long each of some calls took.
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

    /// How long the first one took.
    pub(super) fn first(&self) -> String {
        format!("took {}\n", duration(Duration::from_nanos(self.took_ns[0])))
    }

    /// How long they took, and how many there would be in a second.
    pub(super) fn statistics(&self) -> String {
        let mut sorted = self.took_ns.clone();
        sorted.sort_unstable();
        let count = sorted.len();
        let at = |percent: usize| {
            // The nearest rank, counted from 1.
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
    fn the_ranks_are_those_of_the_sorted_times() {
        let mut pace = RepeatedCallTimes::new(3_000_000);
        [1, 2, 4].into_iter().for_each(|took| pace.add(took * 1_000_000));
        assert_eq!(
            pace.statistics(),
            "4 calls: min 1.00 ms, median 2.00 ms, p99 4.00 ms, max 4.00 ms, 400 per second\n"
        );
        assert_eq!(pace.first(), "took 3.00 ms\n");
    }
}
