//! The reader of pcapng files.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read};

use super::blocks::{self, BlockFault, BlockFrame, BlockOptions, Packet, SectionVersion};
use super::interface::{InterfaceKind, PcapngInterface};
use super::note::{self, Note, NoteError};
use super::{BODY_OFFSET, block, option};
use crate::file::number::ByteOrder;
use crate::file::window::FileWindow;
use crate::record::{
    BusId, Damage, GapCause, RawMessage, RecordedTime, RecordingGap, RecordingOrigin,
    RecordingRecord, Routing, Trace, TracedDelivery,
};

/// Reads a pcapng file.
#[derive(Debug)]
pub(crate) struct Pcapng<R> {
    window: FileWindow<R>,
    section: Section,
    interfaces: Vec<PcapngInterface>,
    /// The number of buses in all sections so far.
    buses: u32,
    /// The number of bytes of the last block. A message in it may still be in use.
    consumed: usize,
    queued: VecDeque<RecordingRecord<'static>>,
    /// A message that is returned after the records in `queued`.
    message: Option<PcapngMessage>,
    deliveries: Vec<TracedDelivery>,
    skipped: BTreeMap<SkippedContent, SkippedCount>,
    is_over: bool,
}

#[derive(Clone, Copy, Debug)]
enum Section {
    /// The section has a supported version.
    Known(ByteOrder),
    /// The section has an unsupported version.
    Unknown(ByteOrder),
}

/// A message, whose bytes are in the window.
#[derive(Clone, Copy, Debug)]
struct PcapngMessage {
    at: RecordedTime,
    bus: BusId,
    start: usize,
    kept: usize,
    len: u32,
    routing: Option<Routing>,
}

/// The kinds of content that are skipped, counted and reported at the end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum SkippedContent {
    LinkType(u16),
    NoInterface,
    TooShort(u32),
    NoteVersion(u16),
    NoteBroken,
    NoTime,
}

/// The number of skipped items, and the offset of the first one.
#[derive(Clone, Copy, Debug)]
struct SkippedCount {
    first: u64,
    count: u64,
}

/// The next step of the reader, without a borrow of the window.
enum PcapngReadStep {
    Record(RecordingRecord<'static>),
    Message(PcapngMessage),
    End,
}

impl<R: Read> Pcapng<R> {
    pub(crate) fn new(window: FileWindow<R>) -> Self {
        Self {
            window,
            section: Section::Known(ByteOrder::Little),
            interfaces: Vec::new(),
            buses: 0,
            consumed: 0,
            queued: VecDeque::new(),
            message: None,
            deliveries: Vec::new(),
            skipped: BTreeMap::new(),
            is_over: false,
        }
    }

    pub(crate) fn next(&mut self) -> io::Result<Option<RecordingRecord<'_>>> {
        Ok(match self.step()? {
            PcapngReadStep::End => None,
            PcapngReadStep::Record(record) => Some(record),
            PcapngReadStep::Message(found) => Some(RecordingRecord::Message(self.raw(found))),
        })
    }

