//! Percentiles of many durations.

use std::fmt;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// A histogram of durations up to a minute, with three significant digits, in constant memory.
pub(crate) struct Durations {
    histogram: Histogram<u64>,
}

/// The percentiles of many durations, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Distribution {
    pub count: u64,
    /// The arithmetic mean of all durations.
    pub mean_ns: f64,
    /// The median of all durations.
    pub p50_ns: u64,
    /// The 90th percentile of all durations.
    pub p90_ns: u64,
    /// The 99th percentile of all durations.
    pub p99_ns: u64,
    pub max_ns: u64,
}

impl Durations {
    pub(crate) fn new() -> Self {
        let histogram = Histogram::new_with_max(LONGEST_NS, DIGITS);
        Self { histogram: histogram.expect("the bounds are within the range of the histogram") }
    }

    /// Records a duration. A duration over a minute counts as a minute.
    pub(crate) fn record(&mut self, duration: Duration) {
        self.histogram.saturating_record(duration.as_nanos() as u64);
    }

    /// Computes the percentiles of all recorded durations.
    pub(crate) fn distribution(&self) -> Distribution {
        let at = |quantile| self.histogram.value_at_quantile(quantile);
        Distribution {
            count: self.histogram.len(),
            mean_ns: self.histogram.mean(),
            p50_ns: at(0.5),
            p90_ns: at(0.9),
            p99_ns: at(0.99),
            max_ns: self.histogram.max(),
        }
    }
}

impl Default for Durations {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Durations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.distribution().fmt(f)
    }
}

const LONGEST_NS: u64 = 60_000_000_000;
const DIGITS: u8 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_recorded_durations() {
        let cases: [(&[u64], [u64; 3]); 4] = [
            (&[], [0, 0, 0]),
            (&[7], [7, 7, 7]),
            (&[4, 1, 3, 2], [2, 2, 4]),
            (&[30, 10, 20], [20, 20, 30]),
        ];
        for (all, expected) in cases {
            let mut durations = Durations::new();
            all.iter().for_each(|&duration| durations.record(Duration::from_nanos(duration)));
            let found = durations.distribution();
            assert_eq!([found.mean_ns as u64, found.p50_ns, found.p99_ns], expected, "{all:?}");
        }
    }
}
