//! From whom to whom: what the bus does with a message ("Message Bus Message Routing").

use alloc::format;
use alloc::string::String;
use core::num::NonZeroU32;

use wire::Message;
use wire::body::EncodeArgs;
use wire::message::{Builder, Flags, MessageType};
use wire::names::BusName;

use crate::bus::Bus;
use crate::config::Verdict;
use crate::effects::{
    Body, Delivery, DisconnectReason, Effect, Effects, Event, Fds, Span, Urgency,
};
use crate::error::{BusError, ErrorKind};
use crate::input::{FdPassing, PeerId};
use crate::matches::{ArgsRead, Subject};
use crate::peers::{DRIVER_NAME, Peer, Stage};
use crate::replies::{ExpectError, PendingReply};

/// A message from a peer, with its header as recipients will see it.
#[derive(Clone, Copy)]
pub(crate) struct Forward<'m> {
    pub(crate) message: &'m Message<'m>,
    pub(crate) from: PeerId,
    pub(crate) head: Span,
}

impl Forward<'_> {
    fn len(&self) -> u64 {
        (self.head.len() + self.message.body().len()) as u64
    }

    const fn fds(&self) -> Fds {
        if self.message.unix_fds() > 0 { Fds::OfInput } else { Fds::None }
    }
}

impl Bus {
    pub(crate) fn message(&mut self, from: PeerId, message: &Message<'_>, fx: &mut Effects) {
        let Some(peer) = self.peers.get(from) else { return };
        if matches!(peer.stage, Stage::Monitor) {
            return self.disconnect(from, DisconnectReason::MonitorSpoke, fx);
        }
        if message.unix_fds() > 0 && peer.fds == FdPassing::Refused {
            return self.disconnect(from, DisconnectReason::FdsNotAgreed, fx);
        }
        let is_active = peer.is_active();
        if !self.is_valid(from, message, fx) {
            return;
        }
        self.count(from, message);
        match message.destination() {
            None if message.message_type() != MessageType::Signal => {
                self.call_without_destination(from, message, fx);
            }
            Some(name) if name == DRIVER_NAME.as_str() => {
                self.handle_driver_message(from, message, fx)
            }
            _ if !is_active => self.disconnect(from, DisconnectReason::NotRegistered, fx),
            None => self.broadcast(from, message, fx),
            Some(name) => self.unicast(from, name, message, fx),
        }
    }

    fn count(&mut self, from: PeerId, message: &Message<'_>) {
        let bytes = message.bytes().len() as u64;
        self.counters.messages += 1;
        self.counters.bytes += bytes;
        if let Some(peer) = self.peers.get_mut(from) {
            peer.sent.messages += 1;
            peer.sent.bytes += bytes;
            peer.sent.fds += u64::from(message.unix_fds());
            peer.peaks.incoming_bytes = peer.peaks.incoming_bytes.max(bytes);
            peer.peaks.incoming_fds = peer.peaks.incoming_fds.max(message.unix_fds().into());
        }
    }

    fn forward<'m>(&self, from: PeerId, message: &'m Message<'m>, fx: &mut Effects) -> Forward<'m> {
        let head = fx.stamp(message, &self.peers[from].sender);
        Forward { message, from, head }
    }

    fn broadcast(&mut self, from: PeerId, message: &Message<'_>, fx: &mut Effects) {
        let forward = self.forward(from, message, fx);
        self.show_monitors(&forward, None, fx);
        self.find_listeners(forward.message, Some(from));
        let recipients = core::mem::take(&mut self.recipients);
        for &to in recipients.list() {
            self.pass(&forward, to, fx);
        }
        self.recipients = recipients;
    }

