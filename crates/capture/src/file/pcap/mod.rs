//! Reads and writes pcap, as `dbus-monitor --pcap`, old versions of busctl, and Bustle do.

mod write;

use std::io::{self, Read};

pub use write::PcapWriter;

use super::binary;
use super::number::{ByteOrder, LINK_TYPE_DBUS, SNAP_LEN_ALL, TimeUnit};
use super::window::FileWindow;
use crate::record::{BusId, Damage, RawMessage, RecordedBus, RecordedTime, RecordingRecord};

/// Reads a pcap file.
#[derive(Debug)]
pub(super) struct Pcap<R> {
    window: FileWindow<R>,
    stage: PcapReadStage,
}

#[derive(Clone, Copy, Debug)]
enum PcapReadStage {
    Start,
    /// This number of bytes, already returned as a message, precedes the next packet.
    After(PcapLayout, usize),
    End,
}

#[derive(Clone, Copy, Debug)]
struct PcapLayout {
    order: ByteOrder,
    unit: TimeUnit,
    kept_max: u32,
    link_type: u32,
}

/// The header of a packet.
#[derive(Clone, Copy, Debug)]
struct PcapPacketHeader {
    seconds: u32,
    fraction: u32,
    kept: u32,
    len: u32,
}

impl<R: Read> Pcap<R> {
    pub(super) const fn new(window: FileWindow<R>) -> Self {
        Self { window, stage: PcapReadStage::Start }
    }

    pub(super) fn next(&mut self) -> io::Result<Option<RecordingRecord<'_>>> {
        match self.stage {
            PcapReadStage::Start => self.start().map(Some),
            PcapReadStage::End => Ok(None),
            PcapReadStage::After(layout, len) => {
                self.window.advance(len);
                self.packet(layout)
            }
        }
    }

    fn start(&mut self) -> io::Result<RecordingRecord<'static>> {
        let Some(layout) = layout(self.window.peek(HEADER_LEN)?) else {
            self.stage = PcapReadStage::End;
            return Ok(self.window.early_end());
        };
        self.window.advance(HEADER_LEN);
        self.stage = PcapReadStage::After(layout, 0);
        let kept_max = Some(layout.kept_max).filter(|&max| max > 0 && max < SNAP_LEN_ALL);
        Ok(RecordingRecord::Bus(RecordedBus { kept_max, ..RecordedBus::default() }))
    }

    fn packet(&mut self, layout: PcapLayout) -> io::Result<Option<RecordingRecord<'_>>> {
        let at = self.window.offset();
        let bytes = self.window.peek(PACKET_HEADER_LEN)?;
        if bytes.is_empty() {
            self.stage = PcapReadStage::End;
            return Ok(self.window.failure());
        }
        let Some(header) = header(bytes, layout.order) else {
            self.stage = PcapReadStage::End;
            return Ok(Some(self.window.early_end()));
        };
        if header.kept > KEPT_MAX {
            return self.resynchronize(layout, PacketFault::TooLong(header.kept)).map(Some);
        }
        let whole = PACKET_HEADER_LEN + header.kept as usize;
        if self.window.peek(whole)?.len() < whole {
            return self.resynchronize(layout, PacketFault::EndsBefore).map(Some);
        }
        if !may_hold(layout.link_type, &self.window.shown(whole)[PACKET_HEADER_LEN..]) {
            return Ok(Some(self.foreign(layout)));
        }
        self.stage = PcapReadStage::After(layout, whole);
        Ok(Some(RecordingRecord::Message(RawMessage {
            at: time(header, layout.unit),
            bus: BusId(0),
            bytes: &self.window.shown(whole)[PACKET_HEADER_LEN..],
            len: header.len.max(header.kept),
            place: Some(at + PACKET_HEADER_LEN as u64),
            trace: None,
        })))
    }

    fn foreign(&mut self, layout: PcapLayout) -> RecordingRecord<'static> {
        self.stage = PcapReadStage::End;
        let what = format!("packets of link type {}, which is not D-Bus", layout.link_type);
        RecordingRecord::Damage(Damage { at: self.window.offset(), what })
    }

    /// Skips to the next packet whose message has the length that the packet states.
    fn resynchronize(
        &mut self,
        layout: PcapLayout,
        fault: PacketFault,
    ) -> io::Result<RecordingRecord<'static>> {
        let at = self.window.offset();
        let len = self.window.seek(START_LEN, |bytes| is_start(bytes, layout.order))?;
        let is_over = self.window.peek(1)?.is_empty();
        if is_over && matches!(fault, PacketFault::EndsBefore) {
            self.stage = PcapReadStage::End;
            return Ok(self.window.early_end());
        }
        self.stage = PcapReadStage::After(layout, 0);
        Ok(RecordingRecord::Damage(Damage { at, what: fault.description(len) }))
    }
}

