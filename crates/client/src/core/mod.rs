//! The state of one connection, without input or output.
//!
//! [`Core`] does not move bytes or read the clock. Its user does: a blocking front end, a front
//! end for an async runtime, or a simulator. The user passes in received bytes and sends the queued
//! ones:
//!
//! ```text
//!            commands: send, call, subscribe, unsubscribe, forget
//!                              │
//!                              v
//!   handle_received ──> ┌─────────────┐ ──> poll_transmit
//!   handle_timeout  ──> │    Core     │ ──> poll_message: files the next received message,
//!   handle_ended    ──> └─────────────┘     and returns its disposition; then one of
//!                                             poll_reply     for a call
//!                                             poll_signal    for a subscription
//!                                             poll_request   for a call by a peer
//! ```
//!
//! The descriptor type `D` is only passed through: file descriptors in a program, numbers in a
//! test. Times are durations since any fixed moment, the same for all methods.
//!
//! ```
//! use diligence_client::core::{Core, CoreConfig, MessageDisposition};
//! use diligence_client::wire::message::Builder;
//! use diligence_client::wire::names::{MemberName, ObjectPath};
//! use std::num::NonZeroU32;
//!
//! let mut core = Core::<()>::new(CoreConfig::default());
//! let ping = Builder::method_call(ObjectPath::ROOT, MemberName::literal("Ping"));
//! let call = core.call(&ping, &(), Vec::new(), None)?;
//! let sent = core.poll_transmit().expect("the call").bytes.len();
//! core.transmitted(sent);
//!
//! let mut reply = Vec::new();
//! Builder::method_return(call.serial()).write(&mut reply, NonZeroU32::MIN, &("pong",))?;
//! core.space().put(&reply);
//! core.handle_received(reply.len(), []);
//! assert_eq!(core.poll_message(), Some(MessageDisposition::Reply(call)));
//! let reply = core.poll_reply(call).expect("the reply arrived").expect("no timeout");
//! assert_eq!(reply.read::<(&str,)>()?, ("pong",));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod body;
mod calls;
mod ended;
mod filing;
mod handshake;
mod incoming;
mod known_headers;
mod lanes;
mod outgoing;
mod owners;
mod receiver;
mod restoration;
mod rules;
mod serial_map;
mod server;
mod subscriptions;

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::time::Duration;

pub(crate) use body::EncodedBody;
pub use body::{MessageBody, Values};
pub(crate) use calls::earliest;
pub use calls::{CallDeadline, CallHandle, CalledMethod, NoReply, ReplyOutcome};
use calls::{CallTable, ReplyTarget};
pub use ended::{Ended, SendError, SystemError};
pub use handshake::{
    ClientHandshake, Established, HandshakeConfig, HandshakeError, HandshakeStage,
};
pub(crate) use incoming::remote_text;
pub use incoming::{Incoming, RemoteError};
pub(crate) use known_headers::KnownHeaderId;
use known_headers::KnownHeaders;
pub(crate) use lanes::LANES_MAX;
use lanes::LaneTraffic;
pub use lanes::{LaneTransmit, LaneUse, OpenedLane};
use outgoing::OutgoingQueue;
pub use outgoing::Transmit;
use owners::WatchedOwners;
pub use receiver::Receiver;
pub use restoration::Reconnection;
use restoration::Restoration;
use rules::{RuleUsers, Users};
pub use server::{ServerHandshake, ServerStage};
use subscriptions::SubscriptionIndex;
pub use subscriptions::{SignalDelivery, SubscriptionId};
use wire::framer::{FramerLimits, Space};
use wire::match_rule::MatchRule;
use wire::message::{Builder, Flags};
use wire::sasl::FdPassing;

use crate::driver;

/// The limits of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CoreConfig {
    /// Limits of one message.
    pub messages: FramerLimits,
    /// Maximum number of queued signals per subscription. More signals are dropped, and
    /// [`SignalDelivery::Lost`] reports their number.
    pub signals_max: usize,
    /// Maximum number of queued calls by peers. More calls get the error `LimitsExceeded`.
    pub requests_max: usize,
    /// Whether the two sides negotiated descriptor passing.
    pub fds: FdPassing,
    /// The program at the other end.
    pub other_end: OtherEnd,
}

/// The kind of program at the other end of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OtherEnd {
    /// A bus: it has to be greeted with `Hello`, gives names, and needs match rules.
    Bus,
    /// Another program, which gets all signals without match rules.
    Peer,
}

