//! Whether the recorder reads messages when they come.
//!
//! The times of a monitor's messages are those of reading. If this process is stopped, gets no processor or
//! waits for a disk, the bus goes on, and the messages that wait meanwhile get times that are too late. How
//! late shows in four ways:
//!
//! - the recorder looks at the bus later than it was going to;
//! - much time passes from one message to the next of one look;
//! - the kernel says that this thread waited for a processor;
//! - there was something to read for a long time without a break.
//!
//! In each case a probe finds out when everything that waited has been read: a call to the bus, whose copy
//! comes back behind all that the bus has routed before it.

use std::time::Duration;

use capture::record::{Fact, Late, RawMessage, nanos};
use client::wire::Message;
use client::wire::message::MessageType;
use sys::run_delay::RunDelay;

use crate::clock::RecordingClock;
use crate::source::Drained;

/// Measures how late the messages of one bus are read. All times are of the monotonic clock.
#[derive(Debug)]
pub(crate) struct Punctuality {
    /// Whether the copy of a probe can be seen.
    probing: Probing,
    /// When the recorder did something last.
    alive: Duration,
    /// When there was nothing to read, last.
    empty: Duration,
    delay: RunDelay,
    backlog: Option<ReadingBacklog>,
}

/// How it is found out that everything that waited was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Probing {
    /// By the copy of a call that this connection sends.
    By(String),
    /// The recorder gets only some messages, and not this one: by a look that finds nothing.
    Impossible,
}

/// Messages that had to wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct ReadingBacklog {
    /// The recorder kept up until then, as far as it knows.
    from: Duration,
    /// When it went on to read.
    resumed: Duration,
    /// How long a message has waited at most.
    by: Duration,
    /// How many were read since.
    messages: u64,
    probe: Probe,
}

/// A call whose copy comes behind everything that the bus has routed before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Probe {
    /// It should be sent.
    Wanted,
    /// It was sent at this time.
    Sent(Duration),
    /// Its copy came soon after it was sent.
    Punctual,
}

impl Punctuality {
    pub(crate) fn new(probing: Probing, now: Duration) -> Self {
        Self { probing, alive: now, empty: now, delay: RunDelay::new(now), backlog: None }
    }

    /// The recorder looks at the bus, which it was going to do until `due`.
    pub(crate) fn begin(&mut self, now: Duration, due: Duration) {
        let waited = self.delay.since_last(now);
        if now >= due + LATE_MIN {
            self.was_away(self.alive, now);
        } else if waited >= LATE_MIN {
            self.was_away(now.saturating_sub(waited), now);
        }
        self.alive = now;
    }

    /// The recorder has read a message.
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

    /// The recorder has taken its share. Says whether there were messages that waited, once they are all
    /// read.
    pub(crate) fn end(
        &mut self,
        now: Duration,
        drained: Drained,
        clock: RecordingClock,
    ) -> Option<Fact> {
        self.alive = now;
        let is_empty = drained == Drained::Empty;
        match self.backlog {
            None if is_empty => self.empty = now,
            None if now.saturating_sub(self.empty) >= LATE_MIN => {
                self.was_away(self.empty, self.empty);
            }
            None => {}
            // Nothing came while the recorder was away.
            Some(backlog) if is_empty && backlog.messages == 0 => self.backlog = None,
            Some(backlog) if backlog.probe == Probe::Punctual => return self.finish(now, clock),
            Some(_) if is_empty && self.probing == Probing::Impossible => {
                return self.finish(now, clock);
            }
            Some(_) => {}
        }
        None
    }

