//! The part of a message that append iterators are writing: containers that are not closed yet.

use std::ffi::CString;
use std::os::fd::OwnedFd;

use wire::Endian;

use super::marshal::pad;
use super::{DBusMessageContent, HeaderValue, code};
use crate::checks::warn_misuse;
use crate::signatures::complete_len;
use crate::types::{self, alignment};

/// A container that an append iterator has opened.
#[derive(Clone, Debug)]
pub(super) struct OpenContainer {
    /// The first character of its type.
    pub(super) first: u8,
    /// The types that it must contain: of an element, or of the value in a variant.
    expected: Vec<u8>,
    /// The types that were written to it, of the current element in an array.
    written: Vec<u8>,
    /// The offset of the length of an array.
    len_at: usize,
    /// The offset of the first element or field.
    start: usize,
    /// The length of the body before the container, to abandon it.
    body_len: usize,
    /// The number of descriptors before the container.
    fds: usize,
}

impl DBusMessageContent {
    /// Prepares the message for a value at a depth: containers that are deeper were left open.
    pub(super) fn enter(&mut self, depth: u32) {
        self.open.truncate(depth as usize);
    }

    pub(super) fn start_writing(&mut self) {
        self.open.clear();
    }

    /// The element type of the array that a depth is in.
    pub(super) fn open_array(&self, depth: u32) -> Option<u8> {
        let container = self.open.get((depth as usize).checked_sub(1)?)?;
        (container.first == b'a').then(|| container.expected.first().copied().unwrap_or(0))
    }

    /// Records that a value of one complete type is written at this depth, and warns about a type
    /// that the container does not allow. Returns false if the signature would be too long.
    fn add_type(&mut self, types: &[u8]) -> bool {
        let Some(container) = self.open.last_mut() else {
            let mut signature = self.signature().to_bytes().to_vec();
            signature.extend_from_slice(types);
            if signature.len() > wire::limits::SIGNATURE_LEN_MAX {
                return false;
            }
            // Type codes are not 0 bytes.
            let text = CString::new(signature).unwrap_or_default();
            self.set(code::SIGNATURE, HeaderValue::Text(text));
            return true;
        };
        container.written.extend_from_slice(types);
        if matches!(container.first, b'a' | b'v') {
            if !container.expected.starts_with(&container.written) {
                warn_type(types, container);
            }
            if container.first == b'a' {
                container.written.clear();
            }
        }
        true
    }

    /// Appends a fixed value.
    pub(super) fn append_fixed(&mut self, first: u8, bytes: &[u8]) -> bool {
        if !self.add_type(&[first]) {
            return false;
        }
        pad(&mut self.body, alignment(first));
        self.body.extend_from_slice(bytes);
        true
    }

    /// Appends a string, an object path or a signature, which is valid.
    pub(super) fn append_text(&mut self, first: u8, text: &[u8]) -> bool {
        if !self.add_type(&[first]) {
            return false;
        }
        pad(&mut self.body, alignment(first));
        match first {
            // A signature has at most 255 bytes.
            b'g' => self.body.push(text.len() as u8),
            _ => self.body.extend_from_slice(&Endian::NATIVE.u32_bytes(text.len() as u32)),
        }
        self.body.extend_from_slice(text);
        self.body.push(0);
        true
    }

    /// Appends a string argument to a message that is being created.
    pub(crate) fn append_string(&mut self, text: &[u8]) {
        self.append_text(b's', text);
    }

    /// Appends a number argument to a message that is being created.
    pub(crate) fn append_u32(&mut self, number: u32) {
        self.append_fixed(b'u', &number.to_ne_bytes());
    }

    /// Appends a descriptor as an argument.
    pub(super) fn append_fd(&mut self, fd: OwnedFd) -> bool {
        let index = self.fds.len() as u32;
        // The field UNIX_FDS precedes the signature if both are new.
        self.fds.push(fd);
        self.set(code::UNIX_FDS, HeaderValue::Number(index + 1));
        self.append_fixed(b'h', &index.to_ne_bytes())
    }

