//! What the bus itself says: replies, errors and signals.

use core::num::NonZeroU32;

use wire::Message;
use wire::body::EncodeArgs;
use wire::message::{Builder, Flags, WriteError};
use wire::names::ErrorName;

use crate::bus::Bus;
use crate::effects::{Body, Delivery, Effect, Effects, Fds, Span, Urgency};
use crate::error::{BusError, ErrorKind};
use crate::input::{FdPassing, PeerId};
use crate::peers::{DRIVER_NAME, Stage};
use crate::policy::Kind;
use crate::shares::Account;

impl Bus {
    /// Sends an error in reply to the message `serial` of a connection.
    pub(crate) fn send_error(
        &mut self,
        to: PeerId,
        serial: NonZeroU32,
        error: &BusError,
        fx: &mut Effects,
    ) {
        self.send_named_error(to, serial, error.kind.name(), &error.text, fx);
    }

    /// Sends an error whose name somebody else has chosen.
    pub(crate) fn send_named_error(
        &mut self,
        to: PeerId,
        serial: NonZeroU32,
        name: ErrorName<'_>,
        text: &str,
        fx: &mut Effects,
    ) {
        self.send_own(to, Builder::error(name, serial), &(text,), Fds::None, fx)
            .expect("the text of an error is short");
    }

    /// Sends an empty answer to the call `serial` of a connection.
    pub(crate) fn send_return(&mut self, to: PeerId, serial: NonZeroU32, fx: &mut Effects) {
        self.send_own(to, Builder::method_return(serial), &(), Fds::None, fx)
            .expect("nothing is short");
    }

    /// Sends a message of the bus itself to one connection, and copies to monitors.
    ///
    /// Fails only if `args` are too long for a message.
    pub(crate) fn send_own(
        &mut self,
        to: PeerId,
        builder: Builder<'_>,
        args: &impl EncodeArgs,
        fds: Fds,
        fx: &mut Effects,
    ) -> Result<(), WriteError> {
        let (serial, kind) = (self.take_serial(), Kind::of_bus(builder.message_type()));
        let Some(peer) = self.peers.get(to) else { return Ok(()) };
        let builder = builder
            .flags(Flags::NO_REPLY_EXPECTED)
            .destination(peer.name())
            .sender(DRIVER_NAME.into())
            .unix_fds(fds_of(fds));
        let head = fx.written(|bytes| builder.write(bytes, serial, args))?;
        self.show_monitors_own(head, fds, Some(to), fx);
        if !self.restricts() || self.may_hear_bus(to, head, kind, fx) {
            self.deliver_own(to, head, fds, Urgency::Awaited, fx);
        }
        Ok(())
    }

    /// Writes a message of the bus itself, with whatever destination it has.
    ///
    /// Fails only if `args` are too long for a message.
    pub(crate) fn write_own(
        &mut self,
        builder: Builder<'_>,
        args: &impl EncodeArgs,
        fx: &mut Effects,
    ) -> Result<Span, WriteError> {
        let serial = self.take_serial();
        let builder = builder.flags(Flags::NO_REPLY_EXPECTED).sender(DRIVER_NAME.into());
        fx.written(|bytes| builder.write(bytes, serial, args))
    }

    /// Shows monitors the error that the sender of message `serial`, `None` for the bus itself,
    /// would get if it were told that somebody may not have a copy of it.
    pub(crate) fn show_monitors_refusal(
        &mut self,
        sender: Option<PeerId>,
        serial: NonZeroU32,
        error: &BusError,
        fx: &mut Effects,
    ) {
        let own_serial = self.take_serial();
        let peer = sender.and_then(|sender| self.peers.get(sender));
        let builder = Builder::error(error.kind.name(), serial)
            .flags(Flags::NO_REPLY_EXPECTED)
            .destination(peer.map_or(DRIVER_NAME.into(), |peer| peer.name()))
            .sender(DRIVER_NAME.into());
        let head = fx
            .written(|bytes| builder.write(bytes, own_serial, &(error.text.as_str(),)))
            .expect("the text of an error is short");
        self.copy_own_to_monitors(head, Fds::None, sender, fx);
    }

    /// Sends a signal of the bus itself to all who want it. The arguments must be short.
    pub(crate) fn broadcast_own(
        &mut self,
        builder: Builder<'_>,
        args: &impl EncodeArgs,
        fx: &mut Effects,
    ) {
        let kind = Kind::of_bus(builder.message_type());
        let head = self
            .write_own(builder, args, fx)
            .expect("the arguments of the bus's signals are short");
        self.show_monitors_own(head, Fds::None, None, fx);
        let begun = self.traces.stopwatch();
        let message = Message::parse(fx.bytes(head)).expect("the bus wrote it");
        self.find_listeners(&message, None);
        self.matched_since(begun, head, fx);
        let recipients = core::mem::take(&mut self.recipients);
        let restricts = self.restricts();
        for &to in recipients.list() {
            if !restricts || self.may_hear_bus(to, head, kind, fx) {
                self.deliver_own(to, head, Fds::None, Urgency::Passing, fx);
            }
        }
        self.recipients = recipients;
    }