    /// Whether a probe should be sent now. It is sent then.
    pub(crate) fn wants_probe(&mut self, now: Duration) -> bool {
        if self.probing == Probing::Impossible {
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

    /// All that has come is read, or nothing more will be: reports the messages that waited.
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
        let Probing::By(unique) = &self.probing else { return false };
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

/// The method of the bus that a probe calls: of `org.freedesktop.DBus.Peer`.
pub(crate) const PROBE: &str = "Ping";

/// A probe is shorter than so many bytes.
const PROBE_MAX: usize = 512;

/// Messages that waited for less are not reported: a process that shares its processor waits for that long
/// at times, and people feel only longer waits.
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
        Punctuality::new(Probing::Impossible, ms(0))
    }

    #[test]
    fn a_recorder_that_looks_when_it_was_going_to_is_not_late() {
        let mut it = punctuality();
        let clock = RecordingClock::start();
        for turn in 1..100 {
            it.begin(ms(turn * 200), ms(turn * 200));
            it.see(&raw(b"x"), ms(turn * 200));
            assert_eq!(late(it.end(ms(turn * 200 + 1), Drained::Empty, clock)), None);
        }
    }

    #[test]
    fn messages_that_waited_while_the_recorder_was_stopped_are_counted() {
        let mut it = punctuality();
        let clock = RecordingClock::start();
        it.begin(ms(2200), ms(200));
        (0..5).for_each(|_| it.see(&raw(b"x"), ms(2200)));
        assert_eq!(late(it.end(ms(2201), Drained::More, clock)), None, "not all is read");
        it.begin(ms(2201), ms(2201));
        (0..2).for_each(|_| it.see(&raw(b"x"), ms(2201)));
        assert_eq!(late(it.end(ms(2202), Drained::Empty, clock)), Some((2200, 7)));
        it.begin(ms(2300), ms(2402));
        it.see(&raw(b"x"), ms(2300));
        assert_eq!(late(it.end(ms(2301), Drained::Empty, clock)), None, "it keeps up again");
    }

    #[test]
    fn nothing_is_late_if_nothing_came_while_the_recorder_was_stopped() {
        let mut it = punctuality();
        let clock = RecordingClock::start();
        it.begin(ms(5000), ms(200));
        assert_eq!(late(it.end(ms(5001), Drained::Empty, clock)), None);
        assert_eq!(late(it.finish(ms(5002), clock)), None);
    }

    #[test]
    fn a_stop_between_two_messages_of_one_look_counts() {
        let mut it = punctuality();
        let clock = RecordingClock::start();
        it.begin(ms(10), ms(200));
        it.see(&raw(b"x"), ms(10));
        it.see(&raw(b"x"), ms(510));
        assert_eq!(late(it.end(ms(511), Drained::Empty, clock)), Some((500, 1)));
    }

    #[test]
    fn the_copy_of_a_probe_says_when_everything_was_read() {
        use wire::message::Builder;
        let names = "valid names";
        let path = wire::names::ObjectPath::new("/").expect(names);
        let member = wire::names::MemberName::new(PROBE).expect(names);
        let sender = wire::names::BusName::new(":1.7").expect(names);
        let mut bytes = Vec::new();
        let probe = Builder::method_call(path, member).sender(sender);
        probe.write(&mut bytes, NonZeroU32::MIN, &()).expect("a small message");
        let mut it = Punctuality::new(Probing::By(":1.7".into()), ms(0));
        let clock = RecordingClock::start();
        it.begin(ms(1000), ms(200));
        it.see(&raw(b"x"), ms(1000));
        assert_eq!(late(it.end(ms(1001), Drained::Empty, clock)), None, "the bus may have more");
        assert!(it.wants_probe(ms(1001)) && !it.wants_probe(ms(1001)), "one at a time");
        it.begin(ms(1200), ms(1201));
        (0..3).for_each(|_| it.see(&raw(b"x"), ms(1200)));
        it.see(&raw(&bytes), ms(1201));
        assert_eq!(late(it.end(ms(1202), Drained::Empty, clock)), None, "that was late too");
        assert!(it.wants_probe(ms(1202)));
        it.begin(ms(1203), ms(1400));
        it.see(&raw(&bytes), ms(1203));
        assert_eq!(late(it.end(ms(1204), Drained::Empty, clock)), Some((1000, 4)));
    }
}
