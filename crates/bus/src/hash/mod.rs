//! Hashing of keys that peers choose: names, paths, match rules, serials.
//!
//! A table is slow if many keys are in one bucket, so a peer must not be able to choose keys whose
//! hashes collide. The hash is SipHash-1-3 with a secret random key of 128 bits, like in `HashMap`
//! of the standard library. A peer that does not know the key cannot predict whether keys collide,
//! even if it measures how long the bus takes. `docs/performance.md` states the cost and the
//! alternatives.
//!
//! A key is encoded as words of eight bytes before it is hashed, so that no part of it has to be
//! shifted into place. Different keys of one type have different encodings:
//!
//! - A text is encoded as its bytes and one byte 0xff, padded with zeros to whole words.
//! - Numbers are concatenated, and the discriminant of an enum is one byte. Each seven bytes make a
//!   word whose first byte is 0xfe. The remaining bytes end the encoding.
//!
//! UTF-8 does not contain 0xfe or 0xff. So a word of numbers differs from each word of a text, and
//! the end of a text is unambiguous.

use core::fmt;
use core::hash::{BuildHasher, Hash, Hasher};

use serde::{Deserialize, Serialize};

/// The secret key of the hash tables of a bus. Peers cannot observe its effect in any reply.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct HashKey([u64; 2]);

/// The half of a [`HashKey`] that the buses of a process may share.
#[derive(Clone)]
pub struct HashSeed(u64);

impl HashSeed {
    /// Creates a seed from a random number.
    #[must_use]
    pub const fn new(random: u64) -> Self {
        Self(random)
    }
}

impl HashKey {
    /// Creates a key from a random number and a random seed. Both must come from a source that
    /// peers cannot predict, such as getrandom(2).
    #[must_use]
    pub const fn new(random: u64, seed: &HashSeed) -> Self {
        Self([random, seed.0])
    }
}

/// Creates a key that is the same in each run, for tests.
impl From<u64> for HashKey {
    fn from(number: u64) -> Self {
        Self([number, 0])
    }
}

/// Prints the type without the secret key.
impl fmt::Debug for HashKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HashKey").finish_non_exhaustive()
    }
}

/// Prints the type without the secret seed.
impl fmt::Debug for HashSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HashSeed").finish_non_exhaustive()
    }
}

/// The hash function of a bus, for tables that store hashes or indices.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct KeyedState(KeyedBuildHasher);

impl KeyedState {
    pub(crate) const fn new(key: HashKey) -> Self {
        Self(KeyedBuildHasher(key))
    }

    /// Returns the hash function of a bus, for maps.
    pub(crate) fn build_hasher(&self) -> KeyedBuildHasher {
        self.0.clone()
    }

    #[inline]
    pub(crate) fn hash<T: Hash + ?Sized>(&self, value: &T) -> u64 {
        self.0.hash_one(value)
    }
}

/// [`KeyedState`] as a [`BuildHasher`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct KeyedBuildHasher(HashKey);

impl BuildHasher for KeyedBuildHasher {
    type Hasher = KeyedHasher;

    #[inline]
    fn build_hasher(&self) -> KeyedHasher {
        let HashKey([first, second]) = self.0;
        // The constants of SipHash: "somepseudorandomlygeneratedbytes"
        let state = [
            first ^ 0x736f_6d65_7073_6575,
            second ^ 0x646f_7261_6e64_6f6d,
            first ^ 0x6c79_6765_6e65_7261,
            second ^ 0x7465_6462_7974_6573,
        ];
        KeyedHasher { state, words: 0, rest: 0, rest_len: 0 }
    }
}

/// The SipHash-1-3 of a key that is being encoded.
#[derive(Debug)]
pub(crate) struct KeyedHasher {
    state: [u64; 4],
    /// Number of words that were hashed.
    words: u64,
    /// Bytes of numbers that are not hashed yet, the first in the lowest byte.
    rest: u64,
    /// Number of bytes in `rest`, at most [`NUMBERS`].
    rest_len: u32,
}

