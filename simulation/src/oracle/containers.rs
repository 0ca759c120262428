//! Containers: what the programs in them may see, and to whom they may send.

use std::collections::BTreeSet;

use sandbox::{AccessLevel, SandboxRules};
use wire::Message;
use wire::body::Value;
use wire::message::Flags;

use super::bus_messages::{
    ACCESS_DENIED, INVALID_ARGS, LIMITS_EXCEEDED, NAME_HAS_NO_OWNER, NOT_CONTAINER, SERVICE_UNKNOWN,
};
use super::driver::DriverAnswer;
use super::{Deviation, Oracle, arguments, id_of, peer_id};
use crate::setting::{CONTAINERS_OF_USER_MAX, Feature};

/// A container that a peer has created. Its number is its place in the list of all.
#[derive(Debug)]
pub(super) struct OracleContainer {
    uid: u32,
    creator: u64,
    stage: ContainerStage,
    /// `None` if its programs may do what others may.
    filter: Option<OracleFilter>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ContainerStage {
    Listening,
    /// New peers cannot connect.
    Closed,
    /// Like closed, and the bus has closed all connections.
    Stopped,
    /// The bus has announced the end.
    Removed,
}

#[derive(Debug, Default)]
struct OracleFilter {
    rules: SandboxRules,
    /// True if its programs learn of all unique names.
    hears_of_all: bool,
    /// Peers that stay visible: they have sent a message to the container, or owned a visible name.
    seen: BTreeSet<u64>,
}

/// A change of the owner of a name, which the bus announces.
#[derive(Clone, Debug)]
pub(super) struct AnnouncedOwner {
    pub(super) name: String,
    pub(super) old: Option<u64>,
    pub(super) new: Option<u64>,
}

/// Which peers and names a peer sees.
impl Oracle {
    fn container_of(&self, id: u64) -> Option<usize> {
        Some(self.accounts.get(&id)?.user.container? as usize)
    }

    /// The filter of a peer, unless the other one is in the same container.
    fn filter_between(&self, id: u64, other: u64) -> Option<&OracleFilter> {
        let container = self.container_of(id)?;
        match self.container_of(other) == Some(container) {
            true => None,
            false => self.containers[container].filter.as_ref(),
        }
    }

    fn filter_of(&self, id: u64) -> Option<&OracleFilter> {
        self.containers[self.container_of(id)?].filter.as_ref()
    }

    /// True if a peer has a filter: some methods are only for others.
    pub(super) fn is_filtered(&self, id: u64) -> bool {
        self.filter_of(id).is_some()
    }

    /// True if a peer is in any container.
    pub(super) fn is_contained(&self, id: u64) -> bool {
        self.container_of(id).is_some()
    }

    /// The level of access of a peer to a well-known name; `None` if it is hidden.
    pub(super) fn level_of(&self, id: u64, name: &str) -> Option<AccessLevel> {
        match self.filter_of(id) {
            None => Some(AccessLevel::Own),
            Some(filter) => filter.rules.level_of(name),
        }
    }

    /// The well-known names of a peer.
    fn well_known_of(&self, id: u64) -> Vec<&str> {
        let all = self.names.all().into_iter();
        all.filter(|name| self.names.owner(name) == Some(peer_id(id))).collect()
    }

    fn sees_peer(&self, filter: &OracleFilter, id: u64) -> bool {
        let owned = self.well_known_of(id);
        filter.seen.contains(&id) || filter.rules.access(owned).is_visible()
    }

    fn sees_name(&self, filter: &OracleFilter, name: &str, owner: u64) -> bool {
        match id_of(name) {
            Some(_) => self.sees_peer(filter, owner),
            None => filter.rules.level_of(name).is_some(),
        }
    }

    /// Returns the owner of a name, if `observer` sees it.
    pub(super) fn find_for(&self, observer: u64, name: &str) -> Option<u64> {
        let owner = self.find(name)?;
        let filter = self.filter_between(observer, owner);
        filter.is_none_or(|filter| self.sees_name(filter, name, owner)).then_some(owner)
    }

