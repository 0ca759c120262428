//! Diligence's additions to pcapng: notes, which are blocks of a type for local use, and options
//! with codes for local use. Each begins with a mark, to distinguish it from notes of other
//! programs.

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::blocks::BlockOptions;
use crate::file::number::ByteOrder;
use crate::record::{
    BusId, Damage, Fact, GapCause, RecordedTime, RecordingGap, RecordingOrigin, RecordingRecord,
    Routing, Stages, TracedDelivery,
};

/// The code of the option of an interface description that holds the
/// [`RecordedBus`](crate::record::RecordedBus) as JSON. Codes with the highest bit set are reserved
/// for local use.
pub(super) const BUS_OPTION: u16 = 0x8D01;

/// The code of the option of a packet that holds its [`Trace`](crate::record::Trace).
pub(super) const TRACE_OPTION: u16 = 0x8D02;

/// The code of the option of a packet that holds the stages of its [`Routing`], and the copies that
/// were written in several parts.
pub(super) const STAGES_OPTION: u16 = 0x8D03;

/// The first bytes of each note and option of Diligence, in either byte order.
pub(super) const MARK: [u8; 4] = *b"DLGC";

/// The version of the format, after the mark. It increases with changes that would mislead readers
/// of the previous version.
pub(super) const VERSION: u16 = 1;

/// The number of bytes of the mark and the version, with padding.
pub(super) const MARK_LEN: usize = 8;

/// The kind of a note. The numbers are part of the format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u16)]
pub(super) enum PcapngNoteKind {
    Fact = 1,
    Gap = 2,
    Damage = 3,
    Origin = 4,
}

/// A note, parsed from a block.
#[derive(Debug)]
pub(super) struct Note {
    /// The interface that the note is about.
    pub(super) interface: Option<u32>,
    at: Option<RecordedTime>,
    content: NoteContent,
}

#[derive(Debug)]
enum NoteContent {
    Fact(Fact),
    Gap(GapText),
    Damage(DamageText<'static>),
    Origin(RecordingOrigin),
}

/// The reasons why a block is not a readable note.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NoteError {
    /// Another program uses the same block type.
    Foreign,
    /// The version of the note is unsupported.
    Version(u16),
    /// The content of the note is malformed.
    Broken,
}

impl Note {
    /// Parses the body of a note block.
    pub(super) fn parse(body: &[u8], order: ByteOrder) -> Result<Self, NoteError> {
        if !body.starts_with(&MARK) {
            return Err(NoteError::Foreign);
        }
        let version = order.u16_at(body, 4).ok_or(NoteError::Broken)?;
        if version != VERSION {
            return Err(NoteError::Version(version));
        }
        Self::current(body, order).ok_or(NoteError::Broken)
    }

    fn current(body: &[u8], order: ByteOrder) -> Option<Self> {
        let kind = order.u16_at(body, 6)?;
        let interface = order.u32_at(body, 8)?;
        let len = order.u32_at(body, 12)?;
        let at = order.u64_at(body, 16)? as i64;
        let text = body.get(TEXT_OFFSET..)?.get(..len as usize)?;
        Some(Self {
            interface: Some(interface).filter(|&interface| interface != NO_BUS),
            at: Some(RecordedTime(at)).filter(|_| at != NO_TIME),
            content: NoteContent::parse(kind, text)?,
        })
    }

    /// The number of lost messages that the note reports.
    pub(super) fn lost(&self) -> u64 {
        match &self.content {
            NoteContent::Gap(gap) => gap.lost.unwrap_or(0),
            NoteContent::Fact(_) | NoteContent::Damage(_) | NoteContent::Origin(_) => 0,
        }
    }

    /// The note as a record. `bus` is its bus, if it has one.
    pub(super) fn record(self, bus: BusId) -> RecordingRecord<'static> {
        let at = self.at;
        match self.content {
            NoteContent::Fact(fact) => {
                RecordingRecord::Fact { at: at.unwrap_or_default(), bus, fact }
            }
            NoteContent::Gap(GapText { cause, lost }) => {
                RecordingRecord::Gap(RecordingGap { at, bus, cause, lost })
            }
            NoteContent::Damage(DamageText { at, what }) => {
                RecordingRecord::Damage(Damage { at, what: what.into_owned() })
            }
            NoteContent::Origin(origin) => RecordingRecord::Origin(origin),
        }
    }
}

impl NoteContent {
    fn parse(kind: u16, text: &[u8]) -> Option<Self> {
        const FACT: u16 = PcapngNoteKind::Fact as u16;
        const GAP: u16 = PcapngNoteKind::Gap as u16;
        const DAMAGE: u16 = PcapngNoteKind::Damage as u16;
        const ORIGIN: u16 = PcapngNoteKind::Origin as u16;
        Some(match kind {
            FACT => Self::Fact(serde_json::from_slice(text).ok()?),
            GAP => Self::Gap(serde_json::from_slice(text).ok()?),
            DAMAGE => {
                let DamageText { at, what } = serde_json::from_slice(text).ok()?;
                Self::Damage(DamageText { at, what: Cow::Owned(what.into_owned()) })
            }
            ORIGIN => Self::Origin(serde_json::from_slice(text).ok()?),
            _ => return None,
        })
    }
}

/// The value of an option of Diligence after its mark; `None` if another program wrote the option,
/// or its version is unsupported.
pub(super) fn content(option: &[u8]) -> Option<&[u8]> {
    // The version in either byte order: only one byte is not zero.
    let (head, content) = option.split_at_checked(MARK_LEN)?;
    let is_ours = head[..4] == MARK && (head[4..6] == [1, 0] || head[4..6] == [0, 1]);
    is_ours.then_some(content)
}

