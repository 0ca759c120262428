//! Delivery of unicast messages.

use wire::Message;
use wire::message::{Flags, MessageType};

use super::activation::{HeldKind, HeldRequest};
use super::bus_messages::{
    ACCESS_DENIED, BusMessage, LIMITS_EXCEEDED, NAME_HAS_NO_OWNER, NOT_SUPPORTED, SERVICE_UNKNOWN,
};
use super::subscribers::Destination;
use super::{Deviation, Oracle};
use crate::setting::{Feature, REPLIES_MAX};

/// The delivery of a unicast message.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnicastDelivery {
    from: u64,
    serial: u32,
    /// The number of the message in the order of routing.
    number: u64,
    /// The pending call that this message added or answered, if any.
    call: Option<(u64, u32, u64)>,
    is_reply: bool,
    /// How many subscribers did not get a copy because of the policy.
    withheld: usize,
    /// The recipient, if it is in a container from which the sender was hidden before.
    shown_to: Option<u64>,
}

impl Oracle {
    pub(super) fn send_unicast(&mut self, from: u64, name: &str, message: &Message<'_>) {
        if let Some(to) = self.find(name) {
            return self.deliver(from, to, message);
        }
        let serial = message.serial().get();
        let error = if message.flags().contains(Flags::NO_AUTO_START) {
            Some(NAME_HAS_NO_OWNER)
        } else if let Err(error) = self.judge_absent(from, name, message) {
            Some(error)
        } else if !self.is_startable(name) {
            Some(SERVICE_UNKNOWN)
        } else if !self.may_send(from, message) {
            Some(ACCESS_DENIED)
        } else if self.is_hold_full() {
            Some(LIMITS_EXCEEDED)
        } else {
            None
        };
        match error {
            Some(name) => self.due.push(BusMessage::Error { to: from, serial, name }),
            None => {
                let kind = HeldKind::Message(message.bytes().to_vec());
                self.held.push(HeldRequest { name: name.to_owned(), from, kind });
            }
        }
    }

    /// Delivers a message to the peer that owns the destination.
    pub(super) fn deliver(&mut self, from: u64, to: u64, message: &Message<'_>) {
        let (serial, kind) = (message.serial().get(), message.message_type());
        if let Err(error) = self.judge_filters(from, to, message) {
            return self.refuse(from, serial, error);
        }
        if !self.may_deliver(Some(from), to, message) {
            return self.refuse(from, serial, ACCESS_DENIED);
        }
        if !self.can_receive_fds(to, message) {
            return self.refuse(from, serial, NOT_SUPPORTED);
        }
        let mut pending_call = None;
        if kind.is_reply() {
            let call = message.reply_serial().map_or(0, core::num::NonZero::get);
            let call = (to, call, from);
            // On a session bus, a peer may also send a reply to a call that does not exist.
            pending_call = Some(call).filter(|call| self.pending.contains(call));
            self.pending.retain(|pending| *pending != call);
        } else if kind == MessageType::MethodCall && message.expects_reply() {
            let call = (from, serial, to);
            if let Some(name) = self.refusal_of_call(call) {
                return self.refuse(from, serial, name);
            }
            self.pending.push(call);
            pending_call = Some(call);
        }
        let number = self.routed;
        let is_reply = kind.is_reply();
        self.expect(to, message, false);
        let shown_to = self.show(from, to).then_some(to);
        let withheld = self.copy_to_subscribers(message, Destination::Peer(to));
        self.latest.push(UnicastDelivery {
            from,
            serial,
            number,
            call: pending_call,
            is_reply,
            withheld,
            shown_to,
        });
    }

    fn refuse(&mut self, to: u64, serial: u32, name: &'static str) {
        self.placed.push((to, serial, self.routed));
        self.due.push(BusMessage::Error { to, serial, name });
    }

    fn refusal_of_call(&self, call: (u64, u32, u64)) -> Option<&'static str> {
        let waiting = self.pending.iter().filter(|(caller, ..)| *caller == call.0).count();
        let has_low_limits = self.setting.has(Feature::LowLimits);
        if self.pending.contains(&call) {
            Some(ACCESS_DENIED)
        } else {
            (has_low_limits && waiting >= REPLIES_MAX).then_some(LIMITS_EXCEEDED)
        }
    }

    /// Handles the error of the bus that the queue of a recipient is full. Returns the number of
    /// the message that the error follows.
    pub(super) fn refused(&mut self, sender: u64, refused_serial: u32) -> Result<u64, Deviation> {
        // If a queue is full, the bus does not check whether the policy denies the message, too.
        let denied = [ACCESS_DENIED, NOT_SUPPORTED].map(|name| BusMessage::Error {
            to: sender,
            serial: refused_serial,
            name,
        });
        if self.setting.has(Feature::TightQueues)
            && let Some(place) = self.due.iter().position(|due| denied.contains(due))
        {
            self.due.remove(place);
            return Ok(self.take_place(sender, refused_serial));
        }
        let is_refused = |one: &UnicastDelivery| (one.from, one.serial) == (sender, refused_serial);
        let place = self.latest.iter().position(is_refused);
        let place = place.ok_or("LimitsExceeded for a message that was not delivered")?;
        let latest = self.latest.remove(place);
        for account in self.accounts.values_mut() {
            account.expected.retain(|expected| expected.number != latest.number);
        }
        for _ in 0..latest.withheld {
            let withheld = BusMessage::Withheld { from: sender, serial: refused_serial };
            let place = self.due.iter().rposition(|one| *one == withheld);
            self.due.remove(place.ok_or("a withheld copy of a refused message is not due")?);
        }
        if let Some(to) = latest.shown_to {
            self.hide(latest.from, to);
        }
        match latest.call {
            // The reply was not delivered, so the call is still pending.
            Some(call) if latest.is_reply => self.pending.push(call),
            Some(call) => self.pending.retain(|pending| *pending != call),
            None => {}
        }
        Ok(latest.number)
    }
}
