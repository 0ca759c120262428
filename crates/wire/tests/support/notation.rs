//! A readable notation for messages, in both byte orders.

use diligence_wire::Endian;

/// Parses bytes from words: `'text'` is the text without a 0 byte, `u7` is a 4-byte number, `@` is
/// the byte-order mark, and all other words are hexadecimal.
pub(crate) fn bytes(endian: Endian, words: &str) -> Vec<u8> {
    words.split_whitespace().flat_map(|word| word_bytes(endian, word)).collect()
}

fn word_bytes(endian: Endian, word: &str) -> Vec<u8> {
    if let Some(text) = word.strip_prefix('\'') {
        return text.strip_suffix('\'').expect("a closing quote").into();
    }
    if let Some(number) = word.strip_prefix('u') {
        return endian.u32_bytes(number.parse().expect("a number")).into();
    }
    if word == "@" {
        return vec![endian.mark()];
    }
    let digits: Vec<char> = word.chars().collect();
    let byte = |pair: &[char]| u8::from_str_radix(&String::from_iter(pair), 16);
    digits.chunks(2).map(|pair| byte(pair).expect("hexadecimal digits")).collect()
}

/// Both byte orders, to iterate over.
pub(crate) const ORDERS: [Endian; 2] = [Endian::Little, Endian::Big];
