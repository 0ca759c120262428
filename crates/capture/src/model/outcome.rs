//! The outcomes of calls, and the waits of their callers.

use std::time::Duration;

use wire::message::MessageType;

use super::row::Health;
use super::{Capture, CapturedMessage, MessageBuffer};
use crate::record::{BusId, RecordedClock, RecordedTime};

worded_enum! {
    /// The outcome of a call. Each call has exactly one outcome.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    pub enum CallOutcome {
        /// The callee sent a method return.
        Returned = "returned",
        /// The reply is an error that does not report a timeout or a callee that disconnected.
        Failed = "failed",
        /// The bus replied in the callee's place, because the callee had not replied in time.
        TimedOut = "timed out",
        /// The bus replied in the callee's place, because the callee had disconnected.
        CalleeLeft = "callee left",
        /// The caller disconnected before there was a reply.
        CallerLeft = "caller left",
        /// The caller was still waiting when the recording ended.
        Waiting = "waiting",
        /// The messages that would show the outcome were cut: the header of this call, the header
        /// of a reply that may belong to it, the text of a NoReply error, or the signals about
        /// connections that leave.
        Unknown = "unknown",
        /// The caller expects no reply, and the recording has none.
        NoReplyExpected = "no reply expected",
    }
}

impl CallOutcome {
    /// Returns true if the caller expected a reply and received none, not even an error of the bus.
    pub const fn is_unanswered(self) -> bool {
        matches!(self, Self::CallerLeft | Self::Waiting)
    }
}

impl<'c> CapturedMessage<'c> {
    /// Returns the outcome of the call that this message is or answers; `None` for signals, and for
    /// replies whose call is not in the recording.
    pub fn outcome(&self) -> Option<CallOutcome> {
        let call = self.call()?;
        let left = call.caller_left();
        Some(match call.partner() {
            Some(reply) if left.is_some_and(|left| left < reply.at()) => CallOutcome::CallerLeft,
            Some(reply) => reply.outcome_of_reply(&call),
            None if !call.expects_reply() => CallOutcome::NoReplyExpected,
            None if call.lost_its_reply() => CallOutcome::Unknown,
            None if left.is_some() => CallOutcome::CallerLeft,
            None if call.capture().hides_departures(call.bus()) => CallOutcome::Unknown,
            None => CallOutcome::Waiting,
        })
    }

    /// Returns how long the caller waited for the call that this message is or answers: until it
    /// had the reply, until it disconnected, or until the recording ended. `None` if that is
    /// unknown, if the caller expected no reply, or if the clock was set back meanwhile.
    pub fn waited(&self) -> Option<Duration> {
        let call = self.call()?;
        let until = match call.outcome()? {
            CallOutcome::CallerLeft => call.caller_left()?,
            CallOutcome::Waiting => call.capture().end_of(call.bus()),
            CallOutcome::Unknown | CallOutcome::NoReplyExpected => return None,
            _ => return call.duration(),
        };
        until.since(call.at()).filter(|_| call.has_time())
    }

    /// Returns the time from the call to its reply, for either of them. It begins when the bus
    /// received the call and ends when it had written the reply to the caller, if the bus itself
    /// recorded that; otherwise it is the time between reading the two. `None` if the caller
    /// disconnected before the reply, if the clock was set back between the two, or if the recorder
    /// reports that it read one of them so late that the duration is wrong by more than a tenth.
    pub fn duration(&self) -> Option<Duration> {
        let call = self.call()?;
        let reply = call.partner()?;
        if !call.has_time() || call.caller_left().is_some_and(|left| left < reply.at()) {
            return None;
        }
        let duration = reply.written_at().since(call.at())?;
        let wrong_by = call.late_by().max(reply.late_by());
        (wrong_by.saturating_mul(UNCERTAIN_PART) <= duration).then_some(duration)
    }

    /// Returns when the bus had written the message to its destination, if the bus recorded that;
    /// otherwise the time of the message.
    pub fn written_at(&self) -> RecordedTime {
        let copies = self.deliveries().unwrap_or_default().iter();
        let addressed = copies.filter(|copy| copy.rules == 0).find_map(|copy| copy.written_after);
        self.at().after(addressed.unwrap_or_default())
    }

    /// The time when the caller disconnected, if it did so after it had sent this call.
    fn caller_left(&self) -> Option<RecordedTime> {
        let left = self.capture().directory().peer(self.from()?).left?;
        (self.at() <= left).then_some(left)
    }

