//! Messages that their recorder read late, so that their times are wrong.
//!
//! Our recorder reports them. In the files of other recorders they show by their number: a recorder that did
//! not run for a second finds as many messages as come in a second otherwise, and reads them in a moment.

use std::ops::Range;
use std::time::Duration;

use super::{Capture, CapturedMessage};
use crate::record::{BusId, CaptureMethod, Late, RecordedClock, RecordedTime, nanos};

/// Messages that were read late.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lateness {
    /// On which bus.
    pub bus: BusId,
    /// When, which, and how late.
    pub late: Late,
    /// How that is known.
    pub evidence: LateEvidence,
}

/// How it is known that messages were read late.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LateEvidence {
    /// The recorder has reported it.
    Reported,
    /// After a silence there were as many messages as usually come in that time, and their replies followed
    /// the calls faster than at other times.
    FastReplies,
    /// After a silence there were as many messages as usually come in that time. Whoever sends all of them
    /// may have been silent instead.
    Numbers,
}

impl Capture {
    /// The messages that were read late. Buses whose recorder reports such messages are not looked at
    /// further.
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

    /// Whether the messages of a bus have the times at which a recorder read them.
    fn has_times_of_reading(&self, bus: BusId) -> bool {
        let bus = self.buses().get(usize::from(bus.0));
        bus.is_none_or(|bus| bus.method != CaptureMethod::Trace && bus.clock == RecordedClock::Wall)
    }

    pub(super) fn learn_late(&mut self, bus: BusId, late: Late) {
        self.late.push((bus, late));
    }
}

impl CapturedMessage<'_> {
    /// How much too late its time may be, as the recorder has reported.
    pub fn late_by(&self) -> Duration {
        let spans = &self.capture().late;
        if spans.is_empty() {
            return Duration::ZERO;
        }
        let (bus, at) = (self.bus(), self.at());
        // The spans of a bus follow each other.
        let end = spans.partition_point(|(_, late)| late.resumed <= at);
        let span = spans[..end].iter().rfind(|(of, _)| *of == bus);
        let span = span.filter(|(_, late)| at <= late.until);
        span.map(|(_, late)| late.by()).unwrap_or_default()
    }
}

/// Searches the messages of a bus for those that waited for the recorder.
struct Backlogs<'c> {
    bus: BusId,
    messages: Vec<CapturedMessage<'c>>,
    /// How long replies take usually.
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

    /// The messages that waited until `first` was read, after a silence.
    fn backlog(&self, first: usize, silence: Duration) -> Option<Lateness> {
        let before = self.within(first - 1, Direction::Back, silence);
        let rate = self.steady_rate(before)?;
        let expected = (rate * silence.as_secs_f64()).round() as usize;
        let burst = self.within(first, Direction::Ahead, silence / BURST_PART);
        let usual_in_burst = expected as f64 / f64::from(BURST_PART);
        let waited = (burst.len() as f64 - usual_in_burst).round();
        if expected < MESSAGES_MIN || !is_similar(waited, expected as f64) {
            return None;
        }
        let after = self.within(burst.end, Direction::Ahead, silence);
        self.steady_rate(after).filter(|after| is_similar(*after, rate))?;
        let burst = first..(first + waited as usize).min(burst.end);
        let evidence = self.evidence(&burst)?;
        let (resumed, until) = (self.at(first), self.at(burst.end - 1));
        let by_ns = nanos(silence);
        let messages = burst.len() as u64;
        let late = Late { from: self.at(first - 1), resumed, until, by_ns, messages };
        Some(Lateness { bus: self.bus, late, evidence })
    }

    /// What the replies say: `None` if they came as slowly as they usually do, so that the messages were
    /// sent in this time.
    fn evidence(&self, burst: &Range<usize>) -> Option<LateEvidence> {
        let inside = median_of_replies(&self.messages[burst.clone()]);
        match inside.zip(self.usual) {
            Some((inside, usual)) if inside * FASTER <= usual => Some(LateEvidence::FastReplies),
            Some(_) => None,
            None => Some(LateEvidence::Numbers),
        }
    }

    /// The messages that came within a span of time, from this one on or up to this one.
    fn within(&self, from: usize, direction: Direction, span: Duration) -> Range<usize> {
        match direction {
            Direction::Back => {
                let start = self.at(from).before(span);
                let count = self.messages[..=from].iter().rev().take_while(|it| it.at() >= start);
                from + 1 - count.count()..from + 1
            }
            Direction::Ahead => {
                let rest = self.messages.get(from..).unwrap_or_default();
                let Some(first) = rest.first() else { return from..from };
                let end = first.at().after(span);
                from..from + rest.iter().take_while(|it| it.at() <= end).count()
            }
        }
    }

    /// Messages per second, if they come steadily.
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
    Ahead,
}

/// The median time from a call to its reply, where both are among these messages, if there are enough. The
/// replies of the bus itself follow at once in any case.
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

/// A recorder that did not run for less is not looked for.
const SILENCE_MIN: Duration = Duration::from_millis(500);

/// What waited is read in this part of the silence, or faster.
const BURST_PART: u32 = 4;

/// Numbers of messages are similar if one is this many times the other at most: a machine is faster while a
/// recorder does not run.
const SIMILAR: f64 = 2.0;

/// Fewer messages say nothing about how many come usually.
const MESSAGES_MIN: usize = 50;

/// Parts of a time in which messages come steadily: none has half as many as the mean, or twice as many.
const PARTS: usize = 5;

/// Fewer pairs of a call and a reply say nothing about how long replies take.
const REPLIES_MIN: usize = 20;

/// Replies that were read from a backlog follow their calls this many times faster than usual.
const FASTER: u32 = 4;
