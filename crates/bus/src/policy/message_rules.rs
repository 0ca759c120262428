//! The rules of one connection about messages of one direction, indexed.
//!
//! The last rule that matches decides, so it is looked for from the end. Most rules of a system bus
//! name a destination; those are found by the names of the recipient. Of the others, those that
//! name an interface are found by it. What is left is gone through one by one: a handful.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use wire::Message;

use super::counterpart::{Counterpart, CounterpartNames};
use super::message_class::{DeliveryKind, MessageClass, PassedClasses, ReplyClass};
use super::rule::{
    ANY_FDS, Audience, MessageMatch, NamePattern, PolicyVerdict, ReceiveMatch, RecipientRole,
    SendMatch,
};
use crate::well_known::DRIVER_NAME;

/// A message as rules see it.
pub(crate) struct PolicyQuery<'a, N> {
    pub(crate) message: &'a Message<'a>,
    pub(crate) reply: ReplyClass,
    pub(crate) delivery: DeliveryKind,
    /// The recipient of what is sent, or the sender of what is received.
    pub(crate) counterpart: Counterpart<'a, N>,
}

impl<N: CounterpartNames> PolicyQuery<'_, N> {
    fn class(&self) -> MessageClass {
        MessageClass::new(self.message.message_type(), self.reply, self.delivery)
    }
}

/// What the rules say of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PolicyDecision {
    /// It may pass.
    Pass,
    /// It may pass, and the rule that says so wants it logged. So many rules match.
    PassLogged(usize),
    /// It may not. So many rules match.
    Refuse(usize),
}

/// Rules, and where to look for those that could match a message.
#[derive(Debug)]
pub(crate) struct MessageRules {
    passed: PassedClasses,
    /// In the order in which the last one that matches decides.
    rules: Vec<MessageRule>,
    /// Places of the rules that name one counterpart, by that name.
    by_name: Places,
    /// Of the others, those that name an interface, by that.
    by_interface: Places,
    /// Of these, those that also match a message without an interface: they deny.
    of_no_interface: Vec<usize>,
    /// The others.
    rest: Vec<usize>,
}

/// Places of rules in ascending order. The keys are an administrator's, so the hasher need not be
/// keyed.
type Places = HashMap<Box<str>, Vec<usize>, FixedState>;

impl MessageRules {
    /// Takes rules in their order.
    ///
    /// What stands before a rule that asks for nothing but circumstances is left out, as the
    /// reference does, even if that rule then does not match.
    pub(super) fn new(mut rules: Vec<MessageRule>) -> Self {
        let start = rules.iter().rposition(MessageRule::starts_over).unwrap_or(0);
        rules.drain(..start);
        let mut indexed = Self {
            passed: PassedClasses::of(&rules),
            rules: Vec::new(),
            by_name: Places::default(),
            by_interface: Places::default(),
            of_no_interface: Vec::new(),
            rest: Vec::new(),
        };
        rules.iter().enumerate().for_each(|(place, rule)| indexed.index(place, rule));
        indexed.rules = rules;
        indexed
    }

    fn index(&mut self, place: usize, rule: &MessageRule) {
        let places = match (&rule.counterpart, &rule.message.interface) {
            (NamePattern::One(name), _) => self.by_name.entry(name.as_str().into()).or_default(),
            (_, Some(interface)) => {
                if rule.verdict == PolicyVerdict::Deny {
                    self.of_no_interface.push(place);
                }
                self.by_interface.entry(interface.as_str().into()).or_default()
            }
            (_, None) => &mut self.rest,
        };
        places.push(place);
    }

    /// Whether messages of this kind may pass, whatever else they are. Where this says no, only
    /// [`Self::judge`] can tell.
    #[inline]
    pub(crate) const fn pass_all(&self, class: MessageClass) -> bool {
        self.passed.contains(class)
    }

    /// Whether no message is ever refused.
    pub(super) fn pass_everything(&self) -> bool {
        self.passed.are_all()
    }

    /// Says whether a message may pass.
    pub(crate) fn judge(&self, query: &PolicyQuery<'_, impl CounterpartNames>) -> PolicyDecision {
        match self.deciding(query) {
            Some(MessageRule { verdict: PolicyVerdict::Allow, log: false, .. }) => {
                PolicyDecision::Pass
            }
            Some(MessageRule { verdict: PolicyVerdict::Allow, .. }) => {
                PolicyDecision::PassLogged(self.count(query))
            }
            _ => PolicyDecision::Refuse(self.count(query)),
        }
    }

    /// How many rules match.
    fn count(&self, query: &PolicyQuery<'_, impl CounterpartNames>) -> usize {
        self.rules.iter().filter(|rule| rule.matches(query)).count()
    }

    /// The last rule that matches.
    fn deciding(&self, query: &PolicyQuery<'_, impl CounterpartNames>) -> Option<&MessageRule> {
        let mut last = self.last_of(&self.rest, query, None);
        let of_interface = match query.message.interface() {
            None => Some(&self.of_no_interface),
            Some(interface) => self.by_interface.get(interface.as_str()),
        };
        if let Some(places) = of_interface {
            last = self.last_of(places, query, last);
        }
        query.counterpart.for_each_of(&self.by_name, |places| {
            last = self.last_of(places, query, last);
        });
        last.map(|place| &self.rules[place])
    }