    /// Returns true if messages of this bus have times.
    fn has_time(&self) -> bool {
        let bus = self.capture().buses().get(usize::from(self.bus().0));
        bus.is_none_or(|bus| bus.clock != RecordedClock::Absent)
    }

    /// Returns true if a cut header may be the reason that no reply was found.
    fn lost_its_reply(&self) -> bool {
        self.health() == Health::HeaderCut || self.capture().cut.of(self.bus()).replies > 0
    }

    /// Returns true if a cut header may be the reason that no call was found for this reply.
    pub(crate) fn lost_its_call(&self) -> bool {
        self.health() == Health::HeaderCut || self.capture().cut.of(self.bus()).calls > 0
    }

    fn outcome_of_reply(&self, call: &Self) -> CallOutcome {
        if self.kind() != MessageType::Error {
            return CallOutcome::Returned;
        }
        let is_sender_cut = self.health() == Health::HeaderCut && self.sender_id().is_none();
        match self.member() {
            NO_REPLY | TIMEOUT | TIMED_OUT | "" if is_sender_cut => CallOutcome::Unknown,
            // A service may forward such an error that it got for its own call. Then the service
            // has replied.
            _ if self.sender_id() != self.capture().driver() => CallOutcome::Failed,
            NO_REPLY => self.cause_of_no_reply(call),
            TIMEOUT | TIMED_OUT => CallOutcome::TimedOut,
            _ => CallOutcome::Failed,
        }
    }

    /// All buses send the same error for both causes. The causes differ in the text of the error;
    /// if it was not kept, in whether the recording shows that the callee left.
    fn cause_of_no_reply(&self, call: &Self) -> CallOutcome {
        let mut buffer = MessageBuffer::default();
        let message = self.capture().read_message(self.id(), &mut buffer).ok().flatten();
        let text = message.as_ref().and_then(|message| message.read::<(&str,)>().ok());
        match text {
            Some((text,)) if text.contains("disconnected") => CallOutcome::CalleeLeft,
            Some((text,)) if text.contains("timeout") || text.contains("timed out") => {
                CallOutcome::TimedOut
            }
            _ => self.cause_by_departure(call),
        }
    }

    fn cause_by_departure(&self, call: &Self) -> CallOutcome {
        let capture = self.capture();
        let left = call.to().and_then(|callee| capture.directory().peer(callee).left);
        match left {
            Some(left) if left <= self.at().after(READING) => CallOutcome::CalleeLeft,
            _ if capture.hides_departures(call.bus()) => CallOutcome::Unknown,
            _ => CallOutcome::TimedOut,
        }
    }
}

impl Capture {
    /// Returns the time of the last record of a bus.
    pub fn end_of(&self, bus: BusId) -> RecordedTime {
        self.ends.get(usize::from(bus.0)).copied().unwrap_or_default()
    }

    /// Returns true if the recorder cut headers of this bus, so that calls and replies were not
    /// paired.
    pub(crate) fn has_cut_headers(&self, bus: BusId) -> bool {
        let cut = self.cut.of(bus);
        cut.calls > 0 || cut.replies > 0
    }

    /// Returns true if connections may have left a bus unnoticed: signals that would show it were
    /// cut, and the recorder did not report their content.
    pub(crate) fn hides_departures(&self, bus: BusId) -> bool {
        self.cut.of(bus).hides_departures && !self.directory.has_recorder_on(bus)
    }

    /// Extends the recording of a bus to at least this time.
    pub(super) fn extend_to(&mut self, bus: BusId, at: RecordedTime) {
        let index = usize::from(bus.0);
        if self.ends.len() <= index {
            self.ends.resize(index + 1, RecordedTime(i64::MIN));
        }
        self.ends[index] = self.ends[index].max(at);
    }
}

/// A duration is unknown if more than one part in this many, a tenth, may be wrong.
const UNCERTAIN_PART: u32 = 10;

/// The maximum time between reading the error and the signal about the same departure.
const READING: Duration = Duration::from_millis(100);

const NO_REPLY: &str = "org.freedesktop.DBus.Error.NoReply";
const TIMEOUT: &str = "org.freedesktop.DBus.Error.Timeout";
const TIMED_OUT: &str = "org.freedesktop.DBus.Error.TimedOut";
