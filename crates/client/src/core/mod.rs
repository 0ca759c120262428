//! The pure core: the state of one connection, without the connection.
//!
//! [`Core`] moves no byte and reads no clock. Whoever does, a blocking front end, one for an async
//! runtime, a simulator, hands in what came and sends what is to go:
//!
//! ```text
//!            commands: send, call, subscribe, unsubscribe, forget
//!                              │
//!                              v
//!   handle_received ──> ┌─────────────┐ ──> poll_transmit
//!   handle_timeout  ──> │    Core     │ ──> poll_message: sorts the next message that came,
//!   handle_ended    ──> └─────────────┘     and says what it was; then one of
//!                                             poll_reply     for a call
//!                                             poll_signal    for a subscription
//!                                             poll_request   calls by others
//! ```
//!
//! The descriptor type `D` is only carried along: file descriptors in a program, numbers in a
//! test. Times are counted from any fixed moment, the same for all calls.
//!
//! ```
//! use diligence_client::core::{Core, CoreConfig, Filed};
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
//! assert_eq!(core.poll_message(), Some(Filed::Reply(call)));
//! let reply = core.poll_reply(call).expect("it has come").expect("no time ran out");
//! assert_eq!(reply.read::<(&str,)>()?, ("pong",));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod body;
mod calls;
mod ended;
mod handshake;
mod incoming;
mod outgoing;
mod owners;
mod rules;
mod subscriptions;

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::time::Duration;

pub(crate) use body::WrittenBody;
pub use body::{MessageBody, Values};
use calls::{CallAsker, CallTable};
pub use calls::{CallHandle, NoReply, ReplyOutcome};
pub use ended::{Ended, SendError, SystemError};
pub use handshake::{
    ClientHandshake, Established, HandshakeConfig, HandshakeError, HandshakeStage,
};
pub(crate) use incoming::remote_text;
use incoming::{BufferPool, Facts};
pub use incoming::{Incoming, RemoteError};
use outgoing::OutgoingQueue;
pub use outgoing::Transmit;
use owners::WatchedOwners;
use rules::{RuleUsers, Users};
use subscriptions::SubscriptionIndex;
pub use subscriptions::{SignalDelivery, SubscriptionId};
use wire::framer::{Frame, Framer, FramerLimits, SCRATCH_LEN_MIN, Space};
use wire::match_rule::MatchRule;
use wire::message::{Builder, Flags, InvalidMessage, Message, MessageType};
use wire::names::ErrorName;
use wire::sasl::FdPassing;

use crate::driver;

/// How much a connection keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CoreConfig {
    /// What one message may have.
    pub messages: FramerLimits,
    /// Signals that one subscription keeps until they are asked for. What is over is dropped, and
    /// [`SignalDelivery::Lost`] says so.
    pub signals_max: usize,
    /// Calls by others that are kept until they are asked for. What is over is answered with
    /// `LimitsExceeded`.
    pub requests_max: usize,
    /// Whether the two sides agreed to pass descriptors.
    pub fds: FdPassing,
}

impl Default for CoreConfig {
    /// What the protocol allows, room for 16384 signals in each subscription and as many requests,
    /// and no descriptors.
    fn default() -> Self {
        Self {
            messages: FramerLimits::default(),
            signals_max: 16 * 1024,
            requests_max: 16 * 1024,
            fds: FdPassing::Off,
        }
    }
}

/// What became of a message that [`Core::poll_message`] looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Filed {
    /// It answers this call: [`Core::poll_reply`] has it.
    Reply(CallHandle),
    /// It is a signal that so many subscriptions selected: [`Core::poll_signal`] has it.
    Signal {
        /// How many, at least one.
        subscriptions: usize,
    },
    /// It is a call by somebody: [`Core::poll_request`] has it.
    Request,
    /// Nobody waits for it, and it was dropped.
    Ignored,
}

/// The state of one connection.
///
/// The methods are in four groups:
///
/// - A: what it knows: [`fds`](Self::fds), [`ended`](Self::ended),
///   [`next_timeout`](Self::next_timeout), [`waiting_len`](Self::waiting_len);
/// - B: commands, which may queue bytes to send: [`send`](Self::send), [`call`](Self::call),
///   [`forget`](Self::forget), [`subscribe`](Self::subscribe), [`unsubscribe`](Self::unsubscribe);
/// - C: what happened outside: [`handle_received`](Self::handle_received) after reading into
///   [`space`](Self::space), [`transmitted`](Self::transmitted),
///   [`handle_timeout`](Self::handle_timeout), [`handle_ended`](Self::handle_ended);
/// - D: what comes of it: [`poll_transmit`](Self::poll_transmit),
///   [`poll_message`](Self::poll_message), and what that filed.
///
/// Before reading again, poll messages until there is none. Times never go back.
pub struct Core<D> {
    config: CoreConfig,
    ended: Option<Ended>,
    next_serial: NonZeroU32,

