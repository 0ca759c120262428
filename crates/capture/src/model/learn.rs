//! What the bus itself tells in the messages of a recording: who came, who left, who owns what.

use wire::Message as WireMessage;
use wire::body::Value;
use wire::message::MessageType;

use super::directory::PeerId;
use super::row::{Health, Row};
use super::{Capture, Text};
use crate::record::{BusId, Fact, Process, Time};

/// The names by which messages of the bus are known, found once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words {
    pub(super) driver: Text,
    name_owner_changed: Text,
    hello: Text,
    get_name_owner: Text,
    process_id: Text,
    user: Text,
    credentials: Text,
}

impl Words {
    pub(super) fn new(mut intern: impl FnMut(&str) -> Text) -> Self {
        Self {
            driver: intern("org.freedesktop.DBus"),
            name_owner_changed: intern("NameOwnerChanged"),
            hello: intern("Hello"),
            get_name_owner: intern("GetNameOwner"),
            process_id: intern("GetConnectionUnixProcessID"),
            user: intern("GetConnectionUnixUser"),
            credentials: intern("GetConnectionCredentials"),
        }
    }
}

impl Capture {
    /// Looks at a message of the bus, whose bytes are whole and valid.
    pub(super) fn learn(&mut self, row: &Row, call: Option<Row>, bytes: &[u8]) {
        if row.sender != self.words.driver || row.health != Health::Whole {
            return;
        }
        match (row.kind, call) {
            (MessageType::Signal, _) if row.member == self.words.name_owner_changed => {
                self.learn_owner(row, bytes);
            }
            (MessageType::MethodReturn, Some(call)) => self.learn_answer(row, &call, bytes),
            _ => {}
        }
    }

    fn learn_owner(&mut self, row: &Row, bytes: &[u8]) {
        let Ok(message) = WireMessage::parse(bytes) else { return };
        let Ok((name, old, new)) = message.read::<(&str, &str, &str)>() else { return };
        let (name, old, new) = (self.intern(name), self.intern(old), self.intern(new));
        if self.strings().get(name).starts_with(':') {
            let peer = self.directory.peer_named(row.bus, name);
            let peer = self.directory.peer_mut(peer);
            let when = if new.is_none() { &mut peer.left } else { &mut peer.arrived };
            when.get_or_insert(row.at);
            return;
        }
        if !old.is_none() {
            let old = self.directory.peer_named(row.bus, old);
            self.directory.was_owner(row.bus, name, old, row.at);
        }
        let new = (!new.is_none()).then(|| self.directory.peer_named(row.bus, new));
        self.directory.owner_changed(row.bus, name, new, row.at);
    }

    /// Answers that somebody got who asked for a name or a process, as recorders do at their start.
    fn learn_answer(&mut self, row: &Row, call: &Row, bytes: &[u8]) {
        let words = self.words;
        let asked =
            [words.hello, words.get_name_owner, words.process_id, words.user, words.credentials];
        if !asked.contains(&call.member) {
            return;
        }
        let Ok(message) = WireMessage::parse(bytes) else { return };
        if call.member == words.hello {
            self.directory.peer_named(row.bus, row.destination);
            return;
        }
        let Some(name) = self.first_argument(call) else { return };
        if call.member == words.get_name_owner {
            let Ok(owner) = message.read::<(&str,)>() else { return };
            let (name, owner) = (self.intern(&name), self.intern(owner.0));
            self.found_owner(row.bus, name, owner, row.at);
            return;
        }
        let Some(peer) = self.peer_for(row.bus, &name, row.at) else { return };
        let process = self.directory.peer_mut(peer).process.get_or_insert_default();
        if call.member == words.credentials {
            learn_credentials(process, &message);
        } else if let Ok((number,)) = message.read::<(u32,)>() {
            let what = if call.member == words.user { &mut process.uid } else { &mut process.pid };
            *what = Some(number);
        }
    }

    fn peer_for(&mut self, bus: BusId, name: &str, at: Time) -> Option<PeerId> {
        let text = self.intern(name);
        if name.starts_with(':') {
            return Some(self.directory.peer_named(bus, text));
        }
        self.directory.resolve(bus, text, at)
    }

    fn found_owner(&mut self, bus: BusId, name: Text, owner: Text, at: Time) {
        let owner = self.directory.peer_named(bus, owner);
        // The bus owns its own name, and each connection its unique one; nobody needs to be told.
        let text = self.strings().get(name);
        if !text.starts_with(':') && name != self.words.driver {
            self.directory.owner_found(bus, name, owner, at);
        }
    }

    fn first_argument(&self, call: &Row) -> Option<String> {
        let mut bytes = Vec::new();
        if call.health != Health::Whole {
            return None;
        }
        self.store.read(call.place, call.kept as usize, &mut bytes).ok()?;
        let message = WireMessage::parse(&bytes).ok()?;
        message.read::<(&str,)>().ok().map(|(name,)| name.to_owned())
    }

    /// Takes in what a recorder has written beside the messages.
    pub(super) fn learn_fact(&mut self, at: Time, bus: BusId, fact: Fact) {
        match fact {
            Fact::Peer { unique, process } => {
                let unique = self.intern(&unique);
                let peer = self.directory.peer_named(bus, unique);
                let peer = self.directory.peer_mut(peer);
                if let Some(process) = process {
                    peer.process = Some(process.or(peer.process.take().unwrap_or_default()));
                }
            }
            Fact::Recorder { unique } => {
                let unique = self.intern(&unique);
                self.directory.found_recorder(bus, unique);
            }
            Fact::Left { unique, why } => {
                let unique = self.intern(&unique);
                let peer = self.directory.peer_named(bus, unique);
                let peer = self.directory.peer_mut(peer);
                peer.left.get_or_insert(at);
                peer.why = why.or(peer.why.take());
            }
            Fact::Owner { name, unique: Some(unique) } => {
                let (name, unique) = (self.intern(&name), self.intern(&unique));
                self.found_owner(bus, name, unique, at);
            }
            Fact::Owner { name, unique: None } => {
                let name = self.intern(&name);
                self.directory.owner_changed(bus, name, None, at);
            }
            // Each part of a recording tells all that the recorder has found at its start.
            Fact::Rule { ref unique, ref rule, .. }
                if !self.told_rules.insert((bus, unique.clone(), rule.clone())) => {}
            other => {
                match &other {
                    Fact::Introspection { name, xml, .. } => {
                        self.learn_introspection(at, bus, name, xml);
                    }
                    Fact::Rule { unique, .. } => {
                        let unique = self.intern(unique);
                        self.directory.peer_named(bus, unique);
                    }
                    _ => {}
                }
                self.facts.push((at, bus, other));
            }
        }
    }
}

fn learn_credentials(process: &mut Process, message: &WireMessage<'_>) {
    let Ok(entries) = message.read::<(std::collections::HashMap<String, Value>,)>() else { return };
    if let Some(Value::Uint32(pid)) = entries.0.get("ProcessID") {
        process.pid = Some(*pid);
    }
    if let Some(Value::Uint32(uid)) = entries.0.get("UnixUserID") {
        process.uid = Some(*uid);
    }
}
