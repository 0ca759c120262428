//! Calls that wait for their replies.

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::mem;
use std::num::NonZeroU32;
use std::ops::Range;
use std::time::Duration;

use lane::{CallRoute, LaneKey};
use wire::message::Builder;
use wire::names::{BusName, InterfaceName, MemberName};

use super::incoming::PooledBytes;
use super::serial_map::{SerialHash, SerialMap};
use super::{Ended, Incoming};

/// The handle of a pending call, which selects its reply in
/// [`poll_reply`](super::Core::poll_reply).
///
/// It is the serial of the message, so a call can be found in a recording of the traffic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CallHandle(pub(super) NonZeroU32);

impl CallHandle {
    /// The serial of the call message.
    pub const fn serial(self) -> NonZeroU32 {
        self.0
    }
}

/// A time limit for a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallDeadline {
    /// The time at which the call times out.
    pub at: Duration,
    /// The time between the call and the deadline, for the text of the error.
    pub limit: Duration,
}

impl CallDeadline {
    /// The deadline of a call that is sent now.
    pub(crate) const fn after(now: Duration, limit: Duration) -> Self {
        Self { at: now.saturating_add(limit), limit }
    }
}

/// The method that a call called, for errors.
#[derive(Clone, PartialEq, Eq)]
pub struct CalledMethod {
    /// The destination, the interface and the member, each possibly empty.
    text: PooledBytes,
    /// Offset in bytes of the end of the destination in the text.
    destination_end: usize,
    /// Offset in bytes of the end of the interface in the text.
    interface_end: usize,
}

impl fmt::Debug for CalledMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CalledMethod")
            .field("destination", &self.destination())
            .field("interface", &self.interface())
            .field("member", &self.member())
            .finish()
    }
}

impl CalledMethod {
    /// The method in the header of a call.
    pub fn of(call: &Builder<'_>) -> Self {
        let (interface, member) = call.interface_and_member();
        let destination = call.recipient().map_or("", BusName::as_str);
        let interface = interface.map_or("", InterfaceName::as_str);
        Self::joined([destination, interface, member.map_or("", MemberName::as_str)])
    }

    /// The method that a reply answers. The destination is the connection that replied.
    pub(crate) fn answered_by<D>(
        reply: &Incoming<D>,
        interface: InterfaceName<'_>,
        member: MemberName<'_>,
    ) -> Self {
        let destination = reply.sender().unwrap_or_default();
        Self::joined([destination, interface.as_str(), member.as_str()])
    }

    fn joined([destination, interface, member]: [&str; 3]) -> Self {
        let destination_end = destination.len();
        let interface_end = destination_end + interface.len();
        let text = PooledBytes::joined([destination, interface, member].map(str::as_bytes));
        Self { text, destination_end, interface_end }
    }

    /// The bus name that was called; `None` on a connection to a peer without a bus.
    pub fn destination(&self) -> Option<&str> {
        Some(self.part(0..self.destination_end)).filter(|name| !name.is_empty())
    }

    /// The interface of the method, if the call named it.
    pub fn interface(&self) -> Option<&str> {
        let name = self.part(self.destination_end..self.interface_end);
        Some(name).filter(|name| !name.is_empty())
    }

    /// The name of the method.
    pub fn member(&self) -> &str {
        self.part(self.interface_end..self.text.as_slice().len())
    }

    fn part(&self, part: Range<usize>) -> &str {
        str::from_utf8(&self.text.as_slice()[part]).expect("names are text")
    }
}

/// The reason why a call got no reply (method return or error).
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoReply {
    /// The deadline of the call passed.
    #[error("no reply arrived within {limit:?}")]
    TimedOut {
        /// The time limit of the call.
        limit: Duration,
    },
    /// The connection ended before the reply arrived.
    #[error(transparent)]
    Disconnected(Ended),
}

/// The outcome of a call: a reply (a method return or an error), or the reason why none arrived.
pub type ReplyOutcome<D> = Result<Incoming<D>, NoReply>;

