//! What single blocks hold, as far as it can be read without knowing the others.

use super::{BODY_OFFSET, ORDER_MAGIC, TRAILER_LEN, block, option, padding};
use crate::file::number::ByteOrder;
use crate::record::RecordingOrigin;

/// The outside of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockFrame {
    pub(super) kind: u32,
    pub(super) len: usize,
    /// That of the section; of a section's own block the one it says.
    pub(super) order: ByteOrder,
}

/// Why something cannot be a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NoBlock {
    /// The file ends in its first words.
    Cut,
    /// A section says neither order of bytes.
    NoOrder,
    /// No block has this length.
    Length(u32),
    /// The length behind it is another than the one before it.
    Lengths,
}

impl BlockFrame {
    /// Reads the start of a block.
    #[inline]
    pub(super) fn parse(bytes: &[u8], order: ByteOrder) -> Result<Self, NoBlock> {
        let bytes: &[u8; START_LEN] = bytes.first_chunk().ok_or(NoBlock::Cut)?;
        let [kind, len, third] =
            [0, 4, 8].map(|at| [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        // This type is the same in both orders.
        let order = match u32::from_le_bytes(kind) {
            block::SECTION => order_of(third).ok_or(NoBlock::NoOrder)?,
            _ => order,
        };
        let len = order.u32(len);
        if len < START_LEN as u32 || len % 4 != 0 || len > BLOCK_LEN_MAX {
            return Err(NoBlock::Length(len));
        }
        Ok(Self { kind: order.u32(kind), len: len as usize, order })
    }

    /// Whether the length behind the block is that before it. `block` is all of it.
    #[inline]
    pub(super) fn check(self, block: &[u8]) -> Result<Self, NoBlock> {
        match self.order.u32_at(block, self.len - TRAILER_LEN) {
            Some(len) if len as usize == self.len => Ok(self),
            _ => Err(NoBlock::Lengths),
        }
    }

    /// Whether a whole block of a type that is known stands at the start of these bytes.
    pub(super) fn is_at(bytes: &[u8], order: ByteOrder) -> bool {
        Self::parse(bytes, order).is_ok_and(|frame| {
            KNOWN.contains(&frame.kind) && bytes.len() >= frame.len && frame.check(bytes).is_ok()
        })
    }

    /// What is between the outside. `block` is all of it.
    #[inline]
    pub(super) fn body(self, block: &[u8]) -> &[u8] {
        &block[BODY_OFFSET..self.len - TRAILER_LEN]
    }
}

/// A packet, whichever block it came in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Packet {
    pub(super) interface: u32,
    /// In units of the interface; `None` in a block that has no times.
    pub(super) time: Option<u64>,
    /// Where its bytes begin in the body.
    pub(super) start: usize,
    pub(super) kept: usize,
    pub(super) len: u32,
    /// Packets that were lost before it.
    pub(super) drops: u64,
}

impl Packet {
    /// `None` if the body is shorter than it says.
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

    /// `kept_max` is that of the first interface, whose packets these are; 0 for all.
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

    /// Where its options begin in the body.
    #[inline]
    pub(super) const fn options_start(&self) -> usize {
        self.start + self.kept + padding(self.kept)
    }
}

/// The options at the end of a body, one after the other, up to the first that does not fit.
#[derive(Clone, Debug)]
pub(super) struct BlockOptions<'b> {
    bytes: &'b [u8],
    order: ByteOrder,
}

impl<'b> BlockOptions<'b> {
    pub(super) fn new(body: &'b [u8], start: usize, order: ByteOrder) -> Self {
        Self { bytes: body.get(start..).unwrap_or_default(), order }
    }

    /// The value of the first option with a code.
    pub(super) fn get(&self, code: u16) -> Option<&'b [u8]> {
        self.clone().find(|option| option.0 == code).map(|option| option.1)
    }

    /// The same as a text; what is no UTF-8 in it is replaced.
    pub(super) fn text(&self, code: u16) -> Option<String> {
        self.get(code).map(|value| String::from_utf8_lossy(value).into_owned())
    }

    /// The same as a number.
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

/// What a section's header tells, if it is of a version that we know; its order of bytes is known.
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

/// A version of pcapng that nobody has described yet.
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

/// Bytes of a block that has no body.
const SHORTEST: usize = BODY_OFFSET + TRAILER_LEN;

/// Bytes from which a block's type, length and order of bytes are known.
pub(super) const START_LEN: usize = SHORTEST;

/// Bytes in the longest block that is believed: more than a message and its options may have.
const BLOCK_LEN_MAX: u32 = 1 << 28;

/// So many drops, or more, were not counted.
const DROPS_UNKNOWN: u16 = u16::MAX;

/// Types of blocks that are taken for one where only garbage was.
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
