//! A recording in memory.
//!
//! A [`Capture`] is built from one [`RecordingRecord`] after the other, from a file or a live bus,
//! and can be queried at any time. It stores 72 bytes for each message; the bytes of the message
//! itself stay in the file that contains them. Each distinct text is stored once.

#[cfg(not(target_family = "wasm"))]
mod ahead;
mod arguments;
mod chosen;
mod clock;
mod copy;
mod cut;
mod directory;
mod label;
mod lateness;
mod learn;
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
mod side_records;
mod store;
mod strings;
mod unpaired;

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
pub use message::{CapturedMessage, CapturedMessageId};
#[cfg(not(target_family = "wasm"))]
pub use open::{OpenError, ReadProgress, distinct_files};
pub use outcome::CallOutcome;
pub use ownership::Ownership;
pub use row::Health;
pub use store::MessageBuffer;
pub use strings::{Strings, TextId};
pub use unpaired::{UnpairedReply, UnpairedReplyKind, unpaired_replies};

use crate::file::RecordingReader;
use crate::record::{
    BusId, Damage, EndCause, Excerpt, Fact, Late, MessageContent, RawMessage, RecordedBus,
    RecordedTime, RecordingGap, RecordingOrigin, RecordingRecord, Routing, Stages, TracedDelivery,
};
use arguments::DescribedMembers;
use cut::CutHeaders;
use pairs::UnansweredCalls;
use row::{ABSENT, MessageRow};
use scan::Scanner;
use side_records::{SideRecordKind, SideRecords};
use store::Store;

/// A recording: its messages in file order, and all facts about them.
#[derive(Debug, Default)]
pub struct Capture {
    rows: Vec<MessageRow>,
    scanner: Scanner,
    store: Store,
    directory: Directory,
    pending: UnansweredCalls,
    cut: CutHeaders,
    /// The time of the last record of each bus.
    ends: Vec<RecordedTime>,
    buses: Vec<RecordedBus>,
    files: CaptureFiles,
    origins: Vec<RecordingOrigin>,
    members: DescribedMembers,
    facts: Vec<(RecordedTime, BusId, Fact)>,
    /// Messages that were read late, as reported by the recorder.
    late: Vec<(BusId, Late)>,
    /// The match rules among the facts, to skip repeated reports.
    known_rules: HashSet<(BusId, String, String)>,
    side_records: SideRecords,
    gaps: Vec<RecordingGap>,
    damage: Vec<Damage>,
    more_damage: u64,
    invalid: Vec<(CapturedMessageId, InvalidMessage)>,
    traces: MessageTraces,
}

/// The files that a capture was read from.
#[derive(Debug, Default)]
struct CaptureFiles {
    /// The paths that were named. Each stands for all parts of its recording.
    paths: Vec<PathBuf>,
    /// All files that were read, including parts.
    read: Vec<PathBuf>,
    /// Files that have the name of a part but belong to another recording.
    foreign: Vec<PathBuf>,
    /// The number of messages that several files contain, each of which is in the capture once.
    repeated: u64,
    /// The index in `paths` of the file of each bus. Buses without an entry belong to the first
    /// file.
    of_buses: Vec<usize>,
}

/// The traces that buses recorded about messages. `ends` holds the end of the deliveries of each
/// row. Empty until a message has a trace.
#[derive(Debug, Default)]
struct MessageTraces {
    ends: Vec<u32>,
    routed_after: Vec<u32>,
    /// Times by row, ascending, that do not fit into `routed_after`: the times of calls that were
    /// held while a service started.
    long: Vec<(u32, Duration)>,
    /// The routing stages of each row; empty until the bus has measured any.
    stages: Vec<Option<Stages>>,
    deliveries: Vec<TracedDelivery>,
}

impl Capture {
    /// Reads a file in memory, in any supported format. If it is not compressed, the bytes of
    /// messages are not copied.
    ///
    /// # Errors
    ///
    /// `InvalidData` if the format is unknown.
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

    /// Adds the next record of a recording.
    pub fn push(&mut self, record: RecordingRecord<'_>) {
        match record {
            RecordingRecord::Origin(origin) => self.origins.push(origin),
            RecordingRecord::Bus(bus) => self.buses.push(bus),
            RecordingRecord::Message(raw) => self.push_message(&raw),
            RecordingRecord::Fact { at, bus, fact } => {
                self.extend_to(bus, at);
                self.learn_fact(at, bus, fact);
            }
            RecordingRecord::Gap(gap) => {
                self.side_records.add(gap.at.unwrap_or_default(), SideRecordKind::Gap);
                self.gaps.push(gap);
            }
            RecordingRecord::Damage(damage) if self.damage.len() < DAMAGE_MAX => {
                self.side_records.add(RecordedTime::default(), SideRecordKind::Damage);
                self.damage.push(damage);
            }
            RecordingRecord::Damage(_) => self.more_damage += 1,
        }
    }

