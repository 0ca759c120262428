//! Percentiles of a set of durations.

use std::time::Duration;

use crate::table::Cell;

/// The distribution of durations. Each value except the mean is one of the durations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Percentiles {
    /// The number of durations, never zero.
    pub count: u64,
    /// The 50th percentile, or median.
    pub p50: Duration,
    /// The 90th percentile of the durations.
    pub p90: Duration,
    /// The 95th percentile of the durations.
    pub p95: Duration,
    /// The 99th percentile of the durations.
    pub p99: Duration,
    /// The longest of the durations.
    pub max: Duration,
    /// The sum of all durations.
    pub total: Duration,
}

impl Percentiles {
    /// Sorts durations in nanoseconds and computes their percentiles; `None` if there are none.
    pub fn of(nanos: &mut [u64]) -> Option<Self> {
        nanos.sort_unstable();
        let max = *nanos.last()?;
        let total: u128 = nanos.iter().map(|&nanos| u128::from(nanos)).sum();
        let rank = |percent| Duration::from_nanos(nanos[nearest_rank(nanos.len(), percent)]);
        Some(Self {
            count: nanos.len() as u64,
            p50: rank(50),
            p90: rank(90),
            p95: rank(95),
            p99: rank(99),
            max: Duration::from_nanos(max),
            total: Duration::from_nanos(u64::try_from(total).unwrap_or(u64::MAX)),
        })
    }

    /// Returns the arithmetic mean.
    pub fn mean(&self) -> Duration {
        Duration::from_nanos((self.total.as_nanos() / u128::from(self.count)) as u64)
    }
}

/// Table cells with properties of the distribution of durations in nanoseconds; absent if there are
/// no durations.
pub(crate) fn cells<const N: usize>(
    nanos: &mut [u64],
    properties: [fn(&Percentiles) -> Duration; N],
) -> [Cell; N] {
    let found = Percentiles::of(nanos);
    properties.map(|of| found.as_ref().map_or(Cell::Absent, |found| Cell::Time(of(found))))
}

/// The index of the `percent`th percentile of `len` sorted values, by the nearest-rank method.
const fn nearest_rank(len: usize, percent: usize) -> usize {
    (len * percent).div_ceil(100).saturating_sub(1)
}
