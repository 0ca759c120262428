//! From whom to whom: what the bus does with a message ("Message Bus Message Routing").

use alloc::format;

use wire::Message;
use wire::limits::{ARRAY_LEN_MAX, MESSAGE_LEN_MAX};
use wire::message::{Builder, FixedHeader, MessageType};
use wire::names::BusName;

use crate::bus::Bus;
use crate::config::BodyValidation;
use crate::effects::{
    Body, Delivery, DisconnectReason, Effect, Effects, Event, Fds, Span, Urgency,
};
use crate::error::{BusError, ErrorKind};
use crate::history::Trouble;
use crate::input::{FdPassing, PeerId};
use crate::members::{Counted, MemberId};
use crate::peers::{DRIVER_NAME, Peer, Stage};
use crate::policy::{Passage, Reply};
use crate::reached::{LimitName, Reached};
use crate::replies::{ExpectError, PendingReply, ReplyId};
use crate::shares::Account;

/// A message from a peer, with its header as recipients will see it; and its body behind that, if
/// it has waited for a service.
#[derive(Clone, Copy)]
pub(crate) struct Forward<'m> {
    pub(crate) message: &'m Message<'m>,
    pub(crate) from: PeerId,
    pub(crate) head: Span,
    /// Where its body is found.
    pub(crate) body: Body,
    /// Where its descriptors are found.
    pub(crate) fds: Fds,
}

impl Forward<'_> {
    fn len(&self) -> u64 {
        (self.header_len() + self.message.body().len()) as u64
    }

    fn header_len(&self) -> usize {
        match self.body {
            Body::OfInput => self.head.len(),
            Body::InHead => self.head.len() - self.message.body().len(),
        }
    }

    /// Whether the sender's name has made the message or its header longer than they may be.
    pub(crate) fn is_too_long(&self) -> bool {
        self.len() > MESSAGE_LEN_MAX as u64 || self.header_len() > FixedHeader::LEN + ARRAY_LEN_MAX
    }
}

impl Bus {
    pub(crate) fn message(&mut self, from: PeerId, message: &Message<'_>, fx: &mut Effects) {
        let Some(peer) = self.peers.get(from) else { return };
        let (stage, user) = (peer.stage, peer.uid);
        if stage == Stage::Monitor {
            return self.disconnect(from, DisconnectReason::MonitorSpoke, fx);
        }
        if message.unix_fds() > 0 && peer.fds == FdPassing::Refused {
            return self.disconnect(from, DisconnectReason::FdsNotAgreed, fx);
        }
        if self.config.body_validation == BodyValidation::On {
            self.counters.validated += 1;
            self.counters.validated_bytes += message.body().len() as u64;
            if let Err(error) = message.validate_body() {
                return self.disconnect(from, DisconnectReason::InvalidMessage(error), fx);
            }
        }
        self.acting = Account::User(user);
        let before = (self.counters.deliveries, self.counters.recipients);
        self.count(from, message);
        self.dispatch(from, stage, message, fx);
        self.acting = Account::Nobody;
        if self.counted.member != MemberId::NONE {
            let counts = self.members.counts_mut(self.counted.member);
            counts.deliveries += self.counters.deliveries - before.0;
            let recipients = self.counters.recipients - before.1;
            counts.most_recipients = counts.most_recipients.max(recipients);
        }
    }

    /// Drops a message whose descriptors are lost, and tells its sender.
    pub(crate) fn descriptors_lost(
        &mut self,
        from: PeerId,
        message: &Message<'_>,
        fx: &mut Effects,
    ) {
        let Some(peer) = self.peers.get(from) else { return };
        if peer.stage != Stage::Active {
            return self.disconnect(from, DisconnectReason::NotRegistered, fx);
        }
        self.count(from, message);
        let error = ErrorKind::LimitsExceeded.because(
            "The file descriptors of the message could not be received: \
             the message bus, or what it holds for this user, has reached the limit of open files",
        );
        self.refuse(from, message, &error, fx);
    }

    fn dispatch(&mut self, from: PeerId, stage: Stage, message: &Message<'_>, fx: &mut Effects) {
        match message.destination() {
            None if message.message_type() != MessageType::Signal => {
                self.call_without_destination(from, message, fx);
            }
            Some(name) if name == DRIVER_NAME.as_str() => {
                self.handle_driver_message(from, message, fx);
            }
            name if stage != Stage::Active => self.refuse_stranger(from, name, message, fx),
            None => self.broadcast(from, message, fx),
            Some(name) => self.unicast(from, name, message, fx),
        }
    }