impl Default for CoreConfig {
    /// The limits of the protocol, 16384 queued signals per subscription, 16384 queued calls, no
    /// descriptors, and a bus at the other end.
    fn default() -> Self {
        Self {
            messages: FramerLimits::default(),
            signals_max: 16 * 1024,
            requests_max: 16 * 1024,
            fds: FdPassing::Off,
            other_end: OtherEnd::Bus,
        }
    }
}

/// What [`Core::poll_message`] did with a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MessageDisposition {
    /// The message is the reply to this call; take it with [`Core::poll_reply`].
    Reply(CallHandle),
    /// The message is a signal that subscriptions selected; take it with [`Core::poll_signal`].
    Signal {
        /// Number of these subscriptions, at least 1.
        subscriptions: usize,
    },
    /// The message is a call by a peer; take it with [`Core::poll_request`].
    Request,
    /// The connection was restored after the bus went away; take the report with
    /// [`Core::poll_reconnection`].
    Reconnected,
    /// The message has no recipient in this program and was dropped.
    Ignored,
}

/// The state of one connection.
///
/// The methods are in four groups:
///
/// - queries: [`fds`](Self::fds), [`ended`](Self::ended), [`next_timeout`](Self::next_timeout),
///   [`counters`](Self::counters), [`waiting_len`](Self::waiting_len);
/// - commands, which can queue bytes to send: [`send`](Self::send), [`call`](Self::call),
///   [`forget`](Self::forget), [`subscribe`](Self::subscribe), [`unsubscribe`](Self::unsubscribe);
/// - input: [`handle_received`](Self::handle_received) after reading into [`space`](Self::space),
///   [`transmitted`](Self::transmitted), [`handle_timeout`](Self::handle_timeout),
///   [`handle_ended`](Self::handle_ended), or [`interrupt`](Self::interrupt) and
///   [`resume`](Self::resume);
/// - output: [`poll_transmit`](Self::poll_transmit), [`poll_message`](Self::poll_message), and the
///   `poll_` methods for the filed messages.
///
/// Before reading again, call `poll_message` until it returns `None`. The times passed in must not
/// decrease.
pub struct Core<D> {
    config: CoreConfig,
    ended: Option<Ended>,
    next_serial: NonZeroU32,

    /// `None` while a reader has it.
    receiver: Option<Box<Receiver<D>>>,
    known_headers: KnownHeaders,
    outgoing: OutgoingQueue<D>,

    calls: CallTable<D>,
    requests: VecDeque<Incoming<D>>,
    subscriptions: SubscriptionIndex<D>,
    /// The subscriptions for the current signal; a field so that its memory is reused.
    selected: Vec<SubscriptionId>,
    rules: RuleUsers,
    owners: WatchedOwners,
    lanes: LaneTraffic<D>,
    refused_calls: u64,
    foreign_replies: u64,
    restoration: Restoration,
    /// Number of interruptions so far.
    epoch: u32,
}

/// The reason why a call failed.
pub(crate) enum FailureCause {
    ErrorReply(RemoteError),
    NoReply(NoReply),
}

/// How often a connection dropped or refused a message, since it was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct ConnectionCounters {
    /// Replies that arrived after their calls had timed out or had been abandoned. They were
    /// discarded.
    pub late_replies: u64,
    /// Signals that were dropped because the queue of a subscription was full. Each subscription
    /// also reports its own with [`SignalDelivery::Lost`].
    pub dropped_signals: u64,
    /// Calls by peers that were refused because too many were waiting to be served.
    pub refused_calls: u64,
    /// Replies from a connection that did not get the call, while the call waited for its reply.
    /// They were discarded.
    pub foreign_replies: u64,
}

/// Queries of the connection's state.
impl<D> Core<D> {
    /// Creates a connection on which nothing was sent.
    pub fn new(config: CoreConfig) -> Self {
        Self {
            ended: None,
            next_serial: NonZeroU32::MIN,
            receiver: Some(Box::new(Receiver::new(config.messages))),
            known_headers: KnownHeaders::default(),
            outgoing: OutgoingQueue::new(),
            calls: CallTable::new(),
            requests: VecDeque::new(),
            subscriptions: SubscriptionIndex::new(config.signals_max),
            selected: Vec::new(),
            rules: RuleUsers::default(),
            owners: WatchedOwners::default(),
            lanes: LaneTraffic::default(),
            refused_calls: 0,
            foreign_replies: 0,
            restoration: Restoration::default(),
            epoch: 0,
            config,
        }
    }

    /// Whether messages can carry descriptors.
    pub const fn fds(&self) -> FdPassing {
        self.config.fds
    }

