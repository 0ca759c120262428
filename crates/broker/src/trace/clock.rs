//! Timestamps of traces: the monotonic clock, computed from the cycle counter where it is reliable,
//! because each message gets several timestamps.

use std::time::Duration;

/// The monotonic clock in nanoseconds. One reading is used for adjacent events: the bus does one
/// thing at a time, so the end of one step is the start of the next.
#[derive(Debug)]
pub(crate) struct Clock {
    latest: u64,
    /// Whether something was routed at that time, and the time after it was not read yet.
    has_routed: bool,
    cycles: Option<Cycles>,
}

/// The cycle counter used as a clock.
#[derive(Debug)]
struct Cycles {
    /// Readings of both clocks, from which the rate is computed.
    base: Mark,
    /// Readings of both clocks, not long ago.
    anchor: Mark,
    /// Nanoseconds per cycle, multiplied by 2^32; `None` until it is known.
    rate: Option<u64>,
    /// Nanoseconds after `base` at which the rate is computed again.
    next: u64,
}

/// The same moment on both clocks.
#[derive(Clone, Copy, Debug)]
struct Mark {
    nanos: u64,
    cycles: u64,
}

impl Clock {
    pub(crate) fn new() -> Self {
        let mark = Mark::now();
        let cycles = sys::cycles::are_trusted().then(|| Cycles::new(mark));
        Self { latest: mark.nanos, has_routed: false, cycles }
    }

    /// Whether a reading is cheap enough to measure the stages of routing a message.
    #[inline]
    pub(crate) const fn is_cheap(&self) -> bool {
        matches!(self.cycles, Some(Cycles { rate: Some(_), .. }))
    }

    /// Notes that a turn of the loop begins at this time, which was read just now.
    pub(crate) fn turn_began(&mut self, now: Duration) {
        let Some(cycles) = &mut self.cycles else { return };
        let mut mark = Mark { nanos: nanos(now), cycles: sys::cycles::read() };
        // The thread may have been descheduled between the two readings.
        if cycles.error(mark) > ERROR_MAX {
            mark = Mark::now();
        }
        cycles.anchor(mark);
    }

    /// The time of the last reading.
    #[inline]
    pub(crate) const fn latest(&self) -> u64 {
        self.latest
    }

    /// The start time of a step that follows the last reading, in a turn of the loop that began at
    /// `turn`.
    #[inline]
    pub(crate) fn continued(&self, turn: Duration) -> u64 {
        self.latest.max(nanos(turn))
    }

    /// Reads the time at which something is routed.
    #[inline]
    pub(crate) fn routed(&mut self) -> u64 {
        self.has_routed = true;
        self.now()
    }

    /// Reads the current time.
    #[inline]
    pub(crate) fn now(&mut self) -> u64 {
        let now = self.cycles.as_ref().and_then(|cycles| cycles.time(sys::cycles::read()));
        let now = now.unwrap_or_else(|| nanos(sys::clock::monotonic()));
        self.latest = self.latest.max(now);
        self.latest
    }

    /// Reads the time after something was routed.
    pub(crate) fn after_routing(&mut self) -> u64 {
        if std::mem::take(&mut self.has_routed) { self.latest } else { self.now() }
    }

    /// Converts a reading of the cycle counter in this turn of the loop to a time.
    pub(crate) fn time_of(&self, cycles: u64) -> Option<u64> {
        self.cycles.as_ref()?.time(cycles)
    }
}

impl Cycles {
    const fn new(mark: Mark) -> Self {
        Self { base: mark, anchor: mark, rate: None, next: FIRST_INTERVAL }
    }

    #[inline]
    fn time(&self, cycles: u64) -> Option<u64> {
        // A reading from before the anchor counts as the anchor.
        let passed = cycles.saturating_sub(self.anchor.cycles);
        let nanos = ((u128::from(passed) * u128::from(self.rate?)) >> 32) as u64;
        Some(self.anchor.nanos + nanos)
    }

    /// The difference of the counter from the clock in nanoseconds; 0 while the rate is unknown.
    fn error(&self, mark: Mark) -> u64 {
        self.time(mark.cycles).map_or(0, |expected| expected.abs_diff(mark.nanos))
    }