    fn count(&mut self, from: PeerId, message: &Message<'_>) {
        let bytes = message.bytes().len() as u64;
        self.counters.messages += 1;
        self.counters.bytes += bytes;
        let Some(peer) = self.peers.get_mut(from) else { return };
        peer.sent.messages += 1;
        peer.sent.bytes += bytes;
        peer.sent.fds += u64::from(message.unix_fds());
        peer.peaks.incoming_bytes = peer.peaks.incoming_bytes.max(bytes);
        peer.peaks.incoming_fds = peer.peaks.incoming_fds.max(message.unix_fds().into());
        if self.members.is_on() {
            let member = self.members.count(peer.last_member, message);
            self.counted = Counted { member, at: self.now };
            if member != MemberId::NONE {
                peer.last_member = member;
            }
        }
    }

    pub(crate) fn forward<'m>(
        &self,
        from: PeerId,
        message: &'m Message<'m>,
        fx: &mut Effects,
    ) -> Forward<'m> {
        let head = fx.stamp(message, &self.peers[from].sender);
        let fds = if message.unix_fds() > 0 { Fds::OfInput } else { Fds::None };
        Forward { message, from, head, body: Body::OfInput, fds }
    }

    /// Ends a connection that speaks to others before it has said Hello. Monitors see what it said.
    fn refuse_stranger(
        &mut self,
        from: PeerId,
        name: Option<BusName<'_>>,
        message: &Message<'_>,
        fx: &mut Effects,
    ) {
        if self.is_watched() {
            let forward = self.forward(from, message, fx);
            let to = name.and_then(|name| self.resolve(name));
            self.show_monitors(&forward, to, fx);
        }
        self.disconnect(from, DisconnectReason::NotRegistered, fx);
    }

    fn broadcast(&mut self, from: PeerId, message: &Message<'_>, fx: &mut Effects) {
        let forward = self.forward(from, message, fx);
        self.show_monitors(&forward, None, fx);
        if forward.is_too_long() {
            return self.refuse(from, message, &too_long(), fx);
        }
        let begun = self.traces.stopwatch();
        self.find_listeners(forward.message, Some(from));
        self.matched_since(begun, forward.head, fx);
        self.pass_to_listeners(&forward, None, fx);
    }

    fn unicast(
        &mut self,
        from: PeerId,
        name: BusName<'_>,
        message: &Message<'_>,
        fx: &mut Effects,
    ) {
        let forward = self.forward(from, message, fx);
        let outcome = match self.resolve(name) {
            Some(to) => {
                self.show_monitors(&forward, Some(to), fx);
                self.pass_on(&forward, to, fx)
            }
            None => self.send_to_absent(&forward, name, fx),
        };
        if let Err(error) = outcome {
            self.refuse(from, message, &error, fx);
        }
    }

    /// Delivers an addressed message, if it may go.
    pub(crate) fn pass_on(
        &mut self,
        forward: &Forward<'_>,
        to: PeerId,
        fx: &mut Effects,
    ) -> Result<(), BusError> {
        self.check_unicast(forward, to, fx)?;
        let urgency = match forward.message.message_type() {
            MessageType::Signal => Urgency::Passing,
            _ => Urgency::Awaited,
        };
        self.deliver(forward, to, urgency, fx);
        self.show_eavesdroppers(forward, Some(to), fx);
        Ok(())
    }

    #[inline]
    pub(crate) fn deliver(
        &mut self,
        forward: &Forward<'_>,
        to: PeerId,
        urgency: Urgency,
        fx: &mut Effects,
    ) {
        let Some(peer) = self.peers.get_mut(to) else { return };
        if peer.is_crowded() {
            self.charge_to(forward, to);
        } else {
            peer.charge(forward.len(), forward.message.unix_fds().into());
        }
        self.counters.deliveries += 1;
        self.counters.recipients += 1;
        let Forward { head, body, fds, .. } = *forward;
        fx.push(Effect::Send(Delivery { to, head, body, fds, urgency }));
    }

    #[cold]
    fn charge_to(&mut self, forward: &Forward<'_>, to: PeerId) {
        let account = self.account_of(forward);
        let fds = forward.message.unix_fds().into();
        self.peers[to].charge_to(account, forward.len(), fds);
    }

    /// On whose account a message is in a queue.
    fn account_of(&self, forward: &Forward<'_>) -> Account {
        match self.peers.get(forward.from) {
            Some(sender) if !forward.message.message_type().is_reply() => Account::User(sender.uid),
            _ => Account::Nobody,
        }
    }

    /// Whether a user has its share of a queue, and has to leave the rest to other users, if there are
    /// any.
    pub(crate) fn is_over_share(&self, account: Account, recipient: &Peer, fds: u32) -> bool {
        self.peers.has_several_users()
            && match account {
                Account::User(user) => recipient.has_used_share(user, fds),
                Account::Nobody => false,
            }
    }

    /// Whether there is no room in a queue for a message.
    #[inline]
    pub(crate) fn has_no_room(&self, forward: &Forward<'_>, recipient: &Peer) -> bool {
        recipient.is_crowded() && self.has_no_room_in_crowded(forward, recipient)
    }

    #[cold]
    fn has_no_room_in_crowded(&self, forward: &Forward<'_>, recipient: &Peer) -> bool {
        let fds = forward.message.unix_fds();
        recipient.is_full(fds) || self.is_over_share(self.account_of(forward), recipient, fds)
    }

    /// The connection that a name stands for.
    pub(crate) fn resolve(&self, name: BusName<'_>) -> Option<PeerId> {
        match name.as_str().strip_prefix(":1.") {
            Some(number) => {
                let unique = parse_unique(number)?;
                let id = *self.unique_names.get(&unique)?;
                self.peers.get(id).filter(|peer| peer.is_active()).map(|_| id)
            }
            None => self.names.owner_of(name.as_str()),
        }
    }

    /// Says whether an addressed message may go. If it is a call it is remembered, if it is a
    /// reply then its call is forgotten.
    fn check_unicast(
        &mut self,
        forward: &Forward<'_>,
        to: PeerId,
        fx: &mut Effects,
    ) -> Result<(), BusError> {
        check_type(forward.message)?;
        let requested = self.find_call(forward, to);
        let passage = Passage::to_addressee(forward, to, reply_to(forward.message, requested));
        self.check_policy(&passage, fx)?;
        self.check_room(forward, &passage, &self.peers[to])?;
        self.expect_reply(forward, to)?;
        // Only now, so that a caller whose reply could not be passed on is told when it is clear
        // that none will come.
        if let Some(call) = requested {
            let counted = self.replies.take(call);
            if counted.member != MemberId::NONE {
                let kind = forward.message.message_type();
                self.members.answered(counted, kind, self.now);
            }
        }
        Ok(())
    }

    /// Finds the call that a message answers, if its recipient waits for that.
    fn find_call(&self, forward: &Forward<'_>, to: PeerId) -> Option<ReplyId> {
        let serial = forward.message.reply_serial()?;
        self.replies.find(&PendingReply { caller: to, serial, callee: forward.from })
    }

    /// Whether the message is one that the recipient can take now.
    fn check_room(
        &self,
        forward: &Forward<'_>,
        passage: &Passage<'_>,
        recipient: &Peer,
    ) -> Result<(), BusError> {
        let fds = forward.message.unix_fds();
        if forward.is_too_long() {
            return Err(too_long());
        }
        if self.has_no_room(forward, recipient) {
            let what = match recipient.is_full(fds) {
                true => "Rejected: destination has a full message queue, 0 matched rules",
                false => SHARE_USED,
            };
            let text = self.describe(what, passage);
            let Reached { limit, max, used } = recipient.reached();
            return Err(ErrorKind::LimitsExceeded
                .because(text)
                .at_limit(limit, max, used)
                .blaming(recipient.id));
        }
        if fds > 0 && recipient.fds == FdPassing::Refused {
            return Err(ErrorKind::NotSupported.because(
                "Tried to send message with Unix file descriptors to a client that doesn't support that.",
            ));
        }
        Ok(())
    }

    fn expect_reply(&mut self, forward: &Forward<'_>, to: PeerId) -> Result<(), BusError> {
        if !forward.message.expects_reply() {
            return Ok(());
        }
        let serial = forward.message.serial();
        let pending = PendingReply { caller: forward.from, serial, callee: to };
        let deadline = self.config.limits.reply_timeout.map(|timeout| self.now.after(timeout));
        let max = self.peers[forward.from].room.replies;
        self.replies.expect(pending, deadline, max, self.counted).map_err(|error| match error {
            ExpectError::SerialInUse => ErrorKind::AccessDenied.because(
                "Message has the same reply serial as a currently-outstanding existing method call",
            ),
            ExpectError::TooMany => ErrorKind::LimitsExceeded
                .because("The maximum number of pending replies per connection has been reached")
                .at_limit(LimitName::RepliesPerConnection, max, max),
        })
    }

    /// Tells the sender of a message that it was refused, and why.
    pub(crate) fn refuse(
        &mut self,
        from: PeerId,
        message: &Message<'_>,
        error: &BusError,
        fx: &mut Effects,
    ) {
        self.counters.refused += 1;
        self.history.count(Trouble::Refused, error.cause());
        if let Some(peer) = self.peers.get_mut(from) {
            peer.refused += 1;
            if matches!(error.kind, ErrorKind::LimitsExceeded | ErrorKind::AccessDenied) {
                self.report_refusal(from, error, fx);
            }
        }
        self.send_error(from, message.serial(), error, fx);
    }

    /// Tells of a refusal that an administrator should know of.
    fn report_refusal(&mut self, peer: PeerId, error: &BusError, fx: &mut Effects) {
        let BusError { reached, blamed, .. } = *error;
        let cause = error.cause();
        self.note(Trouble::Refused, cause, peer, &error.text, reached);
        let why = error.text.clone();
        fx.log(Event::Refused { peer, cause, why, reached, blamed });
    }

    /// The bus as the other end of a connection: it answers `org.freedesktop.DBus.Peer`, as any
    /// program does, and nothing else.
    fn call_without_destination(&mut self, from: PeerId, message: &Message<'_>, fx: &mut Effects) {
        if message.message_type() != MessageType::MethodCall {
            return;
        }
        if self.traces.is_on() {
            let forward = self.forward(from, message, fx);
            self.trace(&forward, None, fx);
        }
        let call = message.serial();
        let interface = message.interface().map(|name| name.as_str());
        let member = message.member().map_or("", |name| name.as_str());
        match (interface, member) {
            (Some(PEER), "Ping") => self.answer(from, Builder::method_return(call), &(), fx),
            (Some(PEER), "GetMachineId") if self.identity.machine_id.is_some() => {
                let id = self.identity.machine_id.clone().unwrap_or_default();
                self.answer(from, Builder::method_return(call), &(id,), fx);
            }
            _ => {
                let text = format!(
                    "Method \"{member}\" with signature \"{}\" on interface \"{}\" doesn't exist\n",
                    message.signature(),
                    interface.unwrap_or("(null)"),
                );
                let builder = Builder::error(ErrorKind::UnknownMethod.name(), call);
                self.answer(from, builder, &(text,), fx);
            }
        }
    }
}

