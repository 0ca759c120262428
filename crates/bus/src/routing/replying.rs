//! Messages of the bus itself: replies, errors and signals.

use alloc::string::ToString;
use core::num::NonZeroU32;

use wire::Message;
use wire::body::EncodeArgs;
use wire::message::{Builder, Flags, WriteError};
use wire::names::ErrorName;

use super::filters::SignalSubject;
use super::router::Router;
use crate::accounting::QueueAccount;
use crate::policy::MessageClass;
use crate::types::{
    Body, Delivery, DescriptorPassing, Effect, Effects, Fds, PeerId, RefusalReason, Span, Urgency,
};
use crate::well_known::DRIVER_NAME;

impl Router {
    /// Sends an error in reply to the message `serial` of a connection.
    pub(crate) fn send_error(
        &mut self,
        to: PeerId,
        serial: NonZeroU32,
        reason: &RefusalReason,
        fx: &mut Effects,
    ) {
        self.send_named_error(to, serial, reason.kind().name(), &reason.to_string(), fx);
    }

    /// Sends an error whose name another component has chosen.
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

    /// Sends an empty reply to the call `serial` of a connection.
    pub(crate) fn send_return(&mut self, to: PeerId, serial: NonZeroU32, fx: &mut Effects) {
        self.send_own(to, Builder::method_return(serial), &(), Fds::None, fx)
            .expect("an empty reply is short");
    }

    /// Sends a message of the bus itself to one connection, and copies to monitors.
    ///
    /// # Errors
    ///
    /// Fails if `args` are too long for a message.
    pub(crate) fn send_own(
        &mut self,
        to: PeerId,
        builder: Builder<'_>,
        args: &impl EncodeArgs,
        fds: Fds,
        fx: &mut Effects,
    ) -> Result<(), WriteError> {
        let (serial, class) = (self.serials.take(), MessageClass::of_bus(builder.message_type()));
        let Some(peer) = self.registry.get(to) else { return Ok(()) };
        let builder = builder
            .flags(Flags::NO_REPLY_EXPECTED)
            .destination(peer.name())
            .sender(DRIVER_NAME.into())
            .unix_fds(fds_of(fds));
        let head = fx.written(|bytes| builder.write(bytes, serial, args))?;
        self.show_monitors_own(head, fds, Some(to), fx);
        if !self.access.restricts() || self.may_receive_own(to, head, class, fx) {
            self.deliver_own(to, head, fds, Urgency::Awaited, fx);
        }
        Ok(())
    }

    /// Writes a message of the bus itself to the buffer, with its destination, if any.
    ///
    /// # Errors
    ///
    /// Fails if `args` are too long for a message.
    pub(crate) fn write_own(
        &mut self,
        builder: Builder<'_>,
        args: &impl EncodeArgs,
        fx: &mut Effects,
    ) -> Result<Span, WriteError> {
        let serial = self.serials.take();
        let builder = builder.flags(Flags::NO_REPLY_EXPECTED).sender(DRIVER_NAME.into());
        fx.written(|bytes| builder.write(bytes, serial, args))
    }

    /// Shows monitors an error about a withheld copy of message `serial` (its sender is `None` for
    /// the bus itself). The sender does not get this error.
    pub(crate) fn show_monitors_refusal(
        &mut self,
        sender: Option<PeerId>,
        serial: NonZeroU32,
        reason: &RefusalReason,
        fx: &mut Effects,
    ) {
        let own_serial = self.serials.take();
        let peer = sender.and_then(|sender| self.registry.get(sender));
        let builder = Builder::error(reason.kind().name(), serial)
            .flags(Flags::NO_REPLY_EXPECTED)
            .destination(peer.map_or(DRIVER_NAME.into(), |peer| peer.name()))
            .sender(DRIVER_NAME.into());
        let head = fx
            .written(|bytes| builder.write(bytes, own_serial, &(reason.to_string(),)))
            .expect("the text of an error is short");
        self.copy_own_to_monitors(head, Fds::None, sender, fx);
    }

