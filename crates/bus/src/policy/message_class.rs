//! The class of a message: all that policy rules can test without comparing texts. The class alone
//! often decides.

use wire::Message;
use wire::message::MessageType;

use super::message_rules::MessageRule;
use super::rule::{PolicyVerdict, Replies};

/// Whether a message is a reply, and whether a call requested it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReplyClass {
    /// The message is not a reply.
    No,
    /// The message is the first reply to a pending call.
    Requested,
    /// The message is a reply without a pending call.
    Unrequested,
}

impl ReplyClass {
    /// The class of a message for recipients that it is not addressed to.
    #[inline]
    pub(crate) const fn to_others(message: &Message<'_>) -> Self {
        if message.reply_serial().is_some() { Self::Unrequested } else { Self::No }
    }

    /// True if a rule with this condition on replies matches.
    pub(super) fn is_among(self, replies: Replies) -> bool {
        match (self, replies) {
            (Self::No, _) | (_, Replies::Any) => true,
            (Self::Requested, wanted) => wanted == Replies::Requested,
            (Self::Unrequested, wanted) => wanted == Replies::Unrequested,
        }
    }
}

/// The relation between a message and its recipient.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DeliveryKind {
    /// To the connection that it is addressed to, or from a broadcast to its recipient.
    Addressed,
    /// A signal without a destination.
    Broadcast,
    /// To the bus itself, or to a name without an owner.
    WithoutRecipient,
    /// To a connection that it is not addressed to.
    Overheard,
}

/// All properties of a message that rules can test, except its texts, its descriptors, and the
/// owners of names.
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

    /// The class of a message of the bus itself, for its recipient.
    #[inline]
    pub(crate) const fn of_bus(message_type: MessageType) -> Self {
        let reply = if message_type.is_reply() { ReplyClass::Requested } else { ReplyClass::No };
        Self { message_type, reply, delivery: DeliveryKind::Addressed }
    }

    /// A distinct bit for each class.
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

/// The message classes that are always allowed, so that no rule has to be searched for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PassedClasses(u64);

impl PassedClasses {
    /// Computes the classes that rules always allow. The last matching rule decides.
    pub(super) fn of(rules: &[MessageRule]) -> Self {
        let passed = all_classes().filter(|class| is_passed(rules, *class));
        Self(passed.fold(0, |bits, class| bits | class.bit()))
    }

    #[inline]
    pub(crate) const fn contains(self, class: MessageClass) -> bool {
        self.0 & class.bit() != 0
    }

    /// True if all classes are always allowed.
    pub(super) fn are_all(self) -> bool {
        all_classes().all(|class| self.contains(class))
    }
}

/// True if a rule allows all messages of a class, and no later rule denies or logs any of them.
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
    DeliveryKind::WithoutRecipient,
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