/// Parses the trace in the options of a packet: the copies into `deliveries`, and the returned
/// routing. `None` if the packet has no trace.
pub(super) fn trace(
    options: BlockOptions<'_>,
    order: ByteOrder,
    deliveries: &mut Vec<TracedDelivery>,
) -> Option<Routing> {
    deliveries.clear();
    let (mut after, mut stages, mut has_stages) = (None, None, false);
    for (code, value) in options {
        match code {
            TRACE_OPTION => {
                let value = content(value)?;
                after = Some(Duration::from_nanos(order.u64_at(value, 0)?));
                let copies = value[8..].as_chunks::<DELIVERY_LEN>().0;
                deliveries.extend(copies.iter().filter_map(|copy| parse_delivery(copy, order)));
            }
            STAGES_OPTION => {
                if let Some(value) = content(value)
                    && let Some((numbers, parted)) = value.split_at_checked(STAGES_LEN)
                {
                    if !has_stages {
                        deliveries
                            .iter_mut()
                            .for_each(|copy| copy.begun_after = copy.written_after);
                        has_stages = true;
                    }
                    let number = |index: usize| order.u32_at(numbers, 4 * index);
                    stages = Stages::from_numbers([number(0)?, number(1)?, number(2)?, number(3)?]);
                    parted
                        .as_chunks::<PARTED_LEN>()
                        .0
                        .iter()
                        .for_each(|entry| read_parted(entry, order, deliveries));
                }
            }
            _ => {}
        }
    }
    after.map(|after| Routing { after, stages })
}

/// Parses when the bus began to write a copy that it wrote in several parts.
fn read_parted(entry: &[u8], order: ByteOrder, deliveries: &mut [TracedDelivery]) {
    let index = order.u32_at(entry, 0).and_then(|index| deliveries.get_mut(index as usize));
    if let Some((copy, nanos)) = index.zip(order.u64_at(entry, 4)) {
        copy.begun_after = (nanos != NOT_WRITTEN).then(|| Duration::from_nanos(nanos));
    }
}

fn parse_delivery(copy: &[u8], order: ByteOrder) -> Option<TracedDelivery> {
    let nanos = order.u64_at(copy, 8)?;
    Some(TracedDelivery {
        recipient: order.u64_at(copy, 0)?,
        begun_after: None,
        written_after: (nanos != NOT_WRITTEN).then(|| Duration::from_nanos(nanos)),
        rules: order.u32_at(copy, 16)?,
    })
}

/// The text of a [`RecordingGap`]. Its time and bus are in the note itself.
#[derive(Serialize, Deserialize, Debug)]
pub(super) struct GapText {
    pub(super) cause: GapCause,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) lost: Option<u64>,
}

/// The text of a [`Damage`](crate::record::Damage) note.
#[derive(Serialize, Deserialize, Debug)]
pub(super) struct DamageText<'a> {
    pub(super) at: u64,
    pub(super) what: Cow<'a, str>,
}

/// The bus number of a note that is about no bus.
pub(super) const NO_BUS: u32 = u32::MAX;

/// The time of a note without a time.
pub(super) const NO_TIME: i64 = i64::MIN;

/// The number of bytes of a note's body before its text.
const TEXT_OFFSET: usize = 24;

/// The time of a copy that was not written.
pub(super) const NOT_WRITTEN: u64 = u64::MAX;

/// The nanoseconds of a span, at most the largest number that does not mean [`NOT_WRITTEN`].
pub(super) fn nanos(span: Duration) -> u64 {
    crate::record::nanos(span).min(NOT_WRITTEN - 1)
}

/// The number of bytes of a [`TracedDelivery`] in an option.
pub(super) const DELIVERY_LEN: usize = 20;

/// The number of bytes of [`Stages`] in an option.
const STAGES_LEN: usize = 16;

/// The number of bytes of a copy that was written in several parts.
const PARTED_LEN: usize = 12;

/// The maximum number of such copies in one option. Further options hold the rest.
pub(super) const PARTED_MAX: usize = (u16::MAX as usize - MARK_LEN - STAGES_LEN) / PARTED_LEN;

/// The bytes of a copy that was written in several parts, in little-endian order: its index among
/// the copies, and when the bus began to write it.
pub(super) fn parted(index: usize, copy: &TracedDelivery) -> [u8; PARTED_LEN] {
    let nanos = copy.begun_after.map_or(NOT_WRITTEN, nanos);
    let mut bytes = [0; PARTED_LEN];
    bytes[..4].copy_from_slice(&(index as u32).to_le_bytes());
    bytes[4..].copy_from_slice(&nanos.to_le_bytes());
    bytes
}

/// The maximum number of copies in one option. Further options hold the rest.
pub(super) const DELIVERIES_MAX: usize = (u16::MAX as usize - MARK_LEN - 8) / DELIVERY_LEN;

/// The bytes of a copy in an option, in little-endian order.
pub(super) fn delivery(delivery: &TracedDelivery) -> [u8; DELIVERY_LEN] {
    let nanos = delivery.written_after.map_or(NOT_WRITTEN, nanos);
    let mut bytes = [0; DELIVERY_LEN];
    bytes[..8].copy_from_slice(&delivery.recipient.to_le_bytes());
    bytes[8..16].copy_from_slice(&nanos.to_le_bytes());
    bytes[16..].copy_from_slice(&delivery.rules.to_le_bytes());
    bytes
}