/// The fault of a packet.
#[derive(Clone, Copy, Debug)]
enum PacketFault {
    TooLong(u32),
    EndsBefore,
}

impl PacketFault {
    fn description(self, len: u64) -> String {
        match self {
            Self::TooLong(kept) => {
                format!("a packet with an impossible length of {kept} bytes; {len} bytes skipped")
            }
            Self::EndsBefore => {
                format!("a packet that is longer than the rest of the file; {len} bytes skipped")
            }
        }
    }
}

/// Parses the header of a file; `None` if it is invalid.
fn layout(bytes: &[u8]) -> Option<PcapLayout> {
    let (order, unit) = magic(bytes.first_chunk()?)?;
    let kept_max = order.u32_at(bytes, 16)?;
    // The upper bits hold the length of a checksum, which D-Bus does not use.
    let link_type = order.u32_at(bytes, 20)? & 0xFFFF;
    Some(PcapLayout { order, unit, kept_max, link_type })
}

/// The byte order and the unit of times, from the first word of a file.
pub(super) fn magic(bytes: &[u8; 4]) -> Option<(ByteOrder, TimeUnit)> {
    [(ByteOrder::Little, u32::from_le_bytes(*bytes)), (ByteOrder::Big, u32::from_be_bytes(*bytes))]
        .into_iter()
        .find_map(|(order, word)| match word {
            MAGIC_MICROS => Some((order, TimeUnit::MICROSECOND)),
            MAGIC_NANOS => Some((order, TimeUnit::NANOSECOND)),
            _ => None,
        })
}

#[inline]
fn header(bytes: &[u8], order: ByteOrder) -> Option<PcapPacketHeader> {
    let bytes: &[u8; PACKET_HEADER_LEN] = bytes.first_chunk()?;
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = order.u32(*bytes);
    }
    let [seconds, fraction, kept, len] = words;
    Some(PcapPacketHeader { seconds, fraction, kept, len })
}

fn time(header: PcapPacketHeader, unit: TimeUnit) -> RecordedTime {
    RecordedTime(i64::from(header.seconds) * 1_000_000_000 + unit.nanos(header.fraction.into()))
}

/// Returns true if a packet may be a message. Bustle once used the link type of the loopback
/// interface, whose packets begin with the number of an address family.
fn may_hold(link_type: u32, bytes: &[u8]) -> bool {
    match link_type {
        LINK_TYPE_DBUS => true,
        LINK_TYPE_NULL => matches!(bytes.first(), None | Some(b'l' | b'B')),
        _ => false,
    }
}

/// Returns true if these bytes may be the header of a packet and the start of its message.
fn is_start(bytes: &[u8], order: ByteOrder) -> bool {
    let (Some(header), Some(message)) = (header(bytes, order), bytes.get(PACKET_HEADER_LEN..))
    else {
        return false;
    };
    binary::is_start(message)
        && header.kept <= header.len
        && binary::message_len(message) == Some(header.len as usize)
}

const MAGIC_MICROS: u32 = 0xA1B2_C3D4;
const MAGIC_NANOS: u32 = 0xA1B2_3C4D;
const LINK_TYPE_NULL: u32 = 0;
const HEADER_LEN: usize = 24;
const PACKET_HEADER_LEN: usize = 16;

/// The number of bytes by which a packet is recognized.
const START_LEN: usize = PACKET_HEADER_LEN + 20;

/// The maximum length of a packet, in bytes. It is longer than any message.
const KEPT_MAX: u32 = 1 << 28;
