//! The names of a connection: one for each time it connected.

use std::sync::OnceLock;

use wire::guid::Guid;
use wire::names::BusNameBuf;

/// The unique name of a connection and the GUID of its server. After the bus went away, the
/// connection gets new ones. Earlier ones stay, because they may be borrowed.
pub(crate) struct ConnectionIdentity {
    /// `None` without a bus.
    pub(crate) unique_name: Option<BusNameBuf>,
    pub(crate) guid: Option<Guid>,
    next: OnceLock<Box<Self>>,
}

impl ConnectionIdentity {
    pub(crate) const fn new(unique_name: Option<BusNameBuf>, guid: Option<Guid>) -> Self {
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
    use wire::names::BusName;

    use super::*;

    #[test]
    fn earlier_names_stay_valid() {
        let identity = |number| {
            let name = format!(":1.{number}");
            let name = BusName::new(&name).expect("a name");
            ConnectionIdentity::new(Some(name.into()), None)
        };
        let all = identity(0);
        let first = &all.latest().unique_name;
        (1..5).for_each(|number| all.add(identity(number)));
        let names =
            [first, &all.latest().unique_name].map(|it| it.as_ref().map(BusNameBuf::as_str));
        assert_eq!(names, [Some(":1.0"), Some(":1.4")]);
    }
}
