//! Parses `<allow>` and `<deny>`: valid combinations of attributes, and their meaning.

mod error;

use std::ops::RangeInclusive;

use bus::policy::{
    ANY_FDS, Audience, MessageMatch, NamePattern, PolicyVerdict, ReceiveMatch, RecipientRole,
    Replies, Right, Scope, SendMatch,
};
use wire::message::MessageType;

pub use error::RuleError;

use super::element::{Element, FoundElement};
use super::error::{ConfigError, ConfigErrorKind, ElementOrigin, element_of};
use super::limits::parse_integer;

/// An `<allow>` or `<deny>` whose attributes are all known.
#[derive(Clone, Copy)]
pub(super) struct RuleElement<'a> {
    element: Element<'a>,
    verdict: PolicyVerdict,
}

/// The subject of a rule, before its accounts are looked up.
pub(super) enum Topic<'a> {
    Own(NamePattern),
    User(&'a str),
    Group(&'a str),
    Send(SendMatch),
    Receive(ReceiveMatch),
}

impl<'a> RuleElement<'a> {
    pub(super) fn open(
        found: FoundElement<'a>,
        verdict: PolicyVerdict,
    ) -> Result<Self, ConfigError> {
        let element = found.open(element_of(verdict), &ATTRIBUTES)?.expect_empty()?;
        Ok(Self { element, verdict })
    }

    pub(super) fn origin(self) -> ElementOrigin {
        self.element.origin()
    }

    pub(super) const fn verdict(self) -> PolicyVerdict {
        self.verdict
    }

    pub(super) fn is_logged(self) -> bool {
        self.text("log") == Some("true")
    }

    /// The subject of the rule. A rule with several subjects is an error.
    pub(super) fn topic(self) -> Result<Topic<'a>, ConfigError> {
        let alone = [
            self.text("own").map(|name| Topic::Own(any_or(name, NamePattern::One))),
            self.text("own_prefix").map(|prefix| Topic::Own(NamePattern::Prefix(prefix.into()))),
            self.text("user").map(Topic::User),
            self.text("group").map(Topic::Group),
        ];
        let mut alone = alone.into_iter().flatten();
        match (alone.next(), alone.next(), self.has_any(is_about_messages)) {
            (None, ..) => self.message_topic(),
            (Some(topic), None, false) => Ok(topic),
            _ => Err(self.refuse(RuleError::SeveralRights)),
        }
    }

    /// Rejects a rule about connecting in a policy for a user or a group: whether a peer may connect is
    /// decided before the bus knows which of these policies apply to it.
    pub(super) fn expect_not_for_account(self, scope: Scope) -> Result<(), ConfigError> {
        match scope {
            Scope::User(_) => Err(self.refuse(RuleError::ConnectPerUser)),
            Scope::Group(_) => Err(self.refuse(RuleError::ConnectPerGroup)),
            _ => Ok(()),
        }
    }

    fn message_topic(self) -> Result<Topic<'a>, ConfigError> {
        let sends = self.has_any(|name| name.starts_with("send_"));
        let receives = self.has_any(|name| name.starts_with("receive_"));
        match (sends, receives) {
            (true, true) => Err(self.refuse(RuleError::SendAndReceive)),
            (true, false) => self.send_match().map(Topic::Send),
            (false, true) => self.receive_match().map(Topic::Receive),
            // Eavesdropping applies to recipients.
            (false, false) if self.text("eavesdrop").is_some() => {
                self.receive_match().map(Topic::Receive)
            }
            (false, false) => Err(self.refuse(RuleError::Empty)),
        }
    }

    fn send_match(self) -> Result<SendMatch, ConfigError> {
        let audience = match self.boolean("send_broadcast")? {
            None => Audience::Any,
            Some(true) => Audience::Broadcast,
            Some(false) => Audience::Unicast,
        };
        let destination = self.destination()?;
        if let (Audience::Broadcast, NamePattern::One(name)) = (audience, &destination) {
            return Err(self.refuse(RuleError::BroadcastTo(name.clone())));
        }
        Ok(SendMatch { message: self.message_match(&SEND)?, destination, audience })
    }

    fn destination(self) -> Result<NamePattern, ConfigError> {
        match (self.text("send_destination"), self.text("send_destination_prefix")) {
            (None, None) => Ok(NamePattern::Any),
            (Some(name), None) => Ok(any_or(name, NamePattern::One)),
            (None, Some(prefix)) => Ok(NamePattern::Prefix(prefix.into())),
            (Some(_), Some(_)) => Err(self.refuse(RuleError::TwoDestinations)),
        }
    }

    fn receive_match(self) -> Result<ReceiveMatch, ConfigError> {
        let recipient = match (self.verdict, self.eavesdrops()?) {
            (PolicyVerdict::Allow, true) | (PolicyVerdict::Deny, false) => RecipientRole::Any,
            (PolicyVerdict::Allow, false) => RecipientRole::Addressee,
            (PolicyVerdict::Deny, true) => RecipientRole::Eavesdropper,
        };
        let sender = self.pattern("receive_sender");
        Ok(ReceiveMatch { message: self.message_match(&RECEIVE)?, sender, recipient })
    }

    fn message_match(self, side: &MessageSide) -> Result<MessageMatch, ConfigError> {
        self.expect_possible_member(side)?;
        Ok(MessageMatch {
            message_type: self.message_type(side.message_type)?,
            path: self.pattern(side.path),
            interface: self.pattern(side.interface),
            member: self.pattern(side.member),
            error: self.pattern(side.error),
            replies: self.replies(side.requested_reply)?,
            fds: self.fds()?,
        })
    }

    /// A member needs an interface or a path, and an error has no member.
    fn expect_possible_member(self, side: &MessageSide) -> Result<(), ConfigError> {
        let [member, interface, path, error] =
            [side.member, side.interface, side.path, side.error].map(|name| self.text(name));
        if member.is_some() && interface.is_none() && path.is_none() {
            return Err(self.refuse(RuleError::MemberAlone));
        }
        if error.is_some() && (member.is_some() || interface.is_some()) {
            return Err(self.refuse(RuleError::ErrorWithMember(side.right)));
        }
        Ok(())
    }

    fn message_type(self, attribute: &'static str) -> Result<Option<MessageType>, ConfigError> {
        let Some(value) = self.pattern(attribute) else { return Ok(None) };
        match MESSAGE_TYPES.into_iter().find(|known| known.as_str() == value) {
            None => Err(self.refuse_value(attribute, RuleError::MessageType(value))),
            found => Ok(found),
        }
    }

    /// The replies that the rule covers by default: an `<allow>` covers requested replies, a
    /// `<deny>` unrequested ones.
    fn replies(self, attribute: &'static str) -> Result<Replies, ConfigError> {
        let requested = self.boolean(attribute)?;
        let eavesdrops = self.eavesdrops()?;
        Ok(match self.verdict {
            PolicyVerdict::Allow if requested.unwrap_or(true) && !eavesdrops => Replies::Requested,
            PolicyVerdict::Deny if !requested.unwrap_or(false) => Replies::Unrequested,
            _ => Replies::Any,
        })
    }

    fn eavesdrops(self) -> Result<bool, ConfigError> {
        Ok(self.boolean("eavesdrop")?.unwrap_or(false))
    }

    fn fds(self) -> Result<RangeInclusive<u32>, ConfigError> {
        let at_least = self.fd_count("min_fds")?.unwrap_or(*ANY_FDS.start());
        let at_most = self.fd_count("max_fds")?.unwrap_or(*ANY_FDS.end());
        Ok(at_least..=at_most)
    }

    fn fd_count(self, attribute: &'static str) -> Result<Option<u32>, ConfigError> {
        let Some(value) = self.text(attribute) else { return Ok(None) };
        let count = parse_integer(value).and_then(|count| u32::try_from(count).ok());
        match count.filter(|count| ANY_FDS.contains(count)) {
            None => {
                let error = RuleError::FdCount { attribute, value: value.into() };
                Err(self.refuse_value(attribute, error))
            }
            found => Ok(found),
        }
    }

    fn boolean(self, attribute: &'static str) -> Result<Option<bool>, ConfigError> {
        match self.text(attribute) {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(value) => {
                let error = RuleError::NotBoolean { attribute, value: value.into() };
                Err(self.refuse_value(attribute, error))
            }
        }
    }

    /// The value of an attribute that restricts the rule; `None` for `*`.
    fn pattern(self, attribute: &str) -> Option<String> {
        self.text(attribute).filter(|value| *value != "*").map(str::to_owned)
    }

    fn text(self, attribute: &str) -> Option<&'a str> {
        self.element.attribute(attribute)
    }

    fn has_any(self, kind: impl Fn(&str) -> bool) -> bool {
        ATTRIBUTES.into_iter().any(|name| kind(name) && self.text(name).is_some())
    }

    fn refuse(self, error: RuleError) -> ConfigError {
        self.origin().error(ConfigErrorKind::Rule { verdict: self.verdict, error })
    }

    fn refuse_value(self, attribute: &str, error: RuleError) -> ConfigError {
        let origin = self.element.origin_of(attribute);
        origin.error(ConfigErrorKind::Rule { verdict: self.verdict, error })
    }
}

