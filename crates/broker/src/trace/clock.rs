//! The time for traces: the monotonic clock, read from the cycle counter where that can be trusted, since
//! each message is stamped several times.

use std::time::Duration;

/// The monotonic clock. One reading serves everyone who wants to know the time next: the bus does one
/// thing at a time, so that what it does after a reading begins then. Times are nanoseconds.
#[derive(Debug)]
pub(crate) struct Clock {
    latest: u64,
    /// Whether something was routed at that time, and nobody has asked for the time after it.
    has_routed: bool,
    cycles: Option<Cycles>,
}

/// The cycle counter as a clock.
#[derive(Debug)]
struct Cycles {
    /// Readings of both clocks, from which the rate is computed.
    base: Mark,
    /// Readings of both clocks, not long ago.
    anchor: Mark,
    /// Nanoseconds of a cycle, multiplied by 2^32; `None` until it is known.
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

    /// Whether a reading costs so little that stages of the routing of a message can be measured.
    #[inline]
    pub(crate) const fn is_cheap(&self) -> bool {
        matches!(self.cycles, Some(Cycles { rate: Some(_), .. }))
    }

    /// A turn of the loop begins at this time, which has been read just now.
    pub(crate) fn turn_began(&mut self, now: Duration) {
        let Some(cycles) = &mut self.cycles else { return };
        let mut mark = Mark { nanos: nanos(now), cycles: sys::cycles::read() };
        // The thread may have lost its processor between the two readings.
        if cycles.error(mark) > ERROR_MAX {
            mark = Mark::now();
        }
        cycles.anchor(mark);
    }

    /// When it was read last.
    #[inline]
    pub(crate) const fn latest(&self) -> u64 {
        self.latest
    }

    /// When something begins that follows what the clock was read for last, in a turn of the loop
    /// that began then.
    #[inline]
    pub(crate) fn continued(&self, turn: Duration) -> u64 {
        self.latest.max(nanos(turn))
    }

    /// The time, now that something is routed.
    #[inline]
    pub(crate) fn routed(&mut self) -> u64 {
        self.has_routed = true;
        self.now()
    }

    /// The time.
    #[inline]
    pub(crate) fn now(&mut self) -> u64 {
        let now = self.cycles.as_ref().and_then(|cycles| cycles.time(sys::cycles::read()));
        let now = now.unwrap_or_else(|| nanos(sys::clock::monotonic()));
        self.latest = self.latest.max(now);
        self.latest
    }

    /// The time after something was routed.
    pub(crate) fn after_routing(&mut self) -> u64 {
        if std::mem::take(&mut self.has_routed) { self.latest } else { self.now() }
    }

    /// The time of a reading of the cycle counter in this turn of the loop.
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

    /// By how many nanoseconds the counter differs from the clock; 0 while the rate is unknown.
    fn error(&self, mark: Mark) -> u64 {
        self.time(mark.cycles).map_or(0, |expected| expected.abs_diff(mark.nanos))
    }

    /// Compares both clocks again. A sleep of the machine changes the counter in another way than the
    /// clock; then its rate is measured anew.
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
            // The kernel may change the rate of its clock a little.
            self.base = mark;
        }
    }
}

impl Mark {
    fn now() -> Self {
        Self { nanos: nanos(sys::clock::monotonic()), cycles: sys::cycles::read() }
    }
}

/// The nanoseconds of a time of the monotonic clock, which wraps around after 584 years.
const fn nanos(time: Duration) -> u64 {
    time.as_secs() * 1_000_000_000 + time.subsec_nanos() as u64
}

/// The time over which the rate of the cycle counter is measured first, in nanoseconds. An error of
/// 100 ns in it is one of 0.001 %, which is 10 ns in a turn of a millisecond.
const FIRST_INTERVAL: u64 = 10_000_000;

/// The longest of these times, in nanoseconds.
const LONGEST_INTERVAL: u64 = 10_000_000_000;

/// The most by which the two clocks usually differ after a turn of the loop, in nanoseconds.
const ERROR_MAX: u64 = 1_000;

/// The counter may gain or lose at most this part of the time that has passed, a thousandth.
const DRIFT_PART: u64 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    /// Both clocks so many milliseconds after the start, with three cycles in a nanosecond.
    const fn at(millis: u64) -> Mark {
        Mark { nanos: millis * 1_000_000, cycles: 3 * millis * 1_000_000 }
    }

    /// A counter whose rate is known, compared last after `millis` milliseconds.
    fn running(millis: u64) -> Cycles {
        let mut cycles = Cycles::new(at(0));
        (1..=millis).for_each(|millis| cycles.anchor(at(millis)));
        cycles
    }

    #[test]
    fn the_rate_is_known_after_ten_milliseconds() {
        assert_eq!(running(9).time(at(9).cycles), None);
        let cycles = running(10);
        let time = cycles.time(at(12).cycles).expect("the rate is known");
        assert!(time.abs_diff(at(12).nanos) < 10, "{time}");
    }

    #[test]
    fn a_counter_that_a_sleep_has_changed_is_measured_anew() {
        // It begins at 0 again, or has counted a sleep during which the clock stood still.
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
