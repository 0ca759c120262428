//! Updates the directory from messages of the bus and from facts of the recorder.

use wire::Message as WireMessage;
use wire::body::Value;
use wire::message::MessageType;

use super::directory::{Novelty, RecordedPeerId};
use super::row::{Health, MessageRow};
use super::side_records::SideRecordKind;
use super::store::MessageBuffer;
use super::{Capture, TextId};
use crate::record::{BusId, Fact, RecordedProcess, RecordedTime};

impl Capture {
    /// Evaluates a message of the bus. Invalid or incomplete messages are ignored.
    pub(super) fn learn(&mut self, row: &MessageRow, call: Option<MessageRow>, bytes: &[u8]) {
        if row.sender != self.scanner.words.driver || row.health != Health::Whole {
            return;
        }
        match (row.kind, call) {
            (MessageType::Signal, _) if row.member == self.scanner.words.name_owner_changed => {
                self.learn_owner(row, bytes);
            }
            (MessageType::MethodReturn, Some(call)) => self.learn_answer(row, &call, bytes),
            _ => {}
        }
    }

    fn learn_owner(&mut self, row: &MessageRow, bytes: &[u8]) {
        let Ok(message) = WireMessage::parse(bytes) else { return };
        let Ok((name, old, new)) = message.read::<(&str, &str, &str)>() else { return };
        self.owner_changed(row.at, row.bus, name, [old, new]);
    }

    /// Records a NameOwnerChanged signal. An empty text means no owner.
    fn owner_changed(&mut self, at: RecordedTime, bus: BusId, name: &str, [old, new]: [&str; 2]) {
        let (name, old, new) = (self.intern(name), self.intern(old), self.intern(new));
        if self.strings().get(name).starts_with(':') {
            let peer = self.directory.peer_named(bus, name);
            let peer = self.directory.peer_mut(peer);
            let when = if new.is_none() { &mut peer.left } else { &mut peer.arrived };
            when.get_or_insert(at);
            return;
        }
        let owners = [old, new]
            .map(|unique| (!unique.is_none()).then(|| self.directory.peer_named(bus, unique)));
        self.directory.owner_changed(bus, name, owners, at);
    }

    /// Evaluates replies about a name or a process, which recorders request at their start.
    fn learn_answer(&mut self, row: &MessageRow, call: &MessageRow, bytes: &[u8]) {
        let words = self.scanner.words;
        let asked =
            [words.hello, words.get_name_owner, words.process_id, words.user, words.credentials];
        if !asked.contains(&call.member) {
            return;
        }
        let Ok(message) = WireMessage::parse(bytes) else { return };
        if call.member == words.hello {
            self.add_peer(row.at, row.bus, row.destination);
            return;
        }
        let Some(name) = self.first_argument(call) else { return };
        if call.member == words.get_name_owner {
            let Ok(owner) = message.read::<(&str,)>() else { return };
            self.found_owner(row.at, row.bus, &name, owner.0, None);
            return;
        }
        let Some(peer) = self.peer_for(row.at, row.bus, &name) else { return };
        let mut process = self.directory.peer(peer).process.clone().unwrap_or_default();
        if call.member == words.credentials {
            learn_credentials(&mut process, &message);
        } else if let Ok((number,)) = message.read::<(u32,)>() {
            let what = if call.member == words.user { &mut process.uid } else { &mut process.pid };
            *what = Some(number);
        }
        let news = self.directory.identified(peer, process);
        self.note(news, row.at, SideRecordKind::Peer(peer));
    }

    fn peer_for(&mut self, at: RecordedTime, bus: BusId, name: &str) -> Option<RecordedPeerId> {
        let text = self.intern(name);
        if name.starts_with(':') {
            return Some(self.add_peer(at, bus, text));
        }
        self.directory.resolve(bus, text, at)
    }

    /// Adds a connection that is known from more than headers and signals of the bus.
    fn add_peer(&mut self, at: RecordedTime, bus: BusId, unique: TextId) -> RecordedPeerId {
        let known = self.directory.len();
        let peer = self.directory.peer_named(bus, unique);
        let news = if self.directory.len() > known { Novelty::New } else { Novelty::Old };
        self.note(news, at, SideRecordKind::Peer(peer));
        peer
    }