    /// Returns all names that a peer sees, sorted.
    pub(super) fn names_for(&self, observer: u64) -> Vec<String> {
        let connected = self.accounts.iter().filter(|(_, account)| !account.is_gone);
        let unique = connected.map(|(id, _)| super::unique(*id));
        let well_known = self.names.all().into_iter().map(str::to_owned);
        let all = unique.chain(well_known);
        let mut visible: Vec<_> =
            all.filter(|name| self.find_for(observer, name).is_some()).collect();
        visible.push(super::DRIVER.to_owned());
        visible.sort_unstable();
        visible
    }

    /// Makes a peer visible to another one. Returns true if it was hidden, or might have become so.
    pub(super) fn show(&mut self, shown: u64, to: u64) -> bool {
        if self.filter_between(to, shown).is_none() {
            return false;
        }
        let container = self.container_of(to).expect("it has a filter");
        let filter = self.containers[container].filter.as_mut().expect("it has a filter");
        filter.seen.insert(shown)
    }

    /// Undoes what [`Self::show`] did.
    pub(super) fn hide(&mut self, shown: u64, from: u64) {
        let container = self.container_of(from).expect("it was shown something");
        if let Some(filter) = &mut self.containers[container].filter {
            filter.seen.remove(&shown);
        }
    }

    /// Notes that a peer has lost a well-known name. Who saw the name still sees the peer.
    pub(super) fn name_lost(&mut self, name: &str, old: u64) {
        for filter in self.containers.iter_mut().filter_map(|one| one.filter.as_mut()) {
            if filter.rules.level_of(name).is_some() {
                filter.seen.insert(old);
            }
        }
    }
}

/// Decisions about single messages.
impl Oracle {
    /// Decides whether a message may reach the peer that it is addressed to. Returns the error.
    pub(super) fn judge_filters(
        &self,
        from: u64,
        to: u64,
        message: &Message<'_>,
    ) -> Result<(), &'static str> {
        let is_reply = message.message_type().is_reply();
        let call = message.reply_serial().map_or(0, core::num::NonZero::get);
        let is_requested = is_reply && self.pending.contains(&(to, call, from));
        let is_unrequested = is_reply && !is_requested;
        let is_together = self.container_of(from) == self.container_of(to);
        if is_unrequested && is_together && self.is_filtered(from) {
            return Err(ACCESS_DENIED);
        }
        let name = message.destination().map(|name| name.as_str().to_owned()).unwrap_or_default();
        if let Some(filter) = self.filter_between(from, to) {
            let is_unique = id_of(&name).is_some();
            let access = match is_unique {
                true => filter.rules.access(self.well_known_of(to)),
                false => filter.rules.access([&*name]),
            };
            let passes = match is_reply {
                true => is_requested && is_unique,
                false => access.may_send(message),
            };
            if !passes {
                let is_visible = self.sees_name(filter, &name, to);
                return Err(if is_visible { ACCESS_DENIED } else { absent(message) });
            }
        }
        match self.filter_between(to, from) {
            Some(_) if is_unrequested => Err(ACCESS_DENIED),
            _ => Ok(()),
        }
    }

