//! A recording in memory.
//!
//! A [`Capture`] grows by one [`RecordingRecord`] at a time, from a file or from a bus that is listened to,
//! and can be asked at any time. Of a message it keeps 72 bytes; the message's own bytes stay in
//! the file they came from. Texts are kept once.

#[cfg(not(target_family = "wasm"))]
mod ahead;
mod arguments;
mod asides;
mod chosen;
mod clock;
mod copy;
mod cut;
mod directory;
mod label;
mod lateness;
mod learn;
mod loose;
mod message;
#[cfg(not(target_family = "wasm"))]
mod open;
mod outcome;
mod ownership;
mod pairs;
#[cfg(not(target_family = "wasm"))]
mod parts;
mod row;
mod scan;
mod store;
mod strings;

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use wire::message::{InvalidMessage, MessageType};

pub use chosen::MessageSelection;
pub use clock::CLOCK_BACK_MIN;
pub use directory::{Directory, PeerRole, RecordedPeer, RecordedPeerId};
pub use lateness::{LateEvidence, Lateness};
pub use loose::{Loose, LooseKind, loose_replies};
pub use message::{CapturedMessage, CapturedMessageId};
#[cfg(not(target_family = "wasm"))]
pub use open::{OpenError, ReadProgress, distinct_files};
pub use outcome::CallOutcome;
pub use ownership::Ownership;
pub use row::Health;
pub use strings::{Strings, TextId};

use crate::file::RecordingReader;
use crate::record::{
    BusId, Damage, EndCause, Excerpt, Fact, Late, MessageContent, RawMessage, RecordedBus,
    RecordedTime, RecordingGap, RecordingOrigin, RecordingRecord, Routing, Stages, TracedDelivery,
};
use arguments::DescribedMembers;
use asides::{Asides, Said};
use cut::CutHeaders;
use pairs::UnansweredCalls;
use row::{MessageRow, NOBODY};
use scan::Scanner;
use store::Store;

/// A recording: its messages in the order of the file, and all that is known about them.
#[derive(Debug, Default)]
pub struct Capture {
    rows: Vec<MessageRow>,
    scanner: Scanner,
    store: Store,
    directory: Directory,
    pending: UnansweredCalls,
    cut: CutHeaders,
    /// By bus, the time of the last thing that the recording has of it.
    ends: Vec<RecordedTime>,
    buses: Vec<RecordedBus>,
    files: CaptureFiles,
    origins: Vec<RecordingOrigin>,
    members: DescribedMembers,
    facts: Vec<(RecordedTime, BusId, Fact)>,
    /// Messages that the recorder read late, as it has reported.
    late: Vec<(BusId, Late)>,
    /// Match rules among them, each of which counts as it was told first.
    told_rules: HashSet<(BusId, String, String)>,
    asides: Asides,
    gaps: Vec<RecordingGap>,
    damage: Vec<Damage>,
    more_damage: u64,
    invalid: Vec<(CapturedMessageId, InvalidMessage)>,
    traces: MessageTraces,
}

/// The files that a capture was read from.
#[derive(Debug, Default)]
struct CaptureFiles {
    /// Each stands for the parts that belong to it.
    paths: Vec<PathBuf>,
    /// All of them, with the parts.
    read: Vec<PathBuf>,
    /// Files that have the name of a part, and are of another recording.
    foreign: Vec<PathBuf>,
    /// How many messages several files have, each of which is in the capture once.
    repeated: u64,
    /// By bus, the place of its file; those beyond the last are of the first file.
    of_buses: Vec<usize>,
}

/// What buses have written about messages: by row, where its deliveries end. Empty until a message
/// has any.
#[derive(Debug, Default)]
struct MessageTraces {
    ends: Vec<u32>,
    routed_after: Vec<u32>,
    /// By row, ascending, those that are too long for a number of `routed_after`: the calls that were held
    /// while a service started.
    long: Vec<(u32, Duration)>,
    /// By row; empty until the bus has measured any.
    stages: Vec<Option<Stages>>,
    deliveries: Vec<TracedDelivery>,
}

impl Capture {
    /// Reads a file that is in memory, whichever format it has. The messages of one that is not
    /// compressed stay in it.
    ///
    /// # Errors
    ///
    /// Of kind `InvalidData` if it has no format that is known.
    pub fn from_bytes(file: Vec<u8>) -> io::Result<Self> {
        let mut capture = Self::default();
        let file = Arc::new(file);
        let mut reader = RecordingReader::new(file.as_slice())?.ok_or_else(not_a_recording)?;
        let part = capture.store.open(Arc::clone(&file));
        capture.store.select(part);
        while let Some(record) = reader.next_record()? {
            capture.push(record);
        }
        Ok(capture)
    }