    fn raw(&self, found: PcapngMessage) -> RawMessage<'_> {
        let PcapngMessage { at, bus, start, kept, len, routing } = found;
        RawMessage {
            at,
            bus,
            bytes: &self.window.shown(start + kept)[start..],
            len: len.max(kept as u32),
            place: Some(self.window.offset() + start as u64),
            trace: routing.map(|routing| Trace { routing, deliveries: &self.deliveries }),
        }
    }

    fn step(&mut self) -> io::Result<PcapngReadStep> {
        loop {
            if let Some(record) = self.queued.pop_front() {
                return Ok(PcapngReadStep::Record(record));
            }
            if let Some(found) = self.message.take() {
                return Ok(PcapngReadStep::Message(found));
            }
            if self.is_over {
                return Ok(PcapngReadStep::End);
            }
            self.window.advance(std::mem::take(&mut self.consumed));
            self.block()?;
        }
    }

    /// Reads the next block, and stores its records in `queued` and `message`.
    fn block(&mut self) -> io::Result<()> {
        let (Section::Known(order) | Section::Unknown(order)) = self.section;
        let start = self.window.peek(blocks::START_LEN)?;
        if start.is_empty() {
            let failure = self.window.failure();
            self.end(failure);
            return Ok(());
        }
        let frame = match BlockFrame::parse(start, order) {
            Ok(frame) => frame,
            Err(reason) => return self.resynchronize(reason),
        };
        let block = self.window.peek(frame.len)?;
        if block.len() < frame.len {
            return self.resynchronize(BlockFault::Cut);
        }
        if let Err(reason) = frame.check(block) {
            return self.resynchronize(reason);
        }
        self.consumed = frame.len;
        self.whole(frame);
        Ok(())
    }

    fn whole(&mut self, frame: BlockFrame) {
        match (self.section, frame.kind) {
            (_, block::SECTION) => self.section(frame),
            (Section::Unknown(_), _) => {}
            (_, block::ENHANCED_PACKET) => {
                self.packet(frame, Packet::enhanced(self.body(frame), frame.order));
            }
            (_, block::INTERFACE) => self.interface(frame),
            (_, block::STATISTICS) => self.statistics(frame),
            (_, block::OBSOLETE_PACKET) => {
                self.packet(frame, Packet::obsolete(self.body(frame), frame.order));
            }
            (_, block::SIMPLE_PACKET) => self.simple_packet(frame),
            (_, block::NOTE) => self.note(frame),
            _ => {}
        }
    }

    fn body(&self, frame: BlockFrame) -> &[u8] {
        frame.body(self.window.shown(frame.len))
    }

    /// Skips to the next position at which a block may begin.
    fn resynchronize(&mut self, reason: BlockFault) -> io::Result<()> {
        let (Section::Known(order) | Section::Unknown(order)) = self.section;
        let at = self.window.offset();
        let len = self.window.seek(SOUGHT_LEN, |bytes| BlockFrame::is_at(bytes, order))?;
        if reason == BlockFault::Cut && self.window.peek(1)?.is_empty() {
            let end = self.window.early_end();
            self.end(Some(end));
            return Ok(());
        }
        let why = match reason {
            BlockFault::Cut => "a block that is longer than the rest of the file".to_owned(),
            BlockFault::NoOrder => "a section with an invalid byte order".to_owned(),
            BlockFault::Length(len) => format!("a block with an impossible length of {len} bytes"),
            BlockFault::Lengths => "a block with two different lengths".to_owned(),
        };
        let what = format!("{why}; {len} bytes skipped");
        self.queued.push_back(RecordingRecord::Damage(Damage { at, what }));
        Ok(())
    }

    fn end(&mut self, reason: Option<RecordingRecord<'static>>) {
        self.is_over = true;
        for (what, SkippedCount { first, count }) in std::mem::take(&mut self.skipped) {
            let damage = Damage { at: first, what: what.counted(count) };
            self.queued.push_back(RecordingRecord::Damage(damage));
        }
        self.queued.extend(reason);
    }

    fn skip(&mut self, what: SkippedContent) {
        let first = self.window.offset();
        self.skipped.entry(what).or_insert(SkippedCount { first, count: 0 }).count += 1;
    }
}

/// Handlers of the block types.
impl<R: Read> Pcapng<R> {
    fn section(&mut self, frame: BlockFrame) {
        self.interfaces.clear();
        self.section = Section::Known(frame.order);
        match blocks::origin(self.body(frame), frame.order) {
            Ok(origin) if origin == RecordingOrigin::default() => {}
            Ok(origin) => self.queued.push_back(RecordingRecord::Origin(origin)),
            Err(SectionVersion([major, minor])) => {
                self.section = Section::Unknown(frame.order);
                let what = format!("a section of version {major}.{minor}, which is not supported");
                let at = self.window.offset();
                self.queued.push_back(RecordingRecord::Damage(Damage { at, what }));
            }
        }
    }

    fn interface(&mut self, frame: BlockFrame) {
        let next = u16::try_from(self.buses).ok().map(BusId);
        let Some((interface, bus)) = PcapngInterface::parse(self.body(frame), frame.order, next)
        else {
            self.skip(SkippedContent::TooShort(frame.kind));
            return;
        };
        self.interfaces.push(interface);
        if let Some(bus) = bus {
            self.buses += 1;
            self.queued.push_back(RecordingRecord::Bus(bus));
        }
    }

    fn simple_packet(&mut self, frame: BlockFrame) {
        let kept_max = self.interfaces.first().map_or(0, |interface| interface.kept_max);
        self.skip(SkippedContent::NoTime);
        self.packet(frame, Packet::simple(self.body(frame), frame.order, kept_max));
    }