fn check_type(message: &Message<'_>) -> Result<(), BusError> {
    match message.message_type() {
        MessageType::Unknown(_) => Err(unknown_type()),
        _ => Ok(()),
    }
}

/// What the reference says of a message that is neither a call nor a reply nor a signal.
pub(crate) fn unknown_type() -> BusError {
    ErrorKind::AccessDenied.because("Message bus will not accept messages of unknown type\n")
}

/// Whether a message is a reply, and one that was asked for.
const fn reply_to(message: &Message<'_>, call: Option<ReplyId>) -> Reply {
    match (message.reply_serial(), call) {
        (None, _) => Reply::No,
        (Some(_), Some(_)) => Reply::Requested,
        (Some(_), None) => Reply::Unrequested,
    }
}

fn too_long() -> BusError {
    ErrorKind::LimitsExceeded
        .because("The message is longer than a message may be once its sender's name is in it")
}

/// What the reference says of a name that no service file is for.
pub(crate) fn not_activatable(name: &str) -> BusError {
    let text = format!("The name {name} was not provided by any .service files");
    ErrorKind::ServiceUnknown.because(text)
}

/// Reads the number in a unique name, exactly as the bus writes it.
fn parse_unique(text: &str) -> Option<u64> {
    let canonical = text == "0" || !text.starts_with(['0', '+']);
    canonical.then(|| text.parse().ok()).flatten()
}

/// What a sender is told whose user has its share of the recipient's queue.
const SHARE_USED: &str = "Rejected: the user of the sender has used its share of the message queue \
                          of the destination, 0 matched rules";

const PEER: &str = "org.freedesktop.DBus.Peer";

#[cfg(test)]
mod tests {
    use super::parse_unique;

    #[test]
    fn unique_names_are_numbers_without_ornament() {
        let cases = [
            ("0", Some(0)),
            ("1", Some(1)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("00", None),
            ("01", None),
            ("+1", None),
            ("-1", None),
            ("1.1", None),
            ("x", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_unique(text), expected, "{text}");
        }
    }
}
