//! The types of messages ("Message Types").

use core::fmt;

/// What a message is for ("Message Types").
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MessageType {
    /// Asks an object to do something.
    MethodCall,
    /// Answers a call with its results.
    MethodReturn,
    /// Answers a call with what went wrong.
    Error,
    /// Says that something happened.
    Signal,
    /// A type that the specification does not know yet; to be ignored, not refused, by a receiver.
    Unknown(u8),
}

impl MessageType {
    /// Reads the type's code; `None` for 0, which is invalid.
    #[inline]
    pub const fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            0 => return None,
            1 => Self::MethodCall,
            2 => Self::MethodReturn,
            3 => Self::Error,
            4 => Self::Signal,
            other => Self::Unknown(other),
        })
    }

    /// The code on the wire.
    #[inline]
    pub const fn code(self) -> u8 {
        match self {
            Self::MethodCall => 1,
            Self::MethodReturn => 2,
            Self::Error => 3,
            Self::Signal => 4,
            Self::Unknown(code) => code,
        }
    }

    /// Whether this answers a call.
    #[inline]
    pub const fn is_reply(self) -> bool {
        matches!(self, Self::MethodReturn | Self::Error)
    }

    /// The word that match rules and logs use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MethodCall => "method_call",
            Self::MethodReturn => "method_return",
            Self::Error => "error",
            Self::Signal => "signal",
            Self::Unknown(_) => "unknown",
        }
    }
}

impl fmt::Display for MessageType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
