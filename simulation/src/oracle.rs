//! What everybody must get, said from the order in which messages are routed alone.
//!
//! It is slow and plain: lists that are searched from end to end.

mod driver;
mod owed;
mod passing;
mod policy;
mod starting;

use std::collections::{BTreeMap, VecDeque};

use bus::PeerId;
use diligence_testkit::model::{Change, Names, Rule, Subject};
use wire::Message;
use wire::body::Value;

use crate::setting::{CONNECTIONS_MAX, Feature, OWNER, Policy, Setting};
use owed::Owed;
use passing::Addressed;
use starting::Held;

/// The name of the bus itself.
pub const DRIVER: &str = "org.freedesktop.DBus";

/// All that is known of what was said.
#[derive(Debug)]
pub struct Oracle {
    setting: Setting,
    policy: Policy,
    accounts: BTreeMap<u64, Account>,
    names: Names,
    /// What waits for services.
    held: Vec<Held>,
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
    told: Told,
    /// How many messages were routed.
    routed: u64,
    /// The number of the last that the bus itself has not said: what it has to say to that may not
    /// have been heard yet.
    unsettled: u64,
}

/// One who has, or had, a unique name.
#[derive(Debug, Default)]
pub struct Account {
    /// What it said, as it was routed.
    pub heard: VecDeque<Vec<u8>>,
    /// What it must get, in this order.
    pub expected: VecDeque<Expected>,
    /// Whether the bus said that it has gone.
    pub is_gone: bool,
    uid: u32,
    rules: Vec<Rule>,
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
pub struct Told {
    /// That a message was refused, to who sent it.
    pub refused: u64,
    /// That somebody does not get what he listens for, to monitors.
    pub withheld: u64,
}

/// What is wrong.
pub type Wrong = String;

impl Oracle {
    /// Of a bus that is set up so, and on which nothing was said.
    pub fn new(setting: Setting) -> Self {
        Self {
            setting,
            policy: Policy::default(),
            accounts: BTreeMap::new(),
            names: Names::default(),
            held: Vec::new(),
            pending: Vec::new(),
            owed: Vec::new(),
            latest: Vec::new(),
            placed: Vec::new(),
            told: Told::default(),
            routed: 0,
            unsettled: 0,
        }
    }

    /// The number of the first message of which it is not clear yet who gets it.
    pub const fn unsettled(&self) -> u64 {
        self.unsettled
    }

    /// What the bus has said so far.
    pub const fn told(&self) -> Told {
        self.told
    }

    /// The account of a name, if it was heard of.
    pub fn known(&mut self, id: u64) -> Option<&mut Account> {
        self.accounts.get_mut(&id)
    }

    fn account(&mut self, id: u64) -> &mut Account {
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
        let uid = user_of(message.serial().get());
        match is_hello && self.has_place(uid) {
            true => Err(format!("there is a place for user {uid}, and it is not given")),
            false => Ok(()),
        }
    }

    /// Whether one more of a user may come.
    fn has_place(&self, uid: u32) -> bool {
        let is_one = |account: &&Account| !account.is_gone && account.uid == uid;
        // The monitor is one, too.
        let count = self.accounts.values().filter(is_one).count() + usize::from(uid == OWNER);
        !self.setting.has(Feature::FewPlaces) || count < CONNECTIONS_MAX
    }

    fn said(&mut self, from: u64, message: &Message<'_>) -> Result<(), Wrong> {
        let is_hello = message.member().is_some_and(|name| name.as_str() == "Hello");
        let is_new = is_hello && !self.accounts.contains_key(&from);
        if !is_new && self.accounts.get(&from).is_none_or(|account| account.is_gone) {
            return Err(format!(":1.{from} is not there, and says something"));
        }
        if is_new {
            let uid = user_of(message.serial().get());
            if !self.has_place(uid) {
                return Err(format!("there is no place for one more of user {uid}"));
            }
            self.account(from).uid = uid;
        }
        self.latest.clear();
        self.placed.clear();
        self.unsettled = self.routed;
        self.account(from).heard.push_back(message.bytes().to_vec());
        match message.destination().map(|name| name.as_str().to_owned()) {
            None => {
                self.pass_to_listeners(message, None);
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

    /// Those who are there and have a rule for a message: for what is addressed to `addressed`, only
    /// if they ask for that.
    fn listeners(&self, message: &Message<'_>, addressed: Option<u64>) -> Vec<u64> {
        let args: Vec<Value> = arguments(message);
        let sender = message.sender().map(|name| name.as_str().to_owned()).unwrap_or_default();
        let subject = Subject {
            kind: message.message_type().as_str(),
            senders: id_of(&sender).map_or(vec![sender], |id| self.names_of(id)),
            destinations: addressed.map(|id| self.names_of(id)).unwrap_or_default(),
            interface: message.interface().map(|name| name.as_str()),
            member: message.member().map(|name| name.as_str()),
            path: message.path().map(|path| path.as_str()),
            args: &args,
        };
        let wants =
            |rule: &Rule| (addressed.is_none() || rule.eavesdrops) && rule.selects(&subject);
        let listens = |account: &Account| !account.is_gone && account.rules.iter().any(wants);
        let all = self.accounts.iter().filter(|(_, account)| listens(account));
        all.map(|(id, _)| *id).filter(|id| Some(*id) != addressed).collect()
    }

    /// Who listens gets a message, if he may; returns how many may not.
    fn pass_to_listeners(&mut self, message: &Message<'_>, addressed: Option<u64>) -> usize {
        let before = self.owed.len();
        let sender = message.sender().and_then(|name| id_of(name.as_str()));
        for to in self.listeners(message, addressed) {
            let may_listen = addressed.is_none() || Self::may_overhear(message);
            if may_listen && self.may_pass(sender, to, message) {
                self.expect(to, message, true);
            } else {
                let (from, serial) = (sender.unwrap_or_default(), message.serial().get());
                self.owed.push(Owed::Withheld { from, serial });
            }
        }
        self.owed.len() - before
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
    fn owe_change(&mut self, change: Option<Change>) {
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

fn arguments(message: &Message<'_>) -> Vec<Value> {
    let mut reader = message.reader();
    let types = message.signature().types();
    types.map_while(|kind| Value::read(kind, &mut reader).ok()).collect()
}

/// The number in a unique name.
pub fn id_of(name: &str) -> Option<u64> {
    name.strip_prefix(":1.")?.parse().ok()
}

/// The first serial of a user: so the order of messages alone tells who it is.
pub const fn first_serial(uid: u32) -> u32 {
    uid << SERIAL_BITS
}

const fn user_of(serial: u32) -> u32 {
    serial >> SERIAL_BITS
}

/// More messages than anybody sends, as a power of 2.
const SERIAL_BITS: u32 = 20;

fn unique(id: u64) -> String {
    format!(":1.{id}")
}

fn peer_id(id: u64) -> PeerId {
    PeerId::new(id as u32, 0)
}