    /// Answers a call without a destination: with no names on either side.
    pub(crate) fn answer(
        &mut self,
        to: PeerId,
        builder: Builder<'_>,
        args: &impl EncodeArgs,
        fx: &mut Effects,
    ) {
        let serial = self.take_serial();
        let builder = builder.flags(Flags::NO_REPLY_EXPECTED);
        let head =
            fx.written(|bytes| builder.write(bytes, serial, args)).expect("such answers are short");
        self.trace_own(head, Some(to), fx);
        self.deliver_own(to, head, Fds::None, Urgency::Awaited, fx);
    }

    /// Shows a message of the bus itself to those who look on: traces, and monitors.
    pub(crate) fn show_monitors_own(
        &mut self,
        head: Span,
        fds: Fds,
        addressed: Option<PeerId>,
        fx: &mut Effects,
    ) {
        self.trace_own(head, addressed, fx);
        self.copy_own_to_monitors(head, fds, addressed, fx);
    }

    /// Gives a copy of a message of the bus itself to the monitors that want it.
    fn copy_own_to_monitors(
        &mut self,
        head: Span,
        fds: Fds,
        addressed: Option<PeerId>,
        fx: &mut Effects,
    ) {
        if self.monitoring_rules.is_empty() {
            return;
        }
        let message = Message::parse(fx.bytes(head)).expect("the bus wrote it");
        self.find_monitors(&message, None, addressed);
        let recipients = core::mem::take(&mut self.recipients);
        for &to in recipients.list() {
            self.deliver_own(to, head, fds, Urgency::Passing, fx);
        }
        self.recipients = recipients;
    }

    /// Queues a message of the bus itself for one connection; loses it if there is no room, since
    /// nobody else could be told.
    #[inline]
    pub(crate) fn deliver_own(
        &mut self,
        to: PeerId,
        head: Span,
        fds: Fds,
        urgency: Urgency,
        fx: &mut Effects,
    ) {
        let Some(peer) = self.peers.get_mut(to) else { return };
        if peer.stage == Stage::Gone || (fds != Fds::None && peer.fds == FdPassing::Refused) {
            return;
        }
        let bytes = head.len() as u64;
        if peer.is_crowded() {
            if !self.charge_own(to, bytes, fds_of(fds), urgency) {
                return self.lose(to, None, fx);
            }
        } else {
            peer.charge(bytes, fds_of(fds).into());
        }
        self.counters.deliveries += 1;
        fx.push(Effect::Send(Delivery { to, head, body: Body::InHead, fds, urgency }));
    }

    /// Puts a message of the bus itself on the account of a connection with a crowded queue. Returns
    /// whether there is room for it.
    #[cold]
    fn charge_own(&mut self, to: PeerId, bytes: u64, fds: u32, urgency: Urgency) -> bool {
        // The user who caused the signal pays for it.
        let account = if urgency == Urgency::Passing { self.acting } else { Account::Nobody };
        let peer = &self.peers[to];
        let has_room = !peer.is_full(fds) && !self.is_over_share(account, peer, fds);
        if has_room {
            self.peers[to].charge_to(account, bytes, fds.into());
        }
        has_room
    }

    pub(crate) fn take_serial(&mut self) -> NonZeroU32 {
        let serial = NonZeroU32::new(self.next_serial).unwrap_or(NonZeroU32::MIN);
        self.next_serial = serial.get().wrapping_add(1);
        serial
    }
}

/// A reply that has become too long for a message, as the caller is told.
pub(crate) fn reply_too_long(_: WriteError) -> BusError {
    ErrorKind::LimitsExceeded.because("The reply would be longer than a message may be")
}

/// How many descriptors go with a message of the bus itself.
const fn fds_of(fds: Fds) -> u32 {
    match fds {
        Fds::None | Fds::OfInput | Fds::Held(_) => 0,
        Fds::OfProcess(_) | Fds::OfRing => 1,
        Fds::OfRecorder => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Configuration, Identity};
    use wire::guid::Guid;

    #[test]
    fn serials_go_round_and_leave_out_0() {
        let id = Guid::from_bytes([1; 16]);
        let identity = Identity { id, machine_id: None, pid: 1, uid: 0, security_label: None };
        let mut bus = Bus::new(identity, Configuration::default(), 0);
        bus.next_serial = u32::MAX - 1;
        let serials = [(); 4].map(|()| bus.take_serial().get());
        assert_eq!(serials, [u32::MAX - 1, u32::MAX, 1, 2]);
    }
}
