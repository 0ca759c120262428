//! The other end of a message, as rules name it.

use core::hash::BuildHasher;

use alloc::boxed::Box;
use hashbrown::HashMap;

use super::rule::{NamePattern, is_below};

/// The names of a connection: its unique name, and all that it owns or waits for.
pub(crate) trait CounterpartNames {
    /// How many there are, at most.
    fn len(&self) -> usize;

    /// Whether a name is among them.
    fn contains(&self, name: &str) -> bool;

    /// All of them.
    fn iter(&self) -> impl Iterator<Item = &str>;
}

/// The recipient of a message that is sent, or the sender of a message that is received.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Counterpart<'a, N> {
    /// A connection.
    Peer(N),
    /// A name without a connection: the bus itself, or a service that is yet to be started.
    Name(&'a str),
}

impl<N: CounterpartNames> Counterpart<'_, N> {
    /// Whether a pattern matches one of the names.
    pub(super) fn is(&self, pattern: &NamePattern) -> bool {
        match (self, pattern) {
            (_, NamePattern::Any) => true,
            (Self::Name(name), pattern) => pattern.matches(name),
            (Self::Peer(names), NamePattern::One(name)) => names.contains(name),
            (Self::Peer(names), NamePattern::Prefix(prefix)) => {
                names.iter().any(|name| is_below(name, prefix))
            }
        }
    }

    /// Calls `found` with the value that a map has for each of the names.
    pub(super) fn for_each_of<'m, V, S: BuildHasher>(
        &self,
        map: &'m HashMap<Box<str>, V, S>,
        mut found: impl FnMut(&'m V),
    ) {
        match self {
            _ if map.is_empty() => {}
            Self::Name(name) => map.get(*name).into_iter().for_each(found),
            // Whichever takes fewer steps.
            Self::Peer(names) if names.len() <= map.len() => {
                names.iter().filter_map(|name| map.get(name)).for_each(found);
            }
            Self::Peer(names) => map.iter().for_each(|(name, value)| {
                if names.contains(name) {
                    found(value);
                }
            }),
        }
    }
}
