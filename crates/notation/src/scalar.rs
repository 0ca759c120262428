//! What basic values say.

use wire::body::Value;
use wire::names::ObjectPath;
use wire::signature::{Signature, Type};

use crate::{MisfitReason, number};

/// A basic value as plain text, with all of its digits; a container is empty.
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

/// The basic value of this type that a word is.
///
/// Numbers may be decimal, hexadecimal behind `0x`, octal behind `0o` or `0`, and binary behind `0b`;
/// truth is told by the words that busctl knows.
pub(crate) fn read(kind: Type<'_>, word: &str) -> Result<Value, MisfitReason> {
    Ok(match kind {
        Type::Byte => Value::Byte(whole(word)?),
        Type::Boolean => Value::Boolean(truth(word).ok_or(MisfitReason::Kind)?),
        Type::Int16 => Value::Int16(whole(word)?),
        Type::Uint16 => Value::Uint16(whole(word)?),
        Type::Int32 => Value::Int32(whole(word)?),
        Type::Uint32 => Value::Uint32(whole(word)?),
        Type::Int64 => Value::Int64(whole(word)?),
        Type::Uint64 => Value::Uint64(whole(word)?),
        Type::Double => Value::Double(double(word).ok_or(MisfitReason::Kind)?),
        Type::String if word.contains('\0') => return Err(MisfitReason::Nul),
        Type::String => Value::from(word),
        Type::ObjectPath => {
            Value::ObjectPath(ObjectPath::new(word).map_err(MisfitReason::Path)?.into())
        }
        Type::Signature => {
            Value::Signature(Signature::new(word).map_err(MisfitReason::Signature)?.into())
        }
        Type::UnixFd | Type::Variant | Type::Array(_) | Type::Struct(_) | Type::DictEntry(_) => {
            return Err(MisfitReason::Kind);
        }
    })
}

/// A whole number that the type can hold.
pub(crate) fn whole<T: TryFrom<i128>>(word: &str) -> Result<T, MisfitReason> {
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
    // A second sign is none of the digits.
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Err(MisfitReason::Kind);
    }
    let number = i128::from_str_radix(digits, radix).map_err(|_| MisfitReason::Range)?;
    T::try_from(sign * number).map_err(|_| MisfitReason::Range)
}

/// A number, which may be `inf` or `nan`, or whole in another base.
pub(crate) fn double(word: &str) -> Option<f64> {
    let is_other_base = word.trim_start_matches(['-', '+']).starts_with("0x");
    if is_other_base {
        return whole::<i64>(word).ok().map(|number| number as f64);
    }
    word.parse().ok()
}

fn truth(word: &str) -> Option<bool> {
    let is_one_of = |words: &[&str]| words.iter().any(|one| one.eq_ignore_ascii_case(word));
    match word {
        _ if is_one_of(&["1", "yes", "y", "true", "t", "on"]) => Some(true),
        _ if is_one_of(&["0", "no", "n", "false", "f", "off"]) => Some(false),
        _ => None,
    }
}
