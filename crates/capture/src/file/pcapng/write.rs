//! The writer of pcapng files.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};

use serde::Serialize;

use super::note::{self, DamageText, GapText, PcapngNoteKind};
use super::{BODY_OFFSET, FILTER_TEXT, ORDER_MAGIC, PACKET_OFFSET, TRAILER_LEN};
use super::{block, option, padding};
use crate::file::number::LINK_TYPE_DBUS;
use crate::record::{
    BusId, CaptureMethod, RawMessage, RecordedBus, RecordingGap, RecordingOrigin, TracedDelivery,
};
use crate::record::{RecordedTime, RecordingRecord, Stages, Trace};

/// Writes a recording as pcapng.
///
/// Blocks are buffered and written whole, many with one call; [`flush`](Self::flush) writes all of
/// them. A truncated file, because the writer was killed or the disk was full, can be read up to
/// the truncation.
///
/// If `out` returns an error, no data is lost: the data that `out` did not accept stays in the
/// buffer, and the next call continues after the accepted part.
///
/// Dropping the writer discards buffered data. [`RecordingRecord::Bus`] records get increasing bus
/// numbers from 0. If a record refers to a bus that was not described, an empty description is
/// written first.
#[derive(Debug)]
pub struct PcapngWriter<W> {
    out: W,
    /// Buffered blocks, without the bytes that `out` has accepted.
    blocks: Vec<u8>,
    interfaces: Vec<WrittenInterface>,
    written: WrittenCounts,
    /// The offset in the file of the first block that was not written by the last complete write.
    boundary: u64,
}

/// The amount of data that a [`PcapngWriter`] has accepted, including buffered data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WrittenCounts {
    /// The length of the file in bytes.
    pub bytes: u64,
    /// The number of messages in the file.
    pub messages: u64,
}

/// The statistics of a bus, which are written at the end.
#[derive(Clone, Debug, Default)]
struct WrittenInterface {
    first: Option<RecordedTime>,
    last: RecordedTime,
    messages: u64,
    lost: u64,
}

impl<W: Write> PcapngWriter<W> {
    /// Begins a file with a section header.
    ///
    /// # Errors
    ///
    /// None in practice: the header is only buffered.
    pub fn new(out: W, origin: &RecordingOrigin) -> io::Result<Self> {
        let blocks = Vec::with_capacity(STRETCH);
        let written = WrittenCounts::default();
        let mut writer = Self { out, blocks, interfaces: Vec::new(), written, boundary: 0 };
        writer.section(origin)?;
        Ok(writer)
    }

    /// Writes the next record.
    ///
    /// # Errors
    ///
    /// If writing to `out` fails. The record was then not accepted, and may be passed again.
    pub fn write(&mut self, record: &RecordingRecord<'_>) -> io::Result<()> {
        if self.blocks.len() >= STRETCH {
            self.drain()?;
        }
        match record {
            RecordingRecord::Message(raw) => self.message(raw),
            RecordingRecord::Bus(bus) => self.interface(bus),
            RecordingRecord::Origin(origin) => {
                self.note(PcapngNoteKind::Origin, None, None, origin)
            }
            RecordingRecord::Fact { at, bus, fact } => {
                self.note(PcapngNoteKind::Fact, Some(*at), Some(*bus), fact)
            }
            RecordingRecord::Gap(gap) => self.gap(gap),
            RecordingRecord::Damage(damage) => {
                let what = Cow::Borrowed(damage.what.as_str());
                self.note(PcapngNoteKind::Damage, None, None, &DamageText { at: damage.at, what })
            }
        }
    }

