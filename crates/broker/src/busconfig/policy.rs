//! Policies: which rules there are, for whom, and what each is about.
//!
//! A connection is judged by the rules of [`Scope::Default`], then by those of its groups, its user
//! and its console, then by those of [`Scope::Mandatory`]; inside a scope, in the order in which
//! they were written. The last rule that matches decides. Where none does, a connection may do
//! nothing, except that the bus's own user may connect.

use std::fmt;
use std::ops::RangeInclusive;

use bus::Verdict;
use wire::message::MessageType;

use super::error::Origin;

/// Every rule of a configuration, in the order of the files.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PolicyDocument {
    /// The rules.
    pub rules: Vec<Rule>,
}

/// An `<allow>` or `<deny>`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rule {
    /// Where it stands.
    pub origin: Origin,
    /// Whose connections it judges.
    pub scope: Scope,
    /// What it says of what it matches.
    pub verdict: Verdict,
    /// What it matches.
    pub subject: Subject,
    /// Whether what it decides is to be logged (`log`).
    pub log: bool,
}

/// Whose connections a `<policy>` is for. Accounts are numbers: one that did not exist when the
/// configuration was read has no rules.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
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

impl Scope {
    /// Whether it is for every connection.
    pub const fn is_for_all(self) -> bool {
        matches!(self, Self::Default | Self::Mandatory)
    }

    /// Where its rules come among those of a connection.
    pub(super) const fn rank(self) -> u8 {
        match self {
            Self::Default => 0,
            Self::Group(_) => 1,
            Self::User(_) => 2,
            Self::AtConsole => 3,
            Self::NotAtConsole => 4,
            Self::Mandatory => 5,
        }
    }
}

/// What a rule is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Subject {
    /// Connecting (`user`, `group`). Means nothing in a policy for a console.
    Connect(Who),
    /// Owning a name (`own`, `own_prefix`).
    Own(Names),
    /// Sending a message.
    Send(SendMatch),
    /// Receiving a message.
    Receive(ReceiveMatch),
}

impl Subject {
    /// What is allowed or denied.
    pub const fn right(&self) -> Right {
        match self {
            Self::Connect(_) => Right::Connect,
            Self::Own(_) => Right::Own,
            Self::Send(_) => Right::Send,
            Self::Receive(_) => Right::Receive,
        }
    }
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

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "connecting",
            Self::Own => "owning names",
            Self::Send => "sending messages",
            Self::Receive => "receiving messages",
        })
    }
}

/// Who connects.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Who {
    /// Anybody.
    Anybody,
    /// This user.
    User(u32),
    /// Members of this group.
    Group(u32),
}

/// Bus names, not necessarily valid ones: what is not valid matches nothing.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Names {
    /// Any name; of a destination, also none.
    Any,
    /// This name.
    One(String),
    /// This name, and those that go on with a dot after it.
    Prefix(String),
}

/// Which messages to send a rule matches: those that have all of these.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SendMatch {
    /// What is asked of the message itself.
    pub message: MessageMatch,
    /// A name that the recipient has, or waits for (`send_destination`, `send_destination_prefix`).
    pub destination: Names,
    /// How many it is for (`send_broadcast`).
    pub audience: Audience,
}

/// How many a message is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Audience {
    /// Either.
    Any,
    /// It is a signal to nobody in particular.
    Broadcast,
    /// It is anything else.
    Unicast,
}

/// Which messages to receive a rule matches: those that have all of these.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReceiveMatch {
    /// What is asked of the message itself.
    pub message: MessageMatch,
    /// A name that the sender has, or waits for (`receive_sender`); `None` is any sender.
    pub sender: Option<String>,
    /// Whether the recipient is the one who was meant (`eavesdrop`).
    pub recipient: Recipient,
}

/// Whether who gets a message is who it was sent to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Recipient {
    /// Either.
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

impl MessageMatch {
    /// Whether no message has what this asks.
    pub fn is_impossible(&self) -> bool {
        self.fds.is_empty()
    }

    /// Whether this asks nothing but the type, and that of replies only.
    pub fn is_broad(&self) -> bool {
        let texts = [&self.path, &self.interface, &self.member, &self.error];
        texts.into_iter().all(Option::is_none) && self.fds == ANY_FDS
    }
}

/// Which replies a rule matches. Messages that are no replies are matched by all three.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Replies {
    /// Any.
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