    /// Appends the elements of an array of a fixed type, which are in memory as on the wire.
    pub(super) fn append_elements(&mut self, first: u8, bytes: &[u8]) {
        if !bytes.is_empty() {
            pad(&mut self.body, alignment(first));
            self.body.extend_from_slice(bytes);
        }
    }

    /// Opens a container. `contained` are its types, for an array or a variant.
    pub(super) fn open(&mut self, first: u8, contained: &[u8]) -> bool {
        let (body_len, fds) = (self.body.len(), self.fds.len());
        // The type of an argument is added to the signature when the argument is complete.
        if matches!(first, b'a' | b'v')
            && !self.open.is_empty()
            && !self.add_type(&types_of(first, contained))
        {
            return false;
        }
        pad(&mut self.body, alignment(first));
        let len_at = self.body.len();
        match first {
            b'a' => {
                self.body.extend_from_slice(&[0; 4]);
                pad(&mut self.body, contained.first().map_or(1, |&first| alignment(first)));
            }
            b'v' => {
                // A signature has at most 255 bytes.
                self.body.push(contained.len() as u8);
                self.body.extend_from_slice(contained);
                self.body.push(0);
            }
            _ => {}
        }
        self.open.push(OpenContainer {
            first,
            expected: contained.to_vec(),
            written: Vec::new(),
            len_at,
            start: self.body.len(),
            body_len,
            fds,
        });
        true
    }

    /// Closes the innermost container.
    pub(super) fn close(&mut self) -> bool {
        let Some(container) = self.open.pop() else { return false };
        match container.first {
            b'a' => {
                let len = self.body.len() - container.start;
                if len > wire::limits::ARRAY_LEN_MAX {
                    return false;
                }
                let bytes = Endian::NATIVE.u32_bytes(len as u32);
                self.body[container.len_at..container.len_at + 4].copy_from_slice(&bytes);
                self.end_argument(&container)
            }
            b'v' => self.end_argument(&container),
            first => {
                let close = if first == b'(' { b')' } else { b'}' };
                let types = [&[first], container.written.as_slice(), &[close]].concat();
                self.add_type(&types)
            }
        }
    }

    /// Adds the type of an array or variant to the signature, if it is an argument.
    fn end_argument(&mut self, container: &OpenContainer) -> bool {
        let types = types_of(container.first, &container.expected);
        !self.open.is_empty() || self.add_type(&types)
    }

    /// Removes the innermost container and its content.
    pub(super) fn abandon(&mut self) {
        if let Some(container) = self.open.pop() {
            self.body.truncate(container.body_len);
            self.fds.truncate(container.fds);
        }
    }
}

/// The type of an array or variant.
fn types_of(first: u8, contained: &[u8]) -> Vec<u8> {
    if first == b'a' { [b"a", contained].concat() } else { vec![first] }
}

#[cold]
fn warn_type(types: &[u8], container: &OpenContainer) {
    let wanted = container.expected.len().min(container.written.len() - types.len());
    let expected = &container.expected[wanted..];
    let written = types::name(types.first().copied().unwrap_or(0)).to_string_lossy();
    // The signature of an array begins with its own code, and the signature of a variant follows
    // its length, so both count from 1.
    let overall = String::from_utf8_lossy(&container.expected).into_owned();
    let overall = if container.first == b'a' { format!("a{overall}") } else { overall };
    let at = wanted + 1;
    match expected.first() {
        Some(&first) => warn_misuse(format_args!(
            "Array or variant type requires that type {} be written, but {written} was \
             written.\nThe overall signature expected here was '{overall}' and we are on byte \
             {at} of that signature.\n",
            types::name(first).to_string_lossy(),
        )),
        None => warn_misuse(format_args!(
            "Array or variant type wasn't expecting any more values to be written into it, but a \
             value {written} was written.\nThe overall signature expected here was '{overall}' \
             and we are on byte {at} of that signature.\n"
        )),
    }
    debug_assert!(complete_len(types) == types.len(), "one complete type");
}
