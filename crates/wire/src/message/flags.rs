//! The flags of messages ("Message Format").

use core::fmt;

/// The flags of a message ("Message Format", third byte).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Flags(u8);

impl Flags {
    /// The empty set of flags.
    pub const NONE: Self = Self(0);
    /// The caller does not expect a reply.
    pub const NO_REPLY_EXPECTED: Self = Self(1);
    /// The bus must not start a service for the destination.
    pub const NO_AUTO_START: Self = Self(2);
    /// The callee may ask the user for authorization.
    pub const ALLOW_INTERACTIVE_AUTHORIZATION: Self = Self(4);
    /// The reply belongs to a call that traveled on a lane between the two connections, as its sender
    /// states: the bus has not seen this call. Only a bus that grants lanes sets this flag, and only
    /// for connections that have or had one.
    pub const LANE_REPLY: Self = Self(0x80);

    /// All eight bits as they are on the wire.
    #[inline]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// All eight bits as they are on the wire.
    #[inline]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Returns true if all flags of `other` are set.
    #[inline]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The union of both sets of flags.
    #[inline]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Flags({:#04x})", self.0)
    }
}
