//! Writing a capture as a file that reads as it does.

use std::io::{self, Write};

use wire::message::FixedHeader;

use super::asides::{Aside, Said};
use super::directory::PeerId;
use super::row::Row;
use super::{Capture, MessageId, Text};
use crate::bodies::{Bodies, Reducer};
use crate::file::Writer;
use crate::record::{Bus, BusId, Damage, Fact, Gap, Origin, RawMessage, Record, Time, Trace};

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
        let origin = self.origins.first().cloned().unwrap_or_default();
        let mut writer = Writer::new(out, &bodies.of_origin(origin))?;
        let mut reducer = Reducer::new(bodies);
        self.tell(|record| match reducer.reduce(record) {
            Some(record) => writer.write(&record),
            None => Ok(()),
        })?;
        writer.finish().map(drop)
    }

    /// Says again what the recording has said. The first origin stands before all records.
    fn tell(&self, mut take: impl FnMut(Record<'_>) -> io::Result<()>) -> io::Result<()> {
        let origins: &[Origin] = self.origins.get(1..).unwrap_or_default();
        origins.iter().try_for_each(|origin| take(Record::Origin(origin.clone())))?;
        self.all_buses().try_for_each(|bus| take(Record::Bus(bus)))?;
        let mut asides = self.asides.iter().peekable();
        let mut kept = Kept::new(self);
        let mut buffer = Vec::new();
        for (index, row) in self.rows.iter().enumerate() {
            while let Some(aside) = asides.next_if(|aside| aside.messages as usize <= index) {
                kept.record(aside).map_or(Ok(()), &mut take)?;
            }
            take(Record::Message(self.raw(MessageId(index as u32), row, &mut buffer)?))?;
        }
        asides.try_for_each(|aside| kept.record(aside).map_or(Ok(()), &mut take))?;
        self.counted_damage().try_for_each(|damage| take(Record::Damage(damage)))
    }

    /// The buses, and those of which nothing is known but that something was there.
    fn all_buses(&self) -> impl Iterator<Item = Bus> {
        let of_rows = self.rows.iter().map(|row| row.bus);
        let of_facts = self.facts.iter().map(|&(_, bus, _)| bus);
        let of_gaps = self.gaps.iter().map(|gap| gap.bus);
        let of_peers = self.directory.peers().map(|(_, peer)| peer.bus);
        let used = of_rows.chain(of_facts).chain(of_gaps).chain(of_peers);
        let count = used.max().map_or(0, |BusId(last)| usize::from(last) + 1);
        let unknown = count.saturating_sub(self.buses.len());
        let unknown = std::iter::repeat_n(Bus::default(), unknown);
        self.buses.iter().cloned().chain(unknown)
    }

    /// A message as it was recorded.
    fn raw<'b>(
        &'b self,
        id: MessageId,
        row: &Row,
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
        let trace = message.routed_after().zip(message.deliveries());
        let trace = trace.map(|(routed_after, deliveries)| Trace { routed_after, deliveries });
        Ok(RawMessage { at: row.at, bus: row.bus, bytes: buffer, len: row.len, place: None, trace })
    }

    fn unique(&self, peer: PeerId) -> String {
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
struct Kept<'c> {
    capture: &'c Capture,
    facts: std::slice::Iter<'c, (Time, BusId, Fact)>,
    gaps: std::slice::Iter<'c, Gap>,
    damage: std::slice::Iter<'c, Damage>,
}

impl<'c> Kept<'c> {
    fn new(capture: &'c Capture) -> Self {
        Self {
            capture,
            facts: capture.facts.iter(),
            gaps: capture.gaps.iter(),
            damage: capture.damage.iter(),
        }
    }

    fn record(&mut self, aside: &Aside) -> Option<Record<'static>> {
        let at = aside.at;
        let (bus, fact) = match aside.said {
            Said::Gap => return self.gaps.next().cloned().map(Record::Gap),
            Said::Damage => return self.damage.next().cloned().map(Record::Damage),
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
        Some(Record::Fact { at, bus, fact })
    }

    fn owner(&self, name: Text, owner: Option<PeerId>, since: Option<Time>) -> Fact {
        let name = self.capture.strings().get(name).to_owned();
        Fact::Owner { name, unique: owner.map(|owner| self.capture.unique(owner)), since }
    }
}

/// Whether these are still the bytes of which a row was made.
fn is_of(row: &Row, bytes: &[u8]) -> bool {
    let fixed = bytes.first_chunk().and_then(|start| FixedHeader::parse(start).ok());
    fixed.map_or(row.serial == 0, |fixed| {
        let found = (fixed.serial.get(), fixed.message_type, fixed.flags);
        found == (row.serial, row.kind, row.flags) && fixed.message_len() <= row.len as usize
    })
}

fn changed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the file has changed since it was read")
}
