//! Computes what each peer must receive from the order of routed messages alone.
//!
//! The code favors simplicity over speed: for example, it searches all lists linearly.

mod activation;
mod bus_messages;
mod containers;
mod driver;
mod policy;
mod subscribers;
mod undelivered;
mod unicast;

use std::collections::{BTreeMap, VecDeque};

use bus::PeerId;
use testkit::model::{ModelNames, ModelRule, OwnershipChange};
use wire::Message;
use wire::body::Value;

use crate::setting::{CONNECTIONS_MAX, Feature, SimulatedPolicy, SimulationSetting};
use crate::user::SimulatedUser;
use activation::HeldRequest;
use bus_messages::BusMessage;
use containers::OracleContainer;
pub use containers::{container_of_path, container_path};
use driver::DeferredCopy;
use subscribers::Destination;
pub use undelivered::{is_retried, whole_message};
use unicast::UnicastDelivery;

/// The well-known name of the bus itself.
pub const DRIVER: &str = "org.freedesktop.DBus";

/// A model of the bus: connected peers, names, rules, pending replies and expected messages.
#[derive(Debug)]
pub struct Oracle {
    setting: SimulationSetting,
    policy: SimulatedPolicy,
    accounts: BTreeMap<u64, OracleAccount>,
    names: ModelNames,
    containers: Vec<OracleContainer>,
    /// Messages and calls of StartServiceByName that are held for activation.
    held: Vec<HeldRequest>,
    /// Calls that await a reply: caller, serial and callee.
    pending: Vec<(u64, u32, u64)>,
    /// Messages that the bus must send, now or after a timeout: each once, in any order.
    due: Vec<BusMessage>,
    /// The deliveries of the latest unicast messages. The bus may still refuse them for a full
    /// queue.
    latest: Vec<UnicastDelivery>,
    /// Replies whose position is fixed: recipient, serial, and the number of the message that the
    /// reply follows.
    placed: Vec<(u64, u32, u64)>,
    /// The notifications that the bus has sent so far.
    notifications: NotificationCounts,
    undelivered: undelivered::UndeliveredMessages,
    /// The number of messages that were routed.
    routed: u64,
    /// A call of the bus whose copies wait for the messages that the call causes.
    deferred_copy: Option<DeferredCopy>,
    /// The number of the latest message that a peer sent. The bus may not have sent all messages
    /// that it causes.
    unsettled: u64,
}

/// A peer that has, or had, a unique name.
#[derive(Debug, Default)]
pub struct OracleAccount {
    /// The messages that it sent, in the order of routing.
    pub sent: VecDeque<Vec<u8>>,
    /// The messages that it must receive, in this order.
    pub expected: VecDeque<Expected>,
    /// Serials of its messages that the bus refused because it held too many descriptors of the
    /// user.
    refused_fds: Vec<u32>,
    /// True once the bus has announced that it disconnected.
    pub is_gone: bool,
    user: SimulatedUser,
    rules: Vec<ModelRule>,
}

/// A message that a peer must receive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expected {
    /// The serialized bytes of the message.
    pub bytes: Vec<u8>,
    /// True if its loss is not reported to the sender: broadcasts, copies for eavesdroppers, and
    /// messages of the bus.
    pub may_be_lost: bool,
    /// The number of the message in the order of routing.
    pub number: u64,
}

/// How many notifications the bus has sent that its own counters must match.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NotificationCounts {
    /// Errors to senders whose message was refused.
    pub refused: u64,
    /// Errors to monitors about a copy that the policy withheld.
    pub withheld: u64,
}

/// A description of how the bus deviates from the specification.
pub type Deviation = String;

impl Oracle {
    /// Creates the oracle for a bus with these settings and no peers.
    pub fn new(setting: SimulationSetting) -> Self {
        Self {
            setting,
            policy: SimulatedPolicy::default(),
            accounts: BTreeMap::new(),
            names: ModelNames::default(),
            containers: Vec::new(),
            held: Vec::new(),
            pending: Vec::new(),
            due: Vec::new(),
            latest: Vec::new(),
            placed: Vec::new(),
            notifications: NotificationCounts::default(),
            undelivered: undelivered::UndeliveredMessages::default(),
            deferred_copy: None,
            routed: 0,
            unsettled: 0,
        }
    }