    /// Writes a record like [`write`](Self::write), unless the file would exceed `max` bytes.
    /// Returns true if the record was written.
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write).
    pub fn write_within(&mut self, record: &RecordingRecord<'_>, max: u64) -> io::Result<bool> {
        if self.blocks.len() >= STRETCH {
            self.drain()?;
        }
        let before = (self.blocks.len(), self.written, self.interfaces.clone());
        self.write(record)?;
        if self.written.bytes <= max {
            return Ok(true);
        }
        self.blocks.truncate(before.0);
        (self.written, self.interfaces) = (before.1, before.2);
        Ok(false)
    }

    /// Writes all buffered data to the file.
    ///
    /// # Errors
    ///
    /// If writing to `out` fails.
    pub fn flush(&mut self) -> io::Result<()> {
        self.drain()?;
        self.out.flush()
    }

    /// Returns the amount of data accepted so far.
    pub const fn written(&self) -> WrittenCounts {
        self.written
    }

    /// Returns the output of the writer.
    pub const fn out(&self) -> &W {
        &self.out
    }

    /// Writes the statistics of each bus and returns the output.
    ///
    /// # Errors
    ///
    /// If writing to `out` fails.
    pub fn finish(mut self) -> io::Result<W> {
        self.end()?;
        Ok(self.out)
    }

    /// Writes the statistics of each bus, which end the file.
    ///
    /// # Errors
    ///
    /// If writing to `out` fails.
    pub fn end(&mut self) -> io::Result<()> {
        for (id, interface) in std::mem::take(&mut self.interfaces).iter().enumerate() {
            self.statistics(id as u32, interface)?;
        }
        self.flush()
    }

    /// Writes all buffered blocks, with one call if `out` accepts them.
    fn drain(&mut self) -> io::Result<()> {
        while !self.blocks.is_empty() {
            match self.out.write(&self.blocks) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => drop(self.blocks.drain(..count)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.boundary = self.written.bytes;
        Ok(())
    }
}

/// Truncation of a file on a full disk.
impl PcapngWriter<File> {
    /// Removes the last blocks, until `len` bytes can be written without growing the file. Buffered
    /// blocks are removed first. Returns the number of removed messages of each bus.
    ///
    /// The file must be open for reading as well, and no other process may write to it.
    ///
    /// # Errors
    ///
    /// If accessing the file fails, which leaves it unchanged. `Unsupported` if one of these blocks
    /// describes a bus.
    pub fn make_room(&mut self, len: u64) -> io::Result<Vec<u64>> {
        let file_len = self.written.bytes - self.blocks.len() as u64;
        self.out.seek(SeekFrom::Start(self.boundary))?;
        let mut blocks = Vec::new();
        (&self.out).take(file_len - self.boundary).read_to_end(&mut blocks)?;
        blocks.extend_from_slice(&self.blocks);
        let mut taken_back = vec![0; self.interfaces.len()];
        let mut kept = 0;
        let mut at = 0;
        while let Some((kind, block)) = blocks.get(at..).and_then(first_block) {
            let is_kept = kept == at && self.boundary + (at + block.len()) as u64 + len <= file_len;
            at += block.len();
            match kind {
                _ if is_kept => kept = at,
                block::INTERFACE => return Err(io::ErrorKind::Unsupported.into()),
                block::ENHANCED_PACKET => taken_back[interface_of(block)] += 1,
                _ => {}
            }
        }
        self.boundary += kept as u64;
        self.out.set_len(self.boundary)?;
        self.out.seek(SeekFrom::End(0))?;
        self.blocks.clear();
        self.written.bytes = self.boundary;
        for (interface, count) in self.interfaces.iter_mut().zip(&taken_back) {
            interface.messages -= count;
            self.written.messages -= count;
        }
        Ok(taken_back)
    }
}

/// The type and the bytes of the first block.
fn first_block(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let word = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    let (kind, len) = (word(0)?, word(4)?);
    Some((kind, bytes.get(..len as usize)?))
}

/// The interface number of an enhanced packet block.
fn interface_of(block: &[u8]) -> usize {
    let id = block.get(BODY_OFFSET..).and_then(|body| body.first_chunk());
    u32::from_le_bytes(*id.expect("every such block has it")) as usize
}

/// Writers of the block types.
impl<W: Write> PcapngWriter<W> {
    fn section(&mut self, origin: &RecordingOrigin) -> io::Result<()> {
        self.block(block::SECTION, |body| {
            word(body, ORDER_MAGIC);
            half(body, 1);
            half(body, 0);
            // The length of the section is not known in advance.
            body.extend_from_slice(&(-1_i64).to_le_bytes());
            let facts = [
                (option::SECTION_HARDWARE, &origin.hardware),
                (option::SECTION_SYSTEM, &origin.system),
                (option::SECTION_PROGRAM, &origin.program),
            ];
            for comment in &origin.comments {
                put_option(body, option::COMMENT, &[comment.as_bytes()]);
            }
            for (code, text) in facts {
                if let Some(text) = text {
                    put_option(body, code, &[text.as_bytes()]);
                }
            }
            end_options(body);
            Ok(())
        })
    }

    fn interface(&mut self, bus: &RecordedBus) -> io::Result<()> {
        let text = serde_json::to_vec(bus)?;
        self.block(block::INTERFACE, |body| {
            half(body, LINK_TYPE_DBUS as u16);
            half(body, 0);
            word(body, bus.kept_max.unwrap_or(0));
            if !bus.name.is_empty() {
                put_option(body, option::INTERFACE_NAME, &[bus.name.as_bytes()]);
            }
            put_option(body, option::INTERFACE_DESCRIPTION, &[description(bus).as_bytes()]);
            put_option(body, option::INTERFACE_RESOLUTION, &[&[NANOSECONDS]]);
            if !bus.filters.is_empty() {
                let filters = bus.filters.join("; ");
                put_option(body, option::INTERFACE_FILTER, &[&[FILTER_TEXT], filters.as_bytes()]);
            }
            put_option(body, note::BUS_OPTION, &[&mark(), &text]);
            end_options(body);
            Ok(())
        })?;
        self.interfaces.push(WrittenInterface::default());
        Ok(())
    }

    fn message(&mut self, raw: &RawMessage<'_>) -> io::Result<()> {
        self.known(raw.bus)?;
        self.block(block::ENHANCED_PACKET, |body| {
            let kept = u32::try_from(raw.bytes.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
            let mut header = [0; PACKET_OFFSET - BODY_OFFSET];
            let words = [raw.bus.0.into(), high(raw.at), low(raw.at), kept, raw.len.max(kept)];
            for (bytes, word) in header.as_chunks_mut().0.iter_mut().zip(words) {
                *bytes = u32::to_le_bytes(word);
            }
            body.extend_from_slice(&header);
            put_padded(body, raw.bytes);
            if let Some(trace) = &raw.trace {
                put_trace(body, trace);
            }
            Ok(())
        })?;
        let interface = &mut self.interfaces[usize::from(raw.bus.0)];
        interface.first.get_or_insert(raw.at);
        interface.last = raw.at;
        interface.messages += 1;
        self.written.messages += 1;
        Ok(())
    }

    fn gap(&mut self, gap: &RecordingGap) -> io::Result<()> {
        let text = GapText { cause: gap.cause, lost: gap.lost };
        self.note(PcapngNoteKind::Gap, gap.at, Some(gap.bus), &text)?;
        self.interfaces[usize::from(gap.bus.0)].lost += gap.lost.unwrap_or(0);
        Ok(())
    }

    fn note(
        &mut self,
        kind: PcapngNoteKind,
        at: Option<RecordedTime>,
        bus: Option<BusId>,
        content: &impl Serialize,
    ) -> io::Result<()> {
        if let Some(bus) = bus {
            self.known(bus)?;
        }
        let text = serde_json::to_vec(content)?;
        let len = u32::try_from(text.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        self.block(block::NOTE, |body| {
            body.extend_from_slice(&note::MARK);
            half(body, note::VERSION);
            half(body, kind as u16);
            word(body, bus.map_or(note::NO_BUS, |bus| bus.0.into()));
            word(body, len);
            body.extend_from_slice(&at.map_or(note::NO_TIME, |at| at.0).to_le_bytes());
            put_padded(body, &text);
            Ok(())
        })
    }

    fn statistics(&mut self, id: u32, interface: &WrittenInterface) -> io::Result<()> {
        self.block(block::STATISTICS, |body| {
            for part in [id, high(interface.last), low(interface.last)] {
                word(body, part);
            }
            let times = [
                (option::STATISTICS_START, interface.first.unwrap_or_default()),
                (option::STATISTICS_END, interface.last),
            ];
            for (code, at) in times.into_iter().filter(|_| interface.first.is_some()) {
                put_option(body, code, &[&high(at).to_le_bytes(), &low(at).to_le_bytes()]);
            }
            let received = interface.messages + interface.lost;
            put_option(body, option::STATISTICS_RECEIVED, &[&received.to_le_bytes()]);
            put_option(body, option::STATISTICS_DROPPED, &[&interface.lost.to_le_bytes()]);
            end_options(body);
            Ok(())
        })
    }

    /// Describes the buses up to this one, with empty descriptions, unless they have been
    /// described.
    fn known(&mut self, bus: BusId) -> io::Result<()> {
        while self.interfaces.len() <= usize::from(bus.0) {
            self.interface(&RecordedBus::default())?;
        }
        Ok(())
    }

    /// Appends a block whose body is written by `fill`; none if `fill` fails.
    fn block(
        &mut self,
        kind: u32,
        fill: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
    ) -> io::Result<()> {
        let start = self.blocks.len();
        word(&mut self.blocks, kind);
        word(&mut self.blocks, 0);
        if let Err(error) = fill(&mut self.blocks) {
            self.blocks.truncate(start);
            return Err(error);
        }
        let Ok(len) = u32::try_from(self.blocks.len() + TRAILER_LEN - start) else {
            self.blocks.truncate(start);
            return Err(io::ErrorKind::InvalidInput.into());
        };
        self.blocks[start + 4..start + BODY_OFFSET].copy_from_slice(&len.to_le_bytes());
        word(&mut self.blocks, len);
        self.written.bytes += u64::from(len);
        Ok(())
    }
}

/// The description of a bus for other programs.
fn description(bus: &RecordedBus) -> String {
    let how = match bus.method {
        CaptureMethod::Unknown => "D-Bus messages",
        CaptureMethod::Trace => "D-Bus messages, recorded by the bus",
        CaptureMethod::Monitor => "D-Bus messages, recorded by a monitor",
        CaptureMethod::Eavesdrop => "D-Bus messages, recorded by eavesdropping",
    };
    match &bus.address {
        Some(address) => format!("{how}: {address}"),
        None => how.to_owned(),
    }
}

fn put_trace(body: &mut Vec<u8>, trace: &Trace<'_>) {
    let routed_after = note::nanos(trace.routing.after).to_le_bytes();
    let (first, rest) = trace.deliveries.split_at(trace.deliveries.len().min(note::DELIVERIES_MAX));
    for part in std::iter::once(first).chain(rest.chunks(note::DELIVERIES_MAX)) {
        // Avoids allocations, since every message has a trace.
        let len = note::MARK_LEN + routed_after.len() + part.len() * note::DELIVERY_LEN;
        half(body, note::TRACE_OPTION);
        half(body, len as u16);
        body.extend_from_slice(&mark());
        body.extend_from_slice(&routed_after);
        part.iter().for_each(|copy| body.extend_from_slice(&note::delivery(copy)));
        body.resize(body.len() + padding(len), 0);
    }
    let is_begun = |copy: &TracedDelivery| copy.begun_after.is_some();
    if trace.routing.stages.is_some() || trace.deliveries.iter().any(is_begun) {
        put_stages(body, trace);
    }
    end_options(body);
}

fn put_stages(body: &mut Vec<u8>, trace: &Trace<'_>) {
    let numbers = Stages::to_numbers(trace.routing.stages);
    let copies = trace.deliveries.iter().enumerate();
    let mut parted = copies.filter(|(_, copy)| copy.begun_after != copy.written_after).peekable();
    loop {
        half(body, note::STAGES_OPTION);
        let len_at = body.len();
        half(body, 0);
        body.extend_from_slice(&mark());
        numbers.iter().for_each(|number| body.extend_from_slice(&number.to_le_bytes()));
        for (index, copy) in parted.by_ref().take(note::PARTED_MAX) {
            body.extend_from_slice(&note::parted(index, copy));
        }
        end_option(body, len_at);
        if parted.peek().is_none() {
            break;
        }
    }
}

fn mark() -> [u8; note::MARK_LEN] {
    let mut bytes = [0; note::MARK_LEN];
    bytes[..4].copy_from_slice(&note::MARK);
    bytes[4..6].copy_from_slice(&note::VERSION.to_le_bytes());
    bytes
}

/// Appends an option whose value is the concatenation of `parts`, truncated to the maximum length.
fn put_option(body: &mut Vec<u8>, code: u16, parts: &[&[u8]]) {
    half(body, code);
    let len_at = body.len();
    half(body, 0);
    for part in parts {
        body.extend_from_slice(part);
    }
    body.truncate(len_at + 2 + OPTION_LEN_MAX);
    end_option(body, len_at);
}

/// Completes an option: writes its length at `len_at`, and appends the padding.
fn end_option(body: &mut Vec<u8>, len_at: usize) {
    let len = body.len() - len_at - 2;
    body[len_at..len_at + 2].copy_from_slice(&(len as u16).to_le_bytes());
    body.resize(body.len() + padding(len), 0);
}

fn end_options(body: &mut Vec<u8>) {
    half(body, option::END);
    half(body, 0);
}

fn put_padded(body: &mut Vec<u8>, bytes: &[u8]) {
    body.extend_from_slice(bytes);
    body.resize(body.len() + padding(bytes.len()), 0);
}

fn word(body: &mut Vec<u8>, word: u32) {
    body.extend_from_slice(&word.to_le_bytes());
}

fn half(body: &mut Vec<u8>, half: u16) {
    body.extend_from_slice(&half.to_le_bytes());
}

/// The upper half of a time in nanoseconds; 0 before 1970.
fn high(at: RecordedTime) -> u32 {
    (at.0.max(0) >> 32) as u32
}

fn low(at: RecordedTime) -> u32 {
    at.0.max(0) as u32
}

/// The number of buffered bytes at which blocks are written.
const STRETCH: usize = 1 << 18;

/// The maximum length of the value of an option in bytes.
const OPTION_LEN_MAX: usize = u16::MAX as usize;

/// The resolution of times: 10 to the power of minus 9 seconds.
const NANOSECONDS: u8 = 9;
