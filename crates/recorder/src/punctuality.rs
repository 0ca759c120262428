//! Detects whether the recorder reads messages as soon as they arrive.
//!
//! A monitor stamps messages when it reads them. If this process is stopped, gets no
//! processor or waits for a disk, the bus continues, and the waiting messages get times that are
//! too late. The delay is detected in four ways:
//!
//! - the recorder checks the bus later than it was due to;
//! - much time passes between two messages that are read in one turn;
//! - the kernel reports that this thread waited for a processor;
//! - there was something to read for a long time without a break.
//!
//! In each case a probe shows when all waiting messages have been read: a call to the bus, whose
//! copy follows everything that the bus routed before it.

use std::time::Duration;

use capture::record::{Fact, Late, RawMessage, nanos};
use client::wire::Message;
use client::wire::message::MessageType;
use sys::run_delay::RunDelay;

use crate::clock::RecordingClock;
use crate::source::SourceState;

/// Measures how late the messages of one bus are read. All times are of the monotonic clock.
#[derive(Debug)]
pub(crate) struct Punctuality {
    /// The way to detect that all waiting messages were read.
    probing: ProbeMethod,
    /// The time when the recorder was last known to run.
    alive: Duration,
    /// The time when there was last nothing to read.
    empty: Duration,
    delay: RunDelay,
    backlog: Option<ReadingBacklog>,
}

/// The way in which the recorder detects that all waiting messages have been read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ProbeMethod {
    /// By the copy of a call that this connection sends.
    By(String),
    /// By a turn after which the queue is empty. The recorder gets only some messages, and no
    /// copy of the probe.
    Impossible,
}

/// Messages that waited to be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct ReadingBacklog {
    /// The last time at which the recorder is known to have kept up.
    from: Duration,
    /// The time when the recorder resumed reading.
    resumed: Duration,
    /// The maximum time that a message waited.
    by: Duration,
    /// The number of messages read since then.
    messages: u64,
    probe: Probe,
}

/// A call whose copy follows everything that the bus routed before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Probe {
    /// The probe should be sent.
    Wanted,
    /// The probe was sent at this time.
    Sent(Duration),
    /// The copy of the probe arrived soon after it was sent.
    Punctual,
}

impl Punctuality {
    pub(crate) fn new(probing: ProbeMethod, now: Duration) -> Self {
        Self { probing, alive: now, empty: now, delay: RunDelay::new(now), backlog: None }
    }

    /// Starts a turn of reading, which was due by `due`.
    pub(crate) fn begin(&mut self, now: Duration, due: Duration) {
        let waited = self.delay.since_last(now);
        if now >= due + LATE_MIN {
            self.was_away(self.alive, now);
        } else if waited >= LATE_MIN {
            self.was_away(now.saturating_sub(waited), now);
        }
        self.alive = now;
    }

    /// Notes that a message was read.
    pub(crate) fn see(&mut self, message: &RawMessage<'_>, now: Duration) {
        if now.saturating_sub(self.alive) >= LATE_MIN {
            self.was_away(self.alive, now);
        }
        self.alive = now;
        let is_probe = self.is_probe(message);
        let Some(backlog) = &mut self.backlog else { return };
        match backlog.probe {
            Probe::Sent(sent) if is_probe => {
                let waited = now.saturating_sub(sent);
                backlog.by = backlog.by.max(waited);
                backlog.probe = if waited < LATE_MIN { Probe::Punctual } else { Probe::Wanted };
            }
            Probe::Punctual => {}
            Probe::Wanted | Probe::Sent(_) => backlog.messages += 1,
        }
    }

    /// Ends a turn of reading. Returns the fact about messages that waited, once all of them are
    /// read.
    pub(crate) fn end(
        &mut self,
        now: Duration,
        drained: SourceState,
        clock: RecordingClock,
    ) -> Option<Fact> {
        self.alive = now;
        let is_empty = drained == SourceState::Empty;
        match self.backlog {
            None if is_empty => self.empty = now,
            None if now.saturating_sub(self.empty) >= LATE_MIN => {
                self.was_away(self.empty, self.empty);
            }
            None => {}
            // No messages arrived during the delay.
            Some(backlog) if is_empty && backlog.messages == 0 => self.backlog = None,
            Some(backlog) if backlog.probe == Probe::Punctual => return self.finish(now, clock),
            Some(_) if is_empty && self.probing == ProbeMethod::Impossible => {
                return self.finish(now, clock);
            }
            Some(_) => {}
        }
        None
    }

    /// Returns true if a probe must be sent now. It is then considered sent.
    pub(crate) fn wants_probe(&mut self, now: Duration) -> bool {
        if self.probing == ProbeMethod::Impossible {
            return false;
        }
        let Some(backlog) = self.backlog.as_mut().filter(|it| it.probe == Probe::Wanted) else {
            return false;
        };
        backlog.probe = Probe::Sent(now);
        true
    }

    fn was_away(&mut self, from: Duration, now: Duration) {
        let by = now.saturating_sub(from);
        match &mut self.backlog {
            Some(backlog) => backlog.by = backlog.by.max(by),
            None => {
                let probe = Probe::Wanted;
                self.backlog = Some(ReadingBacklog { from, resumed: now, by, messages: 0, probe });
            }
        }
    }