    /// Returns the number of the first message whose recipients are not final yet.
    pub const fn unsettled(&self) -> u64 {
        self.unsettled
    }

    /// Returns the numbers of notifications that the bus has sent so far.
    pub const fn notifications(&self) -> NotificationCounts {
        self.notifications
    }

    /// Returns the account with a unique name, if the oracle knows it.
    pub fn known(&mut self, id: u64) -> Option<&mut OracleAccount> {
        self.accounts.get_mut(&id)
    }

    fn account(&mut self, id: u64) -> &mut OracleAccount {
        self.accounts.entry(id).or_default()
    }

    /// Takes the next message in the order of routing.
    ///
    /// # Errors
    ///
    /// Fails if the bus should not have routed this message.
    pub fn routed(&mut self, bytes: &[u8]) -> Result<(), Deviation> {
        let message = Message::parse(bytes).map_err(|error| error.to_string())?;
        self.routed += 1;
        match message.sender().map(|name| name.as_str().to_owned()) {
            Some(sender) if sender == DRIVER => self.bus_sent(&message),
            Some(sender) => match id_of(&sender) {
                Some(id) => self.peer_sent(id, &message),
                None => self.unnamed_peer_sent(&message),
            },
            None => Err("the bus routed a message without a sender".to_owned()),
        }
    }

    /// Checks a message of a peer without a unique name: Hello that the bus refuses, or a message
    /// before Hello.
    fn unnamed_peer_sent(&mut self, message: &Message<'_>) -> Result<(), Deviation> {
        let is_hello = message.member().is_some_and(|name| name.as_str() == "Hello");
        let SimulatedUser { uid, .. } = SimulatedUser::of_serial(message.serial().get());
        match is_hello && self.may_connect(uid) {
            true => Err(format!("Hello of user {uid} was refused below the limit of connections")),
            false => Ok(()),
        }
    }

    /// True if the user is below its limit of connections.
    fn may_connect(&self, uid: u32) -> bool {
        let is_one = |account: &&OracleAccount| !account.is_gone && account.user.uid == uid;
        let count = self.accounts.values().filter(is_one).count();
        !self.setting.has(Feature::LowLimits) || count < CONNECTIONS_MAX
    }

    fn peer_sent(&mut self, from: u64, message: &Message<'_>) -> Result<(), Deviation> {
        let is_hello = message.member().is_some_and(|name| name.as_str() == "Hello");
        let is_new = is_hello && !self.accounts.contains_key(&from);
        if !is_new && self.accounts.get(&from).is_none_or(|account| account.is_gone) {
            return Err(format!("a message of :1.{from} was routed, but it is not connected"));
        }
        if is_new {
            let user = SimulatedUser::of_serial(message.serial().get());
            if !self.may_connect(user.uid) {
                return Err(format!("user {} has more connections than its limit", user.uid));
            }
            if user.container.is_some_and(|container| self.is_stopped(container)) {
                return Err(format!("a peer of a stopped container got the name :1.{from}"));
            }
            self.account(from).user = user;
        }
        if let Some(call) = &self.deferred_copy {
            return Err(format!("the bus has not sent yet: {:?}", call.awaited));
        }
        self.latest.clear();
        self.placed.clear();
        self.unsettled = self.routed;
        self.account(from).sent.push_back(message.bytes().to_vec());
        match message.destination().map(|name| name.as_str().to_owned()) {
            None => {
                self.copy_to_subscribers(message, Destination::Broadcast);
            }
            Some(name) if name == DRIVER => self.bus_called(from, message)?,
            Some(name) => self.send_unicast(from, &name, message),
        }
        Ok(())
    }

    fn expect(&mut self, to: u64, message: &Message<'_>, may_be_lost: bool) {
        self.expect_after(self.routed, to, message, may_be_lost);
    }

