//! What rules can tell of a message without its texts: its class; and what follows from that alone.

use wire::Message;
use wire::message::MessageType;

use super::message_rules::MessageRule;
use super::rule::{PolicyVerdict, Replies};

/// Whether a message is a reply, and to what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReplyClass {
    /// It is none.
    No,
    /// It is the first to a call that waits for it.
    Requested,
    /// Nobody waits for it.
    Unrequested,
}

impl ReplyClass {
    /// What a message is to somebody whom it was not sent to.
    #[inline]
    pub(crate) const fn to_others(message: &Message<'_>) -> Self {
        if message.reply_serial().is_some() { Self::Unrequested } else { Self::No }
    }

    /// Whether it is among the replies that a rule is about.
    pub(super) fn is_among(self, replies: Replies) -> bool {
        match (self, replies) {
            (Self::No, _) | (_, Replies::Any) => true,
            (Self::Requested, wanted) => wanted == Replies::Requested,
            (Self::Unrequested, wanted) => wanted == Replies::Unrequested,
        }
    }
}

/// How a message gets to whom.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DeliveryKind {
    /// To the connection that it was sent to. What a recipient gets of a broadcast is this too.
    Addressed,
    /// A signal to nobody in particular.
    Broadcast,
    /// To the bus itself, or to a name that nobody has yet.
    ToNobody,
    /// To a connection that it was not sent to.
    Overheard,
}

/// All that rules can ask of a message, except its texts, its descriptors, and who has which names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MessageClass {
    pub(super) message_type: MessageType,
    pub(crate) reply: ReplyClass,
    pub(crate) delivery: DeliveryKind,
}

impl MessageClass {
    #[inline]
    pub(crate) const fn new(
        message_type: MessageType,
        reply: ReplyClass,
        delivery: DeliveryKind,
    ) -> Self {
        Self { message_type, reply, delivery }
    }

    /// What a message of the bus itself is to who gets it.
    #[inline]
    pub(crate) const fn of_bus(message_type: MessageType) -> Self {
        let reply = if message_type.is_reply() { ReplyClass::Requested } else { ReplyClass::No };
        Self { message_type, reply, delivery: DeliveryKind::Addressed }
    }

    /// A number for each.
    #[inline]
    const fn bit(self) -> u64 {
        let message_type = match self.message_type {
            MessageType::MethodCall => 0,
            MessageType::MethodReturn => 1,
            MessageType::Error => 2,
            MessageType::Signal => 3,
            MessageType::Unknown(_) => return 0,
        };
        1 << ((message_type * REPLIES.len() + self.reply as usize) * DELIVERY_KINDS.len()
            + self.delivery as usize)
    }
}

/// The classes of messages that all may pass, whatever else they are, so that nobody has to look at
/// the rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PassedClasses(u64);

impl PassedClasses {
    /// Works out what rules let pass, of which the last one that matches decides.
    pub(super) fn of(rules: &[MessageRule]) -> Self {
        let passed = all_classes().filter(|class| is_passed(rules, *class));
        Self(passed.fold(0, |bits, class| bits | class.bit()))
    }

    #[inline]
    pub(crate) const fn contains(self, class: MessageClass) -> bool {
        self.0 & class.bit() != 0
    }

    /// Whether these are all that there are.
    pub(super) fn are_all(self) -> bool {
        all_classes().all(|class| self.contains(class))
    }
}

/// Whether a rule allows all messages of a class, and no later one denies any of them, or wants to
/// be told.
fn is_passed(rules: &[MessageRule], class: MessageClass) -> bool {
    let quietly_allows = |rule: &MessageRule| rule.verdict == PolicyVerdict::Allow && !rule.log;
    let relevant = rules.iter().rev().filter(|rule| rule.may_match(class));
    for rule in relevant {
        if !quietly_allows(rule) {
            return false;
        }
        if rule.asks_only_for_class() {
            return true;
        }
    }
    false
}

fn all_classes() -> impl Iterator<Item = MessageClass> {
    TYPES.into_iter().flat_map(|message_type| {
        REPLIES.into_iter().flat_map(move |reply| {
            DELIVERY_KINDS
                .into_iter()
                .map(move |delivery| MessageClass::new(message_type, reply, delivery))
        })
    })
}

const TYPES: [MessageType; 4] =
    [MessageType::MethodCall, MessageType::MethodReturn, MessageType::Error, MessageType::Signal];

const REPLIES: [ReplyClass; 3] = [ReplyClass::No, ReplyClass::Requested, ReplyClass::Unrequested];

const DELIVERY_KINDS: [DeliveryKind; 4] = [
    DeliveryKind::Addressed,
    DeliveryKind::Broadcast,
    DeliveryKind::ToNobody,
    DeliveryKind::Overheard,
];

const _: () = assert!(TYPES.len() * REPLIES.len() * DELIVERY_KINDS.len() <= u64::BITS as usize);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_a_bit_of_its_own() {
        let bits = all_classes().fold(0_u64, |bits, class| {
            assert_eq!(class.bit().count_ones(), 1, "{class:?}");
            assert_eq!(bits & class.bit(), 0, "{class:?}");
            bits | class.bit()
        });
        assert_eq!(bits.count_ones() as usize, TYPES.len() * REPLIES.len() * DELIVERY_KINDS.len());
        let unknown =
            MessageClass::new(MessageType::Unknown(9), ReplyClass::No, DeliveryKind::Addressed);
        assert!(!PassedClasses(u64::MAX).contains(unknown), "rules are about known types");
    }
}
