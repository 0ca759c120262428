//! Writing a capture as a file that reads as it does.

use std::io::{self, Write};

use wire::message::{FixedHeader, MessageType};

use super::asides::{Aside, Said};
use super::directory::RecordedPeerId;
use super::row::MessageRow;
use super::{Capture, CapturedMessageId, MessageSelection, TextId};
use crate::bodies::{Bodies, Reducer};
use crate::file::PcapngWriter;
use crate::record::{
    BusId, Damage, Fact, RawMessage, RecordedBus, RecordedTime, RecordingGap, RecordingOrigin,
    RecordingRecord, Trace,
};

impl Capture {
    /// Writes all of it in our own format, with no more of bodies than is to be kept. If that is all,
    /// whoever reads it learns what is known here; else what does not depend on what bodies say.
    ///
    /// Messages that are in a file are read from there one by one.
    ///
    /// # Errors
    ///
    /// Those of `out`; of kind `InvalidData` if the file with the messages has changed.
    pub fn write(&self, out: impl Write, bodies: Bodies) -> io::Result<()> {
        self.write_chosen(out, &MessageSelection::all(self), bodies)
    }

    /// Writes an excerpt in the same way: the chosen messages, and what is known of the connections,
    /// names and services that occur in them. It says that it is an excerpt, unless all messages are
    /// chosen.
    ///
    /// # Errors
    ///
    /// As those of [`write`](Self::write).
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
        self.tell(chosen, |record| match reducer.reduce(record) {
            Some(record) => writer.write(&record),
            None => Ok(()),
        })?;
        writer.finish().map(drop)
    }

    /// Says again what the recording has said. The first origin stands before all records.
    pub(crate) fn tell(
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
        let mut asides = self.asides.iter().peekable();
        let mut kept = KeptRecords::new(self);
        let mut buffer = Vec::new();
        for (index, row) in self.rows.iter().enumerate() {
            while let Some(aside) = asides.next_if(|aside| aside.messages as usize <= index) {
                take_kept(kept.record(aside))?;
            }
            let id = CapturedMessageId(index as u32);
            match chosen.has(id) {
                true => {
                    take_kept(Some(RecordingRecord::Message(self.raw(id, row, &mut buffer)?)))?
                }
                false => take_kept(self.owner_change(id, row, &mut buffer)?)?,
            }
        }
        asides.try_for_each(|aside| take_kept(kept.record(aside)))?;
        self.counted_damage()
            .try_for_each(|damage| take_kept(Some(RecordingRecord::Damage(damage))))?;
        chosen.excerpts(self).try_for_each(|fact| take_kept(Some(fact)))
    }

    /// What a signal that is left out says about the owner of a name.
    fn owner_change(
        &self,
        id: CapturedMessageId,
        row: &MessageRow,
        buffer: &mut Vec<u8>,
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

    /// The buses, and those of which nothing is known but that something was there.
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
        buffer: &'b mut Vec<u8>,
    ) -> io::Result<RawMessage<'b>> {
        self.read_bytes(id, buffer).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => changed(),
            _ => error,
        })?;
        if !is_of(row, buffer) {
            return Err(changed());
        }
        let message = self.message(id);
        let trace = message.routing().zip(message.deliveries());
        let trace = trace.map(|(routing, deliveries)| Trace { routing, deliveries });
        Ok(RawMessage { at: row.at, bus: row.bus, bytes: buffer, len: row.len, place: None, trace })
    }

    fn unique(&self, peer: RecordedPeerId) -> String {
        self.strings().get(self.directory.peer(peer).unique).to_owned()
    }

    /// One for each place of which only the number was kept.
    fn counted_damage(&self) -> impl Iterator<Item = Damage> {
        let at = self.damage.last().map_or(0, |damage| damage.at);
        let what = "one of many places behind this one that cannot be read";
        (0..self.more_damage).map(move |_| Damage { at, what: what.to_owned() })
    }
}

/// What a capture keeps as it came, from front to back.
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

    fn record(&mut self, aside: &Aside) -> Option<RecordingRecord<'static>> {
        let at = aside.at;
        let (bus, fact) = match aside.said {
            Said::Gap => return self.gaps.next().cloned().map(RecordingRecord::Gap),
            Said::Damage => return self.damage.next().cloned().map(RecordingRecord::Damage),
            Said::Fact => {
                let (_, bus, fact) = self.facts.next()?;
                (*bus, fact.clone())
            }
            Said::Owner(bus, name, owner) => (bus, self.owner(name, Some(owner), None)),
            Said::Taken(bus, name, owner) => (bus, self.owner(name, Some(owner), Some(at))),
            Said::Released(bus, name) => (bus, self.owner(name, None, None)),
            Said::Peer(id) | Said::Recorder(id) | Said::Left(id) => {
                let peer = self.capture.directory.peer(id);
                let unique = self.capture.unique(id);
                let fact = match aside.said {
                    Said::Recorder(_) => Fact::Recorder { unique },
                    Said::Left(_) => Fact::Left { unique, why: peer.why.clone() },
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

/// Whether these are still the bytes of which a row was made.
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