    framer: Framer,
    scratch: Vec<u8>,
    /// Descriptors that came and belong to no message yet.
    arrived: VecDeque<D>,
    pool: BufferPool,
    outgoing: OutgoingQueue<D>,

    calls: CallTable<D>,
    requests: VecDeque<Incoming<D>>,
    subscriptions: SubscriptionIndex<D>,
    /// Who is to get the signal at hand; kept for its memory.
    selected: Vec<SubscriptionId>,
    rules: RuleUsers,
    owners: WatchedOwners,
}

/// Getters.
impl<D> Core<D> {
    /// A connection on which nothing was sent.
    pub fn new(config: CoreConfig) -> Self {
        Self {
            ended: None,
            next_serial: NonZeroU32::MIN,
            framer: Framer::new(config.messages),
            scratch: vec![0; SCRATCH_LEN],
            arrived: VecDeque::new(),
            pool: BufferPool::default(),
            outgoing: OutgoingQueue::new(),
            calls: CallTable::new(),
            requests: VecDeque::new(),
            subscriptions: SubscriptionIndex::new(config.signals_max),
            selected: Vec::new(),
            rules: RuleUsers::default(),
            owners: WatchedOwners::default(),
            config,
        }
    }

    /// Whether messages can carry descriptors.
    pub const fn fds(&self) -> FdPassing {
        self.config.fds
    }

    /// Why the connection is over, if it is.
    pub const fn ended(&self) -> Option<Ended> {
        self.ended
    }

    /// When [`handle_timeout`](Self::handle_timeout) has something to do.
    pub fn next_timeout(&self) -> Option<Duration> {
        self.calls.next_deadline()
    }

    /// Bytes that wait to be sent.
    pub const fn waiting_len(&self) -> usize {
        self.outgoing.len()
    }
}

/// Commands.
impl<D> Core<D> {
    /// Queues a message, and returns its serial.
    ///
    /// Whoever sends a call this way ignores the reply. On an error nothing was queued.
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
        let at = self.outgoing.bytes.len();
        body.write(&message.unix_fds(count), &mut self.outgoing.bytes, serial)?;
        self.outgoing.attach(at, descriptors);
        self.next_serial = serial.checked_add(1).unwrap_or(NonZeroU32::MIN);
        Ok(serial)
    }

    /// Queues a call whose reply shall come before `deadline`; [`poll_reply`](Self::poll_reply)
    /// has it then.
    pub fn call(
        &mut self,
        message: &Builder<'_>,
        body: &impl MessageBody,
        descriptors: Vec<D>,
        deadline: Option<Duration>,
    ) -> Result<CallHandle, SendError> {
        let serial = self.send(message, body, descriptors)?;
        self.calls.add(serial, deadline, CallAsker::User);
        Ok(CallHandle(serial))
    }

    /// Queues bytes that are whole messages already, their serials included.
    pub fn send_bytes(&mut self, messages: &[u8]) -> Result<(), SendError> {
        if let Some(ended) = self.ended {
            return Err(SendError::Disconnected(ended));
        }
        self.outgoing.bytes.extend_from_slice(messages);
        Ok(())
    }

    /// Gives a call up; its reply will be ignored.
    pub fn forget(&mut self, call: CallHandle) {
        self.calls.forget(call.0);
    }

    /// Starts to collect the signals that `rule` selects.
    ///
    /// If the bus has the rule not yet, it is asked to take it; the call that is returned then
    /// tells, before `deadline`, whether it did. If it did not, [unsubscribe](Self::unsubscribe).
    pub fn subscribe(
        &mut self,
        rule: MatchRule,
        deadline: Option<Duration>,
    ) -> Result<(SubscriptionId, Option<CallHandle>), SendError> {
        if let Some(ended) = self.ended {
            return Err(SendError::Disconnected(ended));
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

    /// Ends a subscription. The rule is taken back from the bus with the last that uses it.
    pub fn unsubscribe(&mut self, id: SubscriptionId) {
        let Some(rule) = self.subscriptions.remove(id) else { return };
        self.release_rule(&rule.to_string());
        if let Some(name) = WatchedOwners::watchable(rule.sender())
            && self.owners.unwatch(name) == Users::None
        {
            self.release_rule(&owner_rule(name));
        }
    }
}

/// What happened outside.
impl<D> Core<D> {
    /// Where to read the next bytes to. Never empty.
    pub fn space(&mut self) -> Space<'_> {
        self.framer.park(&self.scratch);
        self.framer.space(&mut self.scratch)
    }

    /// Takes note of `count` bytes that were read into [`space`](Self::space), and of the
    /// descriptors that came with them.
    pub fn handle_received(&mut self, count: usize, descriptors: impl IntoIterator<Item = D>) {
        self.framer.received(count);
        let before = self.arrived.len();
        self.arrived.extend(descriptors);
        // The kernel passes 253 at once, so the number is small.
        self.framer.received_fds((self.arrived.len() - before) as u32);
    }

    /// Takes note that so many of the bytes of [`poll_transmit`](Self::poll_transmit) were sent.
    pub fn transmitted(&mut self, count: usize) {
        self.outgoing.transmitted(count);
    }

    /// Ends the waiting for replies whose deadline is `now` or earlier.
    pub fn handle_timeout(&mut self, now: Duration) {
        self.calls.expire(now);
    }

    /// Ends everything: calls have no reply any more, and nothing can be sent. What came before
    /// can still be polled. The first reason stays.
    pub fn handle_ended(&mut self, reason: Ended) {
        if self.ended.is_none() {
            self.ended = Some(reason);
            self.calls.end(reason);
            self.outgoing = OutgoingQueue::new();
        }
    }

    /// Takes bytes that were read elsewhere: behind the end of the handshake.
    fn handle_bytes(&mut self, bytes: &[u8]) {
        self.framer.park(&self.scratch);
        self.framer.keep(bytes);
        self.framer.unpark(&mut self.scratch);
    }
}

