//! The policy of one connection.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::vec::Vec;

use super::message_rules::{MessageRule, MessageRules};
use super::rule::{NamePattern, PolicyRule, PolicyVerdict, RuleSubject, Scope};
use super::{Console, PeerAttributes, Policy};

/// The compiled policy of a connection. Connections with the same rules share it.
#[derive(Debug)]
pub(crate) struct ClientPolicy {
    own: Vec<(PolicyVerdict, NamePattern)>,
    /// The rules for messages that the connection sends.
    pub(crate) send: MessageRules,
    /// The rules for messages that the connection receives.
    pub(crate) receive: MessageRules,
}

impl ClientPolicy {
    /// Compiles rules in their order. The last matching rule decides.
    pub(crate) fn new<'a>(rules: impl IntoIterator<Item = &'a PolicyRule>) -> Self {
        let (mut own, mut send, mut receive) = (Vec::new(), Vec::new(), Vec::new());
        for PolicyRule { verdict, subject, log, .. } in rules {
            match subject {
                RuleSubject::Connect(_) => {}
                RuleSubject::Own(names) => own.push((*verdict, names.clone())),
                RuleSubject::Send(wanted) => {
                    send.push(MessageRule::sending(*verdict, *log, wanted))
                }
                RuleSubject::Receive(wanted) => {
                    receive.push(MessageRule::receiving(*verdict, wanted))
                }
            }
        }
        Self { own, send: MessageRules::new(send), receive: MessageRules::new(receive) }
    }

    /// Decides whether the connection may own a name.
    pub(crate) fn may_own(&self, name: &str) -> PolicyVerdict {
        let last = self.own.iter().rev().find(|(_, wanted)| wanted.matches(name));
        last.map(|(verdict, _)| *verdict).unwrap_or_default()
    }

    /// True if the policy never denies a message.
    fn passes_everything(&self) -> bool {
        self.send.pass_everything() && self.receive.pass_everything()
    }
}

/// The compiled policies of all present connections.
#[derive(Debug, Default)]
pub(crate) struct ClientPolicies {
    known: BTreeMap<Membership, Rc<ClientPolicy>>,
}

impl ClientPolicies {
    /// Returns the policy for a connection of this user.
    pub(crate) fn of(
        &mut self,
        policy: &Policy,
        uid: Option<u32>,
        standing: Option<&PeerAttributes>,
    ) -> Rc<ClientPolicy> {
        let membership = Membership::of(policy, uid, standing);
        let new = || Rc::new(membership.select(policy));
        Rc::clone(self.known.entry(membership.clone()).or_insert_with(new))
    }

    /// Removes all compiled policies, because the configuration has changed.
    pub(crate) fn clear(&mut self) {
        self.known.clear();
    }
}

/// The facts about a connection that decide which rules apply to it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Membership {
    /// A fact that the rules need is unknown: the connection may not do anything.
    Unknown,
    /// The scopes whose rules apply in addition to the rules for all connections, in this order.
    Known(Box<[Scope]>),
}

impl Membership {
    fn of(policy: &Policy, uid: Option<u32>, standing: Option<&PeerAttributes>) -> Self {
        let Some(uid) = uid else { return Self::Known(Box::default()) };
        let groups = match standing.and_then(|standing| standing.groups.as_deref()) {
            None if policy.asks_for_groups() => return Self::Unknown,
            groups => groups.unwrap_or_default(),
        };
        let console = match standing.map_or(Console::Unknown, |standing| standing.console) {
            Console::Unknown if policy.asks_for_console() => return Self::Unknown,
            Console::Present => Scope::AtConsole,
            Console::Absent | Console::Unknown => Scope::NotAtConsole,
        };
        let groups = groups.iter().map(|group| Scope::Group(*group));
        let scopes = groups.chain([Scope::User(uid), console]);
        Self::Known(scopes.filter(|scope| policy.has_rules_for(*scope)).collect())
    }

    fn select(&self, policy: &Policy) -> ClientPolicy {
        let Self::Known(some) = self else { return ClientPolicy::new([]) };
        let scopes = [Scope::Default].into_iter().chain(some.iter().copied());
        let scopes = scopes.chain([Scope::Mandatory]);
        ClientPolicy::new(scopes.flat_map(|scope| policy.rules_for(scope)))
    }
}

/// True if any rule could deny a message or a name to any connection. In doubt it returns true.
pub(super) fn restrict(rules: &[PolicyRule]) -> bool {
    let is_for_all = |rule: &&PolicyRule| matches!(rule.scope, Scope::Default | Scope::Mandatory);
    let could_refuse = |rule: &PolicyRule| match rule.subject {
        RuleSubject::Connect(_) => false,
        RuleSubject::Own(_) => rule.verdict == PolicyVerdict::Deny,
        // A rule for some connections could discard the rules that allow an action to all.
        RuleSubject::Send(_) | RuleSubject::Receive(_) => {
            rule.verdict == PolicyVerdict::Deny || !is_for_all(&rule)
        }
    };
    rules.iter().any(could_refuse)
        || !ClientPolicy::new(rules.iter().filter(is_for_all)).passes_everything()
}
