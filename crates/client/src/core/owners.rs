//! Owners of the well-known names in the rules of subscriptions.
//!
//! A signal carries the unique name of its sender, but a rule can select a well-known name. The bus
//! applies each rule to the owner, but does not say which rule selected a signal. So the connection
//! tracks the owners, too.

use std::collections::HashMap;

use wire::message::Message;
use wire::names::BusName;

use super::rules::Users;
use crate::driver;

/// The watched names with their owners.
#[derive(Debug, Default)]
pub(super) struct WatchedOwners {
    watched: HashMap<Box<str>, WatchedName>,
}

#[derive(Debug, Default)]
struct WatchedName {
    /// Number of subscriptions that use the name.
    users: usize,
    /// The unique name of the owner; `None` if it is unknown or there is none.
    owner: Option<Box<str>>,
}

impl WatchedOwners {
    /// The sender of a rule if it must be watched: a well-known name other than the bus driver.
    pub(super) fn watchable(sender: Option<&str>) -> Option<&str> {
        sender.filter(|name| !name.starts_with(':') && *name != driver::NAME.as_str())
    }

    /// The names whose owners are watched.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.watched.keys().map(|name| &**name)
    }

    pub(super) fn owner(&self, name: &str) -> Option<&str> {
        self.watched.get(name)?.owner.as_deref()
    }

    /// Adds a user of the name; returns whether it had users before.
    pub(super) fn watch(&mut self, name: &str) -> Users {
        let watched = self.watched.entry(name.into()).or_default();
        watched.users += 1;
        Users::counted(watched.users - 1)
    }

    /// Removes a user of the name; returns whether it has users left.
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

    /// Updates the owner if the signal is `NameOwnerChanged` from the bus.
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