    /// Fills `self.recipients` with those whose rules match a signal that is addressed to nobody.
    pub(crate) fn find_listeners(&mut self, message: &Message<'_>, sender: Option<PeerId>) {
        let generation = self.plain_rules.generation()
            + self.eavesdropping_rules.generation()
            + self.owner_generation;
        let Self { peers, names, plain_rules, eavesdropping_rules, routes, recipients, .. } = self;
        let subject = Subject { message, sender, addressed: None, peers, names };
        recipients.clear();
        if let Some(route) = routes.get(&subject, generation) {
            route.recipients.iter().for_each(|&peer| recipients.add(peer));
        } else {
            let plain = plain_rules.find_without_args(&subject, recipients);
            let eavesdropping = eavesdropping_rules.find_without_args(&subject, recipients);
            if plain == ArgsRead::No && eavesdropping == ArgsRead::No {
                routes.put(&subject, generation, recipients.list());
            }
        }
        plain_rules.find_by_args(&subject, recipients);
        eavesdropping_rules.find_by_args(&subject, recipients);
    }

    /// Queues a message for somebody it is not addressed to; loses it if there is no room.
    pub(crate) fn pass(&mut self, forward: &Forward<'_>, to: PeerId, fx: &mut Effects) {
        let fds = forward.message.unix_fds();
        let Some(peer) = self.peers.get(to) else { return };
        if fds > 0 && peer.fds == FdPassing::Refused {
            return;
        }
        if self.is_full(peer, fds) {
            return self.lose(to, Some(forward.from), fx);
        }
        self.deliver(forward, to, Urgency::Passing, fx);
    }

    fn deliver(&mut self, forward: &Forward<'_>, to: PeerId, urgency: Urgency, fx: &mut Effects) {
        let Some(peer) = self.peers.get_mut(to) else { return };
        peer.charge(forward.len(), forward.message.unix_fds().into());
        self.counters.deliveries += 1;
        let (head, fds) = (forward.head, forward.fds());
        fx.push(Effect::Send(Delivery { to, head, body: Body::OfInput, fds, urgency }));
    }

    /// Counts a signal that a connection does not get because it does not read.
    pub(crate) fn lose(&mut self, to: PeerId, sender: Option<PeerId>, fx: &mut Effects) {
        self.counters.lost_signals += 1;
        let Some(peer) = self.peers.get_mut(to) else { return };
        peer.lost += 1;
        match &mut peer.losing {
            Some(lost) => *lost += 1,
            None => {
                peer.losing = Some(1);
                let queued = peer.queued.bytes;
                fx.push(Effect::Log(Event::LosingSignals { peer: to, sender, queued }));
            }
        }
    }