fn any_or(name: &str, names: impl FnOnce(String) -> NamePattern) -> NamePattern {
    if name == "*" { NamePattern::Any } else { names(name.into()) }
}

fn is_about_messages(attribute: &str) -> bool {
    !matches!(attribute, "own" | "own_prefix" | "user" | "group" | "log")
}

/// The names of the attributes for messages to send, or for messages to receive.
struct MessageSide {
    right: Right,
    message_type: &'static str,
    path: &'static str,
    interface: &'static str,
    member: &'static str,
    error: &'static str,
    requested_reply: &'static str,
}

const SEND: MessageSide = MessageSide {
    right: Right::Send,
    message_type: "send_type",
    path: "send_path",
    interface: "send_interface",
    member: "send_member",
    error: "send_error",
    requested_reply: "send_requested_reply",
};

const RECEIVE: MessageSide = MessageSide {
    right: Right::Receive,
    message_type: "receive_type",
    path: "receive_path",
    interface: "receive_interface",
    member: "receive_member",
    error: "receive_error",
    requested_reply: "receive_requested_reply",
};

const ATTRIBUTES: [&str; 24] = [
    "send_type",
    "send_path",
    "send_interface",
    "send_member",
    "send_error",
    "send_requested_reply",
    "send_destination",
    "send_destination_prefix",
    "send_broadcast",
    "receive_type",
    "receive_path",
    "receive_interface",
    "receive_member",
    "receive_error",
    "receive_requested_reply",
    "receive_sender",
    "eavesdrop",
    "min_fds",
    "max_fds",
    "own",
    "own_prefix",
    "user",
    "group",
    "log",
];

const MESSAGE_TYPES: [MessageType; 4] =
    [MessageType::MethodCall, MessageType::MethodReturn, MessageType::Error, MessageType::Signal];
