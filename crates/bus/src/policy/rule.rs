//! Rules, in the words of a configuration.

use alloc::string::String;
use core::ops::RangeInclusive;

use wire::message::MessageType;

/// A verdict.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum PolicyVerdict {
    /// It may be done.
    Allow,
    /// It may not.
    #[default]
    Deny,
}

/// An `<allow>` or `<deny>`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PolicyRule {
    /// Whose connections it judges.
    pub scope: Scope,
    /// What it says of what it matches.
    pub verdict: PolicyVerdict,
    /// What it matches.
    pub subject: RuleSubject,
    /// Whether what it allows is to be logged (`log`). What is denied always is.
    pub log: bool,
}

impl PolicyRule {
    /// A rule for everybody that allows something.
    #[must_use]
    pub const fn allow(subject: RuleSubject) -> Self {
        Self { scope: Scope::Default, verdict: PolicyVerdict::Allow, subject, log: false }
    }

    /// A rule for everybody that denies something.
    #[must_use]
    pub const fn deny(subject: RuleSubject) -> Self {
        Self { scope: Scope::Default, verdict: PolicyVerdict::Deny, subject, log: false }
    }
}

/// Whose connections a `<policy>` is for. Accounts are numbers: one that did not exist when the
/// configuration was read has no rules.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Scope {
    /// Everybody's, before all others (`context="default"`).
    Default,
    /// Those of a group's members.
    Group(u32),
    /// Those of a user.
    User(u32),
    /// Those of who sits at the machine (`at_console="true"`).
    AtConsole,
    /// Those of who does not (`at_console="false"`).
    NotAtConsole,
    /// Everybody's, after all others (`context="mandatory"`).
    Mandatory,
}

/// What a rule is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RuleSubject {
    /// Connecting (`user`, `group`). Means nothing in a policy for a console.
    Connect(ConnectSubject),
    /// Owning a name (`own`, `own_prefix`).
    Own(NamePattern),
    /// Sending a message.
    Send(SendMatch),
    /// Receiving a message.
    Receive(ReceiveMatch),
}

/// What policies allow and deny.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Right {
    /// To connect to the bus.
    Connect,
    /// To own a name.
    Own,
    /// To send a message.
    Send,
    /// To receive a message.
    Receive,
}

/// The connections that a rule about connecting applies to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ConnectSubject {
    /// Connections of every user.
    Anybody,
    /// Connections of this user.
    User(u32),
    /// Connections of members of this group.
    Group(u32),
}

/// Bus names, not necessarily valid ones: what is not valid matches nothing.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum NamePattern {
    /// Any name; of a destination, also none.
    #[default]
    Any,
    /// This name.
    One(String),
    /// This name, and those that go on with a dot after it.
    Prefix(String),
}

impl NamePattern {
    /// Whether it matches a name.
    pub(super) fn matches(&self, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::One(wanted) => wanted == name,
            Self::Prefix(prefix) => is_below(name, prefix),
        }
    }
}

/// Whether a name is `prefix`, or goes on with a dot after it.
pub(super) fn is_below(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Which messages to send a rule matches: those that have all of these.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SendMatch {
    /// What is asked of the message itself.
    pub message: MessageMatch,
    /// A name that the recipient has, or waits for (`send_destination`, `send_destination_prefix`).
    pub destination: NamePattern,
    /// How many it is for (`send_broadcast`).
    pub audience: Audience,
}

/// How many a message is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Audience {
    /// Either.
    #[default]
    Any,
    /// It is a signal to nobody in particular.
    Broadcast,
    /// It is anything else.
    Unicast,
}

/// Which messages to receive a rule matches: those that have all of these.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReceiveMatch {
    /// What is asked of the message itself.
    pub message: MessageMatch,
    /// A name that the sender has, or waits for (`receive_sender`); `None` is any sender.
    pub sender: Option<String>,
    /// Whether the recipient is the one who was meant (`eavesdrop`).
    pub recipient: RecipientRole,
}

/// Whether who gets a message is who it was sent to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum RecipientRole {
    /// Either.
    #[default]
    Any,
    /// The message was sent to it, or to nobody in particular.
    Addressee,
    /// The message was sent to another.
    Eavesdropper,
}

/// What a rule asks of a message. `None` asks nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MessageMatch {
    /// Its type (`send_type`, `receive_type`).
    pub message_type: Option<MessageType>,
    /// Its path.
    pub path: Option<String>,
    /// Its interface.
    pub interface: Option<String>,
    /// Its member.
    pub member: Option<String>,
    /// The name of the error that it is.
    pub error: Option<String>,
    /// If it is a reply, whether it was waited for.
    pub replies: Replies,
    /// How many file descriptors it has (`min_fds`, `max_fds`).
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
    /// Whether this asks nothing of the texts of a message, nor of its type.
    pub(super) fn is_of_any_kind(&self) -> bool {
        self.message_type.is_none() && !self.asks_for_text()
    }

    /// Whether this asks something of the texts of a message.
    pub(super) fn asks_for_text(&self) -> bool {
        let texts = [&self.path, &self.interface, &self.member, &self.error];
        texts.into_iter().any(Option::is_some)
    }
}

/// Which replies a rule matches. Messages that are no replies are matched by all three.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Replies {
    /// Any.
    #[default]
    Any,
    /// The first reply to a call that waits for it.
    Requested,
    /// Those that nobody waits for.
    Unrequested,
}

/// The most descriptors that a rule can ask for.
pub const FD_COUNT_MAX: u32 = 1 << 25;

/// The range of a rule that asks nothing of the number of descriptors.
pub const ANY_FDS: RangeInclusive<u32> = 0..=FD_COUNT_MAX;