    /// Decides whether a message may start the service of a name without an owner. Returns the
    /// error.
    pub(super) fn judge_absent(
        &self,
        from: u64,
        name: &str,
        message: &Message<'_>,
    ) -> Result<(), &'static str> {
        let Some(filter) = self.filter_of(from) else { return Ok(()) };
        let access = filter.rules.access([name]);
        match (access.may_send(message), access.is_visible()) {
            (true, _) => Ok(()),
            (false, true) => Err(ACCESS_DENIED),
            (false, false) => Err(absent(message)),
        }
    }

    /// True if the filter of a subscriber lets a broadcast of a peer pass.
    pub(super) fn may_hear(&self, from: u64, to: u64) -> bool {
        self.filter_between(to, from).is_none_or(|filter| {
            filter.rules.access(self.well_known_of(from)).may_receive_broadcasts()
        })
    }

    /// True if a subscriber may learn of the change of an owner.
    pub(super) fn may_hear_of(&self, to: u64, change: &AnnouncedOwner) -> bool {
        let is_unique = id_of(&change.name).is_some();
        let mut peers = [change.old, change.new].into_iter().flatten();
        peers.any(|peer| {
            self.filter_between(to, peer).is_none_or(|filter| {
                is_unique && filter.hears_of_all || self.sees_name(filter, &change.name, peer)
            })
        })
    }

    /// True if a subscriber may learn of the end of a container.
    pub(super) fn may_hear_of_container(&self, to: u64, container: u32) -> bool {
        !self.is_filtered(to) || self.container_of(to) == Some(container as usize)
    }
}

/// Methods that create and change containers.
impl Oracle {
    /// Handles a call of AddServer.
    pub(super) fn add_container(&mut self, from: u64, message: &Message<'_>) -> DriverAnswer {
        let uid = self.user(from).uid;
        let is_counted =
            |one: &&OracleContainer| one.uid == uid && one.stage != ContainerStage::Removed;
        let count = self.containers.iter().filter(is_counted).count();
        if self.is_contained(from) {
            return Err(ACCESS_DENIED);
        }
        if self.setting.has(Feature::LowLimits) && count >= CONTAINERS_OF_USER_MAX {
            return Err(LIMITS_EXCEEDED);
        }
        let args = arguments(message);
        let argument = |name| argument(args.get(3)?, name);
        let filter = argument("org.diligence.Rules").map(|texts| OracleFilter {
            rules: rules_of(texts),
            hears_of_all: argument("org.diligence.SeeUniqueNames") == Some(&Value::Boolean(true)),
            seen: BTreeSet::new(),
        });
        let (creator, stage) = (from, ContainerStage::Listening);
        self.containers.push(OracleContainer { uid, creator, stage, filter });
        // The path of the socket is random.
        Ok(None)
    }

    /// Handles a call about an existing container: SetRules, StopListening or StopInstance.
    pub(super) fn call_container(
        &mut self,
        from: u64,
        method: &str,
        message: &Message<'_>,
    ) -> DriverAnswer {
        if self.is_contained(from) {
            return Err(ACCESS_DENIED);
        }
        let args = arguments(message);
        let number = match args.first() {
            Some(Value::ObjectPath(path)) => container_of_path(path.as_str()),
            _ => None,
        };
        let number = number.map(|number| number as usize).ok_or(NOT_CONTAINER)?;
        let container = self.containers.get(number).ok_or(NOT_CONTAINER)?;
        if container.stage == ContainerStage::Removed {
            return Err(NOT_CONTAINER);
        }
        if container.uid != self.user(from).uid {
            return Err(ACCESS_DENIED);
        }
        match method {
            "SetRules" if container.filter.is_none() => return Err(INVALID_ARGS),
            "SetRules" => {
                self.set_rules(number, args.get(1).map_or_else(Default::default, rules_of))
            }
            "StopInstance" => self.containers[number].stage = ContainerStage::Stopped,
            _ => self.close_container(number),
        }
        Ok(Some(Vec::new()))
    }

