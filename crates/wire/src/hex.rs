//! Hexadecimal text, as addresses, GUIDs and the authentication protocol use it.
//!
//! ```
//! use diligence_wire::hex;
//!
//! assert_eq!(hex::encode(b"1000"), "31303030");
//! assert_eq!(hex::decode("31303030")?, b"1000");
//! assert_eq!(hex::decode("3x"), Err(hex::HexError::InvalidDigit { at: 1 }));
//! # Ok::<(), hex::HexError>(())
//! ```

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// Encodes each byte as two lowercase digits.
pub fn encode(bytes: &[u8]) -> String {
    bytes.iter().flat_map(|&byte| digits(byte)).collect()
}

/// Decodes two digits, in either case, for each byte.
///
/// # Errors
///
/// If the number of digits is odd, or a character is not a digit.
pub fn decode(text: impl AsRef<[u8]>) -> Result<Vec<u8>, HexError> {
    let text = text.as_ref();
    if let Some(at) = text.iter().position(|&digit| value(digit).is_none()) {
        return Err(HexError::InvalidDigit { at });
    }
    if text.len() % 2 == 1 {
        return Err(HexError::OddLength { len: text.len() });
    }
    Ok(text.chunks_exact(2).filter_map(|pair| byte(pair[0], pair[1])).collect())
}

/// The two lowercase digits of a byte.
pub fn digits(byte: u8) -> [char; 2] {
    [byte >> 4, byte & 0xf].map(|nibble| char::from(DIGITS[usize::from(nibble)]))
}

/// The byte for two digits in either case; `None` if a character is not a digit.
pub fn byte(high: u8, low: u8) -> Option<u8> {
    Some(value(high)? << 4 | value(low)?)
}

/// The reason why a text is not hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HexError {
    /// The number of digits is odd.
    OddLength {
        /// Digits in the text.
        len: usize,
    },
    /// A byte is not a hexadecimal digit.
    InvalidDigit {
        /// Offset in bytes from the start of the text.
        at: usize,
    },
}

impl fmt::Display for HexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OddLength { len } => {
                write!(f, "hexadecimal text has an even number of digits, not {len}")
            }
            Self::InvalidDigit { at } => write!(f, "byte {at} is not a hexadecimal digit"),
        }
    }
}

impl core::error::Error for HexError {}

const fn value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_round_trip_as_hexadecimal_text() {
        let all: Vec<u8> = (0..=255).collect();
        let text = encode(&all);
        assert_eq!(decode(&text), Ok(all.clone()));
        assert_eq!(decode(text.to_uppercase()), Ok(all));
    }

    #[test]
    fn malformed_hexadecimal_text_reports_the_position() {
        for (text, expected) in [
            ("", Ok(Vec::new())),
            ("0", Err(HexError::OddLength { len: 1 })),
            ("g", Err(HexError::InvalidDigit { at: 0 })),
            ("00 0", Err(HexError::InvalidDigit { at: 2 })),
            ("0é", Err(HexError::InvalidDigit { at: 1 })),
        ] {
            assert_eq!(decode(text), expected, "{text:?}");
        }
    }
}
