//! The access control policy: the `<policy>` rules of a configuration, compiled for each kind of
//! connection ("Policies" of dbus-daemon(1)).
//!
//! ```text
//!   Policy             every rule, and for whom
//!     └─ ClientPolicy  the rules of a connection, in order: compiled at Hello and shared by
//!                      all connections with the same rules; compiled again after a reload
//!          ├─ own
//!          ├─ send     MessageRules: the classes of messages for which no rule is searched,
//!          └─ receive  then the rules, indexed
//! ```
//!
//! A connection is judged by the rules of [`Scope::Default`], then by those of its groups, its user
//! and its console, then by those of [`Scope::Mandatory`]; inside a scope, in the order in which
//! they were written. The last rule that matches decides. Where none does, a connection may do
//! nothing, except that the bus's own user may connect.
//!
//! A decision depends on the message, and on the names that its sender and its recipient own or wait
//! for at that moment, so decisions are not cached.

mod client;
mod counterpart;
mod message_class;
mod message_rules;
mod rule;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

pub use rule::{
    ANY_FDS, Audience, ConnectSubject, FD_COUNT_MAX, MessageMatch, NamePattern, PolicyRule,
    PolicyVerdict, ReceiveMatch, RecipientRole, Replies, Right, RuleSubject, Scope, SendMatch,
};

pub(crate) use client::{ClientPolicies, ClientPolicy};
pub(crate) use counterpart::{Counterpart, CounterpartNames};
pub use message_class::ReplyClass;
pub(crate) use message_class::{DeliveryKind, MessageClass};
pub(crate) use message_rules::{PolicyDecision, PolicyQuery};

/// All the rules of a bus.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Policy {
    /// By scope, and in the order of the configuration inside each.
    rules: Vec<PolicyRule>,
    restricts: bool,
}

impl Default for Policy {
    /// [`Policy::open`].
    fn default() -> Self {
        Self::open()
    }
}

impl Policy {
    /// A policy of these rules, in the order of the configuration. Without any, nobody may do
    /// anything but the bus's own user, who may connect.
    #[must_use]
    pub fn new(mut rules: Vec<PolicyRule>) -> Self {
        rules.sort_by_key(|rule| rule.scope);
        let restricts = client::restrict(&rules);
        Self { rules, restricts }
    }

    /// Everybody may connect, own names, send and receive; but not replies that nobody asked for,
    /// and not what is for others.
    #[must_use]
    pub fn open() -> Self {
        let requested = MessageMatch { replies: Replies::Requested, ..MessageMatch::default() };
        Self::of_everybody(requested, RecipientRole::Addressee)
    }

    /// What the stock configuration of a session bus says, and that everybody may connect: no
    /// message is refused.
    #[must_use]
    pub fn unrestricted() -> Self {
        Self::of_everybody(MessageMatch::default(), RecipientRole::Any)
    }

    fn of_everybody(message: MessageMatch, recipient: RecipientRole) -> Self {
        let send = SendMatch { message: message.clone(), ..SendMatch::default() };
        let receive = ReceiveMatch { message, recipient, sender: None };
        Self::new(Vec::from([
            PolicyRule::allow(RuleSubject::Connect(ConnectSubject::Anybody)),
            PolicyRule::allow(RuleSubject::Own(NamePattern::Any)),
            PolicyRule::allow(RuleSubject::Send(send)),
            PolicyRule::allow(RuleSubject::Receive(receive)),
        ]))
    }

    /// Whether somebody may connect. Groups that are not known are not asked for, so who needs to
    /// know them for certain asks [`Self::asks_for_groups`] before.
    #[must_use]
    pub fn admits(&self, query: &ConnectQuery<'_>) -> PolicyVerdict {
        let initial = match query.uid == query.bus_uid {
            true => PolicyVerdict::Allow,
            false => PolicyVerdict::Deny,
        };
        let for_all = self.rules_for(Scope::Default).iter().chain(self.rules_for(Scope::Mandatory));
        let last = for_all.rev().find(|rule| match rule.subject {
            RuleSubject::Connect(ConnectSubject::Anybody) => true,
            RuleSubject::Connect(ConnectSubject::User(uid)) => uid == query.uid,
            RuleSubject::Connect(ConnectSubject::Group(group)) => query.groups.contains(&group),
            _ => false,
        });
        last.map_or(initial, |rule| rule.verdict)
    }

    /// Whether the groups of a user decide anything.
    #[must_use]
    pub fn asks_for_groups(&self) -> bool {
        self.rules.iter().any(|rule| {
            matches!(rule.scope, Scope::Group(_))
                || matches!(rule.subject, RuleSubject::Connect(ConnectSubject::Group(_)))
        })
    }

    /// Whether it decides anything who sits at the machine.
    #[must_use]
    pub fn asks_for_console(&self) -> bool {
        self.has_rules_for(Scope::AtConsole) || self.has_rules_for(Scope::NotAtConsole)
    }

    /// Whether anybody could be refused a message or a name, so that texts should be able to tell
    /// whom. Not so on a session bus with its stock configuration.
    #[must_use]
    pub const fn restricts(&self) -> bool {
        self.restricts
    }

    fn has_rules_for(&self, scope: Scope) -> bool {
        !self.rules_for(scope).is_empty()
    }

    fn rules_for(&self, scope: Scope) -> &[PolicyRule] {
        let start = self.rules.partition_point(|rule| rule.scope < scope);
        let end = self.rules.partition_point(|rule| rule.scope <= scope);
        &self.rules[start..end]
    }
}

/// Somebody who wants to connect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConnectQuery<'a> {
    /// As whom it authenticated.
    pub uid: u32,
    /// Its groups, if the policy asks for them.
    pub groups: &'a [u32],
    /// The user of the bus.
    pub bus_uid: u32,
}

/// What rules ask of a connection besides its user, and texts about it say. It is told when the
/// handshake has ended, if the policy asks for it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PeerAttributes {
    /// All groups, in the order in which their rules hold; `None` if they are not known.
    pub groups: Option<Box<[u32]>>,
    /// Whether the user sits at the machine.
    pub console: Console,
    /// The command line of its program.
    pub command: Option<String>,
    /// Its security label, without a terminating zero.
    pub label: Option<Box<[u8]>>,
}

/// Whether a user sits at the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Console {
    /// Nobody has asked, or there was no answer.
    #[default]
    Unknown,
    /// It does.
    Present,
    /// It does not.
    Absent,
}