    fn push_message(&mut self, raw: &RawMessage<'_>) {
        self.extend_to(raw.bus, raw.at);
        let place = match raw.place {
            Some(offset) => self.store.in_file(offset),
            None => self.store.keep(raw.bytes),
        };
        let (mut row, invalid) = self.scanner.row(raw, place);
        if self.has_redacted_body(&row) {
            row.health = Health::BodyRedacted;
        }
        let index = self.rows.len() as u32;
        self.side_records.set_position(index + 1);
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

    /// Returns true if the bodies of the messages of a bus are redacted.
    pub(crate) fn is_redacted(&self, bus: BusId) -> bool {
        let bus = self.buses.get(usize::from(bus.0));
        bus.is_some_and(|bus| bus.content == MessageContent::Redacted)
    }

    /// Returns true if the body of a message is redacted. Signals of the bus, which contain names,
    /// are not.
    fn has_redacted_body(&self, row: &MessageRow) -> bool {
        self.is_redacted(row.bus)
            && row.health == Health::Whole
            && !row.signature.is_none()
            && !(row.kind == MessageType::Signal && row.sender == self.scanner.words.driver)
    }

    /// Pairs a reply with its call. Remembers the message if it is itself a call.
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

    /// Infers the owner of a name from the sender of a reply, if no owner is known.
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
            // This cannot be inferred from the reply if an excerpt lacks its call.
            self.note(news, reply.at, SideRecordKind::Owner(call.bus, call.destination, owner));
        }
    }

    /// Returns true if a message may be a NameOwnerChanged signal whose body was cut.
    fn may_hide_departure(&self, row: &MessageRow) -> bool {
        let may_be = row.member.is_none() || row.member == self.scanner.words.name_owner_changed;
        let is_cut = matches!(row.health, Health::HeaderCut | Health::BodyCut);
        is_cut && may_be && row.kind == MessageType::Signal
    }

    /// The id of a text, which is added if it is new.
    fn intern(&mut self, text: &str) -> TextId {
        self.scanner.strings.intern(text)
    }
}

fn not_a_recording() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "not a recording of messages")
}

/// Returns true if the sender of a reply may answer a call: the connection that the call is
/// addressed to, or the bus. A well-known name may belong to any connection.
fn may_answer(strings: &Strings, called: TextId, answering: TextId, driver: TextId) -> bool {
    called == answering || answering == driver || !strings.get(called).starts_with(':')
}

