//! What we add to pcapng: notes, which are blocks of a type that is free for local use, and options
//! with codes that are. Each begins with a mark, so that nobody's are taken for ours.

use serde::{Deserialize, Serialize};

use crate::record::{Delivery, GapCause};

/// The type of our blocks. Types with the highest bit are free for local use.
pub(super) const BLOCK: u32 = 0x8044_4C47;

/// The code of our options in an interface description: its [`Bus`](crate::record::Bus) as JSON.
/// Codes with the highest bit are free for local use.
pub(super) const BUS_OPTION: u16 = 0x8D01;

/// The code of our options in a packet: its [`Trace`](crate::record::Trace).
pub(super) const TRACE_OPTION: u16 = 0x8D02;

/// With what each of our blocks and options begins, whatever the order of bytes.
pub(super) const MARK: [u8; 4] = *b"DLGC";

/// The version of the format, which follows the mark. A change that makes readers of the version
/// before misunderstand something counts it up.
pub(super) const VERSION: u16 = 1;

/// Bytes of the mark and the version, padded.
pub(super) const MARK_LEN: usize = 8;

/// What a note tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u16)]
pub(super) enum Kind {
    Fact = 1,
    Gap = 2,
    Damage = 3,
    Origin = 4,
}

/// A [`Gap`](crate::record::Gap); when and on which bus stands in the block.
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
    pub(super) what: std::borrow::Cow<'a, str>,
}

/// The bus of a note that is about none.
pub(super) const NO_BUS: u32 = u32::MAX;

/// The time of a note that has none.
pub(super) const NO_TIME: i64 = i64::MIN;

/// The span of a copy that was not written.
pub(super) const NOT_WRITTEN: u64 = u64::MAX;

/// Bytes of a [`Delivery`] in an option.
pub(super) const DELIVERY_LEN: usize = 20;

/// Copies in one option; there are as many options as it takes.
pub(super) const DELIVERIES_MAX: usize = 3_000;

/// A copy as it stands in an option, in the order of bytes that we write.
pub(super) fn delivery(delivery: &Delivery) -> [u8; DELIVERY_LEN] {
    let nanos = delivery.written_after.map_or(NOT_WRITTEN, super::write::nanos);
    let mut bytes = [0; DELIVERY_LEN];
    bytes[..8].copy_from_slice(&delivery.recipient.to_le_bytes());
    bytes[8..16].copy_from_slice(&nanos.to_le_bytes());
    bytes[16..].copy_from_slice(&delivery.rules.to_le_bytes());
    bytes
}
