//! Parses single blocks, as far as that is possible without the other blocks.

use super::{BODY_OFFSET, ORDER_MAGIC, TRAILER_LEN, block, option, padding};
use crate::file::number::ByteOrder;
use crate::record::RecordingOrigin;

/// The type, length and byte order of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockFrame {
    pub(super) kind: u32,
    pub(super) len: usize,
    /// The byte order of the section; for a section header, the one that it states.
    pub(super) order: ByteOrder,
}

/// The faults that make a block invalid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BlockFault {
    /// The file ends within the block.
    Cut,
    /// The byte-order magic of a section is invalid.
    NoOrder,
    /// The length is not possible for a block.
    Length(u32),
    /// The lengths before and after the body differ.
    Lengths,
}

impl BlockFrame {
    /// Parses the start of a block.
    #[inline]
    pub(super) fn parse(bytes: &[u8], order: ByteOrder) -> Result<Self, BlockFault> {
        let bytes: &[u8; START_LEN] = bytes.first_chunk().ok_or(BlockFault::Cut)?;
        let [kind, len, third] =
            [0, 4, 8].map(|at| [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        // The type of a section header is the same in both byte orders.
        let order = match u32::from_le_bytes(kind) {
            block::SECTION => order_of(third).ok_or(BlockFault::NoOrder)?,
            _ => order,
        };
        let len = order.u32(len);
        if len < START_LEN as u32 || len % 4 != 0 || len > BLOCK_LEN_MAX {
            return Err(BlockFault::Length(len));
        }
        Ok(Self { kind: order.u32(kind), len: len as usize, order })
    }

    /// Checks that the length after the body equals the length before it. `block` is the whole
    /// block.
    #[inline]
    pub(super) fn check(self, block: &[u8]) -> Result<Self, BlockFault> {
        match self.order.u32_at(block, self.len - TRAILER_LEN) {
            Some(len) if len as usize == self.len => Ok(self),
            _ => Err(BlockFault::Lengths),
        }
    }

    /// Returns true if these bytes begin with a whole block of a known type.
    pub(super) fn is_at(bytes: &[u8], order: ByteOrder) -> bool {
        Self::parse(bytes, order).is_ok_and(|frame| {
            KNOWN.contains(&frame.kind) && bytes.len() >= frame.len && frame.check(bytes).is_ok()
        })
    }

    /// The body of the block. `block` is the whole block.
    #[inline]
    pub(super) fn body(self, block: &[u8]) -> &[u8] {
        &block[BODY_OFFSET..self.len - TRAILER_LEN]
    }
}

/// A packet, from any of the blocks that contain packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Packet {
    pub(super) interface: u32,
    /// The time in units of the interface; `None` in a block without times.
    pub(super) time: Option<u64>,
    /// The offset of the packet's bytes in the body.
    pub(super) start: usize,
    pub(super) kept: usize,
    pub(super) len: u32,
    /// The number of packets lost before it.
    pub(super) drops: u64,
}

impl Packet {
    /// Parses an enhanced packet block; `None` if the body is too short.
    #[inline]
    pub(super) fn enhanced(body: &[u8], order: ByteOrder) -> Option<Self> {
        let [interface, high, low, kept, len] = words(body, order)?;
        let start = 20;
        let (time, kept) = (Some(u64::from(high) << 32 | u64::from(low)), kept as usize);
        let packet = Self { interface, time, start, kept, len, drops: 0 };
        packet.fits(body)
    }

    pub(super) fn obsolete(body: &[u8], order: ByteOrder) -> Option<Self> {
        let [_, high, low, kept, len] = words(body, order)?;
        let interface = order.u16_at(body, 0)?.into();
        let drops = Some(order.u16_at(body, 2)?).filter(|&drops| drops != DROPS_UNKNOWN);
        let start = 20;
        let (time, kept) = (Some(u64::from(high) << 32 | u64::from(low)), kept as usize);
        let packet =
            Self { interface, time, start, kept, len, drops: drops.unwrap_or_default().into() };
        packet.fits(body)
    }

    /// Parses a simple packet block, which belongs to the first interface. `kept_max` is the limit
    /// of the interface; 0 if packets are whole.
    pub(super) fn simple(body: &[u8], order: ByteOrder, kept_max: u32) -> Option<Self> {
        let [len] = words(body, order)?;
        let kept_max = if kept_max == 0 { u32::MAX } else { kept_max };
        let kept = len.min(kept_max) as usize;
        Self { interface: 0, time: None, start: 4, kept, len, drops: 0 }.fits(body)
    }