/// All calls whose outcome has not been taken yet.
pub(super) struct CallTable<D> {
    calls: SerialMap<CallProgress<D>>,
    /// The earliest deadline of the waiting calls, or an earlier time: the deadline of a call that
    /// has ended. To find the next one takes long, so that is done when the time has come.
    next_deadline: Option<Duration>,
    /// Number of waiting calls that have a deadline.
    with_deadline: usize,
    late: LateReplies,
}

enum CallProgress<D> {
    Waiting { deadline: Option<CallDeadline>, target: ReplyTarget, route: CallRoute },
    Done(ReplyOutcome<D>),
}

/// The consumer of a reply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum ReplyTarget {
    /// The user of the core takes the reply with `poll_reply`.
    User,
    /// The reply is the owner of this name, for the table of owners.
    Owners(Box<str>),
    /// The reply tells whether a lane to this connection is possible.
    Lane(Box<str>),
    /// The reply shows whether this was restored after the bus went away.
    Restored(RestoredItem),
}

/// What a call restores after the bus went away.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum RestoredItem {
    /// The ownership of a name.
    Name(Box<str>),
    /// A match rule of subscriptions.
    Rule(Box<str>),
}

impl<D> CallTable<D> {
    pub(super) fn new() -> Self {
        Self {
            calls: SerialMap::new(),
            next_deadline: None,
            with_deadline: 0,
            late: LateReplies::default(),
        }
    }

    /// True if a reply with this serial belongs to an earlier call.
    pub(super) fn is_used(&self, serial: NonZeroU32) -> bool {
        self.calls.contains(serial) || self.late.is_expected(serial)
    }

    pub(super) fn add(
        &mut self,
        serial: NonZeroU32,
        deadline: Option<CallDeadline>,
        target: ReplyTarget,
    ) {
        let call = CallProgress::Waiting { deadline, target, route: CallRoute::Bus };
        self.calls.insert(serial, call);
        if let Some(CallDeadline { at, .. }) = deadline {
            self.with_deadline += 1;
            self.next_deadline = earliest(self.next_deadline, Some(at));
        }
    }

    /// The consumer of the reply to this call; `None` if no call with this serial is waiting.
    pub(super) fn target(&self, serial: NonZeroU32) -> Option<&ReplyTarget> {
        match self.calls.get(serial)? {
            CallProgress::Waiting { target, .. } => Some(target),
            CallProgress::Done(_) => None,
        }
    }

    /// Number of calls whose outcome was not taken.
    pub(super) fn len(&self) -> usize {
        self.calls.len()
    }

    /// Records how a call travels.
    pub(super) fn set_route(&mut self, serial: NonZeroU32, new: CallRoute) {
        if let Some(CallProgress::Waiting { route, .. }) = self.calls.get_mut(serial) {
            *route = new;
        }
    }

    /// How a call travels that waits for a reply.
    pub(super) fn route_of(&self, serial: NonZeroU32) -> Option<&CallRoute> {
        match self.calls.get(serial)? {
            CallProgress::Waiting { route, .. } => Some(route),
            CallProgress::Done(_) => None,
        }
    }

    /// Returns the waiting calls that were sent on a lane to `partner`. From now on, they wait for
    /// the bus.
    pub(super) fn take_lane(&mut self, key: LaneKey, partner: &str) -> Vec<u32> {
        let mut serials = Vec::new();
        for (serial, call) in self.calls.iter_mut() {
            if let CallProgress::Waiting { route, .. } = call
                && *route == CallRoute::Lane(key)
            {
                *route = CallRoute::Resumed(partner.into());
                serials.push(serial.get());
            }
        }
        serials
    }

    /// Stores the outcome of a waiting call.
    pub(super) fn finish(&mut self, serial: NonZeroU32, outcome: ReplyOutcome<D>) {
        let Some(call) = self.calls.get_mut(serial) else { return };
        let before = mem::replace(call, CallProgress::Done(outcome));
        self.note_end(&before);
    }

    /// Takes the outcome of a call and removes the call; `None` while it waits.
    pub(super) fn take(&mut self, serial: NonZeroU32) -> Option<ReplyOutcome<D>> {
        let call = self.calls.get(serial).expect("the outcome of a call is taken once");
        if let CallProgress::Waiting { .. } = call {
            return None;
        }
        match self.calls.remove(serial)? {
            CallProgress::Waiting { .. } => None,
            CallProgress::Done(outcome) => Some(outcome),
        }
    }

