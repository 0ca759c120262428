//! pcap, as `dbus-monitor --pcap`, old busctl and Bustle write it.

use std::io::{self, Read};

use super::window::Window;
use super::{LINK_TYPE_DBUS, Order, nanos};
use crate::record::{Bus, BusId, Damage, Gap, GapCause, RawMessage, Record, Time};

/// Reads a pcap file.
#[derive(Debug)]
pub(super) struct Pcap<R> {
    window: Window<R>,
    stage: Stage,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    Start,
    Bus(Layout),
    Packets(Layout),
    /// Bytes of a message that was passed on lie before the next packet.
    Behind(Layout, usize),
    End,
}

#[derive(Clone, Copy, Debug)]
struct Layout {
    order: Order,
    /// Fractions of a second in the times.
    per_second: u64,
    kept_max: u32,
    link_type: u32,
}

impl<R: Read> Pcap<R> {
    pub(super) const fn new(window: Window<R>) -> Self {
        Self { window, stage: Stage::Start }
    }

    pub(super) fn next(&mut self) -> io::Result<Option<Record<'_>>> {
        if let Stage::Start = self.stage {
            self.stage = match layout(self.window.peek(HEADER_LEN)?) {
                Some(layout) => Stage::Bus(layout),
                None => return Ok(Some(self.cut())),
            };
            self.window.advance(HEADER_LEN);
        }
        match self.stage {
            Stage::Start | Stage::End => Ok(None),
            Stage::Bus(layout) => {
                self.stage = Stage::Packets(layout);
                Ok(Some(about(layout)))
            }
            Stage::Packets(layout) => self.packet(layout),
            Stage::Behind(layout, len) => {
                self.window.advance(len);
                self.stage = Stage::Packets(layout);
                self.packet(layout)
            }
        }
    }

    fn packet(&mut self, layout: Layout) -> io::Result<Option<Record<'_>>> {
        let header = self.window.peek(PACKET_HEADER_LEN)?;
        if header.is_empty() {
            self.stage = Stage::End;
            return Ok(None);
        }
        let Some(header) = header.first_chunk::<PACKET_HEADER_LEN>() else {
            return Ok(Some(self.cut()));
        };
        let [seconds, fraction, kept, len] = words(header, layout.order);
        let at = self.window.offset();
        if kept > KEPT_MAX {
            self.stage = Stage::End;
            let what = format!("a packet of {kept} bytes, which is more than any message can have");
            return Ok(Some(Record::Damage(Damage { at, what })));
        }
        let whole = PACKET_HEADER_LEN + kept as usize;
        if self.window.peek(whole)?.len() < whole {
            return Ok(Some(self.cut()));
        }
        self.stage = Stage::Behind(layout, whole);
        if layout.link_type != LINK_TYPE_DBUS {
            self.stage = Stage::End;
            let what = format!("packets of link type {}, not of D-Bus", layout.link_type);
            return Ok(Some(Record::Damage(Damage { at, what })));
        }
        let time =
            i64::from(seconds) * 1_000_000_000 + nanos(u64::from(fraction), layout.per_second);
        Ok(Some(Record::Message(RawMessage {
            at: Time(time),
            bus: BusId(0),
            bytes: &self.window.shown(whole)[PACKET_HEADER_LEN..],
            len: len.max(kept),
            place: Some(at + PACKET_HEADER_LEN as u64),
            trace: None,
        })))
    }

    fn cut(&mut self) -> Record<'static> {
        self.stage = Stage::End;
        Record::Gap(Gap { at: None, bus: BusId(0), cause: GapCause::CutFile, lost: None })
    }
}

fn about(layout: Layout) -> Record<'static> {
    let kept_max = Some(layout.kept_max).filter(|&max| max > 0 && max < SNAPLEN_ALL);
    Record::Bus(Bus { kept_max, ..Bus::default() })
}

/// What the header of a file says; `None` where none stands.
fn layout(header: &[u8]) -> Option<Layout> {
    let header: &[u8; HEADER_LEN] = header.first_chunk()?;
    let (order, per_second) = magic(header.first_chunk()?)?;
    let word = |at: usize| order.u32([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    // The upper bits hold the length of a checksum, which D-Bus has none of.
    Some(Layout { order, per_second, kept_max: word(16), link_type: word(20) & 0xFFFF })
}

/// The order of the bytes and the unit of times, from the first word of a file.
pub(super) fn magic(bytes: &[u8; 4]) -> Option<(Order, u64)> {
    [(Order::Little, u32::from_le_bytes(*bytes)), (Order::Big, u32::from_be_bytes(*bytes))]
        .into_iter()
        .find_map(|(order, word)| match word {
            MAGIC_MICROS => Some((order, 1_000_000)),
            MAGIC_NANOS => Some((order, 1_000_000_000)),
            _ => None,
        })
}

fn words(bytes: &[u8; PACKET_HEADER_LEN], order: Order) -> [u32; 4] {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = order.u32(*bytes);
    }
    words
}

const MAGIC_MICROS: u32 = 0xA1B2_C3D4;
const MAGIC_NANOS: u32 = 0xA1B2_3C4D;
const HEADER_LEN: usize = 24;
const PACKET_HEADER_LEN: usize = 16;

/// Bytes in the longest packet that is believed: more than a message may have.
const KEPT_MAX: u32 = 1 << 28;

/// From this snap length on nothing was cut: no message is longer.
const SNAPLEN_ALL: u32 = 1 << 27;
