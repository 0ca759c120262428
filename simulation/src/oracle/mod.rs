//! What everybody must get, said from the order in which messages are routed alone.
//!
//! It is slow and plain: lists that are searched from end to end.

mod driver;
mod listening;
mod owed;
mod passing;
mod policy;
mod starting;
mod undelivered;

use std::collections::{BTreeMap, VecDeque};

use bus::PeerId;
use testkit::model::{ModelNames, ModelRule, OwnershipChange};
use wire::Message;
use wire::body::Value;

use crate::setting::{CONNECTIONS_MAX, Feature, SimulatedPolicy, SimulationSetting};
use crate::who::SimulatedUser;
use driver::ShownLater;
use listening::To;
use owed::Owed;
use passing::Addressed;
use starting::ExpectedHold;
pub use undelivered::{is_retried, whole_message};

/// The name of the bus itself.
pub const DRIVER: &str = "org.freedesktop.DBus";

/// All that is known of what was said.
#[derive(Debug)]
pub struct Oracle {
    setting: SimulationSetting,
    policy: SimulatedPolicy,
    accounts: BTreeMap<u64, OracleAccount>,
    names: ModelNames,
    /// What waits for services.
    held: Vec<ExpectedHold>,
    /// Calls that wait for an answer: who called, the serial, who was called.
    pending: Vec<(u64, u32, u64)>,
    /// What the bus has to say now, or soon: each once, in any order.
    owed: Vec<Owed>,
    /// What was addressed last: the bus may say that there is no room for it.
    latest: Vec<Addressed>,
    /// Answers that come in the midst of what is given at once: to whom, the serial, and the number
    /// of the message behind which it comes.
    placed: Vec<(u64, u32, u64)>,
    /// What the bus has said so far.
    told: NotificationCounts,
    undelivered: undelivered::ExpectedUndelivered,
    /// How many messages were routed.
    routed: u64,
    /// A call of the bus itself that is shown when it has said what it has to say to that.
    shown_later: Option<ShownLater>,
    /// The number of the last that the bus itself has not said: what it has to say to that may not
    /// have been heard yet.
    unsettled: u64,
}

/// One who has, or had, a unique name.
#[derive(Debug, Default)]
pub struct OracleAccount {
    /// What it said, as it was routed.
    pub heard: VecDeque<Vec<u8>>,
    /// What it must get, in this order.
    pub expected: VecDeque<Expected>,
    /// The serials of messages that it sent and the bus did not route, because the bus held too many
    /// descriptors of its user.
    refused_fds: Vec<u32>,
    /// Whether the bus said that it has gone.
    pub is_gone: bool,
    who: SimulatedUser,
    rules: Vec<ModelRule>,
}

/// What somebody must get.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expected {
    /// The message.
    pub bytes: Vec<u8>,
    /// Whether nobody is told when it does not come: signals to all who want them, what was addressed
    /// to others, and what the bus itself says.
    pub may_be_lost: bool,
    /// The number of the message among all.
    pub number: u64,
}

/// How often the bus has said what it should count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NotificationCounts {
    /// That a message was refused, to who sent it.
    pub refused: u64,
    /// That somebody does not get what he listens for, to monitors.
    pub withheld: u64,
}

/// What is wrong.
pub type Wrong = String;

impl Oracle {
    /// Of a bus that is set up so, and on which nothing was said.
    pub fn new(setting: SimulationSetting) -> Self {
        Self {
            setting,
            policy: SimulatedPolicy::default(),
            accounts: BTreeMap::new(),
            names: ModelNames::default(),
            held: Vec::new(),
            pending: Vec::new(),
            owed: Vec::new(),
            latest: Vec::new(),
            placed: Vec::new(),
            told: NotificationCounts::default(),
            undelivered: undelivered::ExpectedUndelivered::default(),
            shown_later: None,
            routed: 0,
            unsettled: 0,
        }
    }

    /// The number of the first message of which it is not clear yet who gets it.
    pub const fn unsettled(&self) -> u64 {
        self.unsettled
    }

    /// What the bus has said so far.
    pub const fn told(&self) -> NotificationCounts {
        self.told
    }

    /// The account of a name, if it was heard of.
    pub fn known(&mut self, id: u64) -> Option<&mut OracleAccount> {
        self.accounts.get_mut(&id)
    }

    fn account(&mut self, id: u64) -> &mut OracleAccount {
        self.accounts.entry(id).or_default()
    }

    /// A message was routed.
    ///
    /// # Errors
    ///
    /// If it should not have been.
    pub fn routed(&mut self, bytes: &[u8]) -> Result<(), Wrong> {
        let message = Message::parse(bytes).map_err(|error| error.to_string())?;
        self.routed += 1;
        match message.sender().map(|name| name.as_str().to_owned()) {
            Some(sender) if sender == DRIVER => self.driver_said(&message),
            Some(sender) => match id_of(&sender) {
                Some(id) => self.said(id, &message),
                None => self.nobody_said(&message),
            },
            None => Err("a message without a sender".to_owned()),
        }
    }

    /// Who has no name asks for one and does not get it, or may say nothing yet.
    fn nobody_said(&mut self, message: &Message<'_>) -> Result<(), Wrong> {
        let is_hello = message.member().is_some_and(|name| name.as_str() == "Hello");
        let SimulatedUser { uid, .. } = SimulatedUser::of_serial(message.serial().get());
        match is_hello && self.has_place(uid) {
            true => Err(format!("there is a place for user {uid}, and it is not given")),
            false => Ok(()),
        }
    }

