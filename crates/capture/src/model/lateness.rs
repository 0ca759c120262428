//! Detects messages that the recorder read late, so that their times are wrong.
//!
//! Diligence's recorder reports them. In files of other recorders they are detected by their
//! number: a recorder that did not run for a second then reads the messages of that second within a
//! moment.

use std::ops::Range;
use std::time::Duration;

use super::{Capture, CapturedMessage};
use crate::record::{BusId, CaptureMethod, Late, RecordedClock, RecordedTime, nanos};

/// A group of messages that were read late.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lateness {
    /// The bus of the messages.
    pub bus: BusId,
    /// The time and number of the messages, and their delay.
    pub late: Late,
    /// The evidence by which the delay was detected.
    pub evidence: LateEvidence,
}

/// The ways in which late reading is detected.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LateEvidence {
    /// The recorder reported it.
    Reported,
    /// A burst after a silence had as many messages as usually come in that time, and in it replies
    /// followed their calls faster than usual.
    FastReplies,
    /// A burst after a silence had as many messages as usually come in that time. It is also
    /// possible that the senders were silent.
    Numbers,
}

impl Capture {
    /// Returns the messages that were read late. For a bus whose recorder reports late reading,
    /// only the reports are used.
    pub fn lateness(&self) -> Vec<Lateness> {
        let evidence = LateEvidence::Reported;
        let reported = self.late.iter().map(|&(bus, late)| Lateness { bus, late, evidence });
        let mut found: Vec<_> = reported.collect();
        for bus in 0..self.ends.len() as u16 {
            let bus = BusId(bus);
            let is_reported = found.iter().any(|it| it.bus == bus);
            if !is_reported && self.has_times_of_reading(bus) {
                Backlogs::of(self, bus).find(&mut found);
            }
        }
        found
    }

    /// Returns true if the times of a bus are those at which a recorder read the messages.
    fn has_times_of_reading(&self, bus: BusId) -> bool {
        let bus = self.buses().get(usize::from(bus.0));
        bus.is_none_or(|bus| bus.method != CaptureMethod::Trace && bus.clock == RecordedClock::Wall)
    }

    pub(super) fn learn_late(&mut self, bus: BusId, late: Late) {
        self.late.push((bus, late));
    }
}

impl CapturedMessage<'_> {
    /// Returns by how much its time may be too late, as reported by the recorder.
    pub fn late_by(&self) -> Duration {
        let spans = &self.capture().late;
        if spans.is_empty() {
            return Duration::ZERO;
        }
        let (bus, at) = (self.bus(), self.at());
        // The spans of a bus follow each other without overlap.
        let end = spans.partition_point(|(_, late)| late.resumed <= at);
        let span = spans[..end].iter().rfind(|(of, _)| *of == bus);
        let span = span.filter(|(_, late)| at <= late.until);
        span.map(|(_, late)| late.by()).unwrap_or_default()
    }
}

/// Searches the messages of a bus that waited for the recorder.
struct Backlogs<'c> {
    bus: BusId,
    messages: Vec<CapturedMessage<'c>>,
    /// The usual time until a reply.
    usual: Option<Duration>,
}

impl<'c> Backlogs<'c> {
    fn of(capture: &'c Capture, bus: BusId) -> Self {
        let messages: Vec<_> = capture.messages().filter(|message| message.bus() == bus).collect();
        let usual = median_of_replies(&messages);
        Self { bus, messages, usual }
    }

    fn find(&self, found: &mut Vec<Lateness>) {
        for index in 1..self.messages.len() {
            let silence = self.between(index - 1, index);
            if silence >= SILENCE_MIN {
                found.extend(self.backlog(index, silence));
            }
        }
    }

    /// Detects messages that had waited when `first` was read after a silence.
    fn backlog(&self, first: usize, silence: Duration) -> Option<Lateness> {
        let before = self.within(first - 1, Direction::Back, silence);
        let rate = self.steady_rate(before)?;
        let expected = (rate * silence.as_secs_f64()).round() as usize;
        let burst = self.within(first, Direction::ReadAhead, silence / BURST_PART);
        let usual_in_burst = expected as f64 / f64::from(BURST_PART);
        let waited = (burst.len() as f64 - usual_in_burst).round();
        if expected < MESSAGES_MIN || !is_similar(waited, expected as f64) {
            return None;
        }
        let after = self.within(burst.end, Direction::ReadAhead, silence);
        self.steady_rate(after).filter(|after| is_similar(*after, rate))?;
        let burst = first..(first + waited as usize).min(burst.end);
        let evidence = self.evidence(&burst)?;
        let (resumed, until) = (self.at(first), self.at(burst.end - 1));
        let by_ns = nanos(silence);
        let messages = burst.len() as u64;
        let late = Late { from: self.at(first - 1), resumed, until, by_ns, messages };
        Some(Lateness { bus: self.bus, late, evidence })
    }

