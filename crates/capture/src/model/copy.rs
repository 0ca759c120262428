//! Writes a capture to a file that is equivalent when it is read again.

use std::io::{self, Write};

use wire::message::{FixedHeader, MessageType};

use super::directory::RecordedPeerId;
use super::row::MessageRow;
use super::side_records::{SideRecord, SideRecordKind};
use super::store::MessageBuffer;
use super::{Capture, CapturedMessageId, MessageSelection, TextId};
use crate::bodies::{Bodies, Reducer};
use crate::file::PcapngWriter;
use crate::record::{
    BusId, Damage, Fact, RawMessage, RecordedBus, RecordedTime, RecordingGap, RecordingOrigin,
    RecordingRecord, Trace,
};

impl Capture {
    /// Writes the whole capture as pcapng, with bodies reduced as `bodies` states. If bodies are
    /// whole, a reader of the file learns everything that this capture contains; otherwise
    /// everything that does not depend on bodies.
    ///
    /// The bytes of messages are read one by one from the file that contains them.
    ///
    /// # Errors
    ///
    /// If writing to `out` fails, or reading the messages. `InvalidData` if the file with the
    /// messages has changed.
    pub fn write(&self, out: impl Write, bodies: Bodies) -> io::Result<()> {
        self.write_chosen(out, &MessageSelection::all(self), bodies)
    }

    /// Writes an excerpt as pcapng: the chosen messages, and the facts about the connections, names
    /// and services that occur in them. The file is marked as an excerpt, unless all messages are
    /// chosen.
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write).
    pub fn write_chosen(
        &self,
        out: impl Write,
        chosen: &MessageSelection,
        bodies: Bodies,
    ) -> io::Result<()> {
        let mut origin = bodies.of_origin(self.origins.first().cloned().unwrap_or_default());
        origin.comments.extend(chosen.remark(bodies));
        let mut writer = PcapngWriter::new(out, &origin)?;
        let mut reducer = Reducer::new(bodies);
        self.replay(chosen, |record| match reducer.reduce(record) {
            Some(record) => writer.write(&record),
            None => Ok(()),
        })?;
        writer.finish().map(drop)
    }

    /// Passes the records of the recording to `take`, in their original order. The first origin is
    /// omitted.
    pub(crate) fn replay(
        &self,
        chosen: &MessageSelection,
        mut take: impl FnMut(RecordingRecord<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut take_kept = |record: Option<RecordingRecord<'_>>| match record {
            Some(record) if chosen.keeps(self, &record) => take(record),
            _ => Ok(()),
        };
        let origins: &[RecordingOrigin] = self.origins.get(1..).unwrap_or_default();
        origins
            .iter()
            .try_for_each(|origin| take_kept(Some(RecordingRecord::Origin(origin.clone()))))?;
        self.all_buses().try_for_each(|bus| take_kept(Some(RecordingRecord::Bus(bus))))?;
        let mut side_records = self.side_records.iter().peekable();
        let mut kept = KeptRecords::new(self);
        let mut buffer = MessageBuffer::default();
        for (index, row) in self.rows.iter().enumerate() {
            while let Some(record) =
                side_records.next_if(|record| record.messages as usize <= index)
            {
                take_kept(kept.record(record))?;
            }
            let id = CapturedMessageId(index as u32);
            match chosen.has(id) {
                true => {
                    take_kept(Some(RecordingRecord::Message(self.raw(id, row, &mut buffer)?)))?
                }
                false => take_kept(self.owner_change(id, row, &mut buffer)?)?,
            }
        }
        side_records.try_for_each(|record| take_kept(kept.record(record)))?;
        self.counted_damage()
            .try_for_each(|damage| take_kept(Some(RecordingRecord::Damage(damage))))?;
        chosen.excerpts(self).try_for_each(|fact| take_kept(Some(fact)))
    }

    /// The change of an owner in a NameOwnerChanged signal that is left out.
    fn owner_change(
        &self,
        id: CapturedMessageId,
        row: &MessageRow,
        buffer: &mut MessageBuffer,
    ) -> io::Result<Option<RecordingRecord<'static>>> {
        let is_of_bus = row.kind == MessageType::Signal && row.sender == self.scanner.words.driver;
        if !is_of_bus || row.member != self.scanner.words.name_owner_changed {
            return Ok(None);
        }
        let message = self.read_message(id, buffer)?;
        let names = message.and_then(|message| message.read::<(&str, &str, &str)>().ok());
        let owner = |unique: &str| (!unique.is_empty()).then(|| unique.to_owned());
        Ok(names.map(|(name, old, new)| {
            let fact = Fact::OwnerChanged { name: name.into(), old: owner(old), new: owner(new) };
            RecordingRecord::Fact { at: row.at, bus: row.bus, fact }
        }))
    }

    /// The buses, including buses without a description that messages or facts refer to.
    fn all_buses(&self) -> impl Iterator<Item = RecordedBus> {
        let of_rows = self.rows.iter().map(|row| row.bus);
        let of_facts = self.facts.iter().map(|&(_, bus, _)| bus);
        let of_gaps = self.gaps.iter().map(|gap| gap.bus);
        let of_peers = self.directory.peers().map(|(_, peer)| peer.bus);
        let used = of_rows.chain(of_facts).chain(of_gaps).chain(of_peers);
        let count = used.max().map_or(0, |BusId(last)| usize::from(last) + 1);
        let unknown = count.saturating_sub(self.buses.len());
        let unknown = std::iter::repeat_n(RecordedBus::default(), unknown);
        self.buses.iter().cloned().chain(unknown)
    }

    /// A message as it was recorded.
    fn raw<'b>(
        &'b self,
        id: CapturedMessageId,
        row: &MessageRow,
        buffer: &'b mut MessageBuffer,
    ) -> io::Result<RawMessage<'b>> {
        let bytes = self.read_bytes(id, buffer).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => changed(),
            _ => error,
        })?;
        if !is_of(row, bytes) {
            return Err(changed());
        }
        let message = self.message(id);
        let trace = message.routing().zip(message.deliveries());
        let trace = trace.map(|(routing, deliveries)| Trace { routing, deliveries });
        Ok(RawMessage { at: row.at, bus: row.bus, bytes, len: row.len, place: None, trace })
    }

    fn unique(&self, peer: RecordedPeerId) -> String {
        self.strings().get(self.directory.peer(peer).unique).to_owned()
    }

    /// One damage for each unreadable place of which only the number was kept.
    fn counted_damage(&self) -> impl Iterator<Item = Damage> {
        let at = self.damage.last().map_or(0, |damage| damage.at);
        let what = "one of several unreadable places after this one";
        (0..self.more_damage).map(move |_| Damage { at, what: what.to_owned() })
    }
}