    /// Takes in the next thing that a recording says.
    pub fn push(&mut self, record: RecordingRecord<'_>) {
        match record {
            RecordingRecord::Origin(origin) => self.origins.push(origin),
            RecordingRecord::Bus(bus) => self.buses.push(bus),
            RecordingRecord::Message(raw) => self.push_message(&raw),
            RecordingRecord::Fact { at, bus, fact } => {
                self.goes_on(bus, at);
                self.learn_fact(at, bus, fact);
            }
            RecordingRecord::Gap(gap) => {
                self.asides.add(gap.at.unwrap_or_default(), Said::Gap);
                self.gaps.push(gap);
            }
            RecordingRecord::Damage(damage) if self.damage.len() < DAMAGE_MAX => {
                self.asides.add(RecordedTime::default(), Said::Damage);
                self.damage.push(damage);
            }
            RecordingRecord::Damage(_) => self.more_damage += 1,
        }
    }

    fn push_message(&mut self, raw: &RawMessage<'_>) {
        self.goes_on(raw.bus, raw.at);
        let place = match raw.place {
            Some(offset) => self.store.in_file(offset),
            None => self.store.keep(raw.bytes),
        };
        let (mut row, invalid) = self.scanner.row(raw, place);
        if self.is_crossed_out(&row) {
            row.health = Health::BodyRedacted;
        }
        let index = self.rows.len() as u32;
        self.asides.stand_behind(index + 1);
        if let Some(reason) = invalid {
            self.invalid.push((CapturedMessageId(index), reason));
        }
        if !row.sender.is_none() {
            self.directory.peer_named(row.bus, row.sender);
        }
        let call = self.pair(&mut row, index);
        self.learn(&row, call, raw.bytes);
        self.rows.push(row);
        self.traces.push(index, raw);
    }

    /// Whether what messages of a bus say was crossed out.
    pub(crate) fn is_redacted(&self, bus: BusId) -> bool {
        let bus = self.buses.get(usize::from(bus.0));
        bus.is_some_and(|bus| bus.content == MessageContent::Redacted)
    }

    /// Whether what a message says was crossed out. The recorder leaves the signals of the bus, which
    /// tell of names.
    fn is_crossed_out(&self, row: &MessageRow) -> bool {
        self.is_redacted(row.bus)
            && row.health == Health::Whole
            && !row.signature.is_none()
            && !(row.kind == MessageType::Signal && row.sender == self.scanner.words.driver)
    }

    /// Finds the call that a message answers; remembers the message if it is a call itself.
    fn pair(&mut self, row: &mut MessageRow, index: u32) -> Option<MessageRow> {
        let is_cut = row.health == Health::HeaderCut;
        if self.may_hide_departure(row) {
            self.cut.count_hidden(row.bus);
        }
        if is_cut && row.is_unpairable() {
            self.cut.count(row.bus, row.kind);
            return None;
        }
        if row.kind == MessageType::MethodCall {
            self.pending.called(row.bus, row.sender, row.serial, index);
            return None;
        }
        if !row.kind.is_reply() {
            return None;
        }
        let place = self.pending.find(row.bus, row.destination, row.reply_serial)?;
        let call = &mut self.rows[place as usize];
        let is_sender_cut = is_cut && row.sender.is_none();
        if !is_sender_cut
            && !may_answer(
                &self.scanner.strings,
                call.destination,
                row.sender,
                self.scanner.words.driver,
            )
        {
            return None;
        }
        call.partner = index;
        row.partner = place;
        let call = *call;
        self.pending.answered(row.bus, row.destination, row.reply_serial);
        self.infer_owner(row, &call);
        Some(call)
    }

    /// Who answers a call to a name has owned it, if nothing else is known.
    fn infer_owner(&mut self, reply: &MessageRow, call: &MessageRow) {
        let name = self.scanner.strings.get(call.destination);
        let is_by_name = !name.is_empty() && !name.starts_with(':');
        if is_by_name
            && !reply.sender.is_none()
            && reply.sender != self.scanner.words.driver
            && self.directory.ownerships(call.bus, call.destination).is_empty()
        {
            let owner = self.directory.peer_named(call.bus, reply.sender);
            let news =
                self.directory.owner_found(call.bus, call.destination, owner, None, reply.at);
            // The reply itself does not say so to those who have it without its call.
            self.note(news, reply.at, Said::Owner(call.bus, call.destination, owner));
        }
    }