    /// The reason why the connection ended; `None` while it lives.
    pub const fn ended(&self) -> Option<Ended> {
        self.ended
    }

    /// The time of the next call of [`handle_timeout`](Self::handle_timeout); `None` if no call has
    /// a deadline. It can be the deadline of a call that has ended, before the next deadline.
    pub fn next_timeout(&self) -> Option<Duration> {
        self.calls.next_deadline()
    }

    /// Number of [interruptions](Self::interrupt) so far. Calls that arrived before the latest one
    /// cannot be answered.
    pub(crate) const fn epoch(&self) -> u32 {
        self.epoch
    }

    /// How often a message was dropped or refused.
    pub const fn counters(&self) -> ConnectionCounters {
        ConnectionCounters {
            late_replies: self.calls.late_replies(),
            dropped_signals: self.subscriptions.dropped(),
            refused_calls: self.refused_calls,
            foreign_replies: self.foreign_replies,
        }
    }

    /// Returns an error on a connection to a peer without a bus.
    pub(crate) const fn check_bus(&self) -> Result<(), SendError> {
        match self.config.other_end {
            OtherEnd::Bus => Ok(()),
            OtherEnd::Peer => Err(SendError::NoBus),
        }
    }

    /// Number of queued bytes that are not sent yet.
    pub const fn waiting_len(&self) -> usize {
        self.outgoing.len()
    }
}

/// Commands, which can queue bytes to send.
impl<D> Core<D> {
    /// Queues a message, and returns its serial.
    ///
    /// A reply to a call that is sent with this method is ignored.
    ///
    /// # Errors
    ///
    /// If the connection ended, the message cannot be encoded, or its descriptors cannot be passed.
    /// In this case no message is queued.
    pub fn send(
        &mut self,
        message: &Builder<'_>,
        body: &impl MessageBody,
        descriptors: Vec<D>,
    ) -> Result<NonZeroU32, SendError> {
        if let Some(ended) = self.ended {
            return Err(SendError::Disconnected(ended));
        }
        let count = self.check_descriptors(descriptors.len())?;
        let serial = self.free_serial();
        self.choose_lane(message);
        let at = self.outgoing.bytes.len();
        let completed;
        let message = match (self.lanes.chosen, message.descriptor_count() == count) {
            (None, true) => message,
            _ => {
                completed = self.lanes.complete(&message.unix_fds(count));
                &completed
            }
        };
        if let Err(error) = body.write(message, &mut self.outgoing.bytes, serial) {
            self.lanes.chosen = None;
            return Err(error.into());
        }
        self.outgoing.attach(at, descriptors);
        self.confirm_lane(serial, self.outgoing.bytes.len() - at, count);
        self.next_serial = serial.checked_add(1).unwrap_or(NonZeroU32::MIN);
        Ok(serial)
    }

    /// Queues a call; [`poll_reply`](Self::poll_reply) returns its reply, or an error if none
    /// arrives before `deadline`.
    ///
    /// # Errors
    ///
    /// As for [`send`](Self::send).
    pub fn call(
        &mut self,
        message: &Builder<'_>,
        body: &impl MessageBody,
        descriptors: Vec<D>,
        deadline: Option<CallDeadline>,
    ) -> Result<CallHandle, SendError> {
        let serial = self.send(message, body, descriptors)?;
        self.calls.add(serial, deadline, ReplyTarget::User);
        self.note_call(message, serial);
        Ok(CallHandle(serial))
    }

    /// Queues bytes that are complete messages, including their serials.
    ///
    /// # Errors
    ///
    /// If the connection ended.
    pub fn send_bytes(&mut self, messages: &[u8]) -> Result<(), SendError> {
        if let Some(ended) = self.ended {
            return Err(SendError::Disconnected(ended));
        }
        self.lanes.count_messages(messages);
        self.outgoing.bytes.extend_from_slice(messages);
        Ok(())
    }

    /// Abandons a call; its reply will be ignored.
    pub fn forget(&mut self, call: CallHandle) {
        self.calls.forget(call.0);
    }

