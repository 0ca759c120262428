//! Who owns the names that subscriptions ask for.
//!
//! A signal carries the unique name of its sender, and a rule may ask for a well-known one. The
//! bus knows who that is; so that rules of the same connection are not confused, so must we.

use std::collections::HashMap;

use wire::message::Message;
use wire::names::BusName;

use super::rules::Users;
use crate::driver;

/// The names that are watched, with their owners.
#[derive(Debug, Default)]
pub(super) struct WatchedOwners {
    watched: HashMap<Box<str>, WatchedName>,
}

#[derive(Debug, Default)]
struct WatchedName {
    /// How many subscriptions ask for the name.
    users: usize,
    /// The unique name of the owner, once it is known, and if there is one.
    owner: Option<Box<str>>,
}

impl WatchedOwners {
    /// The name in a rule that must be watched: a well-known one, and not the bus itself.
    pub(super) fn watchable(sender: Option<&str>) -> Option<&str> {
        sender.filter(|name| !name.starts_with(':') && *name != driver::NAME.as_str())
    }

    pub(super) fn owner(&self, name: &str) -> Option<&str> {
        self.watched.get(name)?.owner.as_deref()
    }

    /// Counts one user more; says how many there were before.
    pub(super) fn watch(&mut self, name: &str) -> Users {
        let watched = self.watched.entry(name.into()).or_default();
        watched.users += 1;
        Users::counted(watched.users - 1)
    }

    /// Counts one user less; says how many are left.
    pub(super) fn unwatch(&mut self, name: &str) -> Users {
        let Some(watched) = self.watched.get_mut(name) else { return Users::Some };
        watched.users -= 1;
        let left = Users::counted(watched.users);
        if left == Users::None {
            self.watched.remove(name);
        }
        left
    }

    pub(super) fn set(&mut self, name: &str, owner: Option<&str>) {
        if let Some(watched) = self.watched.get_mut(name) {
            watched.owner = owner.map(Into::into);
        }
    }

    /// Takes note of a signal, if it is the one by which the bus tells that an owner changed.
    pub(super) fn observe(&mut self, signal: &Message<'_>) {
        let from_bus = signal.sender() == Some(driver::NAME.into());
        if self.watched.is_empty() || !from_bus || signal.member() != Some(driver::OWNER_CHANGED) {
            return;
        }
        if let Ok((name, _, new)) = signal.read::<(&str, &str, &str)>() {
            self.set(name, BusName::new(new).ok().map(BusName::as_str));
        }
    }
}
