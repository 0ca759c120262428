//! The keys of one entry: split, unescaped, and taken by name.

use alloc::string::String;
use alloc::vec::Vec;
use core::num::NonZeroU16;

use super::{AddressError, AddressErrorKind, AddressKey, HostFamily, is_bare};
use crate::guid::Guid;
use crate::hex;

/// The keys of an entry that were not taken yet, in the order of the text.
pub(super) struct AddressKeys<'a> {
    keys: Vec<RawKey<'a>>,
    end: usize,
}

impl<'a> AddressKeys<'a> {
    /// Parses the text after the colon, which begins at byte `at` of the whole text.
    pub(super) fn parse(text: &'a str, at: usize) -> Result<Self, AddressError> {
        let mut found = Self { keys: Vec::new(), end: at + text.len() };
        let text = text.strip_suffix(',').unwrap_or(text);
        if text.is_empty() {
            return Ok(found);
        }
        for (offset, piece) in pieces(text, ',') {
            let key = RawKey::parse(piece, at + offset)?;
            if found.keys.iter().any(|earlier| earlier.name == key.name) {
                return Err(AddressErrorKind::DuplicateKey.at(key.at));
            }
            found.keys.push(key);
        }
        Ok(found)
    }

    /// The offset of the end of the entry in the whole text.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    pub(super) fn take(&mut self, name: &str) -> Option<RawKey<'a>> {
        let index = self.keys.iter().position(|key| key.name == name)?;
        Some(self.keys.remove(index))
    }

    pub(super) fn require(&mut self, name: &'static str) -> Result<RawKey<'a>, AddressError> {
        self.take(name).ok_or(AddressErrorKind::MissingKey(name).at(self.end))
    }

    pub(super) fn take_any(&mut self, names: &[&str]) -> Vec<RawKey<'a>> {
        self.keys.extract_if(.., |key| names.contains(&key.name)).collect()
    }

    pub(super) fn take_all(&mut self) -> Vec<AddressKey> {
        self.keys.drain(..).map(RawKey::into_key).collect()
    }

    pub(super) fn into_rest(mut self) -> Vec<AddressKey> {
        self.take_all()
    }
}

/// One `key=value`, the value unescaped, with their offsets in the whole text.
pub(super) struct RawKey<'a> {
    pub(super) name: &'a str,
    pub(super) value: Vec<u8>,
    pub(super) at: usize,
    pub(super) value_at: usize,
}

impl<'a> RawKey<'a> {
    fn parse(text: &'a str, at: usize) -> Result<Self, AddressError> {
        let (name, value) =
            text.split_once('=').ok_or(AddressErrorKind::MissingEquals.at(at + text.len()))?;
        let value_at = at + name.len() + 1;
        if name.is_empty() {
            return Err(AddressErrorKind::EmptyKey.at(at));
        }
        if value.is_empty() {
            return Err(AddressErrorKind::EmptyValue.at(value_at));
        }
        Ok(Self { name, value: unescape(value.as_bytes(), value_at)?, at, value_at })
    }

    /// The value as a path of the file system, which must not contain a NUL byte.
    pub(super) fn path(self) -> Result<Vec<u8>, AddressError> {
        if self.value.contains(&0) {
            return Err(AddressErrorKind::NulInPath.at(self.value_at));
        }
        Ok(self.value)
    }

    pub(super) fn text(self) -> Result<String, AddressError> {
        String::from_utf8(self.value).map_err(|_| AddressErrorKind::NotUtf8.at(self.value_at))
    }

    /// The value as a port; 0 means any free port.
    pub(super) fn port(self) -> Result<Option<NonZeroU16>, AddressError> {
        let digits_only = self.value.iter().all(u8::is_ascii_digit);
        let number = core::str::from_utf8(&self.value).ok().and_then(|text| text.parse().ok());
        let number = number.filter(|_| digits_only);
        number.map(NonZeroU16::new).ok_or(AddressErrorKind::InvalidPort.at(self.value_at))
    }

    pub(super) fn family(self) -> Result<HostFamily, AddressError> {
        match self.value.as_slice() {
            b"ipv4" => Ok(HostFamily::V4),
            b"ipv6" => Ok(HostFamily::V6),
            _ => Err(AddressErrorKind::InvalidFamily.at(self.value_at)),
        }
    }

    pub(super) fn guid(self) -> Result<Guid, AddressError> {
        Guid::parse(&self.value)
            .map_err(|error| AddressErrorKind::InvalidGuid(error).at(self.value_at))
    }

    fn into_key(self) -> AddressKey {
        AddressKey { name: self.name.into(), value: self.value }
    }
}

/// Splits `text` at each `separator`; returns each part with its offset.
pub(super) fn pieces(text: &str, separator: char) -> impl Iterator<Item = (usize, &str)> {
    let mut next = 0;
    text.split(separator).map(move |piece| {
        let at = next;
        next += piece.len() + separator.len_utf8();
        (at, piece)
    })
}

fn unescape(text: &[u8], at: usize) -> Result<Vec<u8>, AddressError> {
    let mut value = Vec::with_capacity(text.len());
    let mut offset = 0;
    while let Some(&byte) = text.get(offset) {
        match byte {
            b'%' => {
                let escaped = unescape_byte(&text[offset + 1..]);
                value.push(escaped.ok_or(AddressErrorKind::BadEscape.at(at + offset))?);
                offset += ESCAPE_LEN;
            }
            bare if is_bare(bare) => {
                value.push(bare);
                offset += 1;
            }
            other => return Err(AddressErrorKind::UnescapedByte(other).at(at + offset)),
        }
    }
    Ok(value)
}

fn unescape_byte(digits: &[u8]) -> Option<u8> {
    hex::byte(*digits.first()?, *digits.get(1)?)
}

/// Bytes of a `%` with its two digits.
const ESCAPE_LEN: usize = 3;