    /// Compares both clocks again. Suspend changes the counter differently from the clock; then its
    /// rate is measured again.
    fn anchor(&mut self, mark: Mark) {
        let elapsed = mark.nanos.saturating_sub(self.anchor.nanos);
        if mark.cycles < self.anchor.cycles || self.error(mark) > ERROR_MAX + elapsed / DRIFT_PART {
            *self = Self::new(mark);
            return;
        }
        self.anchor = mark;
        let passed = mark.nanos.saturating_sub(self.base.nanos);
        if passed >= self.next {
            self.calibrate(mark, passed);
        }
    }

    #[cold]
    fn calibrate(&mut self, mark: Mark, passed: u64) {
        let cycles = mark.cycles.saturating_sub(self.base.cycles).max(1);
        self.rate = Some(((u128::from(passed) << 32) / u128::from(cycles)) as u64);
        if self.next < LONGEST_INTERVAL {
            self.next *= 10;
        } else {
            // The kernel may adjust the rate of its clock slightly.
            self.base = mark;
        }
    }
}

impl Mark {
    fn now() -> Self {
        Self { nanos: nanos(sys::clock::monotonic()), cycles: sys::cycles::read() }
    }
}

/// The nanoseconds of a monotonic time, which wrap around after 584 years.
const fn nanos(time: Duration) -> u64 {
    time.as_secs() * 1_000_000_000 + time.subsec_nanos() as u64
}

/// The interval of the first measurement of the rate, in nanoseconds. A reading error of 100 ns is
/// 0.001 % of it, which is 10 ns in a turn of a millisecond.
const FIRST_INTERVAL: u64 = 10_000_000;

/// The longest measurement interval, in nanoseconds.
const LONGEST_INTERVAL: u64 = 10_000_000_000;

/// The usual maximum difference of the two clocks after a turn of the loop, in nanoseconds.
const ERROR_MAX: u64 = 1_000;

/// The counter may gain or lose at most this fraction of the elapsed time: a thousandth.
const DRIFT_PART: u64 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    /// Both clocks `millis` milliseconds after the start, with three cycles per nanosecond.
    const fn at(millis: u64) -> Mark {
        Mark { nanos: millis * 1_000_000, cycles: 3 * millis * 1_000_000 }
    }

    /// A counter with a known rate, last compared after `millis` milliseconds.
    fn running(millis: u64) -> Cycles {
        let mut cycles = Cycles::new(at(0));
        (1..=millis).for_each(|millis| cycles.anchor(at(millis)));
        cycles
    }

    #[test]
    fn the_rate_of_the_counter_is_known_after_ten_milliseconds() {
        assert_eq!(running(9).time(at(9).cycles), None);
        let cycles = running(10);
        let time = cycles.time(at(12).cycles).expect("the rate is known");
        assert!(time.abs_diff(at(12).nanos) < 10, "{time}");
    }

    #[test]
    fn the_rate_is_measured_again_after_suspend() {
        // The counter restarts at 0, or has counted during suspend, when the clock stood still.
        for (since, counted) in [(20, 5), (20, 3_600_000)] {
            let mut cycles = running(15);
            let (nanos, counter) = (at(since).nanos, at(counted).cycles);
            cycles.anchor(Mark { nanos, cycles: counter });
            assert_eq!(cycles.time(counter), None, "{counted}");
            for millis in 1..=10 {
                let later = at(millis);
                cycles.anchor(Mark { nanos: nanos + later.nanos, cycles: counter + later.cycles });
            }
            let time = cycles.time(counter + at(11).cycles).expect("the rate is known again");
            assert!(time.abs_diff(nanos + at(11).nanos) < 10, "{counted}: {time}");
        }
    }

    #[test]
    fn a_long_rest_and_a_small_drift_keep_the_rate() {
        let mut cycles = running(15);
        let (nanos, counter) = (at(60_000).nanos, at(60_000).cycles);
        cycles.anchor(Mark { nanos: nanos + 50_000, cycles: counter });
        assert!(cycles.time(counter).is_some());
    }
}