/// What comes of it.
impl<D> Core<D> {
    /// What to send next, if anything.
    pub fn poll_transmit(&self) -> Option<Transmit<'_, D>> {
        self.outgoing.transmit()
    }

    /// Looks at the next message that has come whole, files it, and says as what.
    ///
    /// `None` when there is none; then is the time to read. A message that is invalid ends the
    /// connection.
    pub fn poll_message(&mut self) -> Option<Filed> {
        let (sorted, incoming) = self.read_message(Self::sort)?;
        Some(self.file(sorted, incoming))
    }

    /// Takes the next message that has come whole as it is, whatever it is, and files nothing.
    pub fn poll_raw(&mut self) -> Option<Incoming<D>> {
        self.read_message(|_, _| ()).map(|((), incoming)| incoming)
    }

    /// What a call has brought; `None` while it waits. Once it was told, the call is over.
    ///
    /// # Panics
    ///
    /// When the call is over already, or was forgotten.
    pub fn poll_reply(&mut self, call: CallHandle) -> Option<ReplyOutcome<D>> {
        self.calls.take(call.0)
    }

    /// The next signal of a subscription.
    pub fn poll_signal(&mut self, id: SubscriptionId) -> Option<SignalDelivery<D>> {
        self.subscriptions.take(id)
    }

    /// The next call by somebody.
    pub fn poll_request(&mut self) -> Option<Incoming<D>> {
        self.requests.pop_front()
    }
}

/// What a message is to this connection.
enum SortedMessage {
    Reply { to: NonZeroU32 },
    Signal,
    Request,
    Other,
}

