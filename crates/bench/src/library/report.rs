//! What the programs of the libraries report.

use serde::{Deserialize, Serialize};

/// What came of calling.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CallReport {
    /// Calls that were answered.
    pub calls: u64,
    /// From the first call to the last reply, in nanoseconds.
    pub elapsed_ns: u64,
    /// From a call to its reply, what half of them do not exceed, in nanoseconds.
    pub p50_ns: u64,
    /// From a call to its reply, what 99 of 100 do not exceed, in nanoseconds.
    pub p99_ns: u64,
}

/// What came of emitting.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct EmitReport {
    /// Signals that were sent.
    pub sent: u64,
    /// Signals that the library refused to send, since too many waited.
    pub timeouts: u64,
    /// From the first emission until all were sent, in nanoseconds.
    pub elapsed_ns: u64,
}

/// What came of listening.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ListenReport {
    /// Signals that came.
    pub received: u64,
    /// From the emission of the first that came to the receipt of the last, in nanoseconds.
    pub elapsed_ns: u64,
    /// From emission to handler, the mean, in nanoseconds.
    pub delay_mean_ns: u64,
    /// From emission to handler, what 99 of 100 do not exceed, in nanoseconds.
    pub delay_p99_ns: u64,
    /// Bytes of all payloads.
    pub bytes: u64,
}

/// Durations, each kept as it is, like the programs of the other libraries do.
#[derive(Debug, Default)]
pub(super) struct Durations {
    all_ns: Vec<u64>,
}

impl Durations {
    pub(super) fn push(&mut self, duration_ns: u64) {
        self.all_ns.push(duration_ns);
    }

    pub(super) fn sorted(mut self) -> Sorted {
        self.all_ns.sort_unstable();
        Sorted { all_ns: self.all_ns }
    }
}

/// Durations in ascending order.
pub(super) struct Sorted {
    all_ns: Vec<u64>,
}

impl Sorted {
    pub(super) fn count(&self) -> u64 {
        self.all_ns.len() as u64
    }

    pub(super) fn mean_ns(&self) -> u64 {
        self.all_ns.iter().sum::<u64>().checked_div(self.count()).unwrap_or(0)
    }

    /// The first that `percent` of them do not exceed; 0 of none.
    pub(super) fn percentile_ns(&self, percent: usize) -> u64 {
        let rank = (self.all_ns.len() * percent).div_ceil(100);
        self.all_ns.get(rank.saturating_sub(1)).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_durations_that_were() {
        let cases: [(&[u64], [u64; 3]); 4] = [
            (&[], [0, 0, 0]),
            (&[7], [7, 7, 7]),
            (&[4, 1, 3, 2], [2, 2, 4]),
            (&[30, 10, 20], [20, 20, 30]),
        ];
        for (all, [mean, p50, p99]) in cases {
            let sorted = Durations { all_ns: all.to_vec() }.sorted();
            let found = [sorted.mean_ns(), sorted.percentile_ns(50), sorted.percentile_ns(99)];
            assert_eq!(found, [mean, p50, p99], "{all:?}");
        }
    }
}
