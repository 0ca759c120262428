//! Damaged states of a bus: a value in one of the parts is changed, and all lengths stay correct.
//!
//! The format is described in `crates/broker/src/saved_state/mod.rs`.

use std::ops::Range;

use crate::mutated;
use crate::random::Random;

/// Changes a few values of a state, or arbitrary bytes if it is not a state.
pub fn state(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..random.pick(&[1, 1, 1, 2, 3]) {
        let parts = parts(bytes);
        if parts.is_empty() || random.once_in(16) {
            mutated::any(bytes, random);
            continue;
        }
        // The first two parts are small, and their contents are simple.
        let part = parts[random.pick(&[0, 1, 2, 2, 2, 2, 3, 3, 3, 3]) % parts.len()].clone();
        let mut changed = bytes[part.clone()].to_vec();
        message_pack(&mut changed, random);
        let len = (changed.len() as u64).to_le_bytes();
        bytes.splice(part.start - len.len()..part.end, len.into_iter().chain(changed));
    }
}

/// The contents of the parts, without their lengths. Empty if the bytes are not a state.
fn parts(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut at = HEADER_LEN;
    while let Some(len) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let start = at + len.len();
        let len = usize::try_from(u64::from_le_bytes(*len)).unwrap_or(usize::MAX);
        let Some(end) = start.checked_add(len).filter(|end| *end <= bytes.len()) else { break };
        parts.push(start..end);
        at = end;
    }
    parts
}

/// Changes one value of a sequence in MessagePack.
fn message_pack(bytes: &mut Vec<u8>, random: &mut Random) {
    let tokens = tokens(bytes);
    if tokens.is_empty() {
        return mutated::any(bytes, random);
    }
    let token = tokens[random.below(tokens.len())];
    let other = tokens[random.below(tokens.len())];
    match (token.kind, random.below(10)) {
        (_, 0) => {
            let other = bytes[whole(other, &tokens)].to_vec();
            bytes.splice(whole(token, &tokens), other);
        }
        (_, 1) => {
            let simple: &[u8] =
                random.pick(&[b"\xc0", b"\xc2", b"\xc3", b"\x90", b"\xa0", b"\xc4\x00"]);
            bytes.splice(whole(token, &tokens), simple.iter().copied());
        }
        (TokenKind::Items(1..=14), 2..=4) if bytes[token.start] & 0xf0 == 0x90 => {
            repeat_or_remove_item(bytes, token, &tokens, random);
        }
        (TokenKind::Items(count), _) => {
            let header = array(random.pick(&[
                count.wrapping_add(1),
                count.wrapping_sub(1),
                u32::MAX,
                1 << 16,
                1 << 24,
            ]));
            bytes.splice(token.start..token.start + token.header, header);
        }
        (TokenKind::Bytes, 2) => {
            // A length that is too great.
            let header = [
                if bytes[token.start] & 0xe0 == 0xa0 { 0xdb } else { 0xc6 },
                0x7f,
                0xff,
                0xff,
                0xff,
            ];
            bytes.splice(token.start..token.start + token.header, header);
        }
        (TokenKind::Bytes, _) if token.len > 0 => {
            let at = token.start + token.header + random.below(token.len);
            bytes[at] =
                if random.once_in(2) { random.number() as u8 } else { random.pick(b".:/\0_1\xff") };
        }
        (TokenKind::Number(number), 2..=4) => {
            let near = number.wrapping_add(random.pick(&[1, 2, u64::MAX]));
            bytes.splice(token.start..token.start + token.header + token.len, unsigned(near));
        }
        (TokenKind::Number(_), _) => {
            let number = random.pick(NUMBERS);
            bytes.splice(token.start..token.start + token.header + token.len, unsigned(number));
        }
        (TokenKind::Bytes | TokenKind::Other, _) => bytes[token.start] = random.number() as u8,
    }
}

/// Repeats or removes an item of a short array.
fn repeat_or_remove_item(
    bytes: &mut Vec<u8>,
    array: ValueToken,
    tokens: &[ValueToken],
    random: &mut Random,
) {
    let skipped = random.below(array.values);
    let mut start = array.start + array.header;
    for _ in 0..skipped {
        start = whole_at(start, tokens).end;
    }
    let item = whole_at(start, tokens);
    if random.once_in(2) {
        let copy = bytes[item.clone()].to_vec();
        bytes.splice(item.end..item.end, copy);
        bytes[array.start] += 1;
    } else {
        bytes.drain(item);
        bytes[array.start] -= 1;
    }
}

/// A value in MessagePack, or the beginning of a value that contains others.
#[derive(Clone, Copy, Debug)]
struct ValueToken {
    start: usize,
    kind: TokenKind,
    /// The length of the type, and of the length if there is one.
    header: usize,
    /// The length of the content that follows the header.
    len: usize,
    /// The number of values that follow and belong to this one.
    values: usize,
}

#[derive(Clone, Copy, Debug)]
enum TokenKind {
    /// An unsigned number of any size.
    Number(u64),
    /// A text or bytes.
    Bytes,
    /// An array with this number of items.
    Items(u32),
    /// A map, a boolean or another value.
    Other,
}