impl Capture {
    /// Returns the number of messages.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns true if the capture has no messages.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns all messages, in the order of the recording.
    pub fn messages(
        &self,
    ) -> impl ExactSizeIterator<Item = CapturedMessage<'_>> + DoubleEndedIterator {
        self.messages_from(0)
    }

    /// Returns the messages from this position on.
    pub fn messages_from(
        &self,
        place: usize,
    ) -> impl ExactSizeIterator<Item = CapturedMessage<'_>> + DoubleEndedIterator {
        let len = self.rows.len();
        (place.min(len) as u32..len as u32).map(|index| self.message(CapturedMessageId(index)))
    }

    /// Returns the message with this id.
    ///
    /// # Panics
    ///
    /// If `id` belongs to another capture that has more messages.
    pub fn message(&self, id: CapturedMessageId) -> CapturedMessage<'_> {
        CapturedMessage::new(self, id, &self.rows[id.index()])
    }

    /// Returns the texts of all messages.
    pub fn strings(&self) -> &Strings {
        &self.scanner.strings
    }

    /// Returns the connections, with their names and processes.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Returns the connection with the unique name `:1.NUMBER`, as in a [`TracedDelivery`].
    pub fn peer_numbered(&self, bus: BusId, number: u64) -> Option<RecordedPeerId> {
        self.directory.by_unique(bus, self.strings().find(&format!(":1.{number}"))?)
    }

    /// Returns the buses, indexed by [`BusId`].
    pub fn buses(&self) -> &[RecordedBus] {
        &self.buses
    }

    /// Returns the files that were opened, in the given order, without further parts. Empty if the
    /// capture was not read from files.
    pub fn files(&self) -> impl ExactSizeIterator<Item = &Path> {
        self.files.paths.iter().map(PathBuf::as_path)
    }

    /// Returns all files that were read, including further parts.
    pub fn files_read(&self) -> impl ExactSizeIterator<Item = &Path> {
        self.files.read.iter().map(PathBuf::as_path)
    }

    /// Returns files that were not read: they have the name of a part, but belong to another
    /// recording, which an earlier recorder left behind.
    pub fn foreign_parts(&self) -> impl ExactSizeIterator<Item = &Path> {
        self.files.foreign.iter().map(PathBuf::as_path)
    }

    /// Returns the number of messages that several files contain. Each is in the capture once.
    pub const fn repeated_messages(&self) -> u64 {
        self.files.repeated
    }

    /// Returns the index in [`files`](Self::files) of the file of a bus.
    pub fn file_of(&self, bus: BusId) -> usize {
        self.files.of_buses.get(usize::from(bus.0)).copied().unwrap_or_default()
    }

    /// Returns the origins of the recordings.
    pub fn origins(&self) -> &[RecordingOrigin] {
        &self.origins
    }

    /// Returns the facts that are not in messages or the directory, with their times and
    /// buses.
    pub fn facts(&self) -> &[(RecordedTime, BusId, Fact)] {
        &self.facts
    }

    /// Returns the reasons why the recording ends, as reported by recorders, each once and in
    /// order.
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

    /// Returns true if a file of Diligence's recorder lacks the reason why it ends. The recorder
    /// writes it last, so it was killed.
    pub fn is_without_end(&self) -> bool {
        self.is_ours() && self.directory.has_recorder() && self.endings().is_empty()
    }

    /// Returns true if the notes of Diligence's recorder are missing, because another program
    /// rewrote the file.
    pub fn is_without_notes(&self) -> bool {
        self.is_ours() && !self.directory.has_recorder() && self.facts.is_empty()
    }

    /// Returns true if Diligence's recorder made the recording.
    fn is_ours(&self) -> bool {
        let mut programs = self.origins.iter().filter_map(|origin| origin.program.as_deref());
        programs.any(|program| program.starts_with("diligence "))
    }

    /// Returns the excerpts that the recording consists of: one for each bus whose messages are
    /// incomplete, and another if an excerpt was made of an excerpt.
    pub fn excerpts(&self) -> impl Iterator<Item = (BusId, &Excerpt)> {
        self.facts.iter().filter_map(|(_, bus, fact)| match fact {
            Fact::Excerpt(excerpt) => Some((*bus, excerpt)),
            _ => None,
        })
    }

    /// Returns true if messages were left out when the recording was saved.
    pub fn is_excerpt(&self) -> bool {
        self.excerpts().next().is_some()
    }

    /// Returns the points at which messages are missing.
    pub fn gaps(&self) -> &[RecordingGap] {
        &self.gaps
    }

    /// Returns the unreadable parts of the files, at most the first 10,000.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// Returns the number of unreadable parts of the files.
    pub fn damage_count(&self) -> u64 {
        self.damage.len() as u64 + self.more_damage
    }

    /// Returns the messages that violate the specification, with the rule that they violate.
    pub fn invalid(&self) -> &[(CapturedMessageId, InvalidMessage)] {
        &self.invalid
    }

    /// Returns the name of the bus itself.
    pub const fn driver(&self) -> TextId {
        self.scanner.words.driver
    }

    /// Returns the bytes that were kept of a message. `buffer` is for bytes that are in a file.
    ///
    /// # Errors
    ///
    /// If the file that contains the message cannot be read.
    pub fn read_bytes<'b>(
        &'b self,
        id: CapturedMessageId,
        buffer: &'b mut MessageBuffer,
    ) -> io::Result<&'b [u8]> {
        let row = &self.rows[id.index()];
        self.store.read(row.place, row.kept as usize, buffer)
    }

    /// Returns a message as it was on the wire; `None` if it is cut, invalid or redacted. `buffer` is
    /// for bytes that are in a file.
    ///
    /// # Errors
    ///
    /// If the file that contains the message cannot be read.
    pub fn read_message<'b>(
        &'b self,
        id: CapturedMessageId,
        buffer: &'b mut MessageBuffer,
    ) -> io::Result<Option<wire::Message<'b>>> {
        if self.rows[id.index()].health != Health::Whole {
            return Ok(None);
        }
        Ok(wire::Message::parse(self.read_bytes(id, buffer)?).ok())
    }
}

impl MessageTraces {
    fn push(&mut self, index: u32, raw: &RawMessage<'_>) {
        let Some(trace) = raw.trace else { return };
        // Earlier messages without a trace have no deliveries.
        let end = self.deliveries.len() as u32;
        self.ends.resize(index as usize, end);
        self.routed_after.resize(index as usize, ABSENT);
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
            ABSENT => None,
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
        (nanos != ABSENT).then(|| &self.deliveries[start as usize..self.ends[index] as usize])
    }
}

/// Marks a time that is stored in `MessageTraces::long`.
const LONG: u32 = ABSENT - 1;

/// The maximum number of unreadable parts that are stored, rather than only counted.
const DAMAGE_MAX: usize = 10_000;
