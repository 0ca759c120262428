//! The access control policy: the `<policy>` rules of a configuration, compiled for each kind of
//! connection ("Policies" of dbus-daemon(1)).
//!
//! ```text
//!   Policy             all rules, with their scopes
//!     └─ ClientPolicy  the rules of a connection, in order: compiled at Hello and shared by
//!                      all connections with the same rules; compiled again after a reload
//!          ├─ own
//!          ├─ send     MessageRules: the classes of messages for which no rule is searched,
//!          └─ receive  then the rules, indexed
//! ```
//!
//! The rules of a connection are the rules of [`Scope::Default`], then of its groups, its user
//! and its console, then of [`Scope::Mandatory`]; inside a scope, in the order of the
//! configuration. The last matching rule decides. If no rule matches, the action is denied, except
//! that the user of the bus may connect.
//!
//! A decision depends on the message, and on the names that its sender and its recipient own or are
//! queued for at that moment, so decisions are not cached.

mod client;
mod counterpart;
mod message_class;
mod message_rules;
mod rule;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

pub use rule::{
    ANY_FDS, Audience, ConnectSubject, FD_COUNT_MAX, MessageMatch, NamePattern, PolicyRule,
    PolicyVerdict, ReceiveMatch, RecipientRole, Replies, Right, RuleSubject, Scope, SendMatch,
};

pub(crate) use client::{ClientPolicies, ClientPolicy};
pub(crate) use counterpart::{Counterpart, CounterpartNames};
pub use message_class::ReplyClass;
pub(crate) use message_class::{DeliveryKind, MessageClass};
pub(crate) use message_rules::{PolicyDecision, PolicyQuery};

/// All policy rules of a bus.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Policy {
    /// Ordered by scope, and inside a scope in the order of the configuration.
    rules: Vec<PolicyRule>,
    restricts: bool,
}

impl Default for Policy {
    /// Returns the same policy as [`Policy::open`].
    fn default() -> Self {
        Self::open()
    }
}

impl Policy {
    /// Creates a policy from rules in the order of the configuration. Without rules, all actions
    /// are denied, except that the user of the bus may connect.
    #[must_use]
    pub fn new(mut rules: Vec<PolicyRule>) -> Self {
        rules.sort_by_key(|rule| rule.scope);
        let restricts = client::restrict(&rules);
        Self { rules, restricts }
    }

    /// All users may connect, own names, send and receive, except unrequested replies and messages
    /// that are addressed to others.
    #[must_use]
    pub fn open() -> Self {
        let requested = MessageMatch { replies: Replies::Requested, ..MessageMatch::default() };
        Self::for_all_users(requested, RecipientRole::Addressee)
    }

    /// The rules of the stock configuration of a session bus, and all users may connect: no message
    /// is denied.
    #[must_use]
    pub fn unrestricted() -> Self {
        Self::for_all_users(MessageMatch::default(), RecipientRole::Any)
    }

    fn for_all_users(message: MessageMatch, recipient: RecipientRole) -> Self {
        let send = SendMatch { message: message.clone(), ..SendMatch::default() };
        let receive = ReceiveMatch { message, recipient, sender: None };
        Self::new(Vec::from([
            PolicyRule::allow(RuleSubject::Connect(ConnectSubject::AllUsers)),
            PolicyRule::allow(RuleSubject::Own(NamePattern::Any)),
            PolicyRule::allow(RuleSubject::Send(send)),
            PolicyRule::allow(RuleSubject::Receive(receive)),
        ]))
    }

    /// Decides whether a user may connect. Unknown groups count as missing; call
    /// [`Self::asks_for_groups`] first to find out whether the groups are needed.
    #[must_use]
    pub fn admits(&self, query: &ConnectQuery<'_>) -> PolicyVerdict {
        let initial = match query.uid == query.bus_uid {
            true => PolicyVerdict::Allow,
            false => PolicyVerdict::Deny,
        };
        let for_all = self.rules_for(Scope::Default).iter().chain(self.rules_for(Scope::Mandatory));
        let last = for_all.rev().find(|rule| match rule.subject {
            RuleSubject::Connect(ConnectSubject::AllUsers) => true,
            RuleSubject::Connect(ConnectSubject::User(uid)) => uid == query.uid,
            RuleSubject::Connect(ConnectSubject::Group(group)) => query.groups.contains(&group),
            _ => false,
        });
        last.map_or(initial, |rule| rule.verdict)
    }

    /// True if the groups of a user influence a decision.
    #[must_use]
    pub fn asks_for_groups(&self) -> bool {
        self.rules.iter().any(|rule| {
            matches!(rule.scope, Scope::Group(_))
                || matches!(rule.subject, RuleSubject::Connect(ConnectSubject::Group(_)))
        })
    }

    /// True if a decision depends on which user is at the console.
    #[must_use]
    pub fn asks_for_console(&self) -> bool {
        self.has_rules_for(Scope::AtConsole) || self.has_rules_for(Scope::NotAtConsole)
    }

    /// True if a message or a name could be denied to any connection. It is false on a session bus
    /// with the stock configuration. If true, log records need descriptions of connections.
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

/// A connection for which [`Policy::admits`] decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConnectQuery<'a> {
    /// The user that it authenticated as.
    pub uid: u32,
    /// The groups of the user, if the policy asks for them.
    pub groups: &'a [u32],
    /// The user of the bus.
    pub bus_uid: u32,
}

/// Facts about a connection, in addition to its user, that rules test or that log records state.
/// The daemon reads them after authentication, if the policy needs them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PeerAttributes {
    /// All groups, in the order in which their rules apply; `None` if they are unknown.
    pub groups: Option<Box<[u32]>>,
    /// Whether the user is at the console.
    pub console: Console,
    /// The command line of its process.
    pub command: Option<String>,
    /// Its security label, without a terminating zero byte.
    #[serde(with = "serde_bytes")]
    pub label: Option<Box<[u8]>>,
}

/// Whether a user is at the console.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Console {
    /// The daemon has not asked, or got no answer.
    #[default]
    Unknown,
    /// The user is at the console.
    Present,
    /// The user is not at the console.
    Absent,
}