    /// Reports the messages that waited, when all have been read or reading ends.
    pub(crate) fn finish(&mut self, now: Duration, clock: RecordingClock) -> Option<Fact> {
        self.empty = now;
        let backlog = self.backlog.take()?;
        let late = Late {
            from: clock.at(backlog.from),
            resumed: clock.at(backlog.resumed),
            until: clock.at(now),
            by_ns: nanos(backlog.by),
            messages: backlog.messages,
        };
        (backlog.messages > 0 && backlog.by >= LATE_MIN).then_some(Fact::Late(late))
    }

    fn is_probe(&self, raw: &RawMessage<'_>) -> bool {
        let ProbeMethod::By(unique) = &self.probing else { return false };
        let is_under_way = |backlog: ReadingBacklog| matches!(backlog.probe, Probe::Sent(_));
        if !self.backlog.is_some_and(is_under_way) || raw.bytes.len() > PROBE_MAX {
            return false;
        }
        Message::parse(raw.bytes).is_ok_and(|message| {
            message.message_type() == MessageType::MethodCall
                && message.sender().is_some_and(|sender| sender.as_str() == unique)
                && message.member().is_some_and(|member| member.as_str() == PROBE)
        })
    }
}

/// The method of `org.freedesktop.DBus.Peer` that a probe calls.
pub(crate) const PROBE: &str = "Ping";

/// The maximum length of a probe in bytes.
const PROBE_MAX: usize = 512;

/// The minimum delay that is reported. A process that shares its processor is often delayed for
/// less, and only longer delays matter to people.
const LATE_MIN: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use capture::record::{BusId, RecordedTime};

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn raw(bytes: &[u8]) -> RawMessage<'_> {
        let (at, bus, len) = (RecordedTime(0), BusId(0), bytes.len() as u32);
        RawMessage { at, bus, bytes, len, place: None, trace: None }
    }

    fn late(fact: Option<Fact>) -> Option<(u64, u64)> {
        match fact {
            Some(Fact::Late(late)) => Some((late.by_ns / 1_000_000, late.messages)),
            _ => None,
        }
    }

    fn punctuality() -> Punctuality {
        Punctuality::new(ProbeMethod::Impossible, ms(0))
    }

    #[test]
    fn messages_read_when_due_are_not_late() {
        let mut it = punctuality();
        let clock = RecordingClock::start();
        for turn in 1..100 {
            it.begin(ms(turn * 200), ms(turn * 200));
            it.see(&raw(b"x"), ms(turn * 200));
            assert_eq!(late(it.end(ms(turn * 200 + 1), SourceState::Empty, clock)), None);
        }
    }

    #[test]
    fn late_messages_are_counted_after_a_stop() {
        let mut it = punctuality();
        let clock = RecordingClock::start();
        it.begin(ms(2200), ms(200));
        (0..5).for_each(|_| it.see(&raw(b"x"), ms(2200)));
        assert_eq!(late(it.end(ms(2201), SourceState::More, clock)), None, "not all is read");
        it.begin(ms(2201), ms(2201));
        (0..2).for_each(|_| it.see(&raw(b"x"), ms(2201)));
        assert_eq!(late(it.end(ms(2202), SourceState::Empty, clock)), Some((2200, 7)));
        it.begin(ms(2300), ms(2402));
        it.see(&raw(b"x"), ms(2300));
        assert_eq!(late(it.end(ms(2301), SourceState::Empty, clock)), None, "it keeps up again");
    }

    #[test]
    fn stops_without_messages_make_no_messages_late() {
        let mut it = punctuality();
        let clock = RecordingClock::start();
        it.begin(ms(5000), ms(200));
        assert_eq!(late(it.end(ms(5001), SourceState::Empty, clock)), None);
        assert_eq!(late(it.finish(ms(5002), clock)), None);
    }

    #[test]
    fn messages_are_late_after_a_stop_within_a_turn() {
        let mut it = punctuality();
        let clock = RecordingClock::start();
        it.begin(ms(10), ms(200));
        it.see(&raw(b"x"), ms(10));
        it.see(&raw(b"x"), ms(510));
        assert_eq!(late(it.end(ms(511), SourceState::Empty, clock)), Some((500, 1)));
    }

    #[test]
    fn late_reading_ends_when_the_copy_of_a_probe_is_read() {
        use wire::message::Builder;
        let names = "valid names";
        let path = wire::names::ObjectPath::new("/").expect(names);
        let member = wire::names::MemberName::new(PROBE).expect(names);
        let sender = wire::names::BusName::new(":1.7").expect(names);
        let mut bytes = Vec::new();
        let probe = Builder::method_call(path, member).sender(sender);
        probe.write(&mut bytes, NonZeroU32::MIN, &()).expect("a small message");
        let mut it = Punctuality::new(ProbeMethod::By(":1.7".into()), ms(0));
        let clock = RecordingClock::start();
        it.begin(ms(1000), ms(200));
        it.see(&raw(b"x"), ms(1000));
        assert_eq!(
            late(it.end(ms(1001), SourceState::Empty, clock)),
            None,
            "the bus may have more"
        );
        assert!(it.wants_probe(ms(1001)) && !it.wants_probe(ms(1001)), "one at a time");
        it.begin(ms(1200), ms(1201));
        (0..3).for_each(|_| it.see(&raw(b"x"), ms(1200)));
        it.see(&raw(&bytes), ms(1201));
        assert_eq!(late(it.end(ms(1202), SourceState::Empty, clock)), None, "that was late too");
        assert!(it.wants_probe(ms(1202)));
        it.begin(ms(1203), ms(1400));
        it.see(&raw(&bytes), ms(1203));
        assert_eq!(late(it.end(ms(1204), SourceState::Empty, clock)), Some((1000, 4)));
    }
}
