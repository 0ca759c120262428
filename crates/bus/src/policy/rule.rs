//! Policy rules, with the conditions that a configuration can state.

use alloc::string::String;
use core::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use wire::message::MessageType;

/// The effect of a policy rule.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum PolicyVerdict {
    /// The rule allows the action.
    Allow,
    /// The rule denies the action.
    #[default]
    Deny,
}

/// An `<allow>` or `<deny>` element of a configuration.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PolicyRule {
    /// The connections that the rule applies to.
    pub scope: Scope,
    /// The effect on matching actions.
    pub verdict: PolicyVerdict,
    /// The actions that the rule matches.
    pub subject: RuleSubject,
    /// True if allowed actions are logged (`log`). Denied actions are always logged.
    pub log: bool,
}

impl PolicyRule {
    /// Creates an allow rule for all connections.
    #[must_use]
    pub const fn allow(subject: RuleSubject) -> Self {
        Self { scope: Scope::Default, verdict: PolicyVerdict::Allow, subject, log: false }
    }

    /// Creates a deny rule for all connections.
    #[must_use]
    pub const fn deny(subject: RuleSubject) -> Self {
        Self { scope: Scope::Default, verdict: PolicyVerdict::Deny, subject, log: false }
    }
}

/// The connections that a `<policy>` applies to. Accounts are numbers: an account that did not
/// exist when the configuration was read has no rules.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Scope {
    /// All connections, before all other scopes (`context="default"`).
    Default,
    /// Connections of members of this group.
    Group(u32),
    /// Connections of this user.
    User(u32),
    /// Connections of users at the console (`at_console="true"`).
    AtConsole,
    /// Connections of users that are not at the console (`at_console="false"`).
    NotAtConsole,
    /// All connections, after all other scopes (`context="mandatory"`).
    Mandatory,
}

/// The kind of action that a rule matches, with its conditions.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum RuleSubject {
    /// Connecting (`user`, `group`). It has no effect in a policy for a console.
    Connect(ConnectSubject),
    /// Owning a name (`own`, `own_prefix`).
    Own(NamePattern),
    /// Sending a message (`send_…`).
    Send(SendMatch),
    /// Receiving a message (`receive_…`).
    Receive(ReceiveMatch),
}

/// The kinds of actions that policies allow and deny.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Right {
    /// To connect to the bus.
    Connect,
    /// To own a well-known name.
    Own,
    /// To send a message.
    Send,
    /// To receive a message.
    Receive,
}

/// The connections that a rule about connecting applies to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum ConnectSubject {
    /// Connections of every user.
    AllUsers,
    /// Connections of this user.
    User(u32),
    /// Connections of members of this group.
    Group(u32),
}

/// A pattern for bus names. The text need not be a valid name; an invalid text does not match.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum NamePattern {
    /// Any name. For a destination, also the missing name.
    #[default]
    Any,
    /// Exactly this bus name.
    One(String),
    /// This name, and names that continue with a dot after it.
    Prefix(String),
}

impl NamePattern {
    /// True if the pattern matches a name.
    pub(super) fn matches(&self, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::One(wanted) => wanted == name,
            Self::Prefix(prefix) => is_below(name, prefix),
        }
    }
}

/// True if a name is `prefix`, or continues with a dot after it.
pub(super) fn is_below(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The conditions for messages to send. A message must meet all of them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SendMatch {
    /// The conditions on the message itself.
    pub message: MessageMatch,
    /// A name that the recipient owns or is queued for (`send_destination`,
    /// `send_destination_prefix`).
    pub destination: NamePattern,
    /// Broadcast or unicast (`send_broadcast`).
    pub audience: Audience,
}

/// The condition on the number of recipients.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum Audience {
    /// Broadcast and unicast messages.
    #[default]
    Any,
    /// Only signals without a destination.
    Broadcast,
    /// All messages except broadcasts.
    Unicast,
}

/// The conditions for messages to receive. A message must meet all of them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ReceiveMatch {
    /// The conditions on the message itself.
    pub message: MessageMatch,
    /// A name that the sender owns or is queued for (`receive_sender`); `None` for any sender.
    pub sender: Option<String>,
    /// Whether the recipient is the addressee (`eavesdrop`).
    pub recipient: RecipientRole,
}

/// The condition on the role of the recipient.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum RecipientRole {
    /// Addressees and also eavesdroppers.
    #[default]
    Any,
    /// The message is addressed to the recipient, or is a broadcast.
    Addressee,
    /// The message is addressed to another connection.
    Eavesdropper,
}

/// Conditions on a message. `None` matches every message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MessageMatch {
    /// The message type (`send_type`, `receive_type`).
    pub message_type: Option<MessageType>,
    /// The object path of the message.
    pub path: Option<String>,
    /// The interface of the message.
    pub interface: Option<String>,
    /// The member of the message.
    pub member: Option<String>,
    /// The error name of the message.
    pub error: Option<String>,
    /// Requested or unrequested, if the message is a reply.
    pub replies: Replies,
    /// The number of file descriptors (`min_fds`, `max_fds`).
    pub fds: RangeInclusive<u32>,
}

impl Default for MessageMatch {
    fn default() -> Self {
        Self {
            message_type: None,
            path: None,
            interface: None,
            member: None,
            error: None,
            replies: Replies::Any,
            fds: ANY_FDS,
        }
    }
}

impl MessageMatch {
    /// True if these conditions ignore the texts and the type of a message.
    pub(super) fn is_of_any_kind(&self) -> bool {
        self.message_type.is_none() && !self.asks_for_text()
    }

    /// True if these conditions test a text of a message.
    pub(super) fn asks_for_text(&self) -> bool {
        let texts = [&self.path, &self.interface, &self.member, &self.error];
        texts.into_iter().any(Option::is_some)
    }
}

/// The replies that a rule matches. Messages that are not replies match all three.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum Replies {
    /// Requested and unrequested replies.
    #[default]
    Any,
    /// The first reply to a pending call.
    Requested,
    /// Replies without a pending call.
    Unrequested,
}

/// The largest number of descriptors that a rule can state.
pub const FD_COUNT_MAX: u32 = 1 << 25;

/// The range of a rule that does not test the number of descriptors.
pub const ANY_FDS: RangeInclusive<u32> = 0..=FD_COUNT_MAX;
