//! Functions that the code from the attribute macros calls. Programs do not call them.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use wire::body::{Encode, ReadError, UnixFd};
use wire::names::{InterfaceName, MemberName};

use crate::core::CalledMethod;
use crate::{CallError, InvalidName, ReceivedMessage};

/// The value of names that the compiler has checked.
///
/// # Panics
///
/// If one of the names is malformed.
pub fn checked<T>(checked: Result<T, InvalidName>) -> T {
    checked.expect("the names are constants that were checked")
}

/// The error for a reply with other results than the method has.
pub fn unreadable(
    reply: &ReceivedMessage,
    interface: InterfaceName<'_>,
    member: MemberName<'_>,
    error: ReadError,
) -> CallError {
    let member = CalledMethod::answered_by(reply, interface, member);
    CallError::Read { error, member: Some(member.into()) }
}

/// Requires at compile time that values of a type can be sent.
pub const fn check_encode<T: Encode + ?Sized>() {}

/// Adds a descriptor to the descriptors of a message, and returns its index.
pub fn attach(descriptors: &mut Vec<OwnedFd>, descriptor: OwnedFd) -> UnixFd {
    descriptors.push(descriptor);
    // A message has far fewer descriptors.
    UnixFd(descriptors.len() as u32 - 1)
}

/// A copy of a descriptor of a message.
///
/// # Errors
///
/// If the message has no descriptor with this index, or the process has too many descriptors.
pub fn owned_descriptor(message: &ReceivedMessage, place: UnixFd) -> Result<OwnedFd, ReadError> {
    borrowed_descriptor(message, place)?
        .try_clone_to_owned()
        .map_err(|error| ReadError::Value(format!("the descriptor cannot be duplicated: {error}")))
}

/// A descriptor of a message.
///
/// # Errors
///
/// If the message has no descriptor with this index.
pub fn borrowed_descriptor(
    message: &ReceivedMessage,
    place: UnixFd,
) -> Result<BorrowedFd<'_>, ReadError> {
    let found = message.descriptor(place);
    let missing = || ReadError::Value(format!("the message has no descriptor {}", place.0));
    found.map(AsFd::as_fd).ok_or_else(missing)
}