impl KeyedHasher {
    /// Hashes the next eight bytes.
    #[inline(always)]
    const fn word(&mut self, word: u64) {
        self.state = absorbed(self.state, word);
        self.words += 1;
    }

    /// Encodes the lowest `len` bytes of a number, at most four. The other bytes must be zero.
    #[inline(always)]
    const fn number(&mut self, number: u64, len: u32) {
        self.rest |= number << (8 * self.rest_len);
        self.rest_len += len;
        if self.rest_len > NUMBERS {
            self.word(self.rest << 8 | NUMBERS_MARK);
            self.rest_len -= NUMBERS;
            self.rest = number >> (8 * (len - self.rest_len));
        }
    }
}

impl Hasher for KeyedHasher {
    /// Encodes a text. The encoding is unique because a text is UTF-8.
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        let bits = 8 * rest.len() as u32;
        self.word(match bytes.last_chunk() {
            Some(end) => u64::from_le_bytes(*end).unbounded_shr(64 - bits) | TEXT_END << bits,
            None => rest.iter().rev().fold(TEXT_END, |word, &byte| word << 8 | u64::from(byte)),
        });
    }

    #[inline]
    fn write_u8(&mut self, number: u8) {
        // `str` writes this byte after its bytes, where `write` has already marked the end. No
        // other byte of a key is 0xff, because discriminants and the numbers of arguments are
        // smaller.
        if u64::from(number) != TEXT_END {
            self.number(number.into(), 1);
        }
    }

    #[inline]
    fn write_u16(&mut self, number: u16) {
        self.number(number.into(), 2);
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.number(number.into(), 4);
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.number(number & u64::from(u32::MAX), 4);
        self.number(number >> 32, 4);
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    /// Encodes the discriminant of an enum.
    #[inline]
    fn write_isize(&mut self, number: isize) {
        debug_assert!((0..0xff).contains(&number), "no enum has that many variants: {number}");
        self.number(number as u64 & 0xff, 1);
    }

    #[inline]
    fn finish(&self) -> u64 {
        let len = 8 * self.words + u64::from(self.rest_len);
        finished(self.state, self.rest | len << 56)
    }
}

/// The compression of SipHash-1-3: one round for each word.
#[inline(always)]
const fn absorbed(mut state: [u64; 4], word: u64) -> [u64; 4] {
    state[3] ^= word;
    state = mixed(state);
    state[0] ^= word;
    state
}

/// The finalization of SipHash-1-3: three rounds. `last` holds the bytes that are not a whole word,
/// and in its highest byte the length of the message.
#[inline(always)]
const fn finished(state: [u64; 4], last: u64) -> u64 {
    let mut state = absorbed(state, last);
    state[2] ^= 0xff;
    let [a, b, c, d] = mixed(mixed(mixed(state)));
    a ^ b ^ c ^ d
}

/// One round of SipHash.
#[inline(always)]
const fn mixed([mut a, mut b, mut c, mut d]: [u64; 4]) -> [u64; 4] {
    a = a.wrapping_add(b);
    c = c.wrapping_add(d);
    b = b.rotate_left(13) ^ a;
    d = d.rotate_left(16) ^ c;
    a = a.rotate_left(32);
    c = c.wrapping_add(b);
    a = a.wrapping_add(d);
    b = b.rotate_left(17) ^ c;
    d = d.rotate_left(21) ^ a;
    c = c.rotate_left(32);
    [a, b, c, d]
}

/// Bytes of encoded numbers that fit in a word, beside the mark.
const NUMBERS: u32 = 7;

/// The first byte of a word of numbers.
const NUMBERS_MARK: u64 = 0xfe;

/// The byte after a text.
const TEXT_END: u64 = 0xff;

#[cfg(test)]
mod tests;