    /// Sends a signal of the bus itself to all subscribers that may know of its subject. The
    /// arguments must be short.
    pub(crate) fn broadcast_own(
        &mut self,
        builder: Builder<'_>,
        args: &impl EncodeArgs,
        subject: SignalSubject<'_>,
        fx: &mut Effects,
    ) {
        let class = MessageClass::of_bus(builder.message_type());
        let head = self
            .write_own(builder, args, fx)
            .expect("the arguments of the bus's signals are short");
        self.show_monitors_own(head, Fds::None, None, fx);
        let begun = self.tracing.stopwatch();
        let message = Message::parse(fx.bytes(head)).expect("the bus wrote it");
        self.matching.find_subscribers(&self.registry, &message, None);
        self.tracing.matched_since(begun, head, fx);
        let restricts = self.access.restricts();
        self.for_each_recipient(|router, to| {
            if !restricts
                || (router.may_hear_of(to, subject) && router.may_receive_own(to, head, class, fx))
            {
                router.deliver_own(to, head, Fds::None, Urgency::Passing, fx);
            }
        });
    }

    /// Answers a call without a destination. The reply has neither sender nor destination.
    pub(crate) fn answer(
        &mut self,
        to: PeerId,
        builder: Builder<'_>,
        args: &impl EncodeArgs,
        fx: &mut Effects,
    ) {
        let serial = self.serials.take();
        let builder = builder.flags(Flags::NO_REPLY_EXPECTED);
        let head =
            fx.written(|bytes| builder.write(bytes, serial, args)).expect("such answers are short");
        self.tracing.record_own(head, Some(to), &self.registry, fx);
        self.deliver_own(to, head, Fds::None, Urgency::Awaited, fx);
    }

    /// Shows a message of the bus itself to traces and monitors.
    pub(crate) fn show_monitors_own(
        &mut self,
        head: Span,
        fds: Fds,
        addressed: Option<PeerId>,
        fx: &mut Effects,
    ) {
        self.tracing.record_own(head, addressed, &self.registry, fx);
        self.copy_own_to_monitors(head, fds, addressed, fx);
    }

    /// Queues a copy of a message of the bus itself for each monitor with a matching rule.
    fn copy_own_to_monitors(
        &mut self,
        head: Span,
        fds: Fds,
        addressed: Option<PeerId>,
        fx: &mut Effects,
    ) {
        if !self.matching.has_monitors() {
            return;
        }
        let message = Message::parse(fx.bytes(head)).expect("the bus wrote it");
        self.matching.find_monitors(&self.registry, &message, None, addressed);
        self.for_each_recipient(|router, to| {
            router.deliver_own(to, head, fds, Urgency::Passing, fx);
        });
    }

    /// Queues a message of the bus itself for one connection. Drops it if the queue does not have
    /// room, because there is no sender that could get an error.
    #[inline]
    pub(crate) fn deliver_own(
        &mut self,
        to: PeerId,
        head: Span,
        fds: Fds,
        urgency: Urgency,
        fx: &mut Effects,
    ) {
        let Some(peer) = self.registry.get_mut(to) else { return };
        if peer.is_closing() || (fds != Fds::None && peer.fds == DescriptorPassing::Refused) {
            return;
        }
        let bytes = head.len() as u64;
        if peer.queue.is_crowded() {
            if !self.push_own(to, bytes, fds_of(fds), urgency) {
                return self.lose(to, None, fx);
            }
        } else {
            peer.queue.push(bytes, fds_of(fds).into());
        }
        self.accounting.delivered_own();
        fx.push(Effect::Send(Delivery { to, head, body: Body::InHead, fds, urgency }));
    }

    /// Adds a message of the bus itself to a crowded queue. Returns true if it had room for the
    /// message.
    #[cold]
    fn push_own(&mut self, to: PeerId, bytes: u64, fds: u32, urgency: Urgency) -> bool {
        // A signal counts against the user who caused it.
        let is_signal = urgency == Urgency::Passing;
        let account = if is_signal { self.accounting.payer() } else { QueueAccount::Unaccounted };
        let peer = &self.registry[to];
        let has_room = !peer.queue.is_full(fds) && !self.is_over_share(account, peer, fds);
        if has_room {
            self.registry[to].queue.push_for(account, bytes, fds.into());
        }
        has_room
    }
}

/// The error for the caller of a method whose reply is too long for a message.
pub(crate) fn reply_too_long(_: WriteError) -> RefusalReason {
    RefusalReason::ReplyTooLong
}

/// The number of descriptors that are sent with a message of the bus itself.
const fn fds_of(fds: Fds) -> u32 {
    match fds {
        Fds::None | Fds::OfInput | Fds::Held(_) => 0,
        Fds::OfProcess(_) | Fds::OfRing => 1,
        Fds::OfRecorder => 2,
        Fds::OfLane(_) => LANE_DESCRIPTORS,
    }
}

/// The number of descriptors that an end of a lane gets: its socket and three sets of counters.
const LANE_DESCRIPTORS: u32 = 4;
