//! The grammar of each kind of name.
//!
//! A message carries four or five names with about a hundred bytes, so checking names is a large
//! part of the cost of parsing a header. [`elements`] is fast, but only reports whether a name is
//! valid; for an invalid name, the `explain` functions find the violated rule and its position.

use super::rows::elements;
use super::{NameError, NameErrorKind};
use crate::limits::NAME_LEN_MAX;

/// The element grammar of a kind of name. All kinds allow letters, digits and the underscore in
/// elements.
pub(super) trait Grammar {
    /// The byte between two elements.
    const SEPARATOR: u8;
    /// One more byte that is allowed in elements.
    const EXTRA: u8;
    /// Restriction on the first byte of an element.
    const FIRST: FirstByte;
}

/// The bytes with which an element can begin.
#[derive(Clone, Copy)]
pub(super) enum FirstByte {
    NotDigit,
    Any,
}

/// The number of elements in a name.
#[derive(Clone, Copy)]
pub(super) enum Elements {
    One,
    Several,
}

struct InterfaceGrammar;
struct WellKnown;
struct Unique;
struct PathGrammar;

impl Grammar for InterfaceGrammar {
    const SEPARATOR: u8 = b'.';
    const EXTRA: u8 = b'_';
    const FIRST: FirstByte = FirstByte::NotDigit;
}

impl Grammar for WellKnown {
    const SEPARATOR: u8 = b'.';
    const EXTRA: u8 = b'-';
    const FIRST: FirstByte = FirstByte::NotDigit;
}

impl Grammar for Unique {
    const SEPARATOR: u8 = b'.';
    const EXTRA: u8 = b'-';
    const FIRST: FirstByte = FirstByte::Any;
}

impl Grammar for PathGrammar {
    const SEPARATOR: u8 = b'/';
    const EXTRA: u8 = b'_';
    const FIRST: FirstByte = FirstByte::Any;
}

#[inline]
pub(super) const fn check_bus_name(name: &[u8]) -> Result<(), NameError> {
    match name {
        [b':', rest @ ..] => match elements::<Unique>(rest) {
            Some(_) if name.len() <= NAME_LEN_MAX => Ok(()),
            _ => explain_unique_name(name),
        },
        _ => check_well_known_name(name),
    }
}

#[inline]
pub(super) const fn check_well_known_name(name: &[u8]) -> Result<(), NameError> {
    match elements::<WellKnown>(name) {
        Some(Elements::Several) if name.len() <= NAME_LEN_MAX => Ok(()),
        _ => explain_dotted::<WellKnown>(name),
    }
}

#[inline]
pub(super) const fn check_interface_name(name: &[u8]) -> Result<(), NameError> {
    match elements::<InterfaceGrammar>(name) {
        Some(Elements::Several) if name.len() <= NAME_LEN_MAX => Ok(()),
        _ => explain_dotted::<InterfaceGrammar>(name),
    }
}

#[inline]
pub(super) const fn check_member_name(name: &[u8]) -> Result<(), NameError> {
    match elements::<InterfaceGrammar>(name) {
        Some(Elements::One) if name.len() <= NAME_LEN_MAX => Ok(()),
        _ => explain_member(name),
    }
}

#[inline]
pub(super) const fn check_object_path(path: &[u8]) -> Result<(), NameError> {
    match path {
        [b'/'] => Ok(()),
        [b'/', rest @ ..] if elements::<PathGrammar>(rest).is_some() => Ok(()),
        _ => explain_path(path),
    }
}

/// The functions below find the rule that a name violates, and its position.
#[cold]
const fn explain_unique_name(name: &[u8]) -> Result<(), NameError> {
    if name.len() > NAME_LEN_MAX {
        return Err(NameErrorKind::TooLong.at(NAME_LEN_MAX));
    }
    match explain_elements::<Unique>(name, 1) {
        Err(error) if name.len() > 1 => Err(error),
        _ => Ok(()),
    }
}

#[cold]
const fn explain_dotted<G: Grammar>(name: &[u8]) -> Result<(), NameError> {
    if name.is_empty() {
        return Err(NameErrorKind::Empty.at(0));
    }
    if name.len() > NAME_LEN_MAX {
        return Err(NameErrorKind::TooLong.at(NAME_LEN_MAX));
    }
    match explain_elements::<G>(name, 0) {
        Ok(Elements::One) => Err(NameErrorKind::SingleElement.at(name.len())),
        Ok(Elements::Several) => Ok(()),
        Err(error) => Err(error),
    }
}

#[cold]
const fn explain_member(name: &[u8]) -> Result<(), NameError> {
    match name {
        [] => return Err(NameErrorKind::Empty.at(0)),
        [b'0'..=b'9', ..] => return Err(NameErrorKind::LeadingDigit.at(0)),
        _ if name.len() > NAME_LEN_MAX => return Err(NameErrorKind::TooLong.at(NAME_LEN_MAX)),
        _ => {}
    }
    let mut at = 0;
    while at < name.len() {
        if !name[at].is_ascii_alphanumeric() && name[at] != b'_' {
            return Err(NameErrorKind::InvalidByte.at(at));
        }
        at += 1;
    }
    Ok(())
}

#[cold]
const fn explain_path(path: &[u8]) -> Result<(), NameError> {
    match path {
        [] => return Err(NameErrorKind::Empty.at(0)),
        [b'/', ..] => {}
        _ => return Err(NameErrorKind::NotAbsolute.at(0)),
    }
    match explain_elements::<PathGrammar>(path, 1) {
        Err(error) if error.at == path.len() => Err(NameErrorKind::TrailingSlash.at(error.at - 1)),
        Err(error) => Err(error),
        Ok(_) => Ok(()),
    }
}

/// Checks the elements of `name` from byte `at` on.
const fn explain_elements<G: Grammar>(name: &[u8], mut at: usize) -> Result<Elements, NameError> {
    let mut found = Elements::One;
    let mut start = at;
    while at < name.len() {
        let byte = name[at];
        if byte == G::SEPARATOR {
            if at == start {
                return Err(NameErrorKind::EmptyElement.at(at));
            }
            found = Elements::Several;
            start = at + 1;
        } else if !byte.is_ascii_alphanumeric() && byte != b'_' && byte != G::EXTRA {
            return Err(NameErrorKind::InvalidByte.at(at));
        } else if at == start && byte.is_ascii_digit() && matches!(G::FIRST, FirstByte::NotDigit) {
            return Err(NameErrorKind::LeadingDigit.at(at));
        }
        at += 1;
    }
    if at == start {
        return Err(NameErrorKind::EmptyElement.at(at));
    }
    Ok(found)
}
