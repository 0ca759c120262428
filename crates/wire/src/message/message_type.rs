//! The types of messages ("Message Types").

use core::fmt;

/// The type of a message ("Message Types").
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MessageType {
    /// Calls a method of an object.
    MethodCall,
    /// Replies to a call with its results.
    MethodReturn,
    /// Replies to a call with an error.
    Error,
    /// Reports an event, as a signal.
    Signal,
    /// A type that the specification does not define. Recipients must ignore such messages.
    Unknown(u8),
}

impl MessageType {
    /// The type with this code; `None` for 0, which is invalid.
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

    /// Returns true for returns and errors.
    #[inline]
    pub const fn is_reply(self) -> bool {
        matches!(self, Self::MethodReturn | Self::Error)
    }

    /// The word for the type in match rules and logs.
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