    /// The last of some rules that matches, if it comes after one that was found before.
    fn last_of(
        &self,
        places: &[usize],
        query: &PolicyQuery<'_, impl CounterpartNames>,
        found: Option<usize>,
    ) -> Option<usize> {
        let later = places.iter().rev().copied().take_while(|place| Some(*place) > found);
        later.into_iter().find(|place| self.rules[*place].matches(query)).or(found)
    }
}

/// A rule about messages that are sent, or about messages that are received.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct MessageRule {
    pub(super) verdict: PolicyVerdict,
    pub(super) log: bool,
    deliveries: DeliveryKinds,
    /// Names that the other end has or waits for.
    counterpart: NamePattern,
    message: MessageMatch,
}

/// The deliveries on which a rule matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum DeliveryKinds {
    Any,
    Only(DeliveryKind),
    AllBut(DeliveryKind),
}

impl MessageRule {
    pub(super) fn sending(verdict: PolicyVerdict, log: bool, wanted: &SendMatch) -> Self {
        let deliveries = match (&wanted.destination, wanted.audience) {
            // No connection has the name of the bus.
            (NamePattern::One(name), _) if name == DRIVER_NAME.as_str() => {
                DeliveryKinds::Only(DeliveryKind::ToNobody)
            }
            (_, Audience::Any) => DeliveryKinds::Any,
            (_, Audience::Broadcast) => DeliveryKinds::Only(DeliveryKind::Broadcast),
            (_, Audience::Unicast) => DeliveryKinds::AllBut(DeliveryKind::Broadcast),
        };
        let (counterpart, message) = (wanted.destination.clone(), wanted.message.clone());
        Self { verdict, log, deliveries, counterpart, message }
    }

    pub(super) fn receiving(verdict: PolicyVerdict, wanted: &ReceiveMatch) -> Self {
        let deliveries = match wanted.recipient {
            RecipientRole::Any => DeliveryKinds::Any,
            RecipientRole::Addressee => DeliveryKinds::AllBut(DeliveryKind::Overheard),
            RecipientRole::Eavesdropper => DeliveryKinds::Only(DeliveryKind::Overheard),
        };
        let counterpart = wanted.sender.clone().map_or(NamePattern::Any, NamePattern::One);
        Self { verdict, log: false, deliveries, counterpart, message: wanted.message.clone() }
    }

    /// Whether it is one of those for which the rules before it are forgotten.
    fn starts_over(&self) -> bool {
        self.message.is_of_any_kind() && self.counterpart == NamePattern::Any
    }

    /// Whether it matches any message of some kind.
    pub(super) fn may_match(&self, class: MessageClass) -> bool {
        let other_type =
            self.message.message_type.is_some_and(|wanted| wanted != class.message_type);
        !other_type
            && class.reply.is_among(self.message.replies)
            && self.deliveries.contain(class.delivery)
            && !self.message.fds.is_empty()
    }

    /// Whether it matches all messages of a kind of which it matches any.
    pub(super) fn asks_only_for_class(&self) -> bool {
        self.counterpart == NamePattern::Any
            && !self.message.asks_for_text()
            && self.message.fds == ANY_FDS
    }

    fn matches(&self, query: &PolicyQuery<'_, impl CounterpartNames>) -> bool {
        let (wanted, message) = (&self.message, query.message);
        self.may_match(query.class())
            && has(&wanted.path, message.path().map(|path| path.as_str()))
            && has(&wanted.member, message.member().map(|member| member.as_str()))
            && has(&wanted.error, message.error_name().map(|name| name.as_str()))
            && self.matches_interface(message)
            && has_fds(&wanted.fds, message.unix_fds())
            && query.counterpart.is(&self.counterpart)
    }

    /// A message without an interface could be for any: it has none that is allowed, and may have
    /// one that is denied.
    fn matches_interface(&self, message: &Message<'_>) -> bool {
        match (&self.message.interface, message.interface()) {
            (None, _) => true,
            (Some(wanted), Some(interface)) => wanted == interface.as_str(),
            (Some(_), None) => self.verdict == PolicyVerdict::Deny,
        }
    }
}

impl DeliveryKinds {
    fn contain(self, delivery: DeliveryKind) -> bool {
        match self {
            Self::Any => true,
            Self::Only(wanted) => wanted == delivery,
            Self::AllBut(unwanted) => unwanted != delivery,
        }
    }
}

/// Whether a message has a text that a rule asks for. One that has none at all counts as having it.
fn has(wanted: &Option<String>, found: Option<&str>) -> bool {
    match (wanted, found) {
        (Some(wanted), Some(found)) => wanted == found,
        _ => true,
    }
}

/// The count of a message may be larger than any that a rule can ask for.
fn has_fds(wanted: &RangeInclusive<u32>, count: u32) -> bool {
    *wanted == ANY_FDS || wanted.contains(&count)
}