    fn found_owner(
        &mut self,
        at: RecordedTime,
        bus: BusId,
        name: &str,
        owner: &str,
        since: Option<RecordedTime>,
    ) {
        let (text, owner) = (self.intern(name), self.intern(owner));
        let owner = self.add_peer(at, bus, owner);
        // The bus always owns its name, and each connection its unique name.
        if !name.starts_with(':') && text != self.scanner.words.driver {
            let news = self.directory.owner_found(bus, text, owner, since, at);
            self.note(
                news,
                at,
                since.map_or(SideRecordKind::Owner(bus, text, owner), |_| {
                    SideRecordKind::Taken(bus, text, owner)
                }),
            );
        }
    }

    /// Adds a side record if the information was new.
    pub(super) fn note(&mut self, news: Novelty, at: RecordedTime, kind: SideRecordKind) {
        if news == Novelty::New {
            self.side_records.add(at, kind);
        }
    }

    fn first_argument(&self, call: &MessageRow) -> Option<String> {
        let mut buffer = MessageBuffer::default();
        if call.health != Health::Whole {
            return None;
        }
        let bytes = self.store.read(call.place, call.kept as usize, &mut buffer).ok()?;
        let message = WireMessage::parse(bytes).ok()?;
        message.read::<(&str,)>().ok().map(|(name,)| name.to_owned())
    }

    /// Records a fact that the recorder wrote.
    pub(super) fn learn_fact(&mut self, at: RecordedTime, bus: BusId, fact: Fact) {
        match fact {
            Fact::Peer { unique, process } => {
                let peer = self.add_peer_named(at, bus, &unique);
                if let Some(process) = process {
                    let known = self.directory.peer(peer).process.clone();
                    let news =
                        self.directory.identified(peer, process.or(known.unwrap_or_default()));
                    self.note(news, at, SideRecordKind::Peer(peer));
                }
            }
            Fact::Recorder { unique } => {
                let peer = self.add_peer_named(at, bus, &unique);
                let news = self.directory.found_recorder(peer, number_of(&unique));
                self.note(news, at, SideRecordKind::Recorder(peer));
            }
            Fact::Left { unique, why } => {
                let peer = self.add_peer_named(at, bus, &unique);
                let news = self.directory.left(peer, at, why);
                self.note(news, at, SideRecordKind::Left(peer));
            }
            Fact::Owner { name, unique: Some(unique), since } => {
                self.found_owner(since.unwrap_or(at), bus, &name, &unique, since);
            }
            Fact::Owner { name, unique: None, .. } => {
                let name = self.intern(&name);
                let news = self.directory.owner_left(bus, name, at);
                self.note(news, at, SideRecordKind::Released(bus, name));
            }
            // Each file of a recording repeats the rules that the recorder found at its start.
            Fact::Rule { ref unique, ref rule, .. }
                if !self.known_rules.insert((bus, unique.clone(), rule.clone())) => {}
            other => self.keep_fact(at, bus, other),
        }
    }

    fn keep_fact(&mut self, at: RecordedTime, bus: BusId, fact: Fact) {
        match &fact {
            Fact::Introspection { name, xml, .. } => self.learn_introspection(at, bus, name, xml),
            Fact::OwnerChanged { name, old, new } => {
                let owners = [old, new].map(|owner| owner.as_deref().unwrap_or_default());
                self.owner_changed(at, bus, name, owners);
            }
            Fact::Excerpt(excerpt) => self.cut.count_left_out(bus, excerpt),
            Fact::Rule { unique, .. } => {
                self.add_peer_named(at, bus, unique);
            }
            Fact::Late(late) => self.learn_late(bus, *late),
            Fact::Bus { process } => {
                let driver = self.directory.peer_named(bus, self.scanner.words.driver);
                let known = self.directory.peer(driver).process.clone().unwrap_or_default();
                self.directory.identified(driver, process.clone().or(known));
            }
            _ => {}
        }
        self.side_records.add(at, SideRecordKind::Fact);
        self.facts.push((at, bus, fact));
    }

    fn add_peer_named(&mut self, at: RecordedTime, bus: BusId, unique: &str) -> RecordedPeerId {
        let unique = self.intern(unique);
        self.add_peer(at, bus, unique)
    }
}

fn learn_credentials(process: &mut RecordedProcess, message: &WireMessage<'_>) {
    let Ok(entries) = message.read::<(std::collections::HashMap<String, Value>,)>() else { return };
    if let Some(Value::Uint32(pid)) = entries.0.get("ProcessID") {
        process.pid = Some(*pid);
    }
    if let Some(Value::Uint32(uid)) = entries.0.get("UnixUserID") {
        process.uid = Some(*uid);
    }
}

/// The number in a unique name as buses assign them: 7 for `:1.7`.
fn number_of(unique: &str) -> Option<u64> {
    unique.strip_prefix(":1.")?.parse().ok()
}
