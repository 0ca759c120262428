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

use super::kind::{Kind, PassedKinds, Reply, Way};
use super::party::Party;
use super::rule::{
    ANY_FDS, Audience, MessageMatch, NamePattern, ReceiveMatch, Recipient, SendMatch, Verdict,
};
use crate::peers::DRIVER_NAME;

/// A message as rules see it.
pub(crate) struct Letter<'a> {
    pub(crate) message: &'a Message<'a>,
    pub(crate) reply: Reply,
    pub(crate) way: Way,
    /// Who is at the other end: the recipient of what is sent, the sender of what is received.
    pub(crate) party: Party<'a>,
}

impl Letter<'_> {
    fn kind(&self) -> Kind {
        Kind::new(self.message.message_type(), self.reply, self.way)
    }
}

/// What the rules say of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ruling {
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
    passed: PassedKinds,
    /// In the order in which the last one that matches decides.
    rules: Vec<MessageRule>,
    /// Places of the rules that name one party, by that name.
    by_party: Places,
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
            passed: PassedKinds::of(&rules),
            rules: Vec::new(),
            by_party: Places::default(),
            by_interface: Places::default(),
            of_no_interface: Vec::new(),
            rest: Vec::new(),
        };
        rules.iter().enumerate().for_each(|(place, rule)| indexed.index(place, rule));
        indexed.rules = rules;
        indexed
    }

    fn index(&mut self, place: usize, rule: &MessageRule) {
        let places = match (&rule.party, &rule.message.interface) {
            (NamePattern::One(name), _) => self.by_party.entry(name.as_str().into()).or_default(),
            (_, Some(interface)) => {
                if rule.verdict == Verdict::Deny {
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
    pub(crate) const fn pass_all(&self, kind: Kind) -> bool {
        self.passed.contains(kind)
    }

    /// Whether no message is ever refused.
    pub(super) fn pass_everything(&self) -> bool {
        self.passed.are_all()
    }

    /// Says whether a message may pass.
    pub(crate) fn judge(&self, letter: &Letter<'_>) -> Ruling {
        match self.deciding(letter) {
            Some(MessageRule { verdict: Verdict::Allow, log: false, .. }) => Ruling::Pass,
            Some(MessageRule { verdict: Verdict::Allow, .. }) => {
                Ruling::PassLogged(self.count(letter))
            }
            _ => Ruling::Refuse(self.count(letter)),
        }
    }

    /// How many rules match.
    fn count(&self, letter: &Letter<'_>) -> usize {
        self.rules.iter().filter(|rule| rule.matches(letter)).count()
    }

    /// The last rule that matches.
    fn deciding(&self, letter: &Letter<'_>) -> Option<&MessageRule> {
        let mut last = self.last_of(&self.rest, letter, None);
        let of_interface = match letter.message.interface() {
            None => Some(&self.of_no_interface),
            Some(interface) => self.by_interface.get(interface.as_str()),
        };
        if let Some(places) = of_interface {
            last = self.last_of(places, letter, last);
        }
        letter.party.for_each_of(&self.by_party, |places| {
            last = self.last_of(places, letter, last);
        });
        last.map(|place| &self.rules[place])
    }

    /// The last of some rules that matches, if it comes after one that was found before.
    fn last_of(
        &self,
        places: &[usize],
        letter: &Letter<'_>,
        found: Option<usize>,
    ) -> Option<usize> {
        let later = places.iter().rev().copied().take_while(|place| Some(*place) > found);
        later.into_iter().find(|place| self.rules[*place].matches(letter)).or(found)
    }
}

/// A rule about messages that are sent, or about messages that are received.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct MessageRule {
    pub(super) verdict: Verdict,
    pub(super) log: bool,
    ways: Ways,
    /// Names that the other end has or waits for.
    party: NamePattern,
    message: MessageMatch,
}

/// The ways on which a rule matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ways {
    Any,
    Only(Way),
    AllBut(Way),
}

impl MessageRule {
    pub(super) fn sending(verdict: Verdict, log: bool, wanted: &SendMatch) -> Self {
        let ways = match (&wanted.destination, wanted.audience) {
            // No connection has the name of the bus.
            (NamePattern::One(name), _) if name == DRIVER_NAME.as_str() => {
                Ways::Only(Way::ToNobody)
            }
            (_, Audience::Any) => Ways::Any,
            (_, Audience::Broadcast) => Ways::Only(Way::Broadcast),
            (_, Audience::Unicast) => Ways::AllBut(Way::Broadcast),
        };
        let (party, message) = (wanted.destination.clone(), wanted.message.clone());
        Self { verdict, log, ways, party, message }
    }

    pub(super) fn receiving(verdict: Verdict, wanted: &ReceiveMatch) -> Self {
        let ways = match wanted.recipient {
            Recipient::Any => Ways::Any,
            Recipient::Addressee => Ways::AllBut(Way::Overheard),
            Recipient::Eavesdropper => Ways::Only(Way::Overheard),
        };
        let party = wanted.sender.clone().map_or(NamePattern::Any, NamePattern::One);
        Self { verdict, log: false, ways, party, message: wanted.message.clone() }
    }

    /// Whether it is one of those for which the rules before it are forgotten.
    fn starts_over(&self) -> bool {
        self.message.is_of_any_kind() && self.party == NamePattern::Any
    }

    /// Whether it matches any message of some kind.
    pub(super) fn may_match(&self, kind: Kind) -> bool {
        let other_type =
            self.message.message_type.is_some_and(|wanted| wanted != kind.message_type);
        !other_type
            && kind.reply.is_among(self.message.replies)
            && self.ways.contain(kind.way)
            && !self.message.fds.is_empty()
    }

    /// Whether it matches all messages of a kind of which it matches any.
    pub(super) fn asks_only_for_kind(&self) -> bool {
        self.party == NamePattern::Any
            && !self.message.asks_for_text()
            && self.message.fds == ANY_FDS
    }

    fn matches(&self, letter: &Letter<'_>) -> bool {
        let (wanted, message) = (&self.message, letter.message);
        self.may_match(letter.kind())
            && has(&wanted.path, message.path().map(|path| path.as_str()))
            && has(&wanted.member, message.member().map(|member| member.as_str()))
            && has(&wanted.error, message.error_name().map(|name| name.as_str()))
            && self.matches_interface(message)
            && has_fds(&wanted.fds, message.unix_fds())
            && letter.party.is(&self.party)
    }

    /// A message without an interface could be for any: it has none that is allowed, and may have
    /// one that is denied.
    fn matches_interface(&self, message: &Message<'_>) -> bool {
        match (&self.message.interface, message.interface()) {
            (None, _) => true,
            (Some(wanted), Some(interface)) => wanted == interface.as_str(),
            (Some(_), None) => self.verdict == Verdict::Deny,
        }
    }
}

impl Ways {
    fn contain(self, way: Way) -> bool {
        match self {
            Self::Any => true,
            Self::Only(wanted) => wanted == way,
            Self::AllBut(unwanted) => unwanted != way,
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
