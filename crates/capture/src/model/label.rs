//! Labels of connections and buses for people.

use std::borrow::Cow;

use super::{Capture, CapturedMessage, RecordedPeer, RecordedPeerId, TextId};
use crate::record::{BusId, RecordedTime};

impl Capture {
    /// Returns the label of a connection: the first well-known name that it has owned, or else its
    /// program and unique name, or else the unique name.
    pub fn label(&self, id: RecordedPeerId) -> Cow<'_, str> {
        let peer = self.directory().peer(id);
        let unique = self.strings().get(peer.unique);
        match (peer.names.first(), program(peer)) {
            // The bus is labeled with its name, regardless of its program.
            _ if peer.unique == self.driver() => unique.into(),
            (Some(&name), _) => self.strings().get(name).into(),
            (None, Some(program)) => format!("{program} ({unique})").into(),
            (None, None) => unique.into(),
        }
    }

    /// Returns the label that a connection shares with others of the same program: the first
    /// well-known name that it has owned, or else its program, or else its unique name.
    pub fn program_label(&self, id: RecordedPeerId) -> &str {
        let peer = self.directory().peer(id);
        if peer.unique == self.driver() {
            return self.strings().get(peer.unique);
        }
        let name = peer.names.first().map(|&name| self.strings().get(name));
        name.or_else(|| program(peer)).unwrap_or_else(|| self.strings().get(peer.unique))
    }

    /// Returns a label for the recipient of a message: the well-known name in its destination, or
    /// else the program label of the connection.
    pub fn addressee_label<'c>(&'c self, message: &CapturedMessage<'c>) -> &'c str {
        match message.destination() {
            unique if unique.starts_with(':') => {
                message.to().map_or(unique, |peer| self.program_label(peer))
            }
            name => name,
        }
    }

    /// Returns the label of the connection that had a unique or well-known name at a time.
    pub fn label_of(&self, bus: BusId, name: TextId, at: RecordedTime) -> Cow<'_, str> {
        match self.directory().resolve(bus, name, at) {
            Some(peer) => self.label(peer),
            None => self.strings().get(name).into(),
        }
    }

    /// Returns the label of a bus: its name, or else its number in the recording.
    pub fn bus_label(&self, bus: BusId) -> Cow<'_, str> {
        let name = self.buses().get(usize::from(bus.0)).map(|bus| bus.name.as_str());
        match name {
            Some(name) if !name.is_empty() => name.into(),
            _ => format!("bus {}", bus.0).into(),
        }
    }

    /// Returns the program of a connection with its process ID, as far as they are known.
    pub fn process_label(&self, id: RecordedPeerId) -> Option<String> {
        let peer = self.directory().peer(id);
        let pid = peer.process.as_ref().and_then(|process| process.pid);
        match (program(peer), pid) {
            (Some(program), Some(pid)) => Some(format!("{program}[{pid}]")),
            (Some(program), None) => Some(program.to_owned()),
            (None, Some(pid)) => Some(format!("[{pid}]")),
            (None, None) => None,
        }
    }
}

fn program(peer: &RecordedPeer) -> Option<&str> {
    peer.process.as_ref()?.program()
}
