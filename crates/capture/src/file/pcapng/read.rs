//! Reads pcapng.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read};

use super::blocks::{self, BlockFrame, BlockOptions, NoBlock, Packet, SectionVersion};
use super::interface::{Of, PcapngInterface};
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
    /// How many buses there were in all sections.
    buses: u32,
    /// Bytes of the block that was looked at last, of which a message may still be in use.
    behind: usize,
    told: VecDeque<RecordingRecord<'static>>,
    /// A message that comes when all was told that is before it.
    message: Option<PcapngMessage>,
    deliveries: Vec<TracedDelivery>,
    skipped: BTreeMap<Skipped, SkippedCount>,
    is_over: bool,
}

#[derive(Clone, Copy, Debug)]
enum Section {
    /// Its blocks can be read.
    Known(ByteOrder),
    /// It is of a version that cannot be read.
    Unknown(ByteOrder),
}

/// A message, which stands in the window.
#[derive(Clone, Copy, Debug)]
struct PcapngMessage {
    at: RecordedTime,
    bus: BusId,
    start: usize,
    kept: usize,
    len: u32,
    routing: Option<Routing>,
}

/// What is passed over, counted, and told of at the end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Skipped {
    LinkType(u16),
    NoInterface,
    TooShort(u32),
    NoteVersion(u16),
    NoteBroken,
    NoTime,
}

/// How often, and where first.
#[derive(Clone, Copy, Debug)]
struct SkippedCount {
    first: u64,
    count: u64,
}

/// What comes next, found without holding on to the window.
enum PcapngReadStep {
    Told(RecordingRecord<'static>),
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
            behind: 0,
            told: VecDeque::new(),
            message: None,
            deliveries: Vec::new(),
            skipped: BTreeMap::new(),
            is_over: false,
        }
    }

    pub(crate) fn next(&mut self) -> io::Result<Option<RecordingRecord<'_>>> {
        Ok(match self.step()? {
            PcapngReadStep::End => None,
            PcapngReadStep::Told(record) => Some(record),
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
            if let Some(record) = self.told.pop_front() {
                return Ok(PcapngReadStep::Told(record));
            }
            if let Some(found) = self.message.take() {
                return Ok(PcapngReadStep::Message(found));
            }
            if self.is_over {
                return Ok(PcapngReadStep::End);
            }
            self.window.advance(std::mem::take(&mut self.behind));
            self.block()?;
        }
    }

    /// Looks at the next block: what it has is then in `told` and `message`.
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
            Err(reason) => return self.pass_over(reason),
        };
        let block = self.window.peek(frame.len)?;
        if block.len() < frame.len {
            return self.pass_over(NoBlock::Cut);
        }
        if let Err(reason) = frame.check(block) {
            return self.pass_over(reason);
        }
        self.behind = frame.len;
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

    /// Goes on at the next place where a block may begin.
    fn pass_over(&mut self, reason: NoBlock) -> io::Result<()> {
        let (Section::Known(order) | Section::Unknown(order)) = self.section;
        let at = self.window.offset();
        let len = self.window.seek(SOUGHT_LEN, |bytes| BlockFrame::is_at(bytes, order))?;
        if reason == NoBlock::Cut && self.window.peek(1)?.is_empty() {
            let end = self.window.early_end();
            self.end(Some(end));
            return Ok(());
        }
        let why = match reason {
            NoBlock::Cut => "a block that claims more than the file has".to_owned(),
            NoBlock::NoOrder => "a section without an order of bytes".to_owned(),
            NoBlock::Length(len) => format!("a block that claims {len} bytes"),
            NoBlock::Lengths => "a block with two different lengths".to_owned(),
        };
        let what = format!("{why}; {len} bytes passed over");
        self.told.push_back(RecordingRecord::Damage(Damage { at, what }));
        Ok(())
    }

    fn end(&mut self, reason: Option<RecordingRecord<'static>>) {
        self.is_over = true;
        for (what, SkippedCount { first, count }) in std::mem::take(&mut self.skipped) {
            let damage = Damage { at: first, what: what.counted(count) };
            self.told.push_back(RecordingRecord::Damage(damage));
        }
        self.told.extend(reason);
    }

    fn skip(&mut self, what: Skipped) {
        let first = self.window.offset();
        self.skipped.entry(what).or_insert(SkippedCount { first, count: 0 }).count += 1;
    }
}

/// The types of blocks.
impl<R: Read> Pcapng<R> {
    fn section(&mut self, frame: BlockFrame) {
        self.interfaces.clear();
        self.section = Section::Known(frame.order);
        match blocks::origin(self.body(frame), frame.order) {
            Ok(origin) if origin == RecordingOrigin::default() => {}
            Ok(origin) => self.told.push_back(RecordingRecord::Origin(origin)),
            Err(SectionVersion([major, minor])) => {
                self.section = Section::Unknown(frame.order);
                let what = format!("a section of version {major}.{minor}, which is not known");
                let at = self.window.offset();
                self.told.push_back(RecordingRecord::Damage(Damage { at, what }));
            }
        }
    }

