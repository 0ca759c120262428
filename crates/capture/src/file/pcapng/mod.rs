//! Reads and writes pcapng, as busctl, the tools of Wireshark, and Diligence do.
//!
//! Diligence's additions are described in `docs/capture-format.md`, in enough detail to write
//! another reader.

mod blocks;
mod interface;
mod note;
mod read;
mod write;

pub(super) use read::{Pcapng, is_start};
pub use write::{PcapngWriter, WrittenCounts};

/// The type numbers of blocks.
mod block {
    pub(super) const INTERFACE: u32 = 1;
    /// The packet block, which the enhanced packet block replaced.
    pub(super) const OBSOLETE_PACKET: u32 = 2;
    pub(super) const SIMPLE_PACKET: u32 = 3;
    pub(super) const NAME_RESOLUTION: u32 = 4;
    pub(super) const STATISTICS: u32 = 5;
    pub(super) const ENHANCED_PACKET: u32 = 6;
    pub(super) const DECRYPTION_SECRETS: u32 = 10;
    pub(super) const CUSTOM: u32 = 0x0BAD;
    pub(super) const CUSTOM_NOT_TO_COPY: u32 = 0x4000_0BAD;
    pub(super) const SECTION: u32 = 0x0A0D_0D0A;
    /// Diligence's notes. Types with the highest bit set are reserved for local use.
    pub(super) const NOTE: u32 = 0x8044_4C47;
}

/// The codes of options. Their meaning depends on the block.
mod option {
    pub(super) const END: u16 = 0;
    pub(super) const COMMENT: u16 = 1;

    pub(super) const SECTION_HARDWARE: u16 = 2;
    pub(super) const SECTION_SYSTEM: u16 = 3;
    pub(super) const SECTION_PROGRAM: u16 = 4;

    pub(super) const INTERFACE_NAME: u16 = 2;
    pub(super) const INTERFACE_DESCRIPTION: u16 = 3;
    pub(super) const INTERFACE_RESOLUTION: u16 = 9;
    pub(super) const INTERFACE_FILTER: u16 = 11;
    pub(super) const INTERFACE_OFFSET: u16 = 14;

    pub(super) const PACKET_DROPS: u16 = 4;

    pub(super) const STATISTICS_START: u16 = 2;
    pub(super) const STATISTICS_END: u16 = 3;
    pub(super) const STATISTICS_RECEIVED: u16 = 4;
    pub(super) const STATISTICS_DROPPED: u16 = 5;
    pub(super) const STATISTICS_DROPPED_BY_SYSTEM: u16 = 7;
}

/// The first word of a section's body, which shows its byte order.
const ORDER_MAGIC: u32 = 0x1A2B_3C4D;

/// The number of bytes of a block before its body: type and length.
const BODY_OFFSET: usize = 8;

/// The number of bytes of a block after its body: the length again.
const TRAILER_LEN: usize = 4;

/// The number of bytes of an enhanced packet block before the packet.
const PACKET_OFFSET: usize = 28;

/// The first byte of a filter that is a text.
const FILTER_TEXT: u8 = 0;

/// The number of bytes from `len` to the next multiple of four.
const fn padding(len: usize) -> usize {
    len.wrapping_neg() % 4
}
