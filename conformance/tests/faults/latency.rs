//! How long calls take.

use std::fmt;
use std::time::Duration;

use diligence_conformance::Peer;

/// Times of many calls.
#[derive(Debug, Clone)]
pub(crate) struct Latency {
    /// In their order of size.
    times: Vec<Duration>,
}

impl Latency {
    /// Of so many calls and answers between two peers.
    pub(crate) fn between([caller, callee]: &mut [Peer; 2], count: usize) -> Self {
        Self::of((0..count).map(|_| caller.round_trip(callee)).collect())
    }

    pub(crate) fn of(mut times: Vec<Duration>) -> Self {
        assert!(!times.is_empty(), "nothing was measured");
        times.sort_unstable();
        Self { times }
    }

    pub(crate) fn median(&self) -> Duration {
        self.percentile(50)
    }

    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        self.times[(self.times.len() - 1) * percent / 100]
    }

    pub(crate) fn longest(&self) -> Duration {
        self.percentile(100)
    }
}

/// The median, 99 of 100, and all.
impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [half, most, all] = [50, 99, 100].map(|percent| self.percentile(percent).as_micros());
        write!(f, "{half}/{most}/{all} µs")
    }
}
