//! Positions of values in valid bodies, and the conversion of a body to the native byte order.

use wire::Endian;

use super::{DBusMessage, HeaderValue};
use crate::signatures::complete_len;
use crate::types::{alignment, fixed_size};

/// Reads a 32-bit number. In a valid body, its bytes are there.
pub(super) fn u32_at(bytes: &[u8], endian: Endian, at: usize) -> u32 {
    let number = bytes.get(at..).and_then(<[u8]>::first_chunk);
    number.map_or(0, |bytes| endian.u32(*bytes))
}

/// Calls `visit` with the offset and size of each number in the values of `types`, which begin at
/// `at`. Returns the end of the values. `bytes` are valid.
fn walk(
    bytes: &mut [u8],
    endian: Endian,
    at: usize,
    types: &[u8],
    visit: &mut impl FnMut(&mut [u8]),
) -> usize {
    let mut types = types;
    let mut at = at;
    while let Some(&first) = types.first() {
        let len = complete_len(types);
        at = at.next_multiple_of(alignment(first));
        at = match first {
            b's' | b'o' => {
                let end = at + 4 + u32_at(bytes, endian, at) as usize + 1;
                visit(&mut bytes[at..at + 4]);
                end
            }
            b'g' => at + usize::from(bytes[at]) + 2,
            b'v' => {
                let start = at + 1;
                let end = start + usize::from(bytes[at]);
                let inner = bytes[start..end].to_vec();
                walk(bytes, endian, end + 1, &inner, visit)
            }
            b'a' => {
                let element = &types[1..len];
                let array_len = u32_at(bytes, endian, at) as usize;
                visit(&mut bytes[at..at + 4]);
                let mut next = (at + 4).next_multiple_of(alignment(element[0]));
                let end = next + array_len;
                while next < end {
                    next = walk(bytes, endian, next, element, visit);
                }
                end
            }
            b'(' | b'{' => walk(bytes, endian, at, &types[1..len - 1], visit),
            code => {
                let size = fixed_size(code);
                visit(&mut bytes[at..at + size]);
                at + size
            }
        };
        types = &types[len..];
    }
    at
}

/// Returns the end of the value of the first type in `types`, without its padding.
pub(super) fn value_end(bytes: &[u8], endian: Endian, at: usize, types: &[u8]) -> usize {
    let Some(&first) = types.first() else { return at };
    let start = at.next_multiple_of(alignment(first));
    match first {
        b's' | b'o' => start + 4 + u32_at(bytes, endian, start) as usize + 1,
        b'g' => start + usize::from(bytes.get(start).copied().unwrap_or_default()) + 2,
        b'v' => {
            let inner = start + 1;
            let end = inner + usize::from(bytes.get(start).copied().unwrap_or_default());
            value_end(bytes, endian, end + 1, bytes.get(inner..end).unwrap_or_default())
        }
        b'a' => {
            let element = types.get(1).copied().unwrap_or(b'y');
            let len = u32_at(bytes, endian, start) as usize;
            (start + 4).next_multiple_of(alignment(element)) + len
        }
        b'(' | b'{' => {
            let mut fields = &types[1..complete_len(types) - 1];
            let mut at = start;
            while !fields.is_empty() {
                at = value_end(bytes, endian, at, fields);
                fields = &fields[complete_len(fields)..];
            }
            at
        }
        code => start + fixed_size(code),
    }
}

impl DBusMessage {
    /// Converts the body and unknown fields to the native byte order.
    pub(crate) fn make_native(&self) {
        if self.view().endian == Endian::NATIVE {
            return;
        }
        self.edit(|content| {
            let endian = std::mem::replace(&mut content.endian, Endian::NATIVE);
            let types = content.signature().to_bytes().to_vec();
            walk(&mut content.body, endian, 0, &types, &mut <[u8]>::reverse);
            for field in &mut content.fields {
                if let HeaderValue::Unknown(bytes) = &mut field.value {
                    // A byte for the code and the value as a variant.
                    walk(bytes, endian, 1, b"v", &mut <[u8]>::reverse);
                }
            }
        });
    }
}
