//! Durations, sorted.

use std::time::Duration;

use crate::table::Cell;

/// The distribution of some durations; every value is one of them, but for the mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Percentiles {
    /// How many there are, not zero.
    pub count: u64,
    /// What half of them do not exceed.
    pub p50: Duration,
    /// What 9 of 10 do not exceed.
    pub p90: Duration,
    /// What 95 of 100 do not exceed.
    pub p95: Duration,
    /// What 99 of 100 do not exceed.
    pub p99: Duration,
    /// The longest.
    pub max: Duration,
    /// All together.
    pub total: Duration,
}

impl Percentiles {
    /// Sorts durations in nanoseconds and looks; `None` if there are none.
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

    /// The arithmetic mean.
    pub fn mean(&self) -> Duration {
        Duration::from_nanos((self.total.as_nanos() / u128::from(self.count)) as u64)
    }
}

/// Cells with properties of the distribution of durations in nanoseconds; absent if there are none.
pub(crate) fn cells<const N: usize>(
    nanos: &mut [u64],
    properties: [fn(&Percentiles) -> Duration; N],
) -> [Cell; N] {
    let found = Percentiles::of(nanos);
    properties.map(|of| found.as_ref().map_or(Cell::Absent, |found| Cell::Time(of(found))))
}

/// The index of the first of `len` sorted values that `percent` of all do not exceed.
const fn nearest_rank(len: usize, percent: usize) -> usize {
    (len * percent).div_ceil(100).saturating_sub(1)
}