impl<D> Core<D> {
    /// Cuts the next message off what has come; `look` sees it while its header is parsed.
    fn read_message<T>(
        &mut self,
        look: impl FnOnce(&mut Self, &Message<'_>) -> T,
    ) -> Option<(T, Incoming<D>)> {
        match self.try_read_message(look) {
            Ok(read) => read,
            Err(invalid) => {
                self.handle_ended(Ended::Invalid(invalid));
                None
            }
        }
    }

    fn try_read_message<T>(
        &mut self,
        look: impl FnOnce(&mut Self, &Message<'_>) -> T,
    ) -> Result<Option<(T, Incoming<D>)>, InvalidMessage> {
        if let Some(Ended::Invalid(_)) = self.ended {
            return Ok(None);
        }
        let bytes = match self.framer.next(&self.scratch)? {
            None => return Ok(None),
            Some(Frame::Scratch(bytes)) => self.pool.copy_of(bytes),
            Some(Frame::Owned(bytes)) => self.pool.own(bytes),
        };
        let message = Message::parse(bytes.as_slice())?;
        let descriptors = self.framer.claim_fds(&message)? as usize;
        let descriptors = self.arrived.drain(..descriptors).collect();
        let seen = look(self, &message);
        let facts = Facts::of(&message);
        Ok(Some((seen, Incoming::new(bytes, facts, descriptors))))
    }

    fn sort(&mut self, message: &Message<'_>) -> SortedMessage {
        match (message.message_type(), message.reply_serial()) {
            (MessageType::MethodReturn | MessageType::Error, Some(to)) => {
                SortedMessage::Reply { to }
            }
            (MessageType::Signal, _) => {
                self.owners.observe(message);
                self.subscriptions.select(message, &self.owners, &mut self.selected);
                SortedMessage::Signal
            }
            (MessageType::MethodCall, _) => SortedMessage::Request,
            _ => SortedMessage::Other,
        }
    }

    fn file(&mut self, sorted: SortedMessage, message: Incoming<D>) -> Filed {
        match sorted {
            SortedMessage::Reply { to } => self.file_reply(to, message),
            SortedMessage::Signal => self.file_signal(message),
            SortedMessage::Request => self.file_request(message),
            SortedMessage::Other => Filed::Ignored,
        }
    }

    fn file_reply(&mut self, to: NonZeroU32, reply: Incoming<D>) -> Filed {
        match self.calls.asker(to) {
            None => Filed::Ignored,
            Some(CallAsker::User) => {
                self.calls.finish(to, Ok(reply));
                Filed::Reply(CallHandle(to))
            }
            Some(CallAsker::Owners(name)) => {
                // An error says that the name has no owner.
                let owner = reply.read::<(&str,)>().ok();
                let owner = owner.filter(|_| reply.message_type() == MessageType::MethodReturn);
                self.owners.set(name, owner.map(|(owner,)| owner));
                self.calls.forget(to);
                Filed::Ignored
            }
        }
    }

    fn file_signal(&mut self, signal: Incoming<D>) -> Filed {
        let Some((last, others)) = self.selected.split_last() else { return Filed::Ignored };
        for id in others {
            self.subscriptions.push(*id, signal.duplicate(&self.pool));
        }
        self.subscriptions.push(*last, signal);
        Filed::Signal { subscriptions: self.selected.len() }
    }

    fn file_request(&mut self, request: Incoming<D>) -> Filed {
        if self.requests.len() < self.config.requests_max {
            self.requests.push_back(request);
            return Filed::Request;
        }
        if request.expects_reply() {
            let refusal = request.error_reply(LIMITS_EXCEEDED);
            // If it cannot be sent, nobody waits for it any more.
            let _ = self.send(&refusal, &("too many calls wait to be served",), Vec::new());
        }
        Filed::Ignored
    }

    fn watch_owner(&mut self, name: &str) -> Result<(), SendError> {
        if self.owners.watch(name) == Users::Some {
            return Ok(());
        }
        self.retain_rule(&owner_rule(name))?;
        let ask = driver::method(driver::GET_NAME_OWNER).flags(Flags::NO_AUTO_START);
        let serial = self.send(&ask, &(name,), Vec::new())?;
        self.calls.add(serial, None, CallAsker::Owners(name.into()));
        Ok(())
    }

    fn retain_rule(&mut self, rule: &str) -> Result<(), SendError> {
        match self.rules.retain(rule) {
            Users::None => self.tell_driver(&driver::method(driver::ADD_MATCH), rule),
            Users::Some => Ok(()),
        }
    }

    fn release_rule(&mut self, rule: &str) {
        if self.rules.release(rule) == Users::None {
            // If it cannot be sent, the bus has no rules of ours any more.
            let _ = self.tell_driver(&driver::method(driver::REMOVE_MATCH), rule);
        }
    }

    fn tell_driver(&mut self, method: &Builder<'_>, argument: &str) -> Result<(), SendError> {
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

    /// The next serial that is not that of a call which still waits: they come round after 2^32.
    fn free_serial(&self) -> NonZeroU32 {
        let mut serial = self.next_serial;
        while self.calls.is_used(serial) {
            serial = serial.checked_add(1).unwrap_or(NonZeroU32::MIN);
        }
        serial
    }
}

/// The rule for the signals that tell of owners of `name`.
fn owner_rule(name: &str) -> String {
    let rule = format!(
        "type='signal',interface='{0}',member='{1}',path='{2}',sender='{0}',arg0='{name}'",
        driver::NAME,
        driver::OWNER_CHANGED,
        driver::PATH,
    );
    // In the one spelling that other rules have, so that equal ones are counted together.
    rule.parse::<MatchRule>().map_or(rule, |rule| rule.to_string())
}

const LIMITS_EXCEEDED: ErrorName<'static> =
    ErrorName::literal("org.freedesktop.DBus.Error.LimitsExceeded");

/// Bytes that one read can bring: a burst of small messages, or a part of a large one.
const SCRATCH_LEN: usize = 2 * SCRATCH_LEN_MIN;