    /// Whether a message may be a NameOwnerChanged whose body the capture cut.
    fn may_hide_departure(&self, row: &MessageRow) -> bool {
        let may_be = row.member.is_none() || row.member == self.scanner.words.name_owner_changed;
        let is_cut = matches!(row.health, Health::HeaderCut | Health::BodyCut);
        is_cut && may_be && row.kind == MessageType::Signal
    }

    /// The id of a text, which is new to the capture perhaps.
    fn intern(&mut self, text: &str) -> TextId {
        self.scanner.strings.intern(text)
    }
}

fn not_a_recording() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "not a recording of messages")
}

/// A reply counts if it comes from whom the call was addressed to, or from the bus. A well-known
/// name may be anybody's.
fn may_answer(strings: &Strings, called: TextId, answering: TextId, driver: TextId) -> bool {
    called == answering || answering == driver || !strings.get(called).starts_with(':')
}

impl Capture {
    /// How many messages there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no message.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// All messages, in the order of the recording.
    pub fn messages(
        &self,
    ) -> impl ExactSizeIterator<Item = CapturedMessage<'_>> + DoubleEndedIterator {
        self.messages_from(0)
    }

    /// The messages from this place on.
    pub fn messages_from(
        &self,
        place: usize,
    ) -> impl ExactSizeIterator<Item = CapturedMessage<'_>> + DoubleEndedIterator {
        let len = self.rows.len();
        (place.min(len) as u32..len as u32).map(|index| self.message(CapturedMessageId(index)))
    }

    /// A message.
    ///
    /// # Panics
    ///
    /// If `id` is of another capture that has more messages.
    pub fn message(&self, id: CapturedMessageId) -> CapturedMessage<'_> {
        CapturedMessage::new(self, id, &self.rows[id.index()])
    }

    /// All texts.
    pub fn strings(&self) -> &Strings {
        &self.scanner.strings
    }

    /// Names and processes.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// The connection with the unique name `:1.NUMBER`, as a [`TracedDelivery`] has it.
    pub fn peer_numbered(&self, bus: BusId, number: u64) -> Option<RecordedPeerId> {
        self.directory.by_unique(bus, self.strings().find(&format!(":1.{number}"))?)
    }

    /// The buses, by [`BusId`].
    pub fn buses(&self) -> &[RecordedBus] {
        &self.buses
    }

    /// The files that it was read from, in the order in which they were named; each stands for the
    /// parts that belong to it. None if it was made in another way.
    pub fn files(&self) -> impl ExactSizeIterator<Item = &Path> {
        self.files.paths.iter().map(PathBuf::as_path)
    }

    /// All files that were read, with the parts.
    pub fn files_read(&self) -> impl ExactSizeIterator<Item = &Path> {
        self.files.read.iter().map(PathBuf::as_path)
    }

    /// Files that were not read: they have the name of a part of one that was, but they are of another
    /// recording, which an earlier recorder has left.
    pub fn foreign_parts(&self) -> impl ExactSizeIterator<Item = &Path> {
        self.files.foreign.iter().map(PathBuf::as_path)
    }

    /// How many messages were in several files; each counts once.
    pub const fn repeated_messages(&self) -> u64 {
        self.files.repeated
    }

    /// The place in [`files`](Self::files) of the one that a bus is in.
    pub fn file_of(&self, bus: BusId) -> usize {
        self.files.of_buses.get(usize::from(bus.0)).copied().unwrap_or_default()
    }

    /// Who made the recording.
    pub fn origins(&self) -> &[RecordingOrigin] {
        &self.origins
    }

    /// What recorders have learnt that is neither in the messages nor about connections.
    pub fn facts(&self) -> &[(RecordedTime, BusId, Fact)] {
        &self.facts
    }

    /// Why it ends where it does, as far as recorders say: each cause once, in their order.
    pub fn endings(&self) -> Vec<EndCause> {
        let mut causes = Vec::new();
        for (_, _, fact) in &self.facts {
            if let Fact::Ended { cause } = fact
                && !causes.contains(cause)
            {
                causes.push(*cause);
            }
        }
        causes
    }

    /// Whether it is a file of our recorder that does not say why it ends. The recorder writes that last,
    /// so it was killed.
    pub fn is_without_end(&self) -> bool {
        self.is_ours() && self.directory.has_recorder() && self.endings().is_empty()
    }

    /// Whether the notes of our recorder are missing, because another program has written the file again.
    pub fn is_without_notes(&self) -> bool {
        self.is_ours() && !self.directory.has_recorder() && self.facts.is_empty()
    }

    /// Whether our recorder has made it.
    fn is_ours(&self) -> bool {
        let mut programs = self.origins.iter().filter_map(|origin| origin.program.as_deref());
        programs.any(|program| program.starts_with("diligence "))
    }

    /// Which of the messages of another recording it holds, if it is an excerpt: for each bus that lacks
    /// some, and again if the other one was an excerpt itself.
    pub fn excerpts(&self) -> impl Iterator<Item = (BusId, &Excerpt)> {
        self.facts.iter().filter_map(|(_, bus, fact)| match fact {
            Fact::Excerpt(excerpt) => Some((*bus, excerpt)),
            _ => None,
        })
    }

    /// Whether messages were left out when it was saved.
    pub fn is_excerpt(&self) -> bool {
        self.excerpts().next().is_some()
    }

    /// Where messages are missing.
    pub fn gaps(&self) -> &[RecordingGap] {
        &self.gaps
    }

    /// What could not be read: the first 10,000 places of it.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// In how many places something could not be read.
    pub fn damage_count(&self) -> u64 {
        self.damage.len() as u64 + self.more_damage
    }

    /// Messages that break a rule of the specification, with the rule.
    pub fn invalid(&self) -> &[(CapturedMessageId, InvalidMessage)] {
        &self.invalid
    }

    /// The name of the bus itself.
    pub const fn driver(&self) -> TextId {
        self.scanner.words.driver
    }

    /// The kept bytes of a message, in place of what `buffer` holds.
    pub fn read_bytes(&self, id: CapturedMessageId, buffer: &mut Vec<u8>) -> io::Result<()> {
        let row = &self.rows[id.index()];
        self.store.read(row.place, row.kept as usize, buffer)
    }

    /// A message as it was on the wire; `None` if it is cut or invalid, or its body was crossed out.
    pub fn read_message<'b>(
        &self,
        id: CapturedMessageId,
        buffer: &'b mut Vec<u8>,
    ) -> io::Result<Option<wire::Message<'b>>> {
        if self.rows[id.index()].health != Health::Whole {
            return Ok(None);
        }
        self.read_bytes(id, buffer)?;
        Ok(wire::Message::parse(buffer).ok())
    }
}

