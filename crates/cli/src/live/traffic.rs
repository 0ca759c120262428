//! The traffic of a watched bus: its latest messages, counts for each interval, and the quality of
//! the capture.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use capture::losses::Losses;
use capture::model::CapturedMessage;
use capture::record::{CaptureMethod, RecordedTime, RecordingRecord};
use capture::text::units::{counted, duration, grouped};
use capture::{Capture, CapturedMessageId};
use recorder::RollingCapture;
use sys::clock::monotonic;

/// The traffic of a watched bus, from which all live commands make their output.
///
/// Messages of this program's own connections are kept, because names and replies are found in
/// them, but they are not counted.
#[derive(Debug)]
pub(crate) struct LiveTraffic {
    rolling: RollingCapture,
    quality: CaptureQuality,
    started: Duration,
    /// The number of all messages, including messages of this program.
    taken: u64,
    total: TrafficAmount,
    /// The traffic since the last step ended.
    current: TrafficAmount,
    /// The monotonic time at which the last step ended.
    step_ended: Duration,
    /// The latest steps, the newest first.
    steps: VecDeque<TrafficStep>,
    bus: BusPresence,
}

/// The connection state of the watched bus.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum BusPresence {
    There,
    Gone,
}

/// A number of messages and their total size in bytes, including headers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct TrafficAmount {
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
}

/// The traffic of one step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct TrafficStep {
    amount: TrafficAmount,
    /// The actual length of the step, which varies if the program is busy.
    length: Duration,
}

/// Messages and bytes per second.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct TrafficRate {
    pub(crate) messages: f64,
    pub(crate) bytes: f64,
}

impl TrafficAmount {
    /// Adds messages and bytes to the amount.
    pub(crate) const fn add(&mut self, messages: u64, bytes: u64) {
        self.messages += messages;
        self.bytes += bytes;
    }

    /// The average rate, if this traffic took this time.
    pub(crate) fn per(self, time: Duration) -> TrafficRate {
        let seconds = time.as_secs_f64();
        if seconds > 0.0 {
            TrafficRate {
                messages: self.messages as f64 / seconds,
                bytes: self.bytes as f64 / seconds,
            }
        } else {
            TrafficRate::default()
        }
    }
}

impl LiveTraffic {
    /// Returns empty traffic that starts `now`, by the monotonic clock. It keeps at least the
    /// latest `kept` messages, and at most twice as many.
    pub(crate) fn new(kept: usize, now: Duration) -> Self {
        Self {
            rolling: RollingCapture::new(kept),
            quality: CaptureQuality::default(),
            started: now,
            taken: 0,
            total: TrafficAmount::default(),
            current: TrafficAmount::default(),
            step_ended: now,
            steps: VecDeque::new(),
            bus: BusPresence::There,
        }
    }

    /// Records that the bus disconnected and could not be reached again.
    pub(crate) const fn set_bus_gone(&mut self) {
        self.bus = BusPresence::Gone;
    }

    /// Returns true if the bus disconnected.
    pub(crate) fn is_bus_gone(&self) -> bool {
        self.bus == BusPresence::Gone
    }

    /// Adds the next record. Returns the id of the message, if the record is one.
    pub(crate) fn push(&mut self, record: RecordingRecord<'_>) -> Option<CapturedMessageId> {
        self.quality.update(&record);
        let id = self.rolling.push(record)?;
        self.taken += 1;
        let message = self.rolling.capture().message(id);
        if !message.is_of_recorder() {
            self.total.add(1, message.len().into());
            self.current.add(1, message.len().into());
        }
        Some(id)
    }

    /// Ends a step at the time `now`.
    pub(crate) fn step(&mut self, now: Duration) {
        let length = now.saturating_sub(self.step_ended);
        self.step_ended = now;
        self.steps.truncate(STEPS_KEPT - 1);
        self.steps.push_front(TrafficStep { amount: std::mem::take(&mut self.current), length });
    }

    /// The messages per second in each of the latest steps, the newest first.
    pub(crate) fn history(&self) -> impl ExactSizeIterator<Item = u64> {
        self.steps.iter().map(|step| step.amount.per(step.length).messages.round() as u64)
    }

    /// The average rate over the latest `steps` steps.
    pub(crate) fn rate(&self, steps: usize) -> TrafficRate {
        let mut amount = TrafficAmount::default();
        let mut length = Duration::ZERO;
        for step in self.steps.iter().take(steps) {
            amount.add(step.amount.messages, step.amount.bytes);
            length += step.length;
        }
        amount.per(length)
    }

    /// The total traffic since the start.
    pub(crate) const fn total(&self) -> TrafficAmount {
        self.total
    }

    /// The time since the start.
    pub(crate) const fn uptime(&self, now: Duration) -> Duration {
        now.saturating_sub(self.started)
    }

    /// The latest messages, which are still kept.
    pub(crate) const fn capture(&self) -> &Capture {
        self.rolling.capture()
    }

