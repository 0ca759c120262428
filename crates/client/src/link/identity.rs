//! The names of a connection: one for each time it connected.

use std::sync::OnceLock;

use wire::guid::Guid;

/// The unique name of a connection and the GUID of its server. After the bus went away, the
/// connection gets new ones. Earlier ones stay, because they may be borrowed.
pub(crate) struct ConnectionIdentity {
    /// The unique name, a valid bus name; `None` without a bus.
    pub(crate) unique_name: Option<Box<str>>,
    pub(crate) guid: Option<Guid>,
    next: OnceLock<Box<Self>>,
}

impl ConnectionIdentity {
    pub(crate) const fn new(unique_name: Option<Box<str>>, guid: Option<Guid>) -> Self {
        Self { unique_name, guid, next: OnceLock::new() }
    }

    pub(crate) fn latest(&self) -> &Self {
        let mut latest = self;
        while let Some(next) = latest.next.get() {
            latest = next;
        }
        latest
    }

    /// Adds the identity on a new connection.
    pub(super) fn add(&self, identity: Self) {
        let mut identity = Box::new(identity);
        let mut latest = self.latest();
        // Only one thread restores a connection, so this succeeds at once.
        while let Err(rejected) = latest.next.set(identity) {
            identity = rejected;
            latest = latest.latest();
        }
    }
}

impl Drop for ConnectionIdentity {
    fn drop(&mut self) {
        // One after the other, because recursion could exhaust the stack.
        let mut next = self.next.take();
        while let Some(mut identity) = next {
            next = identity.next.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_names_stay_valid() {
        let identity = ConnectionIdentity::new(Some(":1.0".into()), None);
        let first = &identity.latest().unique_name;
        for number in 1..5 {
            identity.add(ConnectionIdentity::new(Some(format!(":1.{number}").into()), None));
        }
        let names = [first, &identity.latest().unique_name].map(Option::as_deref);
        assert_eq!(names, [Some(":1.0"), Some(":1.4")]);
    }
}
