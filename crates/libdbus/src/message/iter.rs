//! The memory of an iterator, which the program provides.

use std::ptr;

use super::DBusMessage;
use crate::c::Out;
use crate::checks::warn_misuse;

/// An iterator over the values of a message, with the size of `DBusMessageIter`.
///
/// All bytes are 0 in an iterator that is closed.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct MessageIter {
    message: *const DBusMessage,
    /// For reading: the rest of the types, which are part of the signature or of a variant.
    types: *const u8,
    types_len: u32,
    /// What the iterator can do: one of the constants below.
    role: u32,
    /// For reading: the offset in the body of the current value, before its padding.
    pub(super) at: u32,
    /// For reading the elements of an array: the offset of their end.
    pub(super) end: u32,
    /// For reading: 1 for the elements of an array, which all have the first type.
    pub(super) in_array: u32,
    /// For writing: the number of open containers around the next value.
    pub(super) depth: u32,
    unused: [u32; 4],
    padding: [usize; 2],
}

const _: () = assert!(size_of::<MessageIter>() == 72 && align_of::<MessageIter>() == 8);

const READS: u32 = 0x6469_6c72;
const WRITES: u32 = 0x6469_6c77;

impl MessageIter {
    const CLOSED: Self = Self {
        message: ptr::null(),
        types: ptr::null(),
        types_len: 0,
        role: 0,
        at: 0,
        end: 0,
        in_array: 0,
        depth: 0,
        unused: [0; 4],
        padding: [0; 2],
    };

    pub(super) fn reader(message: &DBusMessage, types: &[u8], at: u32) -> Self {
        let mut iter = Self { message, role: READS, at, ..Self::CLOSED };
        iter.set_types(types);
        iter
    }

    pub(super) fn writer(message: &DBusMessage, depth: u32) -> Self {
        Self { message, role: WRITES, depth, ..Self::CLOSED }
    }

    /// The types from the current value on.
    pub(super) fn types<'a>(&self) -> &'a [u8] {
        if self.types.is_null() {
            return &[];
        }
        // SAFETY: the types are in the signature or the body of the message, which the program
        // keeps and does not change while it reads it.
        unsafe { std::slice::from_raw_parts(self.types, self.types_len as usize) }
    }

    pub(super) fn set_types(&mut self, types: &[u8]) {
        self.types = types.as_ptr();
        // A signature has at most 255 bytes.
        self.types_len = types.len() as u32;
    }

    pub(super) fn message<'a>(&self) -> &'a DBusMessage {
        // SAFETY: only `reader` and `writer` make iterators with a role, and the program keeps the
        // message while it uses them.
        unsafe { &*self.message }
    }
}

impl Out<MessageIter> {
    /// Returns an iterator that reads. Otherwise it prints a warning.
    pub(super) fn reading(self, function: &str) -> Option<MessageIter> {
        self.with_role(function, READS)
    }

    /// Returns an iterator that writes. Otherwise it prints a warning.
    pub(super) fn writing(self, function: &str) -> Option<MessageIter> {
        self.with_role(function, WRITES)
    }

    fn with_role(self, function: &str, role: u32) -> Option<MessageIter> {
        let problem = match self.get() {
            None => "dbus message iterator is NULL",
            Some(iter) if iter.role == role => return Some(iter),
            Some(iter) if iter.role == 0 => {
                "dbus message iterator has already been closed, or is uninitialized or corrupt"
            }
            Some(iter) if iter.role == READS || iter.role == WRITES => {
                "dbus message iterator has the wrong type"
            }
            Some(_) => "dbus message iterator looks uninitialized or corrupted",
        };
        warn_misuse(format_args!("{problem} ({function})\n"));
        None
    }

    /// Returns true if the iterator is closed.
    pub(super) fn is_closed(self) -> bool {
        self.get().is_none_or(|iter| iter.role == 0)
    }

    /// Closes the iterator, so that later uses are detected.
    pub(super) fn close(self) {
        self.set(MessageIter::CLOSED);
    }
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_iter_init_closed(iter: Out<MessageIter>) {
    iter.close();
}