    fn interface(&mut self, frame: BlockFrame) {
        let next = u16::try_from(self.buses).ok().map(BusId);
        let Some((interface, bus)) = PcapngInterface::parse(self.body(frame), frame.order, next)
        else {
            self.skip(Skipped::TooShort(frame.kind));
            return;
        };
        self.interfaces.push(interface);
        if let Some(bus) = bus {
            self.buses += 1;
            self.told.push_back(RecordingRecord::Bus(bus));
        }
    }

    fn simple_packet(&mut self, frame: BlockFrame) {
        let kept_max = self.interfaces.first().map_or(0, |interface| interface.kept_max);
        self.skip(Skipped::NoTime);
        self.packet(frame, Packet::simple(self.body(frame), frame.order, kept_max));
    }

    #[inline]
    fn packet(&mut self, frame: BlockFrame, packet: Option<Packet>) {
        let Some(packet) = packet else {
            return self.skip(Skipped::TooShort(frame.kind));
        };
        let Some(interface) = self.interfaces.get_mut(packet.interface as usize) else {
            return self.skip(Skipped::NoInterface);
        };
        let bus = match interface.of {
            Of::Bus(bus) => bus,
            Of::Other(link_type) => return self.skip(Skipped::LinkType(link_type)),
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

    /// The counts of statistics are from the start: what was told of already is in them.
    fn statistics(&mut self, frame: BlockFrame) {
        let body = self.body(frame);
        let Some([id]) = blocks::words(body, frame.order) else {
            return self.skip(Skipped::TooShort(frame.kind));
        };
        let options = BlockOptions::new(body, 12, frame.order);
        let counts = [option::STATISTICS_DROPPED, option::STATISTICS_DROPPED_BY_SYSTEM];
        let counts = counts.map(|code| options.number(code).filter(|&count| count != NOT_COUNTED));
        let lost = counts.into_iter().flatten().fold(0_u64, u64::saturating_add);
        let told = self.interfaces.get(id as usize).map(|interface| interface.lost);
        match told {
            Some(told) if lost > told => self.lost(id, None, lost - told),
            Some(_) => {}
            None => self.skip(Skipped::NoInterface),
        }
    }

    fn lost(&mut self, interface: u32, at: Option<RecordedTime>, count: u64) {
        let interface = &mut self.interfaces[interface as usize];
        interface.lost = interface.lost.saturating_add(count);
        if let Of::Bus(bus) = interface.of {
            let gap = RecordingGap { at, bus, cause: GapCause::RecorderLost, lost: Some(count) };
            self.told.push_back(RecordingRecord::Gap(gap));
        }
    }

    fn note(&mut self, frame: BlockFrame) {
        let note = match Note::parse(self.body(frame), frame.order) {
            Ok(note) => note,
            Err(NoteError::Foreign) => return,
            Err(NoteError::Version(version)) => return self.skip(Skipped::NoteVersion(version)),
            Err(NoteError::Broken) => return self.skip(Skipped::NoteBroken),
        };
        let interface = note.interface.map(|id| self.interfaces.get_mut(id as usize));
        let bus = match interface {
            None => BusId(0),
            Some(Some(&mut PcapngInterface { of: Of::Bus(bus), ref mut lost, .. })) => {
                *lost = lost.saturating_add(note.lost());
                bus
            }
            Some(_) => return self.skip(Skipped::NoInterface),
        };
        self.told.push_back(note.record(bus));
    }
}

impl Skipped {
    fn counted(self, count: u64) -> String {
        match self {
            Self::LinkType(link_type) => {
                format!("{count} packets of link type {link_type}, not of D-Bus")
            }
            Self::NoInterface => format!("{count} blocks of an interface that is not described"),
            Self::TooShort(kind) => format!("{count} blocks of type {kind} with too few bytes"),
            Self::NoteVersion(version) => {
                format!("{count} notes of version {version} of the format, which is not known")
            }
            Self::NoteBroken => format!("{count} notes that cannot be read"),
            Self::NoTime => format!("{count} packets without a time; they have that before them"),
        }
    }
}

/// Whether a file begins like this.
pub(crate) fn is_start(bytes: &[u8]) -> bool {
    bytes.starts_with(&block::SECTION.to_le_bytes())
        && BlockFrame::parse(bytes, ByteOrder::Little).is_ok()
}

/// Bytes in the longest block that is found where only garbage was.
const SOUGHT_LEN: usize = 1 << 16;

/// A counter of statistics that says nothing.
const NOT_COUNTED: u64 = u64::MAX;