/// The stored facts, gaps and damages, read in order.
struct KeptRecords<'c> {
    capture: &'c Capture,
    facts: std::slice::Iter<'c, (RecordedTime, BusId, Fact)>,
    gaps: std::slice::Iter<'c, RecordingGap>,
    damage: std::slice::Iter<'c, Damage>,
}

impl<'c> KeptRecords<'c> {
    fn new(capture: &'c Capture) -> Self {
        Self {
            capture,
            facts: capture.facts.iter(),
            gaps: capture.gaps.iter(),
            damage: capture.damage.iter(),
        }
    }

    fn record(&mut self, record: &SideRecord) -> Option<RecordingRecord<'static>> {
        let at = record.at;
        let (bus, fact) = match record.kind {
            SideRecordKind::Gap => return self.gaps.next().cloned().map(RecordingRecord::Gap),
            SideRecordKind::Damage => {
                return self.damage.next().cloned().map(RecordingRecord::Damage);
            }
            SideRecordKind::Fact => {
                let (_, bus, fact) = self.facts.next()?;
                (*bus, fact.clone())
            }
            SideRecordKind::Owner(bus, name, owner) => (bus, self.owner(name, Some(owner), None)),
            SideRecordKind::Taken(bus, name, owner) => {
                (bus, self.owner(name, Some(owner), Some(at)))
            }
            SideRecordKind::Released(bus, name) => (bus, self.owner(name, None, None)),
            SideRecordKind::Peer(id) | SideRecordKind::Recorder(id) | SideRecordKind::Left(id) => {
                let peer = self.capture.directory.peer(id);
                let unique = self.capture.unique(id);
                let fact = match record.kind {
                    SideRecordKind::Recorder(_) => Fact::Recorder { unique },
                    SideRecordKind::Left(_) => Fact::Left { unique, why: peer.why.clone() },
                    _ => Fact::Peer { unique, process: peer.process.clone() },
                };
                (peer.bus, fact)
            }
        };
        Some(RecordingRecord::Fact { at, bus, fact })
    }

    fn owner(
        &self,
        name: TextId,
        owner: Option<RecordedPeerId>,
        since: Option<RecordedTime>,
    ) -> Fact {
        let name = self.capture.strings().get(name).to_owned();
        Fact::Owner { name, unique: owner.map(|owner| self.capture.unique(owner)), since }
    }
}

/// Returns true if these bytes still belong to the row that was built from them.
fn is_of(row: &MessageRow, bytes: &[u8]) -> bool {
    let fixed = bytes.first_chunk().and_then(|start| FixedHeader::parse(start).ok());
    fixed.map_or(row.serial == 0, |fixed| {
        let found = (fixed.serial.get(), fixed.message_type, fixed.flags);
        found == (row.serial, row.kind, row.flags) && fixed.message_len() <= row.len as usize
    })
}

fn changed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the file has changed since it was read")
}