    /// Starts a subscription: queues the signals that `rule` selects.
    ///
    /// If the bus does not have the rule yet, this queues the call `AddMatch` with `deadline` and
    /// returns its handle. If that call fails, [unsubscribe](Self::unsubscribe).
    ///
    /// # Errors
    ///
    /// If the connection ended, or the rule has a sender and the connection is to a peer without a
    /// bus.
    pub fn subscribe(
        &mut self,
        rule: MatchRule,
        deadline: Option<CallDeadline>,
    ) -> Result<(SubscriptionId, Option<CallHandle>), SendError> {
        if let Some(ended) = self.ended {
            return Err(SendError::Disconnected(ended));
        }
        if self.config.other_end == OtherEnd::Peer {
            // No message has a sender, so the rule would select none.
            return match rule.sender() {
                Some(_) => Err(SendError::NoBus),
                None => Ok((self.subscriptions.add(rule), None)),
            };
        }
        if let Some(name) = WatchedOwners::watchable(rule.sender()) {
            // Before the rule is added, so that the owner is known before its first signal.
            self.watch_owner(name)?;
        }
        let text = rule.to_string();
        let confirmation = match self.rules.retain(&text) {
            Users::None => {
                let add = driver::method(driver::ADD_MATCH);
                Some(self.call(&add, &(text.as_str(),), Vec::new(), deadline)?)
            }
            Users::Some => None,
        };
        Ok((self.subscriptions.add(rule), confirmation))
    }

    /// Ends a subscription. The bus removes the rule with the last subscription that uses it.
    pub fn unsubscribe(&mut self, id: SubscriptionId) {
        let Some(rule) = self.subscriptions.remove(id) else { return };
        if self.config.other_end == OtherEnd::Peer {
            return;
        }
        self.release_rule(&rule.to_string());
        if let Some(name) = WatchedOwners::watchable(rule.sender())
            && self.owners.unwatch(name) == Users::None
        {
            self.release_rule(&owner_rule(name));
        }
    }
}

/// Input from outside: received bytes, sent bytes, time, and the end of the connection.
impl<D> Core<D> {
    /// The buffer for the next received bytes. It is never empty.
    ///
    /// # Panics
    ///
    /// While the receiver is [taken](Self::take_receiver).
    pub fn space(&mut self) -> Space<'_> {
        self.receiver.as_mut().expect(RECEIVER_TAKEN).space()
    }

    /// Processes `count` bytes that were read into [`space`](Self::space), and the descriptors that
    /// arrived with them.
    ///
    /// # Panics
    ///
    /// While the receiver is [taken](Self::take_receiver).
    pub fn handle_received(&mut self, count: usize, descriptors: impl IntoIterator<Item = D>) {
        self.receiver.as_mut().expect(RECEIVER_TAKEN).handle_received(count, descriptors);
    }

    /// Takes the receiver, to wait for bytes while others use the core. Meanwhile no message can be
    /// polled. `None` if another reader has it.
    pub const fn take_receiver(&mut self) -> Option<Box<Receiver<D>>> {
        self.receiver.take()
    }

    /// Puts the receiver back, with the bytes that arrived.
    pub fn return_receiver(&mut self, receiver: Box<Receiver<D>>) {
        self.receiver = Some(receiver);
        self.end_lanes();
    }

    /// True if no reader has taken the receiver.
    pub const fn has_receiver(&self) -> bool {
        self.receiver.is_some()
    }

    /// True if the receiver is in its place, and has no bytes of a message that was not filed yet.
    pub(crate) fn has_filed_everything(&self) -> bool {
        self.receiver.as_ref().is_some_and(|receiver| receiver.is_empty())
    }

    /// Records that the first `count` bytes of [`poll_transmit`](Self::poll_transmit) were sent.
    pub fn transmitted(&mut self, count: usize) {
        self.outgoing.transmitted(count);
    }

    /// Times out the calls whose deadline is `now` or earlier, and returns true if there are any.
    #[inline]
    pub fn handle_timeout(&mut self, now: Duration) -> bool {
        self.calls.expire(now)
    }

    /// Ends the connection: pending calls fail, and nothing can be sent. Messages that arrived
    /// before can still be polled. Only the first reason is kept.
    pub fn handle_ended(&mut self, reason: Ended) {
        if self.ended.is_none() {
            self.ended = Some(reason);
            self.calls.end(reason);
            self.outgoing = OutgoingQueue::new();
            self.lanes.chosen = None;
        }
    }

    /// Processes bytes that were read behind the end of the handshake, and the descriptors that
    /// arrived with them.
    fn handle_bytes(&mut self, bytes: &[u8], descriptors: impl IntoIterator<Item = D>) {
        self.receiver.as_mut().expect(RECEIVER_TAKEN).handle_bytes(bytes, descriptors);
    }
}