impl MessageTraces {
    fn push(&mut self, index: u32, raw: &RawMessage<'_>) {
        let Some(trace) = raw.trace else { return };
        // Messages before this one have none.
        let end = self.deliveries.len() as u32;
        self.ends.resize(index as usize, end);
        self.routed_after.resize(index as usize, NOBODY);
        self.deliveries.extend_from_slice(trace.deliveries);
        self.ends.push(self.deliveries.len() as u32);
        let Routing { after, stages } = trace.routing;
        if stages.is_some() {
            self.stages.resize(index as usize, None);
            self.stages.push(stages);
        }
        let nanos = u32::try_from(after.as_nanos()).ok();
        let nanos = nanos.filter(|&nanos| nanos < LONG).unwrap_or(LONG);
        if nanos == LONG {
            self.long.push((index, after));
        }
        self.routed_after.push(nanos);
    }

    fn routed_after(&self, index: usize) -> Option<Duration> {
        match *self.routed_after.get(index)? {
            NOBODY => None,
            LONG => {
                let place =
                    self.long.binary_search_by_key(&index, |(row, _)| *row as usize).ok()?;
                Some(self.long[place].1)
            }
            nanos => Some(Duration::from_nanos(nanos.into())),
        }
    }

    fn stages(&self, index: usize) -> Option<Stages> {
        *self.stages.get(index)?
    }

    fn deliveries(&self, index: usize) -> Option<&[TracedDelivery]> {
        let nanos = *self.routed_after.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        (nanos != NOBODY).then(|| &self.deliveries[start as usize..self.ends[index] as usize])
    }
}

/// Stands for a time in `Traces::long`.
const LONG: u32 = NOBODY - 1;

/// Places in files that cannot be read of which more is kept than their number.
const DAMAGE_MAX: usize = 10_000;