    /// Removes a call; its reply will be ignored.
    pub(super) fn forget(&mut self, serial: NonZeroU32) {
        let Some(call) = self.calls.remove(serial) else { return };
        self.note_end(&call);
        if let CallProgress::Waiting { target: ReplyTarget::User, .. } = call {
            self.late.expect(serial);
        }
    }

    /// Removes a call whose reply the core has used itself.
    pub(super) fn remove(&mut self, serial: NonZeroU32) {
        if let Some(call) = self.calls.remove(serial) {
            self.note_end(&call);
        }
    }

    /// Counts a reply that no call waits for, if a call has waited for it.
    pub(super) fn note_unexpected_reply(&mut self, serial: NonZeroU32) {
        self.late.arrived(serial);
    }

    /// Number of replies that arrived after their calls had timed out or had been abandoned.
    pub(super) const fn late_replies(&self) -> u64 {
        self.late.count
    }

    /// The next time at which calls may have to [expire](Self::expire).
    pub(super) const fn next_deadline(&self) -> Option<Duration> {
        self.next_deadline
    }

    /// Times out the calls whose deadline is `now` or earlier, and returns true if there are any.
    #[inline]
    pub(super) fn expire(&mut self, now: Duration) -> bool {
        self.next_deadline.is_some_and(|next| next <= now) && self.expire_due(now)
    }

    fn expire_due(&mut self, now: Duration) -> bool {
        let mut expired = Vec::new();
        self.next_deadline = None;
        for (serial, call) in self.calls.iter_mut() {
            let CallProgress::Waiting { deadline: Some(deadline), .. } = *call else { continue };
            let CallDeadline { at, limit } = deadline;
            if at <= now {
                *call = CallProgress::Done(Err(NoReply::TimedOut { limit }));
                expired.push((at, serial));
            } else {
                self.next_deadline = earliest(self.next_deadline, Some(at));
            }
        }
        self.with_deadline -= expired.len();
        expired.sort_unstable();
        expired.iter().for_each(|(_, serial)| self.late.expect(*serial));
        !expired.is_empty()
    }

    /// Fails all waiting calls because the connection ended.
    pub(super) fn end(&mut self, reason: Ended) {
        (self.next_deadline, self.with_deadline) = (None, 0);
        // Nobody takes the replies that are for the core itself.
        self.calls.retain(|call| match call {
            CallProgress::Waiting { target, .. } => *target == ReplyTarget::User,
            CallProgress::Done(_) => true,
        });
        for (_, call) in self.calls.iter_mut() {
            if let CallProgress::Waiting { .. } = call {
                *call = CallProgress::Done(Err(NoReply::Disconnected(reason)));
            }
        }
    }

    /// Records that a call does not wait any more.
    const fn note_end(&mut self, before: &CallProgress<D>) {
        if let CallProgress::Waiting { deadline: Some(_), .. } = before {
            self.with_deadline -= 1;
            if self.with_deadline == 0 {
                self.next_deadline = None;
            }
        }
    }
}

/// The earlier one of two times that may be missing.
pub(crate) fn earliest(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    [one, other].into_iter().flatten().min()
}

/// The calls whose replies are late: they timed out, or were abandoned.
#[derive(Debug, Default)]
struct LateReplies {
    expected: HashSet<NonZeroU32, SerialHash>,
    /// The same serials from the oldest to the newest, and some whose replies have arrived.
    order: VecDeque<NonZeroU32>,
    count: u64,
}

impl LateReplies {
    fn is_expected(&self, serial: NonZeroU32) -> bool {
        self.expected.contains(&serial)
    }

    fn expect(&mut self, serial: NonZeroU32) {
        if self.order.len() >= LATE_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.expected.remove(&oldest);
        }
        self.order.push_back(serial);
        self.expected.insert(serial);
    }

    fn arrived(&mut self, serial: NonZeroU32) {
        if self.expected.remove(&serial) {
            self.count += 1;
        }
    }
}

/// Number of calls without a reply whose late replies are counted, and whose serials are not used
/// again.
const LATE_MAX: usize = 1024;
