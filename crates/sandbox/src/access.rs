//! What a program in a sandbox may do with one connection or name.

use alloc::vec::Vec;

use wire::Message;

use crate::{AccessLevel, MessagePattern};

/// The rights of a program in a sandbox towards a connection, or towards a name.
///
/// It is computed once from the rules ([`SandboxRules::access`](crate::SandboxRules::access)) and
/// then decides about messages. The default grants nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NameAccess {
    level: Option<AccessLevel>,
    pub(crate) send: SendPermission,
}

impl NameAccess {
    /// The rights of a rule that grants a level without further restrictions.
    pub fn of_level(level: AccessLevel) -> Self {
        let send =
            if level >= AccessLevel::Talk { SendPermission::All } else { SendPermission::None };
        Self { level: Some(level), send }
    }

    /// The rights of a call rule.
    pub fn of_calls(messages: MessagePattern) -> Self {
        let send = if messages == MessagePattern::ALL {
            SendPermission::All
        } else {
            SendPermission::Matching([messages].into())
        };
        Self { level: Some(AccessLevel::Talk), send }
    }

    /// The rights of a broadcast rule.
    pub const fn of_broadcasts() -> Self {
        Self { level: Some(AccessLevel::Talk), send: SendPermission::None }
    }

    /// Adds the rights of another rule or name.
    pub fn merge(&mut self, other: Self) {
        self.level = self.level.max(other.level);
        self.send.merge(other.send);
    }

    /// The greatest level that is granted; `None` if the connection or name is hidden.
    pub const fn level(&self) -> Option<AccessLevel> {
        self.level
    }

    /// Returns true if the program may see the connection or name.
    pub const fn is_visible(&self) -> bool {
        self.level.is_some()
    }

    /// Returns true if the program may send `message`, a call or a signal, to the connection.
    ///
    /// If not, its error should be AccessDenied if the connection [is
    /// visible](Self::is_visible), and otherwise the error for a name without an owner.
    pub fn may_send(&self, message: &Message<'_>) -> bool {
        match &self.send {
            SendPermission::None => false,
            SendPermission::Matching(patterns) => {
                patterns.iter().any(|pattern| pattern.matches(message))
            }
            SendPermission::All => true,
        }
    }

    /// Returns true if the program may receive the signals that the connection broadcasts.
    ///
    /// As with xdg-dbus-proxy, this only depends on the level; see
    /// [`SandboxRule::Broadcast`](crate::SandboxRule::Broadcast).
    pub fn may_receive_broadcasts(&self) -> bool {
        self.level >= Some(AccessLevel::Talk)
    }
}

/// The calls and signals that a program in a sandbox may send to a connection.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) enum SendPermission {
    /// The program may send nothing.
    #[default]
    None,
    /// The program may send messages that match one of these patterns.
    Matching(Vec<MessagePattern>),
    /// The program may send everything.
    All,
}

impl SendPermission {
    fn merge(&mut self, other: Self) {
        match (self, other) {
            (Self::All, _) | (_, Self::None) => {}
            (Self::Matching(patterns), Self::Matching(others)) => {
                for pattern in others {
                    if !patterns.contains(&pattern) {
                        patterns.push(pattern);
                    }
                }
            }
            (this, other) => *this = other,
        }
    }
}
