//! What we add to pcapng: notes, which are blocks of a type that is free for local use, and options
//! with codes that are. Each begins with a mark, so that nobody's are taken for ours.

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::blocks::BlockOptions;
use crate::file::number::ByteOrder;
use crate::record::{
    BusId, Damage, Fact, GapCause, RecordedTime, RecordingGap, RecordingOrigin, RecordingRecord,
    Routing, Stages, TracedDelivery,
};

/// The code of our options in an interface description: its [`RecordedBus`](crate::record::Bus) as JSON.
/// Codes with the highest bit are free for local use.
pub(super) const BUS_OPTION: u16 = 0x8D01;

/// The code of our options in a packet: its [`Trace`](crate::record::Trace).
pub(super) const TRACE_OPTION: u16 = 0x8D02;

/// The code of our options in a packet: the stages of its [`Routing`], and the copies that were written
/// in several parts.
pub(super) const STAGES_OPTION: u16 = 0x8D03;

/// With what each of our blocks and options begins, whatever the order of bytes.
pub(super) const MARK: [u8; 4] = *b"DLGC";

/// The version of the format, which follows the mark. A change that makes readers of the version
/// before misunderstand something counts it up.
pub(super) const VERSION: u16 = 1;

/// Bytes of the mark and the version, padded.
pub(super) const MARK_LEN: usize = 8;

/// What a note tells. The numbers are those of the format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u16)]
pub(super) enum PcapngNoteKind {
    Fact = 1,
    Gap = 2,
    Damage = 3,
    Origin = 4,
}

/// A note that was read.
#[derive(Debug)]
pub(super) struct Note {
    /// The interface it is about.
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

/// Why a block is not a note that can be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NoteError {
    /// Somebody else has taken the same type.
    Foreign,
    /// It is of a later version.
    Version(u16),
    /// It is not as the format says.
    Broken,
}

impl Note {
    /// Reads the body of a block.
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

    /// Messages that it says are lost.
    pub(super) fn lost(&self) -> u64 {
        match &self.content {
            NoteContent::Gap(gap) => gap.lost.unwrap_or(0),
            NoteContent::Fact(_) | NoteContent::Damage(_) | NoteContent::Origin(_) => 0,
        }
    }

    /// What it says, about this bus if it is about one.
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

/// The value of one of our options behind its mark; `None` if it is not ours or of another version.
pub(super) fn content(option: &[u8]) -> Option<&[u8]> {
    // The version has no other byte set in either order than this one.
    let (head, content) = option.split_at_checked(MARK_LEN)?;
    let is_ours = head[..4] == MARK && (head[4..6] == [1, 0] || head[4..6] == [0, 1]);
    is_ours.then_some(content)
}

/// Reads the options of a packet that hold its trace: the copies into `deliveries`, and how it was
/// routed. `None` if it has none.
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

/// Reads when the bus began to write a copy that it wrote in several parts.
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

/// A [`RecordingGap`](crate::record::Gap); when and on which bus stands in the block.
#[derive(Serialize, Deserialize, Debug)]
pub(super) struct GapText {
    pub(super) cause: GapCause,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) lost: Option<u64>,
}

/// A [`Damage`](crate::record::Damage).
#[derive(Serialize, Deserialize, Debug)]
pub(super) struct DamageText<'a> {
    pub(super) at: u64,
    pub(super) what: Cow<'a, str>,
}

/// The bus of a note that is about none.
pub(super) const NO_BUS: u32 = u32::MAX;

/// The time of a note that has none.
pub(super) const NO_TIME: i64 = i64::MIN;

/// Bytes of a note's body before its text.
const TEXT_OFFSET: usize = 24;

/// The span of a copy that was not written.
pub(super) const NOT_WRITTEN: u64 = u64::MAX;

/// A span in nanoseconds, no longer than fits beside the one that stands for none.
pub(super) fn nanos(span: Duration) -> u64 {
    crate::record::nanos(span).min(NOT_WRITTEN - 1)
}

/// Bytes of a [`TracedDelivery`] in an option.
pub(super) const DELIVERY_LEN: usize = 20;

/// Bytes of the [`Stages`] in an option.
const STAGES_LEN: usize = 16;

/// Bytes for a copy that was written in several parts.
const PARTED_LEN: usize = 12;

/// Such copies in one option; there are as many options as it takes.
pub(super) const PARTED_MAX: usize = (u16::MAX as usize - MARK_LEN - STAGES_LEN) / PARTED_LEN;

/// A copy that was written in several parts, as it stands in an option, in the order of bytes that we
/// write: its place among the copies, and when the bus began to write it.
pub(super) fn parted(index: usize, copy: &TracedDelivery) -> [u8; PARTED_LEN] {
    let nanos = copy.begun_after.map_or(NOT_WRITTEN, nanos);
    let mut bytes = [0; PARTED_LEN];
    bytes[..4].copy_from_slice(&(index as u32).to_le_bytes());
    bytes[4..].copy_from_slice(&nanos.to_le_bytes());
    bytes
}

/// Copies in one option; there are as many options as it takes.
pub(super) const DELIVERIES_MAX: usize = (u16::MAX as usize - MARK_LEN - 8) / DELIVERY_LEN;

/// A copy as it stands in an option, in the order of bytes that we write.
pub(super) fn delivery(delivery: &TracedDelivery) -> [u8; DELIVERY_LEN] {
    let nanos = delivery.written_after.map_or(NOT_WRITTEN, nanos);
    let mut bytes = [0; DELIVERY_LEN];
    bytes[..8].copy_from_slice(&delivery.recipient.to_le_bytes());
    bytes[8..16].copy_from_slice(&nanos.to_le_bytes());
    bytes[16..].copy_from_slice(&delivery.rules.to_le_bytes());
    bytes
}
