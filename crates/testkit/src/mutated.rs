//! Corruption of valid bytes.

use wire::Endian;
use wire::message::FixedHeader;

use crate::random::Random;

/// Changes bytes of a message, and mostly keeps its lengths correct.
pub fn message(bytes: &mut Vec<u8>, random: &mut Random) {
    any(bytes, random);
    if !random.once_in(8) {
        mend_body_len(bytes);
    }
}

/// Changes a few arbitrary bytes.
pub fn any(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..random.pick(&[1, 1, 1, 2, 3]) {
        if bytes.is_empty() {
            return;
        }
        once(bytes, random);
    }
}

fn once(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(bytes.len());
    match random.below(14) {
        0 | 1 => bytes[at] ^= 1 << random.below(8),
        2 | 3 => bytes[at] = random.pick(INTERESTING),
        4 => bytes[at] = bytes[at].wrapping_add(random.pick(&[1, 4, 8, 248, 252, 255])),
        5 => bytes.insert(at, random.pick(b"\x00\x00\x01as")),
        6 => drop(bytes.remove(at)),
        7 => set_number(bytes, at & !3, random),
        8 => bytes.truncate(at),
        9 => splice(bytes, at & !7, random),
        10 => bytes[0] = if bytes[0] == b'l' { b'B' } else { b'l' },
        11 => put(bytes, at, random.pick(NOT_UTF8)),
        12 => {
            // Padding, or a part of a number.
            let zero = bytes[at..].iter().position(|byte| *byte == 0);
            bytes[at + zero.unwrap_or_default()] = 1 + random.below(255) as u8;
        }
        _ => put(bytes, at, random.pick(TEXTS)),
    }
}

/// Sets four bytes that may be a length.
fn set_number(bytes: &mut [u8], at: usize, random: &mut Random) {
    let Some(endian) = bytes.first().copied().and_then(Endian::from_mark) else { return };
    let Some(place) = bytes.get_mut(at..).and_then(<[u8]>::first_chunk_mut) else { return };
    let before = endian.u32(*place);
    let after = match random.below(3) {
        0 => random.pick(&ODD),
        1 => before.wrapping_add(1),
        _ => before.wrapping_sub(1),
    };
    *place = endian.u32_bytes(after);
}

/// Repeats, moves or removes a part, keeping its alignment.
fn splice(bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
    let end = bytes.len().min(at + 8 * (1 + random.below(4)));
    let part = bytes[at..end].to_vec();
    let to = random.below(bytes.len()) & !7;
    match random.below(3) {
        0 => drop(bytes.splice(to..to, part)),
        1 => put(bytes, to, &part),
        _ => drop(bytes.drain(at..end)),
    }
}

fn put(bytes: &mut [u8], at: usize, part: &[u8]) {
    let end = bytes.len().min(at + part.len());
    bytes[at..end].copy_from_slice(&part[..end - at]);
}

/// Sets the length of the body in the header, if it can be determined.
pub fn mend_body_len(bytes: &mut [u8]) {
    let Some(endian) = bytes.first().copied().and_then(Endian::from_mark) else { return };
    let Some(fields_len) = bytes.get(12..16).and_then(<[u8]>::first_chunk) else { return };
    let fields_end = (endian.u32(*fields_len) as usize).saturating_add(FixedHeader::LEN);
    if let Some(body_len) = bytes.len().checked_sub(fields_end.next_multiple_of(8)) {
        bytes[4..8].copy_from_slice(&endian.u32_bytes(body_len as u32));
    }
}

/// Bytes with a meaning in some part of a message.
const INTERESTING: &[u8] =
    b"\x00\x01\x02\x03\x04\x07\x08\x20\x7f\x80\xbf\xc0\xff.:/-_0aZlBybnqiuxtdsoghva(){}";

/// Numbers at the limits of lengths and of 32 bits.
pub(crate) const ODD: [u32; 14] = [
    0,
    1,
    2,
    253,
    1 << 16,
    (1 << 26) - 1,
    1 << 26,
    (1 << 26) + 1,
    (1 << 27) - 1,
    1 << 27,
    (1 << 27) + 1,
    i32::MAX as u32,
    1 << 31,
    u32::MAX,
];

/// Invalid UTF-8 (overlong forms, surrogates, too large, truncated), and valid UTF-8 at the limits.
const NOT_UTF8: &[&[u8]] = &[
    b"\xc0\x80",
    b"\xc1\xbf",
    b"\xe0\x80\x80",
    b"\xe0\x9f\xbf",
    b"\xf0\x80\x80\x80",
    b"\xed\xa0\x80",
    b"\xed\xbf\xbf",
    b"\xf4\x90\x80\x80",
    b"\xf8\x88\x80\x80\x80",
    b"\xc3",
    b"\xe2\x82",
    b"\x80",
    b"\xff",
    b"\xef\xbf\xbf",
    b"\xef\xbf\xbe",
    b"\xef\xb7\x90",
    b"\xf4\x8f\xbf\xbf",
    b"\xed\x9f\xbf",
    b"\xf0\x90\x80\x80",
    b"\xc2\x80",
];

/// Parts of names, paths and signatures.
const TEXTS: &[&[u8]] = &[
    b"..", b"//", b"/", b".", b":1", b"a{sv}", b"a{", b"()", b"(i", b"aa", b"}", b"-", b"0", b"\0",
];
