//! pcapng, which busctl, Wireshark's tools and we write.
//!
//! What we add to it stands in `docs/capture-format.md`, complete enough to write another reader.

mod blocks;
mod interface;
mod note;
mod read;
mod write;

pub(super) use read::{Pcapng, is_start};
pub use write::{PcapngWriter, WrittenCounts};

/// Types of blocks.
mod block {
    pub(super) const INTERFACE: u32 = 1;
    /// The packet block, which was replaced by the enhanced one.
    pub(super) const OBSOLETE_PACKET: u32 = 2;
    pub(super) const SIMPLE_PACKET: u32 = 3;
    pub(super) const NAME_RESOLUTION: u32 = 4;
    pub(super) const STATISTICS: u32 = 5;
    pub(super) const ENHANCED_PACKET: u32 = 6;
    pub(super) const DECRYPTION_SECRETS: u32 = 10;
    pub(super) const CUSTOM: u32 = 0x0BAD;
    pub(super) const CUSTOM_NOT_TO_COPY: u32 = 0x4000_0BAD;
    pub(super) const SECTION: u32 = 0x0A0D_0D0A;
    /// Our notes. Types with the highest bit are free for local use.
    pub(super) const NOTE: u32 = 0x8044_4C47;
}

/// Codes of options. Which code means what depends on the block.
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

/// The first word of a section's body, by which its order of bytes is known.
const ORDER_MAGIC: u32 = 0x1A2B_3C4D;

/// Bytes of a block before its body: type and length.
const BODY_OFFSET: usize = 8;

/// Bytes of a block behind its body: the length again.
const TRAILER_LEN: usize = 4;

/// Bytes of an enhanced packet block before the packet.
const PACKET_OFFSET: usize = 28;

/// The first byte of a filter that is a text.
const FILTER_TEXT: u8 = 0;

/// Bytes that lie between the end of something and the next multiple of four.
const fn padding(len: usize) -> usize {
    len.wrapping_neg() % 4
}