    /// Adds an expected message after all expected messages with a number up to `number`.
    fn expect_after(&mut self, number: u64, to: u64, message: &Message<'_>, may_be_lost: bool) {
        let bytes = message.bytes().to_vec();
        let expected = &mut self.account(to).expected;
        let place = expected.iter().rposition(|before| before.number <= number);
        expected
            .insert(place.map_or(0, |place| place + 1), Expected { bytes, may_be_lost, number });
    }

    /// Returns the unique name and all well-known names of a peer.
    fn names_of(&self, id: u64) -> Vec<String> {
        let all = self.names.all().into_iter();
        let own = all.filter(|name| self.names.owner(name) == Some(peer_id(id)));
        std::iter::once(unique(id)).chain(own.map(str::to_owned)).collect()
    }

    fn user(&self, id: u64) -> SimulatedUser {
        self.accounts.get(&id).map_or_else(SimulatedUser::default, |account| account.user)
    }

    /// Returns the owner of a name.
    fn find(&self, name: &str) -> Option<u64> {
        let id = match id_of(name) {
            Some(id) => id,
            None => u64::from(self.names.owner(name)?.index() as u32),
        };
        self.accounts.get(&id).filter(|account| !account.is_gone).map(|_| id)
    }

    /// Removes a peer that has disconnected, and expects the messages that result.
    fn depart(&mut self, id: u64) {
        let account = self.account(id);
        account.is_gone = true;
        account.rules.clear();
        self.held.retain(|held| held.from != id);
        let owned: Vec<_> = self.names.all().into_iter().map(str::to_owned).collect();
        for name in owned {
            let (_, change) = self.names.release(&name, peer_id(id));
            self.expect_owner_change(change);
        }
        self.creator_gone(id);
        let unique = unique(id);
        self.due.push(BusMessage::Lost { by: id, name: unique.clone() });
        self.due.push(BusMessage::OwnerChanged {
            name: unique.clone(),
            old: unique,
            new: String::new(),
        });
        let (orphans, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.pending).into_iter().partition(|(_, _, callee)| *callee == id);
        self.pending = rest.into_iter().filter(|(caller, ..)| *caller != id).collect();
        for (to, serial, _) in orphans.into_iter().filter(|(caller, ..)| *caller != id) {
            self.due.push(BusMessage::Error { to, serial, name: bus_messages::NO_REPLY });
        }
    }

    /// Expects the signals for a change of a name's owner.
    fn expect_owner_change(&mut self, change: Option<OwnershipChange>) {
        let Some((name, old, new)) = change else { return };
        let id = |peer: Option<PeerId>| peer.map(|peer| u64::from(peer.index() as u32));
        let text = |peer| id(peer).map(unique).unwrap_or_default();
        self.due.push(BusMessage::OwnerChanged {
            name: name.clone(),
            old: text(old),
            new: text(new),
        });
        if let Some(by) = id(old) {
            self.name_lost(&name, by);
            self.due.push(BusMessage::Lost { by, name: name.clone() });
        }
        if let Some(by) = id(new) {
            self.due.push(BusMessage::Acquired { by, name });
        }
    }
}

impl OracleAccount {
    /// True if the bus refused this message for its descriptors. Returns true only once per
    /// message.
    pub fn take_refused(&mut self, bytes: &[u8]) -> bool {
        let message = Message::parse(bytes).expect("the message was sent whole");
        let is_refused = |serial: &u32| *serial == message.serial().get() && message.unix_fds() > 0;
        let place = self.refused_fds.iter().position(is_refused);
        place.map(|place| self.refused_fds.remove(place)).is_some()
    }
}

fn arguments(message: &Message<'_>) -> Vec<Value> {
    let mut reader = message.reader();
    let types = message.signature().types();
    types.map_while(|kind| Value::read(kind, &mut reader).ok()).collect()
}

/// Returns the number in a unique name.
pub fn id_of(name: &str) -> Option<u64> {
    name.strip_prefix(":1.")?.parse().ok()
}

fn unique(id: u64) -> String {
    format!(":1.{id}")
}

fn peer_id(id: u64) -> PeerId {
    PeerId::new(id as u32, 0)
}