    /// The messages of the last `span` before `now` that are still kept.
    pub(crate) fn recent(
        &self,
        now: RecordedTime,
        span: Duration,
    ) -> impl Iterator<Item = CapturedMessage<'_>> {
        let capture = self.capture();
        let since = before(now, span);
        let recent = capture.messages().rev().take_while(|message| message.at() >= since).count();
        capture.messages_from(capture.len() - recent)
    }

    /// The part of the last `span` before `now` from which all messages are kept. On a busy bus it
    /// is shorter than `span`.
    pub(crate) fn covered(&self, now: RecordedTime, span: Duration) -> Duration {
        let capture = self.capture();
        let first = capture.messages().next().filter(|_| (capture.len() as u64) < self.taken);
        let kept = first.map(|first| u64::try_from(now.0 - first.at().0).unwrap_or_default());
        kept.map_or(span, |kept| span.min(Duration::from_nanos(kept)))
    }

    /// The capture method and its losses.
    pub(crate) const fn quality(&self) -> CaptureQuality {
        self.quality
    }

    /// A line with the amount of traffic and the quality of the capture.
    pub(crate) fn summary(&self) -> String {
        let kept = self.capture().len() as u64;
        let all = counted(self.total.messages, "message", "messages");
        let span = duration(self.uptime(monotonic()));
        let last = match kept < self.taken {
            true => format!(", of which the last {} are kept", grouped(kept)),
            false => String::new(),
        };
        format!("{all} in {span}{last}, {}", self.quality)
    }
}

/// Subtracts a duration from a recorded time.
pub(crate) fn before(now: RecordedTime, span: Duration) -> RecordedTime {
    RecordedTime(now.0.saturating_sub(i64::try_from(span.as_nanos()).unwrap_or(i64::MAX)))
}

/// The quality of a capture: its method and its losses. Its text is for people:
/// `captured by a monitor, nothing lost`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct CaptureQuality {
    method: CaptureMethod,
    losses: Losses,
}

impl CaptureQuality {
    fn update(&mut self, record: &RecordingRecord<'_>) {
        if let RecordingRecord::Bus(bus) = record {
            self.method = bus.method;
        }
        self.losses.learn(record);
    }
}

impl fmt::Display for CaptureQuality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seen = match self.method {
            CaptureMethod::Trace => "written by the bus",
            CaptureMethod::Monitor => "captured by a monitor",
            CaptureMethod::Eavesdrop => "captured by eavesdropping",
            CaptureMethod::Unknown => "not captured",
        };
        write!(f, "{seen}, {}", self.losses)
    }
}

/// The number of steps that are kept, which is more than the columns of any terminal.
const STEPS_KEPT: usize = 1024;

#[cfg(test)]
mod tests {
    use capture::record::Fact;
    use testkit::recording::TestRecording;

    use super::*;

    /// Returns traffic with these steps: the length of each in milliseconds, and its number of
    /// signals.
    fn traffic(steps: &[(u64, u32)]) -> LiveTraffic {
        let mut now = Duration::from_secs(5);
        let mut traffic = LiveTraffic::new(100, now);
        for &(millis, signals) in steps {
            let mut recording = TestRecording::new();
            for _ in 0..signals {
                recording.signal(":1.5", "/ org.a.Changed", &());
            }
            recording.each(|record| {
                traffic.push(record);
            });
            now += Duration::from_millis(millis);
            traffic.step(now);
        }
        traffic
    }

    #[test]
    fn a_rate_is_the_average_over_the_last_steps() {
        for (steps, expected) in [
            (&[][..], 0.0),
            (&[(1000, 6)], 6.0),
            (&[(1000, 6), (1000, 0)], 3.0),
            (&[(1000, 6), (1000, 0), (1000, 0)], 2.0),
            (&[(1000, 6), (1000, 0), (1000, 0), (1000, 0)], 0.0),
            (&[(1000, 0), (500, 4), (500, 4)], 4.0),
        ] {
            assert_eq!(traffic(steps).rate(3).messages, expected, "{steps:?}");
        }
    }

    #[test]
    fn the_total_includes_messages_no_longer_kept() {
        let traffic = traffic(&[(1000, 150); 10]);
        assert_eq!(traffic.total().messages, 1500);
        assert!(traffic.total().bytes > 1500 * 16);
        assert!(traffic.capture().len() <= 200);
        assert!(traffic.summary().starts_with("1,500 messages in "), "{}", traffic.summary());
    }

    #[test]
    fn a_busy_bus_is_covered_for_a_shorter_time() {
        let mut recording = TestRecording::new();
        let mut traffic = LiveTraffic::new(10, Duration::ZERO);
        for _ in 0..35 {
            recording.wait_ms(100).signal(":1.5", "/ org.a.Changed", &());
        }
        let (now, span) = (recording.now(), Duration::from_secs(3));
        assert_eq!(traffic.covered(now, span), span, "nothing was forgotten");
        recording.each(|record| {
            traffic.push(record);
        });
        let kept = traffic.capture().len();
        assert!((10..=20).contains(&kept), "{kept}");
        let covered = traffic.covered(now, span);
        assert_eq!(covered, Duration::from_millis(100 * (kept as u64 - 1)));
        assert_eq!(traffic.recent(now, covered).count(), kept);
    }

    #[test]
    fn the_history_is_in_messages_per_second() {
        let traffic = traffic(&[(0, 0), (1000, 3), (2000, 8), (1000, 0)]);
        assert_eq!(traffic.history().collect::<Vec<_>>(), [0, 4, 3, 0]);
    }

    #[test]
    fn own_messages_are_not_counted() {
        let mut recording = TestRecording::new();
        recording.fact(Fact::Recorder { unique: ":1.9".into() });
        recording.ask_bus(":1.9", "ListNames", &(), &(vec![":1.9"],));
        recording.signal(":1.5", "/ org.a.Changed", &());
        let mut traffic = LiveTraffic::new(100, Duration::ZERO);
        recording.each(|record| {
            traffic.push(record);
        });
        assert_eq!((traffic.total().messages, traffic.capture().len()), (1, 3));
    }
}