    /// Whether one more of a user may come.
    fn has_place(&self, uid: u32) -> bool {
        let is_one = |account: &&OracleAccount| !account.is_gone && account.who.uid == uid;
        let count = self.accounts.values().filter(is_one).count();
        !self.setting.has(Feature::FewPlaces) || count < CONNECTIONS_MAX
    }

    fn said(&mut self, from: u64, message: &Message<'_>) -> Result<(), Wrong> {
        let is_hello = message.member().is_some_and(|name| name.as_str() == "Hello");
        let is_new = is_hello && !self.accounts.contains_key(&from);
        if !is_new && self.accounts.get(&from).is_none_or(|account| account.is_gone) {
            return Err(format!(":1.{from} is not there, and says something"));
        }
        if is_new {
            let who = SimulatedUser::of_serial(message.serial().get());
            if !self.has_place(who.uid) {
                return Err(format!("there is no place for one more of user {}", who.uid));
            }
            self.account(from).who = who;
        }
        if let Some(call) = &self.shown_later {
            return Err(format!("the bus has not said yet {:?}", call.behind));
        }
        self.latest.clear();
        self.placed.clear();
        self.unsettled = self.routed;
        self.account(from).heard.push_back(message.bytes().to_vec());
        match message.destination().map(|name| name.as_str().to_owned()) {
            None => {
                self.pass_to_observers(message, To::All);
            }
            Some(name) if name == DRIVER => self.driver_called(from, message)?,
            Some(name) => self.addressed(from, &name, message),
        }
        Ok(())
    }

    fn expect(&mut self, to: u64, message: &Message<'_>, may_be_lost: bool) {
        self.expect_behind(self.routed, to, message, may_be_lost);
    }

    /// Somebody must get a message, behind what he gets of that with this number.
    fn expect_behind(&mut self, number: u64, to: u64, message: &Message<'_>, may_be_lost: bool) {
        let bytes = message.bytes().to_vec();
        let expected = &mut self.account(to).expected;
        let place = expected.iter().rposition(|before| before.number <= number);
        expected
            .insert(place.map_or(0, |place| place + 1), Expected { bytes, may_be_lost, number });
    }

    /// All the names of somebody.
    fn names_of(&self, id: u64) -> Vec<String> {
        let all = self.names.all().into_iter();
        let own = all.filter(|name| self.names.owner(name) == Some(peer_id(id)));
        std::iter::once(unique(id)).chain(own.map(str::to_owned)).collect()
    }

    fn who(&self, id: u64) -> SimulatedUser {
        self.accounts.get(&id).map_or_else(SimulatedUser::default, |account| account.who)
    }

    /// Who has a name.
    fn find(&self, name: &str) -> Option<u64> {
        let id = match id_of(name) {
            Some(id) => id,
            None => u64::from(self.names.owner(name)?.index() as u32),
        };
        self.accounts.get(&id).filter(|account| !account.is_gone).map(|_| id)
    }

    /// Somebody has left: all that follows from it is owed.
    fn depart(&mut self, id: u64) {
        let account = self.account(id);
        account.is_gone = true;
        account.rules.clear();
        self.held.retain(|held| held.from != id);
        let owned: Vec<_> = self.names.all().into_iter().map(str::to_owned).collect();
        for name in owned {
            let (_, change) = self.names.release(&name, peer_id(id));
            self.owe_change(change);
        }
        let unique = unique(id);
        self.owed.push(Owed::Lost { by: id, name: unique.clone() });
        self.owed.push(Owed::OwnerChanged {
            name: unique.clone(),
            old: unique,
            new: String::new(),
        });
        let (orphans, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.pending).into_iter().partition(|(_, _, callee)| *callee == id);
        self.pending = rest.into_iter().filter(|(caller, ..)| *caller != id).collect();
        for (to, serial, _) in orphans.into_iter().filter(|(caller, ..)| *caller != id) {
            self.owed.push(Owed::Error { to, serial, name: owed::NO_REPLY });
        }
    }

    /// What the bus says when a name has gone from one owner to another.
    fn owe_change(&mut self, change: Option<OwnershipChange>) {
        let Some((name, old, new)) = change else { return };
        let id = |peer: Option<PeerId>| peer.map(|peer| u64::from(peer.index() as u32));
        let text = |peer| id(peer).map(unique).unwrap_or_default();
        self.owed.push(Owed::OwnerChanged { name: name.clone(), old: text(old), new: text(new) });
        if let Some(by) = id(old) {
            self.owed.push(Owed::Lost { by, name: name.clone() });
        }
        if let Some(by) = id(new) {
            self.owed.push(Owed::Acquired { by, name });
        }
    }
}

impl OracleAccount {
    /// Whether the bus said that it did not route a message for its descriptors. Each is asked for once.
    pub fn take_refused(&mut self, bytes: &[u8]) -> bool {
        let message = Message::parse(bytes).expect("it is whole");
        let is_meant = |serial: &u32| *serial == message.serial().get() && message.unix_fds() > 0;
        let place = self.refused_fds.iter().position(is_meant);
        place.map(|place| self.refused_fds.remove(place)).is_some()
    }
}

fn arguments(message: &Message<'_>) -> Vec<Value> {
    let mut reader = message.reader();
    let types = message.signature().types();
    types.map_while(|kind| Value::read(kind, &mut reader).ok()).collect()
}

/// The number in a unique name.
pub fn id_of(name: &str) -> Option<u64> {
    name.strip_prefix(":1.")?.parse().ok()
}

fn unique(id: u64) -> String {
    format!(":1.{id}")
}

fn peer_id(id: u64) -> PeerId {
    PeerId::new(id as u32, 0)
}
