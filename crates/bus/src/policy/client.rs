//! The rules of one connection.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::vec::Vec;

use super::message_rules::{MessageRule, MessageRules};
use super::rule::{NamePattern, PolicyRule, PolicyVerdict, RuleSubject, Scope};
use super::{Console, PeerAttributes, Policy};

/// What a connection may do. Those of whom the same rules are share it.
#[derive(Debug)]
pub(crate) struct ClientPolicy {
    own: Vec<(PolicyVerdict, NamePattern)>,
    /// The rules about what it sends.
    pub(crate) send: MessageRules,
    /// The rules about what it receives.
    pub(crate) receive: MessageRules,
}

impl ClientPolicy {
    /// Compiles rules that are in the order in which the last one that matches decides.
    fn new<'a>(rules: impl IntoIterator<Item = &'a PolicyRule>) -> Self {
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

    /// Whether the connection may own a name.
    pub(crate) fn may_own(&self, name: &str) -> PolicyVerdict {
        let last = self.own.iter().rev().find(|(_, wanted)| wanted.matches(name));
        last.map(|(verdict, _)| *verdict).unwrap_or_default()
    }

    /// Whether no message is ever refused.
    fn passes_everything(&self) -> bool {
        self.send.pass_everything() && self.receive.pass_everything()
    }
}

/// The compiled rules of all kinds of connections that there are now.
#[derive(Debug, Default)]
pub(crate) struct ClientPolicies {
    known: BTreeMap<Membership, Rc<ClientPolicy>>,
}

impl ClientPolicies {
    /// What a connection of this user may do.
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

    /// Forgets all, since they are no longer what is asked for.
    pub(crate) fn clear(&mut self) {
        self.known.clear();
    }
}

/// What rules can tell of a connection before it does anything.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Membership {
    /// Nothing is known of what decides whose rules hold: it may do nothing.
    Unknown,
    /// Whose rules hold, apart from those for everybody: in this order.
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

/// Whether some rules could refuse anybody a message or a name. Where that is not clear they count as
/// if they did.
pub(super) fn restrict(rules: &[PolicyRule]) -> bool {
    let is_for_all = |rule: &&PolicyRule| matches!(rule.scope, Scope::Default | Scope::Mandatory);
    let could_refuse = |rule: &PolicyRule| match rule.subject {
        RuleSubject::Connect(_) => false,
        RuleSubject::Own(_) => rule.verdict == PolicyVerdict::Deny,
        // One for some could take away what is allowed to all, by starting over.
        RuleSubject::Send(_) | RuleSubject::Receive(_) => {
            rule.verdict == PolicyVerdict::Deny || !is_for_all(&rule)
        }
    };
    rules.iter().any(could_refuse)
        || !ClientPolicy::new(rules.iter().filter(is_for_all)).passes_everything()
}
