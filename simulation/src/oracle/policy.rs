//! Decisions of the policy.

use wire::Message;
use wire::message::MessageType;

use super::Oracle;
use crate::setting::{
    CALL_DENIED_TO_MUTED, DEAFENED, EAVESDROP_DENIED, MUTED, OWN_DENIED, RECEIVE_DENIED,
    SEND_DENIED, SIGNAL_DENIED_TO_DEAFENED, SimulatedPolicy,
};

impl Oracle {
    /// True if the policy allows the sender to send and the recipient to receive a message.
    pub(super) fn may_deliver(&self, from: Option<u64>, to: u64, message: &Message<'_>) -> bool {
        from.is_none_or(|from| self.may_send(from, message)) && self.may_receive(to, message)
    }

    /// True if the policy allows the sender to send a message to any peer.
    pub(super) fn may_send(&self, from: u64, message: &Message<'_>) -> bool {
        let is_muted = self.user(from).uid == MUTED;
        match (message.message_type(), interface(message)) {
            (MessageType::Signal, SEND_DENIED) => self.policy == SimulatedPolicy::Open,
            (MessageType::MethodCall, CALL_DENIED_TO_MUTED) => !is_muted,
            _ => true,
        }
    }

    fn may_receive(&self, to: u64, message: &Message<'_>) -> bool {
        let is_deafened = self.user(to).uid == DEAFENED;
        match (message.message_type(), interface(message)) {
            (MessageType::MethodCall, RECEIVE_DENIED) => self.policy == SimulatedPolicy::Open,
            (MessageType::Signal, SIGNAL_DENIED_TO_DEAFENED) => !is_deafened,
            _ => true,
        }
    }

    /// True if the policy allows eavesdropping on a message.
    pub(super) fn may_eavesdrop(message: &Message<'_>) -> bool {
        let kind = message.message_type();
        (kind, interface(message)) != (MessageType::MethodCall, EAVESDROP_DENIED)
    }

    /// True if the policy allows a peer to own a name.
    pub(super) fn may_own(&self, by: u64, name: &str) -> bool {
        name != OWN_DENIED
            || (self.policy == SimulatedPolicy::Open && self.user(by).uid != DEAFENED)
    }
}

fn interface<'m>(message: &Message<'m>) -> &'m str {
    message.interface().map_or("", |name| name.as_str())
}
