//! Measures the duration and the cost of calls.

use std::fmt;
use std::time::Duration;

use conformance::TestPeer;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::gauge::Gauge;

/// The number of batches of a measurement.
const BATCHES: u32 = 20;

/// The durations of many calls.
#[derive(Debug, Clone)]
pub(crate) struct Latency {
    /// Sorted, the shortest first.
    times: Vec<Duration>,
}

impl Latency {
    /// Measures this number of calls and replies between two peers.
    pub(crate) fn between([caller, callee]: &mut [TestPeer; 2], count: usize) -> Self {
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

/// The cost of an operation for the bus, and its duration.
#[derive(Debug, Clone)]
pub(crate) struct LatencyCost {
    pub(crate) latency: Latency,
    /// Processor time of the bus for one operation, in the cheapest batch. Other processes make
    /// some batches more expensive: they take caches, the other half of a core, or the whole
    /// processor of a virtual machine. The work of the bus itself is in every batch.
    pub(crate) processor: Duration,
}

impl LatencyCost {
    /// Runs an operation `count` times, in [`BATCHES`]; it returns its latency.
    pub(crate) fn of(gauge: Gauge, count: u32, mut operation: impl FnMut() -> Duration) -> Self {
        let [cost] = Self::of_each(count, [(gauge, &mut operation)]);
        cost
    }

    /// Runs several operations `count` times each, a batch of each in turn, so that other load on
    /// the machine slows down all of them. Each operation has the gauge of its bus. Everything runs
    /// on one processor: to wake another one can take a bus several times as long as its own work.
    pub(crate) fn of_each<const N: usize>(
        count: u32,
        mut operations: [(Gauge, &mut dyn FnMut() -> Duration); N],
    ) -> [Self; N] {
        let _one = OneProcessor::for_all(operations.iter().map(|(gauge, _)| *gauge));
        let mut seen = [const { (Vec::new(), Duration::MAX) }; N];
        let each = count.div_ceil(BATCHES);
        for _ in 0..BATCHES {
            for ((gauge, operation), (times, processor)) in operations.iter_mut().zip(&mut seen) {
                let before = gauge.processor_time();
                times.extend((0..each).map(|_| operation()));
                *processor = (*processor).min((gauge.processor_time() - before) / each);
            }
        }
        seen.map(|(times, processor)| Self { latency: Latency::of(times), processor })
    }
}

/// Confines this thread and some buses to one processor, until it is dropped.
struct OneProcessor {
    buses: Vec<Gauge>,
    before: CpuSet,
}

impl OneProcessor {
    fn for_all(buses: impl Iterator<Item = Gauge>) -> Self {
        let before = sched_getaffinity(None).expect("the thread runs");
        let one = (0..CpuSet::MAX_CPU).find(|number| before.is_set(*number));
        let mut processor = CpuSet::new();
        processor.set(one.expect("a thread has a processor"));
        let confined = Self { buses: buses.collect(), before };
        confined.move_all(&processor);
        confined
    }

    fn move_all(&self, to: &CpuSet) {
        sched_setaffinity(None, to).expect("the processor is there");
        for bus in &self.buses {
            bus.move_to(to);
        }
    }
}

impl Drop for OneProcessor {
    fn drop(&mut self) {
        self.move_all(&self.before);
    }
}

impl fmt::Display for LatencyCost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} µs of the bus)", self.latency, self.processor.as_micros())
    }
}

/// Shows the median, the 99th percentile, and the maximum.
impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [half, most, all] = [50, 99, 100].map(|percent| self.percentile(percent).as_micros());
        write!(f, "{half}/{most}/{all} µs")
    }
}
