//! The connections of a bus, as far as is known of them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use super::flow::Flow;
use super::notes::NoteId;
use super::program::Program;

/// What the bus tells of one connection (`GetConnections`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ConnectionStats {
    /// Bytes that wait for it.
    pub(crate) queued: u64,
    /// The most bytes that have ever waited for it.
    pub(crate) queued_peak: u64,
    /// Messages that it did not get because too much waited already.
    pub(crate) lost: u64,
    /// Its match rules.
    pub(crate) rules: u64,
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Connection {
    /// When it came.
    pub(crate) arrived: Duration,
    /// Its well-known names, in the order in which it got them.
    pub(crate) names: Vec<Box<str>>,
    /// Its process, once that is known.
    pub(crate) program: Option<Program>,
    /// What it has sent.
    pub(crate) sent: Flow,
    /// What the bus told of it last, if it tells that.
    pub(crate) stats: Option<ConnectionStats>,
    /// The note of its arrival, once that is made.
    pub(crate) arrival: Option<NoteId>,
    /// Its calls that wait for an answer, by their serials, each with the key of its member.
    calls: HashMap<u32, Rc<str>>,
}

impl Connection {
    /// A connection of which nothing more is known.
    pub(crate) fn new(arrived: Duration) -> Self {
        Self {
            arrived,
            names: Vec::new(),
            program: None,
            sent: Flow::default(),
            stats: None,
            arrival: None,
            calls: HashMap::new(),
        }
    }

    /// Remembers a call, so that its answer can be counted for the same member. One that leaves
    /// calls unanswered is not worth more memory than [`CALLS_MAX`] of them.
    pub(super) fn called(&mut self, serial: u32, member: Rc<str>) {
        if self.calls.len() >= CALLS_MAX {
            self.calls.clear();
        }
        self.calls.insert(serial, member);
    }

    /// The member of a call that was answered now.
    pub(super) fn answered(&mut self, serial: u32) -> Option<Rc<str>> {
        self.calls.remove(&serial)
    }

    /// What stands beside its unique name: its program, or its first well-known name.
    pub(super) fn program_or_name(&self) -> Option<&str> {
        let program = self.program.as_ref().map(|program| program.label.as_str());
        program.or_else(|| self.names.first().map(|name| &**name))
    }

    /// What people call it, as recordings and the page do: its first well-known name, or its program with
    /// its unique name; `None` if it has neither.
    fn label(&self, unique: &str) -> Option<Cow<'_, str>> {
        let named = self.names.first().map(|name| Cow::Borrowed(&**name));
        let of_program = |program: &Program| format!("{} ({unique})", program.label).into();
        named.or_else(|| self.program.as_ref().map(of_program))
    }
}

/// All connections, by their unique names; also who owns which well-known name.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    by_name: HashMap<Box<str>, Connection>,
    owners: HashMap<Box<str>, Box<str>>,
}

impl Connections {
    /// The connection of a unique name.
    pub(crate) fn get(&self, unique: &str) -> Option<&Connection> {
        self.by_name.get(unique)
    }

    pub(super) fn get_mut(&mut self, unique: &str) -> Option<&mut Connection> {
        self.by_name.get_mut(unique)
    }

    /// All of them, with their unique names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Connection)> {
        self.by_name.iter().map(|(name, connection)| (&**name, connection))
    }

    pub(super) fn step(&mut self) {
        self.by_name.values_mut().for_each(|connection| connection.sent.step());
    }

    /// Adds a connection if it is not known; says whether it was not.
    pub(super) fn add(&mut self, unique: &str, now: Duration) -> bool {
        let new = !self.by_name.contains_key(unique);
        if new {
            self.by_name.insert(unique.into(), Connection::new(now));
        }
        new
    }

    pub(super) fn remove(&mut self, unique: &str) -> Option<Connection> {
        let connection = self.by_name.remove(unique)?;
        for name in &connection.names {
            self.owners.remove(name);
        }
        Some(connection)
    }

    /// Gives a well-known name to another connection, or to none.
    pub(super) fn set_owner(&mut self, name: &str, owner: Option<&str>) {
        if let Some(old) = self.owners.remove(name)
            && let Some(connection) = self.by_name.get_mut(&old)
        {
            connection.names.retain(|owned| **owned != *name);
        }
        if let Some(owner) = owner
            && let Some(connection) = self.by_name.get_mut(owner)
        {
            connection.names.push(name.into());
            self.owners.insert(name.into(), owner.into());
        }
    }

    /// The unique name behind any name; the name itself if nobody owns it.
    pub(super) fn resolve<'a>(&'a self, name: &'a str) -> &'a str {
        self.owners.get(name).map_or(name, |owner| owner)
    }

    /// What people call the connection of a name.
    pub(super) fn label<'a>(&'a self, unique: &'a str) -> Cow<'a, str> {
        self.get(unique).and_then(|one| one.label(unique)).unwrap_or(Cow::Borrowed(unique))
    }

    /// How many well-known names have owners.
    pub(crate) fn names(&self) -> usize {
        self.owners.len()
    }
}

/// Calls of one connection that are remembered until they are answered.
const CALLS_MAX: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_their_owners() {
        let mut connections = Connections::default();
        assert!(connections.add(":1.1", Duration::ZERO));
        assert!(!connections.add(":1.1", Duration::ZERO));
        assert!(connections.add(":1.2", Duration::ZERO));
        connections.set_owner("org.a", Some(":1.1"));
        connections.set_owner("org.b", Some(":1.1"));
        assert_eq!((connections.resolve("org.a"), connections.names()), (":1.1", 2));
        connections.set_owner("org.a", Some(":1.2"));
        assert_eq!(connections.get(":1.1").unwrap().names, ["org.b".into()]);
        assert_eq!(connections.resolve("org.a"), ":1.2");
        connections.set_owner("org.a", None);
        assert_eq!(connections.resolve("org.a"), "org.a");
        connections.remove(":1.1");
        assert_eq!((connections.resolve("org.b"), connections.names()), ("org.b", 0));
        connections.set_owner("org.c", Some(":1.9"));
        assert_eq!(connections.names(), 0);
    }

    #[test]
    fn unanswered_calls_take_no_more_than_their_room() {
        let mut connection = Connection::new(Duration::ZERO);
        for serial in 0..=CALLS_MAX as u32 {
            connection.called(serial, "key".into());
        }
        assert_eq!(connection.answered(CALLS_MAX as u32).as_deref(), Some("key"));
        assert_eq!(connection.answered(CALLS_MAX as u32), None);
        assert_eq!(connection.calls.len(), 0);
    }
}