/// Output: bytes to send, and received messages.
impl<D> Core<D> {
    /// The next bytes to send, if any.
    ///
    /// Call [`send_on_lane`](Self::send_on_lane) before.
    pub fn poll_transmit(&self) -> Option<Transmit<'_, D>> {
        self.outgoing.transmit()
    }

    /// Parses and files the next complete message, and returns what was done with it.
    ///
    /// `None` means that there is none: read more bytes then. An invalid message ends the
    /// connection.
    pub fn poll_message(&mut self) -> Option<MessageDisposition> {
        if self.restoration.settle() {
            return Some(MessageDisposition::Reconnected);
        }
        let (sorted, incoming) = self.read_message(Self::sort)?;
        Some(self.file(sorted, incoming))
    }

    /// Takes the next complete message, of any type, without filing it.
    pub fn poll_raw(&mut self) -> Option<Incoming<D>> {
        self.read_message(|_, _| ()).map(|((), incoming)| incoming)
    }

    /// Takes the outcome of a call and removes the call; `None` while the call waits.
    ///
    /// # Panics
    ///
    /// If the outcome was taken already, or the call was abandoned with [`forget`](Self::forget).
    pub fn poll_reply(&mut self, call: CallHandle) -> Option<ReplyOutcome<D>> {
        self.calls.take(call.0)
    }

    /// Takes the outcome of a call like [`poll_reply`](Self::poll_reply). Error replies are errors.
    pub(crate) fn poll_result(
        &mut self,
        call: CallHandle,
    ) -> Option<Result<Incoming<D>, FailureCause>> {
        Some(match self.calls.take(call.0)? {
            Ok(reply) => match reply.remote_error() {
                None => Ok(reply),
                Some(error) => Err(FailureCause::ErrorReply(error)),
            },
            Err(reason) => Err(FailureCause::NoReply(reason)),
        })
    }

    /// Takes the next signal of a subscription.
    pub fn poll_signal(&mut self, id: SubscriptionId) -> Option<SignalDelivery<D>> {
        self.subscriptions.take(id)
    }

    /// Takes the next call by a peer.
    pub fn poll_request(&mut self) -> Option<Incoming<D>> {
        self.requests.pop_front()
    }
}

/// Helpers for the modules of the core.
impl<D> Core<D> {
    fn watch_owner(&mut self, name: &str) -> Result<(), SendError> {
        if self.owners.watch(name) == Users::Some {
            return Ok(());
        }
        self.retain_rule(&owner_rule(name))?;
        self.ask_owner(name)
    }

    fn retain_rule(&mut self, rule: &str) -> Result<(), SendError> {
        match self.rules.retain(rule) {
            Users::None => self.send_to_driver(&driver::method(driver::ADD_MATCH), rule),
            Users::Some => Ok(()),
        }
    }

    fn release_rule(&mut self, rule: &str) {
        if self.rules.release(rule) == Users::None {
            // If it cannot be sent, the connection ended, and the bus removed its rules.
            let _ = self.send_to_driver(&driver::method(driver::REMOVE_MATCH), rule);
        }
    }

    fn send_to_driver(&mut self, method: &Builder<'_>, argument: &str) -> Result<(), SendError> {
        self.send(&method.flags(Flags::NO_REPLY_EXPECTED), &(argument,), Vec::new()).map(|_| ())
    }

    fn check_descriptors(&self, count: usize) -> Result<u32, SendError> {
        let limit = self.config.messages.message_fds_max;
        match u32::try_from(count) {
            Ok(0) => Ok(0),
            _ if self.config.fds == FdPassing::Off => Err(SendError::DescriptorsRefused),
            Ok(small) if small <= limit => Ok(small),
            _ => Err(SendError::DescriptorsTooMany { count, limit }),
        }
    }

    /// The next serial that no pending call uses. After `u32::MAX`, serials continue at 1.
    fn free_serial(&self) -> NonZeroU32 {
        let mut serial = self.next_serial;
        while self.calls.is_used(serial) {
            serial = serial.checked_add(1).unwrap_or(NonZeroU32::MIN);
        }
        serial
    }
}

/// The match rule for changes of the owner of `name`.
fn owner_rule(name: &str) -> String {
    let rule = format!(
        "type='signal',interface='{0}',member='{1}',path='{2}',sender='{0}',arg0='{name}'",
        driver::NAME,
        driver::OWNER_CHANGED,
        driver::PATH,
    );
    // In canonical form, so that it is counted together with equal rules of subscriptions.
    rule.parse::<MatchRule>().map_or(rule, |rule| rule.to_string())
}

const RECEIVER_TAKEN: &str = "only one reader uses the receiver";
