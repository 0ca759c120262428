//! Names checked a row of bytes at a time: the road that all valid names take.
//!
//! Whether a byte may stand in a name depends on itself and the byte before it, and on nothing
//! else. So a whole row can be asked at once, without a branch between its bytes, and compilers
//! make vector instructions of that.

use super::grammar::{Elements, FirstByte, Grammar};

/// How many elements of the grammar `G` make up `name`; `None` if it is anything else.
#[inline]
pub(super) const fn elements<G: Grammar>(name: &[u8]) -> Option<Elements> {
    let (Some((first, rest)), Some((last, before))) = (name.split_first(), name.split_last())
    else {
        return None;
    };
    // An element begins at the start, as if a separator stood before it.
    if *last == G::SEPARATOR || !fits::<G>(G::SEPARATOR, *first) {
        return None;
    }
    match long::<G>(before, rest) {
        Some(seen) => seen.elements(),
        None => short::<G>(before, rest).elements(),
    }
}

/// What was seen in a part of a name.
#[derive(Clone, Copy)]
struct SeenBytes {
    wrong: bool,
    separator: bool,
}

impl SeenBytes {
    const NOTHING: Self = Self { wrong: false, separator: false };

    const fn and(self, other: Self) -> Self {
        Self { wrong: self.wrong | other.wrong, separator: self.separator | other.separator }
    }

    const fn elements(self) -> Option<Elements> {
        match self {
            Self { wrong: true, .. } => None,
            Self { separator: false, .. } => Some(Elements::One),
            Self { separator: true, .. } => Some(Elements::Several),
        }
    }
}

/// Looks at the bytes of `rest`, before each of which stands that of `before` in the same place.
/// Gives up where they make no row.
#[inline]
const fn long<G: Grammar>(mut before: &[u8], mut rest: &[u8]) -> Option<SeenBytes> {
    let (Some(last_before), Some(last)) = (before.last_chunk(), rest.last_chunk()) else {
        return None;
    };
    // The last row may have bytes in common with the one before it, which does no harm.
    let mut seen = row::<G>(last_before, last);
    while let (Some((row_before, next_before)), Some((this, next))) =
        (before.split_first_chunk(), rest.split_first_chunk())
    {
        seen = seen.and(row::<G>(row_before, this));
        (before, rest) = (next_before, next);
    }
    Some(seen)
}

/// Not inlined, so that the loop below is seen on its own and becomes a handful of instructions.
#[inline(never)]
const fn row<G: Grammar>(before: &[u8; ROW], row: &[u8; ROW]) -> SeenBytes {
    let mut seen = SeenBytes::NOTHING;
    let mut at = 0;
    while at < ROW {
        seen.wrong |= !fits::<G>(before[at], row[at]);
        seen.separator |= row[at] == G::SEPARATOR;
        at += 1;
    }
    seen
}

#[inline]
const fn short<G: Grammar>(before: &[u8], rest: &[u8]) -> SeenBytes {
    let mut seen = SeenBytes::NOTHING;
    let mut at = 0;
    while at < rest.len() {
        if !rest[at].is_ascii_alphabetic() {
            seen.wrong |= !fits::<G>(before[at], rest[at]);
            seen.separator |= rest[at] == G::SEPARATOR;
        }
        at += 1;
    }
    seen
}

/// Whether `byte` may follow `before`. The operators that do not branch are meant.
#[inline]
const fn fits<G: Grammar>(before: u8, byte: u8) -> bool {
    let first = before == G::SEPARATOR;
    let digit = byte.is_ascii_digit() & !(first & matches!(G::FIRST, FirstByte::NotDigit));
    let separator = (byte == G::SEPARATOR) & !first;
    byte.is_ascii_alphabetic() | digit | (byte == b'_') | (byte == G::EXTRA) | separator
}

/// Bytes in a row: one vector register of the common machines.
const ROW: usize = 16;