    #[inline]
    fn packet(&mut self, frame: BlockFrame, packet: Option<Packet>) {
        let Some(packet) = packet else {
            return self.skip(SkippedContent::TooShort(frame.kind));
        };
        let Some(interface) = self.interfaces.get_mut(packet.interface as usize) else {
            return self.skip(SkippedContent::NoInterface);
        };
        let bus = match interface.kind {
            InterfaceKind::Bus(bus) => bus,
            InterfaceKind::Other(link_type) => {
                return self.skip(SkippedContent::LinkType(link_type));
            }
        };
        let at = packet.time.map_or(interface.last, |count| interface.time(count));
        interface.last = at;
        let Packet { kept, len, mut drops, .. } = packet;
        let mut routing = None;
        let body = frame.body(self.window.shown(frame.len));
        if packet.options_start() < body.len() {
            let options = BlockOptions::new(body, packet.options_start(), frame.order);
            drops = options.number(option::PACKET_DROPS).unwrap_or(drops);
            routing = note::trace(options, frame.order, &mut self.deliveries);
        }
        let start = BODY_OFFSET + packet.start;
        self.message = Some(PcapngMessage { at, bus, start, kept, len, routing });
        if drops > 0 {
            self.lost(packet.interface, Some(at), drops);
        }
    }

    /// Statistics count from the start of the recording, so losses that were already reported are
    /// subtracted.
    fn statistics(&mut self, frame: BlockFrame) {
        let body = self.body(frame);
        let Some([id]) = blocks::words(body, frame.order) else {
            return self.skip(SkippedContent::TooShort(frame.kind));
        };
        let options = BlockOptions::new(body, 12, frame.order);
        let counts = [option::STATISTICS_DROPPED, option::STATISTICS_DROPPED_BY_SYSTEM];
        let counts = counts.map(|code| options.number(code).filter(|&count| count != NOT_COUNTED));
        let lost = counts.into_iter().flatten().fold(0_u64, u64::saturating_add);
        let reported = self.interfaces.get(id as usize).map(|interface| interface.lost);
        match reported {
            Some(reported) if lost > reported => self.lost(id, None, lost - reported),
            Some(_) => {}
            None => self.skip(SkippedContent::NoInterface),
        }
    }

    fn lost(&mut self, interface: u32, at: Option<RecordedTime>, count: u64) {
        let interface = &mut self.interfaces[interface as usize];
        interface.lost = interface.lost.saturating_add(count);
        if let InterfaceKind::Bus(bus) = interface.kind {
            let gap = RecordingGap { at, bus, cause: GapCause::RecorderLost, lost: Some(count) };
            self.queued.push_back(RecordingRecord::Gap(gap));
        }
    }

    fn note(&mut self, frame: BlockFrame) {
        let note = match Note::parse(self.body(frame), frame.order) {
            Ok(note) => note,
            Err(NoteError::Foreign) => return,
            Err(NoteError::Version(version)) => {
                return self.skip(SkippedContent::NoteVersion(version));
            }
            Err(NoteError::Broken) => return self.skip(SkippedContent::NoteBroken),
        };
        let interface = note.interface.map(|id| self.interfaces.get_mut(id as usize));
        let bus = match interface {
            None => BusId(0),
            Some(Some(&mut PcapngInterface {
                kind: InterfaceKind::Bus(bus),
                ref mut lost,
                ..
            })) => {
                *lost = lost.saturating_add(note.lost());
                bus
            }
            Some(_) => return self.skip(SkippedContent::NoInterface),
        };
        self.queued.push_back(note.record(bus));
    }
}

impl SkippedContent {
    fn counted(self, count: u64) -> String {
        match self {
            Self::LinkType(link_type) => {
                format!("{count} packets of link type {link_type}, which is not D-Bus")
            }
            Self::NoInterface => {
                format!("{count} blocks of an interface that the file does not describe")
            }
            Self::TooShort(kind) => format!("{count} blocks of type {kind} with too few bytes"),
            Self::NoteVersion(version) => {
                format!("{count} notes of version {version} of the format, which is not supported")
            }
            Self::NoteBroken => format!("{count} malformed notes"),
            Self::NoTime => {
                format!("{count} packets without a time; they get the time of the packet before")
            }
        }
    }
}

/// Returns true if a file begins with a section header of pcapng.
pub(crate) fn is_start(bytes: &[u8]) -> bool {
    bytes.starts_with(&block::SECTION.to_le_bytes())
        && BlockFrame::parse(bytes, ByteOrder::Little).is_ok()
}

/// The maximum length, in bytes, of a block that is recognized after damage.
const SOUGHT_LEN: usize = 1 << 16;

/// The value of a counter that was not counted.
const NOT_COUNTED: u64 = u64::MAX;