    /// Evaluates the times until replies. `None` if they were as long as usual, so that the
    /// messages really were sent in this time.
    fn evidence(&self, burst: &Range<usize>) -> Option<LateEvidence> {
        let inside = median_of_replies(&self.messages[burst.clone()]);
        match inside.zip(self.usual) {
            Some((inside, usual)) if inside * FASTER <= usual => Some(LateEvidence::FastReplies),
            Some(_) => None,
            None => Some(LateEvidence::Numbers),
        }
    }

    /// The messages within a span of time that starts or ends with the message at `from`.
    fn within(&self, from: usize, direction: Direction, span: Duration) -> Range<usize> {
        match direction {
            Direction::Back => {
                let start = self.at(from).before(span);
                let count = self.messages[..=from].iter().rev().take_while(|it| it.at() >= start);
                from + 1 - count.count()..from + 1
            }
            Direction::ReadAhead => {
                let rest = self.messages.get(from..).unwrap_or_default();
                let Some(first) = rest.first() else { return from..from };
                let end = first.at().after(span);
                from..from + rest.iter().take_while(|it| it.at() <= end).count()
            }
        }
    }

    /// The messages per second, if the rate is steady.
    fn steady_rate(&self, range: Range<usize>) -> Option<f64> {
        if range.len() < MESSAGES_MIN {
            return None;
        }
        let (first, last) = (self.at(range.start), self.at(range.end - 1));
        let length = last.since(first).filter(|length| *length >= SILENCE_MIN / 2)?;
        let mut counts = [0_usize; PARTS];
        for index in range.clone() {
            let part = self.between(range.start, index).as_secs_f64() / length.as_secs_f64();
            counts[((part * PARTS as f64) as usize).min(PARTS - 1)] += 1;
        }
        let mean = range.len() / PARTS;
        let is_steady = counts.iter().all(|count| *count >= mean / 2 && *count <= mean * 2);
        is_steady.then(|| range.len() as f64 / length.as_secs_f64())
    }

    fn at(&self, index: usize) -> RecordedTime {
        self.messages[index].at()
    }

    fn between(&self, from: usize, to: usize) -> Duration {
        self.at(to).since(self.at(from)).unwrap_or_default()
    }
}

fn is_similar(one: f64, other: f64) -> bool {
    one <= other * SIMILAR && other <= one * SIMILAR
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Direction {
    Back,
    ReadAhead,
}

/// The median time from a call to its reply, if both are among these messages and there are enough
/// pairs. The bus itself always replies immediately, so its replies are excluded.
fn median_of_replies(messages: &[CapturedMessage<'_>]) -> Option<Duration> {
    let first = messages.first()?.id();
    let replies = messages.iter().filter(|it| it.kind().is_reply() && !it.is_driver_traffic());
    let pairs = replies.filter_map(|reply| {
        let call = reply.partner().filter(|call| call.id() >= first)?;
        reply.at().since(call.at())
    });
    let mut spans: Vec<_> = pairs.collect();
    let middle = spans.len() / 2;
    (spans.len() >= REPLIES_MIN).then(|| *spans.select_nth_unstable(middle).1)
}

/// The minimum silence of a recorder that is detected.
const SILENCE_MIN: Duration = Duration::from_millis(500);

/// Waiting messages are read within this fraction of the silence.
const BURST_PART: u32 = 4;

/// The maximum ratio of two rates that are considered similar. The machine may be faster while the
/// recorder does not run.
const SIMILAR: f64 = 2.0;

/// The minimum number of messages from which a rate is computed.
const MESSAGES_MIN: usize = 50;

/// The number of parts of a period that are compared to find out whether a rate is steady. Each
/// part must have at least half and at most twice the mean.
const PARTS: usize = 5;

/// The minimum number of calls with replies from which the usual time is computed.
const REPLIES_MIN: usize = 20;

/// Replies in a backlog follow their calls at least this many times faster than usual.
const FASTER: u32 = 4;
