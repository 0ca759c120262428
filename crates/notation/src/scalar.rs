//! Reading and writing values of basic types.

use wire::body::Value;
use wire::names::ObjectPath;
use wire::signature::{Signature, Type};

use crate::{MismatchReason, number};

/// A basic value as plain text, with all digits; a container gives an empty text.
pub fn text(value: &Value) -> String {
    match value {
        Value::Byte(number) => number.to_string(),
        Value::Boolean(truth) => truth.to_string(),
        Value::Int16(number) => number.to_string(),
        Value::Uint16(number) => number.to_string(),
        Value::Int32(number) => number.to_string(),
        Value::Uint32(number) | Value::UnixFd(number) => number.to_string(),
        Value::Int64(number) => number.to_string(),
        Value::Uint64(number) => number.to_string(),
        Value::Double(number) => number::shortest(*number),
        Value::String(words) => words.clone(),
        Value::ObjectPath(path) => path.to_string(),
        Value::Signature(types) => types.to_string(),
        Value::Variant(_)
        | Value::Bytes(_)
        | Value::Array { .. }
        | Value::DictEntry(_)
        | Value::Struct(_) => String::new(),
    }
}

/// Reads a word as a basic value of this type.
///
/// Numbers can be decimal, hexadecimal with `0x`, octal with `0o` or `0`, or binary with `0b`;
/// booleans are the words that busctl accepts.
pub(crate) fn read(kind: Type<'_>, word: &str) -> Result<Value, MismatchReason> {
    Ok(match kind {
        Type::Byte => Value::Byte(integer(word)?),
        Type::Boolean => Value::Boolean(parse_bool(word).ok_or(MismatchReason::Kind)?),
        Type::Int16 => Value::Int16(integer(word)?),
        Type::Uint16 => Value::Uint16(integer(word)?),
        Type::Int32 => Value::Int32(integer(word)?),
        Type::Uint32 => Value::Uint32(integer(word)?),
        Type::Int64 => Value::Int64(integer(word)?),
        Type::Uint64 => Value::Uint64(integer(word)?),
        Type::Double => Value::Double(double(word).ok_or(MismatchReason::Kind)?),
        Type::String if word.contains('\0') => return Err(MismatchReason::Nul),
        Type::String => Value::from(word),
        Type::ObjectPath => {
            Value::ObjectPath(ObjectPath::new(word).map_err(MismatchReason::Path)?.into())
        }
        Type::Signature => {
            Value::Signature(Signature::new(word).map_err(MismatchReason::Signature)?.into())
        }
        Type::UnixFd | Type::Variant | Type::Array(_) | Type::Struct(_) | Type::DictEntry(_) => {
            return Err(MismatchReason::Kind);
        }
    })
}

/// Reads an integer within the range of the type.
pub(crate) fn integer<T: TryFrom<i128>>(word: &str) -> Result<T, MismatchReason> {
    let (sign, digits) = match word.as_bytes() {
        [b'-', ..] => (-1, &word[1..]),
        [b'+', ..] => (1, &word[1..]),
        _ => (1, word),
    };
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    // `from_str_radix` would accept a second sign.
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Err(MismatchReason::Kind);
    }
    let number = i128::from_str_radix(digits, radix).map_err(|_| MismatchReason::Range)?;
    T::try_from(sign * number).map_err(|_| MismatchReason::Range)
}

/// Reads a number; `inf`, `nan` and hexadecimal integers are accepted.
pub(crate) fn double(word: &str) -> Option<f64> {
    let is_other_base = word.trim_start_matches(['-', '+']).starts_with("0x");
    if is_other_base {
        return integer::<i64>(word).ok().map(|number| number as f64);
    }
    word.parse().ok()
}

fn parse_bool(word: &str) -> Option<bool> {
    let is_one_of = |words: &[&str]| words.iter().any(|one| one.eq_ignore_ascii_case(word));
    match word {
        _ if is_one_of(&["1", "yes", "y", "true", "t", "on"]) => Some(true),
        _ if is_one_of(&["0", "no", "n", "false", "f", "off"]) => Some(false),
        _ => None,
    }
}
