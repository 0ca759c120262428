//! What everybody must get, said from the order in which messages are routed alone.
//!
//! It is slow and plain: lists that are searched from end to end.

mod driver;

use std::collections::{BTreeMap, VecDeque};

use bus::PeerId;
use diligence_testkit::model::{Change, Names, Rule, Subject};
use wire::Message;
use wire::body::Value;
use wire::message::{Flags, MessageType};

use crate::setting::{Policy, Setting, UNRECEIVED, UNSENT};

/// The name of the bus itself.
pub const DRIVER: &str = "org.freedesktop.DBus";

/// All that is known of what was said.
#[derive(Debug)]
pub struct Oracle {
    setting: Setting,
    policy: Policy,
    accounts: BTreeMap<u64, Account>,
    names: Names,
    /// What waits for a service: the name, who sent it, the message.
    held: Vec<(String, u64, Vec<u8>)>,
    /// Calls that wait for an answer: who called, the serial, who was called.
    pending: Vec<(u64, u32, u64)>,
    /// What the bus has to say now, or soon: each once, in any order.
    owed: Vec<Owed>,
    /// What was addressed last: the bus may say that there is no room for it.
    latest: Option<Addressed>,
}

/// A message that somebody was to get.
#[derive(Clone, Copy, Debug)]
struct Addressed {
    from: u64,
    serial: u32,
    to: u64,
    /// The call that it makes or answers, if that was noted.
    call: Option<(u64, u32, u64)>,
    is_reply: bool,
}

/// One who has, or had, a unique name.
#[derive(Debug, Default)]
pub struct Account {
    /// What it said, as it was routed.
    pub heard: VecDeque<Vec<u8>>,
    /// What it must get, in this order.
    pub expected: VecDeque<Vec<u8>>,
    /// Whether the bus said that it has gone.
    pub is_gone: bool,
    rules: Vec<Rule>,
}

/// What the bus has to say.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Owed {
    /// An answer to a call, with these contents if they are known.
    Reply { to: u64, serial: u32, body: Option<String> },
    /// An error as the answer to what was sent.
    Error { to: u64, serial: u32, name: &'static str },
    /// An error that monitors alone see: that somebody does not get a signal which it wants.
    Withheld { from: u64, serial: u32 },
    /// That a name is owned by another.
    OwnerChanged { name: String, old: String, new: String },
    /// That a name was acquired.
    Acquired { by: u64, name: String },
    /// That a name was lost.
    Lost { by: u64, name: String },
}

