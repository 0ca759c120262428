//! The start of a desktop, as it was recorded: what each program sent, in the order in which it was
//! routed, and what each gets when somebody sends it once more.
//!
//! `desktop-start.dbus` is one message after the other, each with its sender, without those of the bus.
//! It was recorded on a bus of a session, in a home just made, with its services (dconf, at-spi2, gvfs
//! with its monitors of volumes, metadata and trash) started by gsettings, gdbus, gio and busctl.

use std::collections::BTreeMap;

use conformance::{PlainMessage, PlainValue, TestPeer, field};

/// What everybody sent.
pub(crate) fn desktop_start() -> Vec<PlainMessage> {
    let mut bytes = &include_bytes!("desktop-start.dbus")[..];
    let mut messages = Vec::new();
    while !bytes.is_empty() {
        let (message, length) = PlainMessage::decode(bytes).expect("only whole messages");
        messages.push(message);
        bytes = &bytes[length..];
    }
    messages
}

/// What each participant has got, by its name in the recording.
pub(crate) type Got = BTreeMap<String, Vec<PlainMessage>>;

/// One replay: the participants that are there, by their names in the recording.
pub(crate) struct Replay<'a> {
    address: &'a str,
    peers: BTreeMap<String, TestPeer>,
    /// Names in the recording by those of now, and the other way round.
    recorded: BTreeMap<String, String>,
    now: BTreeMap<String, String>,
    got: Got,
    sent: usize,
}

impl<'a> Replay<'a> {
    pub(crate) fn on(address: &'a str) -> Self {
        let (peers, recorded, now, got) = Default::default();
        Self { address, peers, recorded, now, got, sent: 0 }
    }

    /// Sends all messages, each when the last has been routed. Gives what everybody has got, and how
    /// many messages were sent.
    pub(crate) fn play(mut self, messages: &[PlainMessage]) -> (Got, usize) {
        messages.iter().for_each(|message| self.send(message));
        for (name, peer) in &mut self.peers {
            let got = peer.collect();
            self.got.entry(name.clone()).or_default().extend(got);
            self.sent += 1;
        }
        let Self { mut got, recorded, sent, .. } = self;
        for message in got.values_mut().flatten() {
            *message = renamed(message, &recorded);
            message.body.iter_mut().for_each(sort);
        }
        (got, sent)
    }

    fn send(&mut self, message: &PlainMessage) {
        if message.member() == "Hello" {
            let peer = TestPeer::connect(self.address);
            let (then, now) = (message.sender().to_owned(), peer.name().to_owned());
            self.recorded.insert(now.clone(), then.clone());
            self.now.insert(then.clone(), now);
            self.peers.insert(then, peer);
            self.sent += 1;
            return;
        }
        let name = message.sender().to_owned();
        let sender = self.peers.get_mut(&name).expect("it has said Hello");
        // The bus writes who it is from; the signature follows from the body. The serial stays, since
        // answers name it.
        let message = renamed(message, &self.now).without(field::SENDER).without(field::SIGNATURE);
        sender.send(message);
        let routed = sender.ping();
        let mut got = Vec::new();
        loop {
            let found = sender.receive().expect("open");
            if found.is_pong(routed) {
                break;
            }
            got.push(found);
        }
        self.got.entry(name).or_default().extend(got);
        self.sent += 2;
    }
}

/// With other names where whole texts, or parts of match rules, are names.
fn renamed(message: &PlainMessage, names: &BTreeMap<String, String>) -> PlainMessage {
    let mut message = message.clone();
    for (_, value) in &mut message.fields {
        rename(value, names);
    }
    message.body.iter_mut().for_each(|value| rename(value, names));
    message
}

/// Lists of names have no order.
fn sort(value: &mut PlainValue) {
    if let PlainValue::Array(_, values) = value {
        values.sort_by(|one, other| one.as_str().cmp(&other.as_str()));
    }
}

fn rename(value: &mut PlainValue, names: &BTreeMap<String, String>) {
    match value {
        PlainValue::Str(text) => match names.get(text.as_str()) {
            Some(name) => text.clone_from(name),
            None if text.contains("':1.") => {
                // All at once, since the name that one gets may be the one that another had.
                let parts =
                    text.split('\'').map(|part| names.get(part).map_or(part, String::as_str));
                *text = parts.collect::<Vec<_>>().join("'");
            }
            None => {}
        },
        PlainValue::Array(_, values) | PlainValue::Struct(values) => {
            values.iter_mut().for_each(|value| rename(value, names));
        }
        PlainValue::Entry(key, value) => {
            rename(key, names);
            rename(value, names);
        }
        PlainValue::Variant(value) => rename(value, names),
        _ => {}
    }
}
