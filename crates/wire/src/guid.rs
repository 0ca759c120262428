//! GUIDs: 128 bits, 32 hexadecimal digits, that identify a server address or a machine.
//!
//! The specification calls them UUIDs (chapter "UUIDs") and does not require RFC 4122.

use core::fmt;

use crate::hex;

/// A universally unique identifier, of a server address or a machine.
///
/// ```
/// use diligence_wire::guid::Guid;
///
/// let guid = Guid::parse("5A3D03A47A3322E4B8C7BA966B010AA7")?;
/// assert_eq!(guid.to_string(), "5a3d03a47a3322e4b8c7ba966b010aa7");
/// # Ok::<(), diligence_wire::guid::GuidError>(())
/// ```
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Guid([u8; 16]);

impl Guid {
    /// Creates a GUID from these 128 bits.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Creates a new GUID: 96 random bits, then the time in seconds since 1970, big-endian.
    ///
    /// The specification requires 96 random bits and leaves the rest open; the time distinguishes
    /// GUIDs even if the source of randomness is bad. The last four random bytes are not used.
    pub fn from_random(random: [u8; 16], unix_seconds: u32) -> Self {
        let mut bytes = random;
        bytes[12..].copy_from_slice(&unix_seconds.to_be_bytes());
        Self(bytes)
    }

    /// Parses exactly 32 hexadecimal digits, in either case.
    ///
    /// # Errors
    ///
    /// If the text has another length, or contains another character.
    pub fn parse(text: impl AsRef<[u8]>) -> Result<Self, GuidError> {
        let text = text.as_ref();
        if text.len() != GUID_TEXT_LEN {
            return Err(GuidError::WrongLength { len: text.len() });
        }
        let mut bytes = [0; 16];
        for (index, slot) in bytes.iter_mut().enumerate() {
            let at = 2 * index;
            *slot = hex::byte(text[at], text[at + 1])
                .ok_or_else(|| GuidError::InvalidDigit { at: first_invalid(text) })?;
        }
        Ok(Self(bytes))
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Guid({self})")
    }
}

/// The reason why a text is not a GUID.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GuidError {
    /// The text is not 32 bytes long.
    WrongLength {
        /// Bytes in the text.
        len: usize,
    },
    /// A byte is not a hexadecimal digit.
    InvalidDigit {
        /// Offset in bytes from the start of the text.
        at: usize,
    },
}

impl fmt::Display for GuidError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongLength { len } => {
                write!(f, "a GUID has {GUID_TEXT_LEN} hexadecimal digits, not {len}")
            }
            Self::InvalidDigit { at } => {
                write!(f, "byte {at} of the GUID is not a hexadecimal digit")
            }
        }
    }
}

impl core::error::Error for GuidError {}

fn first_invalid(text: &[u8]) -> usize {
    text.iter().position(|digit| !digit.is_ascii_hexdigit()).unwrap_or(text.len())
}

/// Digits in the text of a GUID.
pub const GUID_TEXT_LEN: usize = 32;

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn guids_end_with_the_time() {
        let guid = Guid::from_random([0xab; 16], 0x0102_0304);
        assert_eq!(guid.to_string(), "abababababababababababab01020304");
        assert_eq!(Guid::parse(guid.to_string()), Ok(guid));
    }

    #[test]
    fn malformed_guids_report_reasons() {
        for (text, expected) in [
            ("", GuidError::WrongLength { len: 0 }),
            ("1234deadbeef", GuidError::WrongLength { len: 12 }),
            ("5a3d03a47a3322e4b8c7ba966b010aa7 ", GuidError::WrongLength { len: 33 }),
            ("5a3d03a4-7a33-22e4-b8c7-ba966b01", GuidError::InvalidDigit { at: 8 }),
            ("ga3d03a47a3322e4b8c7ba966b010aa7", GuidError::InvalidDigit { at: 0 }),
        ] {
            assert_eq!(Guid::parse(text), Err(expected), "{text:?}");
        }
    }
}