    fn unicast(
        &mut self,
        from: PeerId,
        name: BusName<'_>,
        message: &Message<'_>,
        fx: &mut Effects,
    ) {
        let forward = self.forward(from, message, fx);
        let to = self.resolve(name);
        self.show_monitors(&forward, to, fx);
        match self.check_unicast(&forward, to, name) {
            Ok(to) => self.deliver(&forward, to, Urgency::Awaited, fx),
            Err(error) => return self.refuse(from, message, &error, fx),
        }
        self.show_eavesdroppers(&forward, to, fx);
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

    /// Says whether an addressed message may go, and if it is a call, remembers it.
    fn check_unicast(
        &mut self,
        forward: &Forward<'_>,
        to: Option<PeerId>,
        name: BusName<'_>,
    ) -> Result<PeerId, BusError> {
        let message = forward.message;
        check_type(message)?;
        let to = to.ok_or_else(|| no_owner(name, message.flags()))?;
        self.check_reply(forward, to)?;
        let recipient = &self.peers[to];
        if self.is_full(recipient, message.unix_fds()) {
            return Err(self.describe_refusal(
                ErrorKind::LimitsExceeded,
                "Rejected: destination has a full message queue",
                forward,
                recipient,
            ));
        }
        if message.unix_fds() > 0 && recipient.fds == FdPassing::Refused {
            return Err(ErrorKind::NotSupported.because(
                "Tried to send message with Unix file descriptors to a client that doesn't support that.",
            ));
        }
        self.expect_reply(forward, to)?;
        Ok(to)
    }

    /// A reply must be one that its recipient waits for.
    fn check_reply(&mut self, forward: &Forward<'_>, to: PeerId) -> Result<(), BusError> {
        let Some(serial) = forward.message.reply_serial() else { return Ok(()) };
        if !forward.message.message_type().is_reply() {
            return Ok(());
        }
        let pending = PendingReply { caller: to, serial, callee: forward.from };
        if self.replies.take(pending) || self.config.policy.unrequested_replies == Verdict::Allow {
            return Ok(());
        }
        Err(self.describe_refusal(
            ErrorKind::AccessDenied,
            "Rejected send message, 0 matched rules",
            forward,
            &self.peers[to],
        ))
    }

    fn expect_reply(&mut self, forward: &Forward<'_>, to: PeerId) -> Result<(), BusError> {
        if !forward.message.expects_reply() {
            return Ok(());
        }
        let serial = forward.message.serial();
        let pending = PendingReply { caller: forward.from, serial, callee: to };
        let deadline = self.config.limits.reply_timeout.map(|timeout| self.now.after(timeout));
        let max = self.config.limits.max_replies_per_connection;
        self.replies.expect(pending, deadline, max).map_err(|error| match error {
            ExpectError::SerialInUse => ErrorKind::AccessDenied.because(
                "Message has the same reply serial as a currently-outstanding existing method call",
            ),
            ExpectError::TooMany => ErrorKind::LimitsExceeded
                .because("The maximum number of pending replies per connection has been reached"),
        })
    }

    /// The reference's sentence about a message that may not go to `recipient`.
    fn describe_refusal(
        &self,
        kind: ErrorKind,
        what: &str,
        forward: &Forward<'_>,
        recipient: &Peer,
    ) -> BusError {
        let message = forward.message;
        let sender = &self.peers[forward.from];
        let or_unset = |text: Option<&str>| String::from(text.unwrap_or("(unset)"));
        kind.because(format!(
            "{what}; type=\"{}\", sender=\"{}\" ({}) interface=\"{}\" member=\"{}\" \
             error name=\"{}\" requested_reply=\"0\" destination=\"{}\" ({})",
            message.message_type(),
            sender.sender.name(),
            who(sender),
            or_unset(message.interface().map(|name| name.as_str())),
            or_unset(message.member().map(|name| name.as_str())),
            or_unset(message.error_name().map(|name| name.as_str())),
            or_unset(message.destination().map(|name| name.as_str())),
            who(recipient),
        ))
    }

    /// Gives a copy of a message to those who see what is addressed to others.
    pub(crate) fn show_eavesdroppers(
        &mut self,
        forward: &Forward<'_>,
        addressed: Option<PeerId>,
        fx: &mut Effects,
    ) {
        if self.eavesdropping_rules.is_empty() || self.config.policy.eavesdropping == Verdict::Deny
        {
            return;
        }
        let Self { peers, names, eavesdropping_rules, recipients, .. } = self;
        let sender = Some(forward.from);
        let subject = Subject { message: forward.message, sender, addressed, peers, names };
        recipients.clear();
        eavesdropping_rules.find_all(&subject, recipients);
        let recipients = core::mem::take(&mut self.recipients);
        for &to in recipients.list().iter().filter(|&&to| Some(to) != addressed) {
            self.pass(forward, to, fx);
        }
        self.recipients = recipients;
    }

    /// Gives a copy of a message to the monitors that want it.
    pub(crate) fn show_monitors(
        &mut self,
        forward: &Forward<'_>,
        addressed: Option<PeerId>,
        fx: &mut Effects,
    ) {
        if self.monitoring_rules.is_empty() {
            return;
        }
        let Self { peers, names, monitoring_rules, recipients, .. } = self;
        let sender = Some(forward.from);
        let subject = Subject { message: forward.message, sender, addressed, peers, names };
        recipients.clear();
        monitoring_rules.find_all(&subject, recipients);
        let recipients = core::mem::take(&mut self.recipients);
        for &to in recipients.list() {
            self.pass(forward, to, fx);
        }
        self.recipients = recipients;
    }

    /// Gives a copy of a message of the bus itself to the monitors that want it.
    pub(crate) fn show_monitors_own(
        &mut self,
        span: Span,
        addressed: Option<PeerId>,
        fx: &mut Effects,
    ) {
        if self.monitoring_rules.is_empty() {
            return;
        }
        let (_, bytes) = fx.parts();
        let message = Message::parse(&bytes[span.range()]).expect("the bus wrote it");
        let Self { peers, names, monitoring_rules, recipients, .. } = self;
        let subject = Subject { message: &message, sender: None, addressed, peers, names };
        recipients.clear();
        monitoring_rules.find_all(&subject, recipients);
        self.pass_own(span, fx);
    }

    /// Queues a message of the bus itself for all in `self.recipients`.
    fn pass_own(&mut self, head: Span, fx: &mut Effects) {
        let recipients = core::mem::take(&mut self.recipients);
        for &to in recipients.list() {
            let Some(peer) = self.peers.get(to) else { continue };
            if self.is_full(peer, 0) {
                self.lose(to, None, fx);
                continue;
            }
            self.peers[to].charge(head.len() as u64, 0);
            self.counters.deliveries += 1;
            let (body, fds, urgency) = (Body::InHead, Fds::None, Urgency::Passing);
            fx.push(Effect::Send(Delivery { to, head, body, fds, urgency }));
        }
        self.recipients = recipients;
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
        if matches!(error.kind, ErrorKind::LimitsExceeded | ErrorKind::AccessDenied) {
            self.report_refusal(from, error, fx);
        }
        self.send_error(from, message.serial(), error, fx);
    }

    /// Logs refusals that an administrator should know of, once for each kind and connection until
    /// something else happens to it.
    fn report_refusal(&mut self, from: PeerId, error: &BusError, fx: &mut Effects) {
        let Some(peer) = self.peers.get_mut(from) else { return };
        let kind = error.kind.name().as_str();
        if peer.limit_reported != Some(kind) {
            peer.limit_reported = Some(kind);
            fx.push(Effect::Log(Event::Refused { peer: from, why: error.text.clone() }));
        }
    }

    /// Sends an error in reply to the message `serial` of a connection.
    pub(crate) fn send_error(
        &mut self,
        to: PeerId,
        serial: NonZeroU32,
        error: &BusError,
        fx: &mut Effects,
    ) {
        let builder = Builder::error(error.kind.name(), serial);
        self.send_own(to, builder, &(error.text.as_str(),), Fds::None, fx);
    }

    /// Sends the results of the call `serial` of a connection.
    pub(crate) fn send_return(
        &mut self,
        to: PeerId,
        serial: NonZeroU32,
        args: &impl EncodeArgs,
        fx: &mut Effects,
    ) {
        self.send_own(to, Builder::method_return(serial), args, Fds::None, fx);
    }

    /// Sends a message of the bus itself to one connection.
    pub(crate) fn send_own(
        &mut self,
        to: PeerId,
        builder: Builder<'_>,
        args: &impl EncodeArgs,
        fds: Fds,
        fx: &mut Effects,
    ) {
        let serial = self.take_serial();
        let Some(peer) = self.peers.get(to) else { return };
        let builder = builder
            .flags(Flags::NO_REPLY_EXPECTED)
            .destination(peer.name())
            .sender(DRIVER_NAME.into())
            .unix_fds(u32::from(fds != Fds::None));
        let span = fx.written(|bytes| {
            builder.write(bytes, serial, args).expect("the bus writes what fits in a message");
        });
        self.show_monitors_own(span, Some(to), fx);
        self.deliver_own(to, span, fds, fx);
    }

    /// Sends a signal of the bus itself to all who want it.
    pub(crate) fn broadcast_own(
        &mut self,
        builder: Builder<'_>,
        args: &impl EncodeArgs,
        fx: &mut Effects,
    ) {
        let serial = self.take_serial();
        let builder = builder.flags(Flags::NO_REPLY_EXPECTED).sender(DRIVER_NAME.into());
        let span = fx.written(|bytes| {
            builder.write(bytes, serial, args).expect("the bus writes what fits in a message");
        });
        self.show_monitors_own(span, None, fx);
        let (_, bytes) = fx.parts();
        let message = Message::parse(&bytes[span.range()]).expect("the bus wrote it");
        self.find_listeners(&message, None);
        self.pass_own(span, fx);
    }

    pub(crate) fn take_serial(&mut self) -> NonZeroU32 {
        let serial = NonZeroU32::new(self.next_serial).unwrap_or(NonZeroU32::MIN);
        self.next_serial = serial.get().wrapping_add(1);
        serial
    }

    /// The bus as the other end of a connection: it answers `org.freedesktop.DBus.Peer`, as any
    /// program does, and nothing else.
    fn call_without_destination(&mut self, from: PeerId, message: &Message<'_>, fx: &mut Effects) {
        if message.message_type() != MessageType::MethodCall {
            return;
        }
        let interface = message.interface().map(|name| name.as_str());
        let member = message.member().map_or("", |name| name.as_str());
        let is_peer = interface == Some("org.freedesktop.DBus.Peer");
        let machine_id = self.identity.machine_id.clone();
        match (member, machine_id) {
            ("Ping", _) if is_peer => self.answer(from, message, Builder::method_return, &(), fx),
            ("GetMachineId", Some(id)) if is_peer => {
                self.answer(from, message, Builder::method_return, &(id,), fx);
            }
            _ => {
                let text = format!(
                    "Method \"{member}\" with signature \"{}\" on interface \"{}\" doesn't exist\n",
                    message.signature(),
                    interface.unwrap_or("(null)"),
                );
                let error = |serial| Builder::error(ErrorKind::UnknownMethod.name(), serial);
                self.answer(from, message, error, &(text,), fx);
            }
        }
    }

    /// Answers a call without a destination: no names on either side.
    fn answer(
        &mut self,
        to: PeerId,
        call: &Message<'_>,
        builder: impl FnOnce(NonZeroU32) -> Builder<'static>,
        args: &impl EncodeArgs,
        fx: &mut Effects,
    ) {
        let serial = self.take_serial();
        let builder = builder(call.serial()).flags(Flags::NO_REPLY_EXPECTED);
        let span = fx.written(|bytes| {
            builder.write(bytes, serial, args).expect("the bus writes what fits in a message");
        });
        self.deliver_own(to, span, Fds::None, fx);
    }
}

fn check_type(message: &Message<'_>) -> Result<(), BusError> {
    match message.message_type() {
        MessageType::Unknown(_) => Err(ErrorKind::AccessDenied
            .because("Message bus will not accept messages of unknown type\n")),
        _ => Ok(()),
    }
}

fn no_owner(name: BusName<'_>, flags: Flags) -> BusError {
    if flags.contains(Flags::NO_AUTO_START) {
        ErrorKind::NameHasNoOwner.because(format!("Name \"{name}\" does not exist"))
    } else {
        not_activatable(name.as_str())
    }
}

/// What the reference says of a name that no service file is for.
pub(crate) fn not_activatable(name: &str) -> BusError {
    let text = format!("The name {name} was not provided by any .service files");
    ErrorKind::ServiceUnknown.because(text)
}

/// A process, as error texts name it.
fn who(peer: &Peer) -> String {
    let number = |n: Option<u32>| n.map_or_else(|| String::from("?"), |n| format!("{n}"));
    format!("uid={} pid={}", number(peer.uid), number(peer.credentials.pid))
}

/// Reads the number in a unique name, exactly as the bus writes it.
fn parse_unique(text: &str) -> Option<u64> {
    let canonical = text == "0" || !text.starts_with(['0', '+']);
    canonical.then(|| text.parse().ok()).flatten()
}
