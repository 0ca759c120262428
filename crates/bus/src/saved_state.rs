//! What the saved states of the components share: errors, and sequences that are not collected.

use core::fmt;

use serde::{Serialize, Serializer};

use crate::types::PeerId;

/// The reason why a saved state does not describe a bus.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SavedStateError {
    /// Something that must be unique occurs twice.
    Duplicate(&'static str),
    /// A name has neither an owner nor connections that wait for it.
    NameWithoutOwner,
    /// Something belongs to a connection that is not in the state.
    UnknownConnection(PeerId),
    /// A message that waits for a service is malformed.
    MalformedMessage,
    /// The index of a connection is greater than any number of connections.
    IndexTooGreat(PeerId),
}

impl fmt::Display for SavedStateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duplicate(what) => write!(f, "a {what} occurs twice"),
            Self::NameWithoutOwner => f.write_str("a name has no owner"),
            Self::UnknownConnection(peer) => write!(f, "the connection {peer} is missing"),
            Self::MalformedMessage => f.write_str("a message is malformed"),
            Self::IndexTooGreat(peer) => write!(f, "the index of connection {peer} is too great"),
        }
    }
}

/// A sequence that is encoded without collecting its items. The iterator must know its length.
pub(crate) struct Items<I>(pub(crate) I);

impl<I: Iterator<Item: Serialize> + Clone> Serialize for Items<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.clone())
    }
}

impl PeerId {
    /// Checks the index before memory for a table of this length is allocated.
    pub(crate) const fn check_index(self) -> Result<(), SavedStateError> {
        if self.index() < PLACES_MAX { Ok(()) } else { Err(SavedStateError::IndexTooGreat(self)) }
    }
}

/// The greatest length of a table of connections: twice the greatest number of open files that Linux
/// allows by default.
const PLACES_MAX: usize = 2 << 20;
