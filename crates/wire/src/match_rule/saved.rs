//! The form in which rules are serialized: one flat list of values, because a bus may have hundreds
//! of thousands of rules.

use alloc::boxed::Box;
use alloc::vec::Vec;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{ArgRule, MatchRule, OwnedPath, PathMatch, Reach};
use crate::message::MessageType;

/// The parts of a rule, with texts of type `S` and arguments of type `A`.
#[derive(Serialize, Deserialize)]
struct RuleParts<S, A> {
    /// The code of the type of the messages; 0 for messages of any type.
    message_type: u8,
    sender: Option<S>,
    interface: Option<S>,
    member: Option<S>,
    path: Option<S>,
    /// Whether the objects below `path` are selected, too.
    is_namespace: bool,
    destination: Option<S>,
    eavesdrops: bool,
    args: A,
}

impl Serialize for MatchRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (path, is_namespace) = match self.path() {
            None => (None, false),
            Some(PathMatch::Exact(path)) => (Some(path), false),
            Some(PathMatch::Namespace(path)) => (Some(path), true),
        };
        let parts = RuleParts {
            message_type: self.message_type.map_or(0, MessageType::code),
            sender: self.sender(),
            interface: self.interface(),
            member: self.member(),
            path,
            is_namespace,
            destination: self.destination(),
            eavesdrops: self.eavesdrops(),
            args: self.args(),
        };
        parts.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for MatchRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let parts = RuleParts::<Box<str>, Vec<ArgRule>>::deserialize(deserializer)?;
        let path = |path| match parts.is_namespace {
            false => OwnedPath::Exact(path),
            true => OwnedPath::Namespace(path),
        };
        Ok(Self {
            message_type: MessageType::from_code(parts.message_type),
            sender: parts.sender,
            interface: parts.interface,
            member: parts.member,
            path: parts.path.map(path),
            destination: parts.destination,
            reach: if parts.eavesdrops { Reach::Everything } else { Reach::Broadcasts },
            args: parts.args,
        })
    }
}