const ACCESS_DENIED: &str = "org.freedesktop.DBus.Error.AccessDenied";

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
            latest: None,
        }
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
        match message.sender().map(|name| name.as_str().to_owned()) {
            Some(sender) if sender == DRIVER => self.driver_said(&message),
            Some(sender) => match id_of(&sender) {
                Some(id) => self.said(id, &message),
                // The call that asks for a name comes from nobody.
                None => Ok(()),
            },
            None => Err("a message without a sender".to_owned()),
        }
    }

    fn said(&mut self, from: u64, message: &Message<'_>) -> Result<(), Wrong> {
        let is_hello = message.member().is_some_and(|name| name.as_str() == "Hello");
        let is_new = is_hello && !self.accounts.contains_key(&from);
        if !is_new && self.accounts.get(&from).is_none_or(|account| account.is_gone) {
            return Err(format!(":1.{from} is not there, and says something"));
        }
        self.account(from).heard.push_back(message.bytes().to_vec());
        match message.destination().map(|name| name.as_str().to_owned()) {
            None => self.broadcast(message),
            Some(name) if name == DRIVER => self.driver_called(from, message)?,
            Some(name) => self.addressed(from, &name, message),
        }
        Ok(())
    }

    /// Whether the policy lets a message pass.
    fn may_pass(&self, message: &Message<'_>) -> bool {
        let interface = message.interface().map(|name| name.as_str());
        let is_forbidden = match message.message_type() {
            MessageType::Signal => interface == Some(UNSENT),
            MessageType::MethodCall => interface == Some(UNRECEIVED),
            _ => false,
        };
        self.policy == Policy::Open || !is_forbidden
    }

    fn broadcast(&mut self, message: &Message<'_>) {
        let may_pass = self.may_pass(message);
        let args: Vec<Value> = arguments(message);
        let sender = message.sender().map(|name| name.as_str().to_owned()).unwrap_or_default();
        let mut senders = vec![sender.clone()];
        if let Some(id) = id_of(&sender) {
            let all = self.names.all().into_iter();
            let own = all.filter(|name| self.names.owner(name) == Some(peer_id(id)));
            senders.extend(own.map(str::to_owned));
        }
        let subject = Subject {
            kind: message.message_type().as_str(),
            senders,
            destinations: Vec::new(),
            interface: message.interface().map(|name| name.as_str()),
            member: message.member().map(|name| name.as_str()),
            path: message.path().map(|path| path.as_str()),
            args: &args,
        };
        let mut withheld = 0;
        for account in self.accounts.values_mut().filter(|account| !account.is_gone) {
            match account.rules.iter().any(|rule| rule.selects(&subject)) {
                true if may_pass => account.expected.push_back(message.bytes().to_vec()),
                true => withheld += 1,
                false => {}
            }
        }
        let from = id_of(&sender).unwrap_or_default();
        let said = Owed::Withheld { from, serial: message.serial().get() };
        self.owed.extend(std::iter::repeat_n(said, withheld));
    }

    fn addressed(&mut self, from: u64, name: &str, message: &Message<'_>) {
        let serial = message.serial().get();
        let Some(to) = self.find(name) else {
            let mut services = self.setting.services().iter();
            let is_startable = services.any(|(service, _)| *service == name);
            if is_startable && !message.flags().contains(Flags::NO_AUTO_START) {
                return self.held.push((name.to_owned(), from, message.bytes().to_vec()));
            }
            let name = match message.flags().contains(Flags::NO_AUTO_START) {
                true => "org.freedesktop.DBus.Error.NameHasNoOwner",
                false => "org.freedesktop.DBus.Error.ServiceUnknown",
            };
            return self.owed.push(Owed::Error { to: from, serial, name });
        };
        self.pass_on(from, to, message);
    }

    /// A message comes to who has its name.
    fn pass_on(&mut self, from: u64, to: u64, message: &Message<'_>) {
        let (serial, kind) = (message.serial().get(), message.message_type());
        if !self.may_pass(message) {
            return self.owed.push(Owed::Error { to: from, serial, name: ACCESS_DENIED });
        }
        let mut noted = None;
        if kind.is_reply() {
            let call = message.reply_serial().map_or(0, core::num::NonZero::get);
            let call = (to, call, from);
            // On a bus of a session who was not asked may answer, too.
            noted = Some(call).filter(|call| self.pending.contains(call));
            self.pending.retain(|waits| *waits != call);
        } else if kind == MessageType::MethodCall && message.expects_reply() {
            let call = (from, serial, to);
            if self.pending.contains(&call) {
                let name = ACCESS_DENIED;
                return self.owed.push(Owed::Error { to: from, serial, name });
            }
            self.pending.push(call);
            noted = Some(call);
        }
        self.latest = Some(Addressed { from, serial, to, call: noted, is_reply: kind.is_reply() });
        self.account(to).expected.push_back(message.bytes().to_vec());
    }

    /// The bus says that there is no room for what was addressed last.
    fn refused(&mut self, sender: u64, said: u32) -> Result<(), Wrong> {
        let latest = self.latest.take().filter(|one| (one.from, one.serial) == (sender, said));
        let latest = latest.ok_or("there is no room for a message that nobody sent")?;
        self.account(latest.to).expected.pop_back();
        match latest.call {
            // It was not answered after all.
            Some(call) if latest.is_reply => self.pending.push(call),
            Some(call) => self.pending.retain(|waits| *waits != call),
            None => {}
        }
        Ok(())
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
        self.held.retain(|(_, from, _)| *from != id);
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
            let name = "org.freedesktop.DBus.Error.NoReply";
            self.owed.push(Owed::Error { to, serial, name });
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

    /// Everything that the bus owes was said.
    ///
    /// # Errors
    ///
    /// If it was not.
    pub fn settled(&self) -> Result<(), Wrong> {
        match self.owed.as_slice() {
            [] if self.held.is_empty() => Ok(()),
            [] => {
                let held: Vec<_> = self.held.iter().map(|(name, from, _)| (name, from)).collect();
                Err(format!("messages wait for services for ever: {held:?}"))
            }
            owed => Err(format!("the bus still has to say {owed:?}")),
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

fn unique(id: u64) -> String {
    format!(":1.{id}")
}

fn peer_id(id: u64) -> PeerId {
    PeerId::new(id as u32, 0)
}
