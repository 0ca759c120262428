//! Fast check of names, one row of bytes at a time.
//!
//! Whether a byte is valid depends only on the byte itself and the byte before it. So all bytes of
//! a row can be checked without branches, and the compiler generates vector instructions.

use super::grammar::{Elements, FirstByte, Grammar};

/// The number of elements in `name`, which must match the grammar `G`; `None` if it does not.
#[inline]
pub(super) const fn elements<G: Grammar>(name: &[u8]) -> Option<Elements> {
    let (Some((first, rest)), Some((last, before))) = (name.split_first(), name.split_last())
    else {
        return None;
    };
    // The first element begins as if a separator were before it.
    if *last == G::SEPARATOR || !fits::<G>(G::SEPARATOR, *first) {
        return None;
    }
    match check_rows::<G>(before, rest) {
        Some(findings) => findings.elements(),
        None => check_short::<G>(before, rest).elements(),
    }
}

/// Findings in a part of a name.
#[derive(Clone, Copy)]
struct ByteFindings {
    wrong: bool,
    separator: bool,
}

impl ByteFindings {
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

/// Checks the bytes of `rest`; `before` has the preceding byte of each. Returns `None` if there are
/// fewer bytes than a row.
#[inline]
const fn check_rows<G: Grammar>(mut before: &[u8], mut rest: &[u8]) -> Option<ByteFindings> {
    let (Some(last_before), Some(last)) = (before.last_chunk(), rest.last_chunk()) else {
        return None;
    };
    // The last row can overlap the one before it, which is harmless.
    let mut findings = row::<G>(last_before, last);
    while let (Some((row_before, next_before)), Some((this, next))) =
        (before.split_first_chunk(), rest.split_first_chunk())
    {
        findings = findings.and(row::<G>(row_before, this));
        (before, rest) = (next_before, next);
    }
    Some(findings)
}

/// Not inlined, so that the compiler vectorizes the loop on its own.
#[inline(never)]
const fn row<G: Grammar>(before: &[u8; ROW], row: &[u8; ROW]) -> ByteFindings {
    let mut findings = ByteFindings::NOTHING;
    let mut at = 0;
    while at < ROW {
        findings.wrong |= !fits::<G>(before[at], row[at]);
        findings.separator |= row[at] == G::SEPARATOR;
        at += 1;
    }
    findings
}

#[inline]
const fn check_short<G: Grammar>(before: &[u8], rest: &[u8]) -> ByteFindings {
    let mut findings = ByteFindings::NOTHING;
    let mut at = 0;
    while at < rest.len() {
        // Bytes that are valid behind any other are most of them.
        let is_plain = match G::FIRST {
            FirstByte::Any => rest[at].is_ascii_alphanumeric(),
            FirstByte::NotDigit => rest[at].is_ascii_alphabetic(),
        };
        if !is_plain {
            findings.wrong |= !fits::<G>(before[at], rest[at]);
            findings.separator |= rest[at] == G::SEPARATOR;
        }
        at += 1;
    }
    findings
}

/// True if `byte` can follow `before`. Uses the operators without short-circuit to avoid branches.
#[inline]
const fn fits<G: Grammar>(before: u8, byte: u8) -> bool {
    let first = before == G::SEPARATOR;
    let digit = byte.is_ascii_digit() & !(first & matches!(G::FIRST, FirstByte::NotDigit));
    let separator = (byte == G::SEPARATOR) & !first;
    byte.is_ascii_alphabetic() | digit | (byte == b'_') | (byte == G::EXTRA) | separator
}

/// Number of bytes in a row: the size of a common vector register.
const ROW: usize = 16;