    fn set_rules(&mut self, number: usize, rules: SandboxRules) {
        let owners: Vec<_> = self
            .names
            .all()
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), self.names.owner(name)?)))
            .collect();
        let filter = self.containers[number].filter.as_mut().expect("it has a filter");
        for (name, owner) in owners {
            if filter.rules.level_of(&name).is_some() {
                filter.seen.insert(owner.index() as u64);
            }
        }
        filter.rules = rules.clone();
        let members: Vec<_> = self
            .accounts
            .keys()
            .copied()
            .filter(|id| self.container_of(*id) == Some(number))
            .collect();
        let names: Vec<_> = self.names.all().into_iter().map(str::to_owned).collect();
        let forbidden = |name: &&String| rules.level_of(name) < Some(AccessLevel::Own);
        for name in names.iter().filter(forbidden) {
            // The owner last, so that no other member owns the name for a moment.
            for queued in self.names.queue(name).into_iter().rev() {
                if members.contains(&(queued.index() as u64)) {
                    let (_, change) = self.names.release(name, queued);
                    self.expect_owner_change(change);
                }
            }
        }
    }

    fn close_container(&mut self, number: usize) {
        let stage = &mut self.containers[number].stage;
        if *stage == ContainerStage::Listening {
            *stage = ContainerStage::Closed;
        }
    }

    /// Closes the containers of a peer that has disconnected.
    pub(super) fn creator_gone(&mut self, creator: u64) {
        for number in 0..self.containers.len() {
            if self.containers[number].creator == creator {
                self.close_container(number);
            }
        }
    }

    /// Handles the announcement that a container has ended.
    pub(super) fn container_removed(&mut self, number: u32) -> Result<(), Deviation> {
        let container = self.containers.get_mut(number as usize).ok_or("an unknown container")?;
        let before = std::mem::replace(&mut container.stage, ContainerStage::Removed);
        if matches!(before, ContainerStage::Listening | ContainerStage::Removed) {
            return Err(format!("container {number} was removed, and is {before:?}"));
        }
        let is_member = |account: &super::OracleAccount| {
            account.user.container == Some(number) && !account.is_gone
        };
        match self.accounts.iter().find(|(_, account)| is_member(account)) {
            None => Ok(()),
            Some((id, _)) => Err(format!("container {number} was removed, but has :1.{id}")),
        }
    }

    /// True if all connections of a container must be closed.
    pub fn is_stopped(&self, container: u32) -> bool {
        let stage = self.containers.get(container as usize).map(|one| one.stage);
        matches!(stage, Some(ContainerStage::Stopped | ContainerStage::Removed))
    }

    /// True if the bus may close a connection to a container before it has a unique name.
    pub fn is_closed(&self, container: u32) -> bool {
        let stage = self.containers.get(container as usize).map(|one| one.stage);
        stage != Some(ContainerStage::Listening)
    }

    /// Checks that all containers were removed, once no creator is connected.
    ///
    /// # Errors
    ///
    /// Fails with the first container that was not removed.
    pub fn containers_removed(&self) -> Result<(), Deviation> {
        let left = self.containers.iter().position(|one| one.stage != ContainerStage::Removed);
        left.map_or(Ok(()), |number| Err(format!("the bus did not remove container {number}")))
    }
}

/// The error for a message to a hidden name.
fn absent(message: &Message<'_>) -> &'static str {
    match message.flags().contains(Flags::NO_AUTO_START) {
        true => NAME_HAS_NO_OWNER,
        false => SERVICE_UNKNOWN,
    }
}

fn rules_of(texts: &Value) -> SandboxRules {
    let Value::Array { items, .. } = texts else { panic!("{texts:?} are not rules") };
    let texts = items.iter().filter_map(|item| match item {
        Value::String(text) => Some(&**text),
        _ => None,
    });
    SandboxRules::parse(texts).expect("the peers send valid rules")
}

/// Returns an entry of a dictionary with variants.
fn argument<'v>(dictionary: &'v Value, name: &str) -> Option<&'v Value> {
    let Value::Array { items, .. } = dictionary else { return None };
    items.iter().find_map(|item| match item {
        Value::DictEntry(entry) => match &**entry {
            (Value::String(key), Value::Variant(value)) if key == name => Some(&**value),
            _ => None,
        },
        _ => None,
    })
}

/// Returns the object path of a container.
pub fn container_path(number: u32) -> String {
    format!("{CONTAINER_PATH}{number}")
}

/// Returns the number of the container with an object path.
pub fn container_of_path(path: &str) -> Option<u32> {
    path.strip_prefix(CONTAINER_PATH)?.parse().ok()
}

const CONTAINER_PATH: &str = "/org/freedesktop/DBus/Containers1/c";
