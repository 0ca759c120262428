//! The counterpart of a message in a rule: the recipient for the sender, the sender for the
//! recipient.

use core::hash::BuildHasher;

use alloc::boxed::Box;
use hashbrown::HashMap;

use super::rule::{NamePattern, is_below};

/// The names of a connection: its unique name, and all names that it owns or is queued for.
pub(crate) trait CounterpartNames {
    /// An upper bound of the number of names.
    fn len(&self) -> usize;

    /// True if a name is one of them.
    fn contains(&self, name: &str) -> bool;

    /// All names, in arbitrary order.
    fn iter(&self) -> impl Iterator<Item = &str>;
}

/// The recipient of a message that is sent, or the sender of a message that is received.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Counterpart<'a, N> {
    /// A connection with its names.
    Peer(N),
    /// A name without a connection: the bus itself, or a service that is not running yet.
    Name(&'a str),
}

impl<N: CounterpartNames> Counterpart<'_, N> {
    /// True if a pattern matches one of the names.
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

    /// Calls `found` with the value of a map for each of the names.
    pub(super) fn for_each_of<'m, V, S: BuildHasher>(
        &self,
        map: &'m HashMap<Box<str>, V, S>,
        mut found: impl FnMut(&'m V),
    ) {
        match self {
            _ if map.is_empty() => {}
            Self::Name(name) => map.get(*name).into_iter().for_each(found),
            // Iterate over the smaller of the two.
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
