//! The recorded start of a desktop: the messages of each program, in the order of routing, and the
//! messages that each program gets in a replay.
//!
//! `desktop-start.dbus` contains messages one after the other, each with its sender, without those
//! from the bus. It was recorded on a session bus, with a new home folder, whose services (dconf,
//! at-spi2, gvfs with its monitors of volumes, metadata and trash) were started by gsettings,
//! gdbus, gio and busctl.

use std::collections::BTreeMap;

use conformance::{PlainMessage, PlainValue, TestPeer, field};

/// All messages of the recording.
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

/// The messages that each participant has received, by its name in the recording.
pub(crate) type Got = BTreeMap<String, Vec<PlainMessage>>;

/// A replay: the connected participants, by their names in the recording.
pub(crate) struct Replay<'a> {
    address: &'a str,
    peers: BTreeMap<String, TestPeer>,
    /// Maps current names to names in the recording; `now` is the reverse.
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

    /// Sends all messages, each after the last one has been routed. Returns the received messages,
    /// and the number of sent ones.
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
        // The bus sets the sender, and the signature follows from the body. The serial stays,
        // because replies refer to it.
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

/// Replaces names in whole texts and in match rules.
fn renamed(message: &PlainMessage, names: &BTreeMap<String, String>) -> PlainMessage {
    let mut message = message.clone();
    for (_, value) in &mut message.fields {
        rename(value, names);
    }
    message.body.iter_mut().for_each(|value| rename(value, names));
    message
}

/// Sorts lists of names, which have no order.
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
                // All parts are replaced at the same time, because a new name may be equal to
                // another old one.
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
