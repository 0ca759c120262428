//! What is allowed to whom.

use wire::Message;
use wire::message::MessageType;

use super::Oracle;
use crate::setting::{
    DEAFENED, MUTED, SimulatedPolicy, UNCALLED, UNHEARD, UNOVERHEARD, UNOWNED, UNRECEIVED, UNSENT,
};

impl Oracle {
    /// Whether a message may go from one to another.
    pub(super) fn may_pass(&self, from: Option<u64>, to: u64, message: &Message<'_>) -> bool {
        from.is_none_or(|from| self.may_send(from, message)) && self.may_receive(to, message)
    }

    /// Whether somebody may send a message to anybody.
    pub(super) fn may_send(&self, from: u64, message: &Message<'_>) -> bool {
        let is_muted = self.who(from).uid == MUTED;
        match (message.message_type(), interface(message)) {
            (MessageType::Signal, UNSENT) => self.policy == SimulatedPolicy::Open,
            (MessageType::MethodCall, UNCALLED) => !is_muted,
            _ => true,
        }
    }

    fn may_receive(&self, to: u64, message: &Message<'_>) -> bool {
        let is_deafened = self.who(to).uid == DEAFENED;
        match (message.message_type(), interface(message)) {
            (MessageType::MethodCall, UNRECEIVED) => self.policy == SimulatedPolicy::Open,
            (MessageType::Signal, UNHEARD) => !is_deafened,
            _ => true,
        }
    }

    /// Whether who is not addressed may see a message.
    pub(super) fn may_overhear(message: &Message<'_>) -> bool {
        let kind = message.message_type();
        (kind, interface(message)) != (MessageType::MethodCall, UNOVERHEARD)
    }

    /// Whether somebody may have a name.
    pub(super) fn may_own(&self, by: u64, name: &str) -> bool {
        name != UNOWNED || (self.policy == SimulatedPolicy::Open && self.who(by).uid != DEAFENED)
    }
}

fn interface<'m>(message: &Message<'m>) -> &'m str {
    message.interface().map_or("", |name| name.as_str())
}
