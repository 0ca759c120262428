//! The current connections of a bus and their names.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use capture::record::RecordedProcess;

use super::notes::NoteId;
use crate::live::TrafficAmount;

/// A connection that is known from records.
#[derive(Debug)]
pub(crate) struct KnownConnection {
    /// The monotonic time at which it was first seen.
    pub(crate) arrived: Duration,
    /// Its well-known names, in the order in which it acquired them.
    pub(crate) names: Vec<Box<str>>,
    /// The known facts about its process.
    pub(crate) process: RecordedProcess,
    /// The messages that it has sent.
    pub(crate) sent: TrafficAmount,
    /// The note about its arrival, if there is one already.
    pub(crate) arrival: Option<NoteId>,
}

impl KnownConnection {
    fn new(arrived: Duration) -> Self {
        Self {
            arrived,
            names: Vec::new(),
            process: RecordedProcess::default(),
            sent: TrafficAmount::default(),
            arrival: None,
        }
    }

    /// The label after its unique name: its program, or its first well-known name.
    pub(super) fn program_or_name(&self) -> Option<&str> {
        self.process.program().or_else(|| self.names.first().map(|name| &**name))
    }
}

/// All connections by their unique names, and the owners of well-known names.
///
/// Two connections of the recorder and the trace of the bus report changes, so each change arrives
/// several times, and a fact about a connection can arrive after it has left.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    by_name: HashMap<Box<str>, KnownConnection>,
    owners: HashMap<Box<str>, Box<str>>,
    /// The connections that left most recently, in order.
    departed: VecDeque<Box<str>>,
}

impl Connections {
    /// Returns the connection with a unique name.
    pub(crate) fn get(&self, unique: &str) -> Option<&KnownConnection> {
        self.by_name.get(unique)
    }

    /// All connections, with their unique names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &KnownConnection)> {
        self.by_name.iter().map(|(name, connection)| (&**name, connection))
    }

    /// Returns the connection with a unique name and adds it if it is new; `None` if it has left.
    pub(super) fn get_or_add(
        &mut self,
        unique: &str,
        now: Duration,
    ) -> Option<&mut KnownConnection> {
        if !self.by_name.contains_key(unique) {
            if self.has_left(unique) {
                return None;
            }
            self.by_name.insert(unique.into(), KnownConnection::new(now));
        }
        self.by_name.get_mut(unique)
    }

    /// Returns true if a connection left recently.
    pub(super) fn has_left(&self, unique: &str) -> bool {
        self.departed.iter().any(|departed| **departed == *unique)
    }

    /// Removes a connection that has left, with its names.
    pub(super) fn remove(&mut self, unique: &str) -> Option<KnownConnection> {
        if !self.has_left(unique) {
            self.departed.push_back(unique.into());
            self.departed.drain(..self.departed.len().saturating_sub(DEPARTED_MAX));
        }
        let connection = self.by_name.remove(unique)?;
        for name in &connection.names {
            self.owners.remove(name);
        }
        Some(connection)
    }

    /// Returns the unique name of the owner of a well-known name.
    pub(super) fn owner(&self, name: &str) -> Option<&str> {
        self.owners.get(name).map(|owner| &**owner)
    }

    /// Changes the owner of a well-known name; `None` means that the name is released.
    pub(super) fn set_owner(&mut self, name: &str, owner: Option<&str>, now: Duration) {
        if let Some(old) = self.owners.remove(name)
            && let Some(connection) = self.by_name.get_mut(&old)
        {
            connection.names.retain(|owned| **owned != *name);
        }
        if let Some(owner) = owner
            && let Some(connection) = self.get_or_add(owner, now)
        {
            connection.names.push(name.into());
            self.owners.insert(name.into(), owner.into());
        }
    }

    /// The number of well-known names with an owner.
    pub(crate) fn names(&self) -> usize {
        self.owners.len()
    }
}

/// The number of remembered departures. It is larger than the number of connections that leave
/// while the reports of one departure arrive.
const DEPARTED_MAX: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_their_owners() {
        let mut connections = Connections::default();
        let now = Duration::ZERO;
        connections.set_owner("org.a", Some(":1.1"), now);
        connections.set_owner("org.b", Some(":1.1"), now);
        assert_eq!((connections.owner("org.a"), connections.names()), (Some(":1.1"), 2));
        connections.set_owner("org.a", Some(":1.2"), now);
        assert_eq!(connections.get(":1.1").expect("it is there").names, ["org.b".into()]);
        assert_eq!(connections.owner("org.a"), Some(":1.2"));
        connections.set_owner("org.a", None, now);
        assert_eq!(connections.owner("org.a"), None);
        connections.remove(":1.1");
        assert_eq!((connections.owner("org.b"), connections.names()), (None, 0));
        connections.set_owner("org.c", Some(":1.1"), now);
        assert_eq!(connections.names(), 0, "it has left");
    }

    #[test]
    fn departed_connections_are_not_added_again() {
        let mut connections = Connections::default();
        assert!(connections.get_or_add(":1.1", Duration::ZERO).is_some());
        assert!(connections.remove(":1.1").is_some());
        assert!(connections.remove(":1.1").is_none());
        assert!(connections.get_or_add(":1.1", Duration::ZERO).is_none());
        assert_eq!(connections.iter().count(), 0);
        for number in 0..DEPARTED_MAX {
            connections.remove(&format!(":2.{number}"));
        }
        assert_eq!(connections.departed.len(), DEPARTED_MAX);
    }
}
