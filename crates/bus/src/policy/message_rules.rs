//! The rules of one connection for messages in one direction, indexed.
//!
//! The last matching rule decides, so the search begins at the end. Most rules of a system bus name
//! a destination; they are found by the names of the recipient. Of the others, rules that name an
//! interface are found by the interface. The few remaining rules are tested one by one.

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

/// A message, as policy rules see it.
pub(crate) struct PolicyQuery<'a, N> {
    pub(crate) message: &'a Message<'a>,
    pub(crate) reply: ReplyClass,
    pub(crate) delivery: DeliveryKind,
    /// The recipient of a sent message, or the sender of a received message.
    pub(crate) counterpart: Counterpart<'a, N>,
}

impl<N: CounterpartNames> PolicyQuery<'_, N> {
    fn class(&self) -> MessageClass {
        MessageClass::new(self.message.message_type(), self.reply, self.delivery)
    }
}

/// The decision of the rules about a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PolicyDecision {
    /// The message is allowed.
    Pass,
    /// The message is allowed, and the deciding rule requests a log record. Has the number of
    /// matching rules.
    PassLogged(usize),
    /// The message is denied. Has the number of matching rules.
    Refuse(usize),
}

/// Policy rules, with indices of the rules that could match a message.
#[derive(Debug)]
pub(crate) struct MessageRules {
    passed: PassedClasses,
    /// The rules in order. The last matching rule decides.
    rules: Vec<MessageRule>,
    /// Positions of the rules that name one counterpart, by its name.
    by_name: Places,
    /// Positions of the other rules that name an interface, by the interface.
    by_interface: Places,
    /// Positions of those interface rules that also match a message without an interface, because
    /// they deny.
    of_no_interface: Vec<usize>,
    /// Positions of the remaining rules.
    rest: Vec<usize>,
}

/// Positions of rules in ascending order. The administrator chooses the keys, so the hasher does
/// not need a secret key.
type Places = HashMap<Box<str>, Vec<usize>, FixedState>;

impl MessageRules {
    /// Compiles rules in their order.
    ///
    /// The rules before a rule that tests only the kind of delivery are discarded, even if that
    /// rule does not match. dbus-daemon does the same.
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

    /// True if all messages of this class are allowed. If false, only [`Self::judge`] can decide.
    #[inline]
    pub(crate) const fn pass_all(&self, class: MessageClass) -> bool {
        self.passed.contains(class)
    }

    /// True if all messages of this class to or from these names are allowed, and none is logged.
    pub(crate) fn pass_all_of(&self, class: MessageClass, names: impl CounterpartNames) -> bool {
        let counterpart = Counterpart::Peer(names);
        let relevant = self.rules.iter().rev().filter(|rule| rule.may_match(class));
        let mut relevant = relevant.filter(|rule| counterpart.is(&rule.counterpart));
        relevant.find_map(|rule| rule.decides_for_all()).unwrap_or(false)
    }

    /// True if no message is ever denied.
    pub(super) fn pass_everything(&self) -> bool {
        self.passed.are_all()
    }

    /// Decides whether a message is allowed.
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

    /// Counts the rules that match.
    fn count(&self, query: &PolicyQuery<'_, impl CounterpartNames>) -> usize {
        self.rules.iter().filter(|rule| rule.matches(query)).count()
    }

    /// Finds the last rule that matches.
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

    /// Finds the last matching rule of a list, if it is later than a rule that was already found.
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

/// A rule for sent messages, or a rule for received messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct MessageRule {
    pub(super) verdict: PolicyVerdict,
    pub(super) log: bool,
    deliveries: DeliveryKinds,
    /// Names that the counterpart must own or be queued for.
    counterpart: NamePattern,
    message: MessageMatch,
}

/// The kinds of delivery for which a rule matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum DeliveryKinds {
    Any,
    Only(DeliveryKind),
    AllBut(DeliveryKind),
}

impl MessageRule {
    pub(super) fn sending(verdict: PolicyVerdict, log: bool, wanted: &SendMatch) -> Self {
        let deliveries = match (&wanted.destination, wanted.audience) {
            // A connection cannot own the name of the bus.
            (NamePattern::One(name), _) if name == DRIVER_NAME.as_str() => {
                DeliveryKinds::Only(DeliveryKind::WithoutRecipient)
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

    /// True if this rule discards the rules before it.
    fn starts_over(&self) -> bool {
        self.message.is_of_any_kind() && self.counterpart == NamePattern::Any
    }

    /// True if the rule matches any message of a class.
    pub(super) fn may_match(&self, class: MessageClass) -> bool {
        let other_type =
            self.message.message_type.is_some_and(|wanted| wanted != class.message_type);
        !other_type
            && class.reply.is_among(self.message.replies)
            && self.deliveries.contain(class.delivery)
            && !self.message.fds.is_empty()
    }

    /// True if the rule either matches all messages of a class or no message of it.
    pub(super) fn asks_only_for_class(&self) -> bool {
        self.counterpart == NamePattern::Any
            && !self.message.asks_for_text()
            && self.message.fds == ANY_FDS
    }

    /// What the rule decides for all messages of a class to one counterpart that it matches. `None`
    /// if rules before it may decide for some of them, with the same result.
    fn decides_for_all(&self) -> Option<bool> {
        if self.verdict == PolicyVerdict::Deny || self.log {
            return Some(false);
        }
        (!self.message.asks_for_text() && self.message.fds == ANY_FDS).then_some(true)
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

    /// A message without an interface could call any interface: an allow rule for an interface does
    /// not match it, and a deny rule does.
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

/// True if a message has the text that a rule requires. A message without such a text counts as
/// having it.
fn has(wanted: &Option<String>, found: Option<&str>) -> bool {
    match (wanted, found) {
        (Some(wanted), Some(found)) => wanted == found,
        _ => true,
    }
}

/// A message may have more descriptors than the largest number that a rule can state.
fn has_fds(wanted: &RangeInclusive<u32>, count: u32) -> bool {
    *wanted == ANY_FDS || wanted.contains(&count)
}
