//! Descriptions of restored event loops, for golden files.

use std::fmt::Write as _;
use std::io::{Seek, Write};

use bus::BusWithoutRules;

use super::{RestoredLoop, SavedLoop};
use crate::connection::{Connection, Phase};
use crate::saved_state::{StateError, StateReader, StateWriter};

impl RestoredLoop {
    /// Decodes a state and encodes it again. The result differs from the state if this program
    /// encodes fields that the state does not have.
    pub(crate) fn encode_again<W: Write + Seek>(
        state: &[u8],
        writer: &mut StateWriter<W>,
    ) -> Result<(), StateError> {
        let mut reader = StateReader::new(state);
        let (rules, bus): (_, BusWithoutRules) = (reader.read()?, reader.read()?);
        let (bus, saved): (_, SavedLoop) = (bus.with_rules(rules), reader.read()?);
        reader.finish()?;
        writer.write(bus.rules())?;
        writer.write(&bus.without_rules())?;
        writer.write(&saved)
    }

    /// Describes the bus and each of its connections.
    pub(crate) fn description(&self) -> String {
        let Self { bus, connections, children, acceptor, metrics, .. } = self;
        let mut text = format!("{:#?}\n", bus.gauges());
        let _ = writeln!(
            text,
            "messages with descriptors that are held for activation: {}",
            bus.held_messages_with_fds()
        );
        let _ = writeln!(text, "children: {}", children.keys().count());
        let _ = writeln!(text, "listeners: {}", acceptor.listeners.len());
        let _ = writeln!(text, "peers that wait to be served: {}", acceptor.queue.waiting.len());
        let _ = writeln!(text, "metrics socket: {}", metrics.is_some());
        let _ = writeln!(text, "incidents: {}", bus.incidents().count());
        for peer in connections.table.peers() {
            if let Some(connection) = connections.table.get(peer) {
                self.describe(connection, &mut text);
            }
        }
        text
    }

    fn describe(&self, connection: &Connection, text: &mut String) {
        let peer = connection.peer;
        let name = self.bus.unique_name(peer).unwrap_or("without a name");
        let names: Vec<_> = self.bus.owned_names(peer).collect();
        let _ = write!(text, "{peer} {name} {names:?} {:?}", connection.role);
        let _ = match &connection.phase {
            Phase::Handshake(_) => write!(text, ", handshake"),
            Phase::Messages(stream) => {
                let (len, fds) = (stream.framer.kept_len(), stream.framer.pending_fds());
                write!(text, ", {len} bytes and {fds} descriptors of an incomplete message")
            }
        };
        let (len, has_fds) = (connection.queue.len(), connection.queue.has_fds());
        let _ = writeln!(text, ", {len} bytes queued, with descriptors: {has_fds}");
    }
}