/// Splits bytes into values. Ends at the first that is not complete.
fn tokens(bytes: &[u8]) -> Vec<ValueToken> {
    let mut tokens = Vec::new();
    let mut start = 0;
    while let Some(token) = token(bytes, start) {
        start += token.header + token.len;
        if start > bytes.len() {
            break;
        }
        tokens.push(token);
    }
    tokens
}

fn token(bytes: &[u8], start: usize) -> Option<ValueToken> {
    let first = *bytes.get(start)?;
    let number = |len: usize| {
        let number = bytes.get(start + 1..start + 1 + len)?;
        Some(number.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte)))
    };
    let make = |kind, header, len, values| Some(ValueToken { start, kind, header, len, values });
    let array =
        |header, count: u64| make(TokenKind::Items(count as u32), header, 0, count as usize);
    match first {
        0x00..=0x7f => make(TokenKind::Number(first.into()), 1, 0, 0),
        0x80..=0x8f => make(TokenKind::Other, 1, 0, 2 * usize::from(first & 0xf)),
        0x90..=0x9f => array(1, u64::from(first & 0xf)),
        0xa0..=0xbf => make(TokenKind::Bytes, 1, usize::from(first & 0x1f), 0),
        0xc4 | 0xd9 => make(TokenKind::Bytes, 2, number(1)? as usize, 0),
        0xc5 | 0xda => make(TokenKind::Bytes, 3, number(2)? as usize, 0),
        0xc6 | 0xdb => make(TokenKind::Bytes, 5, number(4)? as usize, 0),
        0xcc..=0xcf => {
            let len = 1 << (first - 0xcc);
            make(TokenKind::Number(number(len)?), 1, len, 0)
        }
        0xd0..=0xd3 => make(TokenKind::Other, 1, 1 << (first - 0xd0), 0),
        0xdc => array(3, number(2)?),
        0xdd => array(5, number(4)?),
        0xde => make(TokenKind::Other, 3, 0, 2 * number(2)? as usize),
        0xdf => make(TokenKind::Other, 5, 0, 2 * number(4)? as usize),
        _ => make(TokenKind::Other, 1, 0, 0),
    }
}

/// The bytes of a value with everything that belongs to it.
fn whole(first: ValueToken, tokens: &[ValueToken]) -> Range<usize> {
    whole_at(first.start, tokens)
}

/// The bytes of the value that begins at this position.
fn whole_at(start: usize, tokens: &[ValueToken]) -> Range<usize> {
    let place = tokens.partition_point(|token| token.start < start);
    let (mut end, mut left) = (start, 1_usize);
    for token in &tokens[place..] {
        if left == 0 {
            break;
        }
        left = (left - 1).saturating_add(token.values);
        end = token.start + token.header + token.len;
    }
    start..end
}

fn unsigned(number: u64) -> Vec<u8> {
    match number {
        0..=0x7f => vec![number as u8],
        0x80..=0xff => vec![0xcc, number as u8],
        0x100..=0xffff => [&[0xcd], &(number as u16).to_be_bytes()[..]].concat(),
        0x1_0000..=0xffff_ffff => [&[0xce], &(number as u32).to_be_bytes()[..]].concat(),
        _ => [&[0xcf], &number.to_be_bytes()[..]].concat(),
    }
}

fn array(count: u32) -> Vec<u8> {
    match count {
        0..=15 => vec![0x90 | count as u8],
        _ => [&[0xdd], &count.to_be_bytes()[..]].concat(),
    }
}

/// Numbers at limits, and numbers that are too great for what they count.
const NUMBERS: &[u64] = &[
    0,
    1,
    2,
    3,
    7,
    127,
    255,
    1 << 16,
    (1 << 21) - 1,
    1 << 21,
    999_999_999,
    1_000_000_000,
    i32::MAX as u64,
    u32::MAX as u64,
    1 << 32,
    i64::MAX as u64,
    1 << 63,
    u64::MAX - 1,
    u64::MAX,
];

/// The length of the name and the number of the format.
const HEADER_LEN: usize = 17;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_states_keep_the_lengths_of_their_parts() {
        let part = b"\x93\x01\xa3abc\x92\xcd\x01\x00\xc0";
        let mut original = b"diligence-state\0\x01".to_vec();
        for _ in 0..4 {
            original.extend((part.len() as u64).to_le_bytes());
            original.extend(part);
        }
        assert_eq!(tokens(part).len(), 6);
        assert_eq!(whole(tokens(part)[0], &tokens(part)), 0..part.len());
        let mut random = Random::from_env();
        let (mut changed, mut complete) = (0, 0);
        for _ in 0..1000 {
            let mut bytes = original.clone();
            state(&mut bytes, &mut random);
            changed += usize::from(bytes != original);
            complete +=
                usize::from(parts(&bytes).last().is_some_and(|part| part.end == bytes.len()));
        }
        assert!(changed > 800 && complete > 600, "{changed} are changed, {complete} are complete");
    }
}