    #[inline]
    fn fits(self, body: &[u8]) -> Option<Self> {
        (self.start + self.kept <= body.len()).then_some(self)
    }

    /// The offset of the options in the body.
    #[inline]
    pub(super) const fn options_start(&self) -> usize {
        self.start + self.kept + padding(self.kept)
    }
}

/// The options at the end of a body, up to the first one that does not fit.
#[derive(Clone, Debug)]
pub(super) struct BlockOptions<'b> {
    bytes: &'b [u8],
    order: ByteOrder,
}

impl<'b> BlockOptions<'b> {
    pub(super) fn new(body: &'b [u8], start: usize, order: ByteOrder) -> Self {
        Self { bytes: body.get(start..).unwrap_or_default(), order }
    }

    /// The value of the first option with this code.
    pub(super) fn get(&self, code: u16) -> Option<&'b [u8]> {
        self.clone().find(|option| option.0 == code).map(|option| option.1)
    }

    /// The value of the first option with this code as text. Invalid UTF-8 is replaced.
    pub(super) fn text(&self, code: u16) -> Option<String> {
        self.get(code).map(|value| String::from_utf8_lossy(value).into_owned())
    }

    /// The value of the first option with this code as number.
    pub(super) fn number(&self, code: u16) -> Option<u64> {
        self.order.u64_at(self.get(code)?, 0)
    }
}

impl<'b> Iterator for BlockOptions<'b> {
    type Item = (u16, &'b [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (code, len) = (self.order.u16_at(self.bytes, 0)?, self.order.u16_at(self.bytes, 2)?);
        let (value, rest) = self.bytes[4..].split_at_checked(len.into())?;
        self.bytes = rest.get(padding(len.into())..).unwrap_or_default();
        (code != option::END).then_some((code, value))
    }
}

/// Parses the body of a section header of a supported version, in its byte order.
pub(super) fn origin(body: &[u8], order: ByteOrder) -> Result<RecordingOrigin, SectionVersion> {
    let version = [4, 6].map(|at| order.u16_at(body, at).unwrap_or_default());
    if version[0] != 1 {
        return Err(SectionVersion(version));
    }
    let options = BlockOptions::new(body, 16, order);
    let comments = options.clone().filter(|(code, _)| *code == option::COMMENT);
    Ok(RecordingOrigin {
        program: options.text(option::SECTION_PROGRAM),
        hardware: options.text(option::SECTION_HARDWARE),
        system: options.text(option::SECTION_SYSTEM),
        comments: comments.map(|(_, text)| String::from_utf8_lossy(text).into_owned()).collect(),
    })
}

/// An unsupported version of pcapng, as major and minor number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SectionVersion(pub(super) [u16; 2]);

/// The first words of a body; `None` if it is shorter.
#[inline]
pub(super) fn words<const N: usize>(body: &[u8], order: ByteOrder) -> Option<[u32; N]> {
    let bytes = body.as_chunks().0.get(..N)?;
    let mut words = [0; N];
    for (word, bytes) in words.iter_mut().zip(bytes) {
        *word = order.u32(*bytes);
    }
    Some(words)
}

fn order_of(magic: [u8; 4]) -> Option<ByteOrder> {
    [ByteOrder::Little, ByteOrder::Big].into_iter().find(|order| order.u32(magic) == ORDER_MAGIC)
}

/// The length in bytes of a block without a body.
const SHORTEST: usize = BODY_OFFSET + TRAILER_LEN;

/// The number of bytes that contain the type, length and byte order of a block.
pub(super) const START_LEN: usize = SHORTEST;

/// The maximum length of a block in bytes. It is longer than any message with its options.
const BLOCK_LEN_MAX: u32 = 1 << 28;

/// The drop count that means that drops were not counted.
const DROPS_UNKNOWN: u16 = u16::MAX;

/// The block types that are recognized when searching for the next block after damage.
const KNOWN: [u32; 11] = [
    block::INTERFACE,
    block::OBSOLETE_PACKET,
    block::SIMPLE_PACKET,
    block::NAME_RESOLUTION,
    block::STATISTICS,
    block::ENHANCED_PACKET,
    block::DECRYPTION_SECRETS,
    block::CUSTOM,
    block::CUSTOM_NOT_TO_COPY,
    block::SECTION,
    block::NOTE,
];
