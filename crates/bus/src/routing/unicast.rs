//! Messages with a destination, for one connection.

use alloc::boxed::Box;

use wire::Message;
use wire::message::{Flags, MessageType};
use wire::names::BusName;

use super::router::Router;
use crate::access::{AccessQuery, deny, describe_delivery};
use crate::calls::{ExpectError, PendingCall, PendingCallId};
use crate::policy::ReplyClass;
use crate::registry::Peer;
use crate::types::{
    DescriptorPassing, Effects, Forward, FullQueue, PeerId, QueueRoom, RefusalReason, Urgency,
};

/// The error for a message to a name without an owner.
pub(crate) struct NoOwner<'m> {
    pub(crate) forward: Forward<'m>,
    pub(crate) name: BusName<'m>,
}

impl Router {
    /// Delivers a message to the owner of a name, if it is allowed. If the name does not have an
    /// owner, the message is returned, and no connection has seen it yet.
    pub(crate) fn unicast<'m>(
        &mut self,
        from: PeerId,
        name: BusName<'m>,
        message: &'m Message<'m>,
        fx: &mut Effects,
    ) -> Result<(), NoOwner<'m>> {
        let forward = self.forward(from, message, fx);
        let Some(to) = self.registry.resolve(name) else {
            return Err(NoOwner { forward, name });
        };
        self.show_monitors(&forward, Some(to), fx);
        if let Err(error) = self.pass_on(&forward, to, fx) {
            self.refuse(from, message, &error, fx);
        }
        Ok(())
    }

    /// Delivers an addressed message, if it is allowed.
    pub(crate) fn pass_on(
        &mut self,
        forward: &Forward<'_>,
        to: PeerId,
        fx: &mut Effects,
    ) -> Result<(), RefusalReason> {
        self.check_unicast(forward, to, fx)?;
        if self.access.restricts() {
            self.show_sender(forward.from, to);
        }
        let urgency = match forward.message.message_type() {
            MessageType::Signal => Urgency::Passing,
            _ => Urgency::Awaited,
        };
        self.deliver(forward, to, urgency, fx);
        self.show_eavesdroppers(forward, Some(to), fx);
        Ok(())
    }

    /// Checks that an addressed message may be delivered. A call becomes a pending call. The call
    /// of a reply stops being pending.
    fn check_unicast(
        &mut self,
        forward: &Forward<'_>,
        to: PeerId,
        fx: &mut Effects,
    ) -> Result<(), RefusalReason> {
        let message = forward.message;
        let call = self.find_call(forward, to);
        let reply = self.reply_kind(forward, to, call, fx);
        let query = AccessQuery::to_addressee(message, forward.from, to, reply);
        if let MessageType::Unknown(_) = message.message_type() {
            self.check_filters(&query)?;
            return Err(RefusalReason::UnknownMessageType);
        }
        if let Err(reason) = self.check_access(&query, fx) {
            if let Some(call) = call
                && message.message_type().is_reply()
                && reason.is_by_container()
            {
                self.replace_reply(call, message, to, &reason, fx);
            }
            return Err(reason);
        }
        self.check_room(forward, &query, &self.registry[to])?;
        self.expect_reply(forward, to)?;
        // Not earlier: if the reply could not be delivered, the caller gets an error once it is
        // certain that no reply will come.
        if let Some(call) = call {
            let counted = self.calls.take(call);
            self.accounting.answered(counted, message.message_type(), self.now);
        }
        Ok(())
    }

    /// Decides by the policy and the security modules whether a message may be delivered.
    #[inline]
    pub(crate) fn check_access(
        &mut self,
        query: &AccessQuery<'_>,
        fx: &mut Effects,
    ) -> Result<(), RefusalReason> {
        if !self.access.restricts() {
            return Ok(());
        }
        self.check_filters(query)?;
        let outcome = self.access.check(query, &self.registry, &self.config, fx);
        outcome.map_err(|denial| deny(denial, query, &self.registry))
    }

    /// Finds the pending call that a message answers.
    #[inline]
    fn find_call(&self, forward: &Forward<'_>, to: PeerId) -> Option<PendingCallId> {
        let serial = forward.message.reply_serial()?;
        self.calls.find(&PendingCall { caller: to, serial, callee: forward.from })
    }

    /// Whether a message is a reply, and whether it was requested: by a pending call, or by one that
    /// traveled on a lane.
    #[inline]
    fn reply_kind(
        &mut self,
        forward: &Forward<'_>,
        to: PeerId,
        call: Option<PendingCallId>,
        fx: &mut Effects,
    ) -> ReplyClass {
        match (forward.message.reply_serial(), call) {
            (None, _) => ReplyClass::No,
            (Some(_), Some(_)) => ReplyClass::Requested,
            (Some(serial), None) if self.lanes.accept_reply(forward.from, to, serial) => {
                // The caller knows which calls it has sent on the lane.
                fx.add_flags(forward.head, Flags::LANE_REPLY);
                ReplyClass::Requested
            }
            (Some(_), None) => ReplyClass::Unrequested,
        }
    }

    /// Checks that the queue of the recipient has room for a message.
    #[inline]
    fn check_room(
        &self,
        forward: &Forward<'_>,
        query: &AccessQuery<'_>,
        recipient: &Peer,
    ) -> Result<(), RefusalReason> {
        let fds = forward.message.unix_fds();
        if forward.is_too_long() {
            return Err(RefusalReason::MessageTooLong);
        }
        if self.has_no_room(forward, recipient) {
            let room = match recipient.queue.is_full(fds) {
                true => QueueRoom::None,
                false => QueueRoom::ForOtherUsers,
            };
            return Err(RefusalReason::QueueFull(Box::new(FullQueue {
                room,
                recipient: recipient.id,
                hit: recipient.queue.limit_hit(),
                delivery: describe_delivery(query, &self.registry),
            })));
        }
        if fds > 0 && recipient.fds == DescriptorPassing::Refused {
            return Err(RefusalReason::FdsNotAgreed);
        }
        Ok(())
    }

    /// Makes a call pending until its reply arrives.
    #[inline]
    fn expect_reply(&mut self, forward: &Forward<'_>, to: PeerId) -> Result<(), RefusalReason> {
        if !forward.message.expects_reply() {
            return Ok(());
        }
        let serial = forward.message.serial();
        let call = PendingCall { caller: forward.from, serial, callee: to };
        let deadline = self.config.limits.reply_timeout.map(|timeout| self.now.after(timeout));
        let max = self.registry[forward.from].max_replies;
        let counted = self.accounting.current();
        self.calls.expect(call, deadline, max, counted).map_err(|error| match error {
            ExpectError::SerialInUse => RefusalReason::SerialInUse,
            ExpectError::TooMany => RefusalReason::TooManyPendingReplies { max },
        })
    }
}
