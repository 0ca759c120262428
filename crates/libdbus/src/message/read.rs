//! Iterators that read values.

use std::ffi::{c_char, c_int, c_void};
use std::os::fd::{AsFd, IntoRawFd};
use std::ptr;

use wire::Endian;

use super::iter::MessageIter;
use super::swap::{u32_at, value_end};
use super::{DBusMessage, DBusMessageContent};
use crate::c::{Bool, FALSE, Handle, Out, TRUE, Untyped, copy_text};
use crate::checks::{check, given, warn_misuse};
use crate::signatures::complete_len;
use crate::types::{alignment, fixed_size, is_basic, is_fixed, public_code};

impl MessageIter {
    fn body<'a>(&self) -> &'a DBusMessageContent {
        self.message().view()
    }

    fn is_at_end(&self) -> bool {
        self.types().is_empty() || (self.in_array != 0 && self.at >= self.end)
    }

    /// The first character of the current type; 0 at the end.
    fn first(&self) -> u8 {
        if self.is_at_end() { 0 } else { self.types().first().copied().unwrap_or(0) }
    }

    /// The offset of the current value, after its padding.
    fn start(&self) -> usize {
        (self.at as usize).next_multiple_of(alignment(self.first()))
    }

    fn advance(&mut self) {
        let types = self.types();
        let body = &self.body().body;
        // Bodies are at most 128 MiB.
        self.at = value_end(body, Endian::NATIVE, self.at as usize, types) as u32;
        if self.in_array == 0 {
            self.set_types(&types[complete_len(types)..]);
        }
    }

    /// The offsets of the elements of the current value, which is an array.
    fn elements(&self) -> (usize, usize) {
        let start = self.start();
        let len = u32_at(&self.body().body, Endian::NATIVE, start) as usize;
        let element = self.types().get(1).copied().unwrap_or(b'y');
        let first = (start + 4).next_multiple_of(alignment(element));
        (first, first + len)
    }
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_iter_init(message: Handle<DBusMessage>, iter: Out<MessageIter>) -> Bool {
    let message = given!("dbus_message_iter_init", message, FALSE);
    check!("dbus_message_iter_init", !iter.is_null(), "iter != NULL", FALSE);
    message.make_native();
    let reader = MessageIter::reader(message, message.view().signature().to_bytes(), 0);
    iter.set(reader);
    (reader.first() != 0).into()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_iter_has_next(iter: Out<MessageIter>) -> Bool {
    let Some(mut reader) = iter.reading("dbus_message_iter_has_next") else { return FALSE };
    if reader.is_at_end() {
        return FALSE;
    }
    reader.advance();
    (!reader.is_at_end()).into()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_iter_next(iter: Out<MessageIter>) -> Bool {
    let Some(mut reader) = iter.reading("dbus_message_iter_next") else { return FALSE };
    if reader.is_at_end() {
        return FALSE;
    }
    reader.advance();
    iter.set(reader);
    (!reader.is_at_end()).into()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_iter_get_arg_type(iter: Out<MessageIter>) -> c_int {
    let reader = iter.reading("dbus_message_iter_get_arg_type");
    reader.map_or(0, |reader| public_code(reader.first()))
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_iter_get_element_type(iter: Out<MessageIter>) -> c_int {
    let Some(reader) = iter.reading("dbus_message_iter_get_element_type") else { return 0 };
    check!(
        "dbus_message_iter_get_element_type",
        reader.first() == b'a',
        "dbus_message_iter_get_arg_type (iter) == DBUS_TYPE_ARRAY",
        0
    );
    reader.types().get(1).map_or(0, |&first| public_code(first))
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_iter_get_signature(iter: Out<MessageIter>) -> *mut c_char {
    let Some(reader) = iter.reading("dbus_message_iter_get_signature") else {
        return ptr::null_mut();
    };
    let types = reader.types();
    copy_text(&types[..complete_len(types)])
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_iter_recurse(iter: Out<MessageIter>, sub: Out<MessageIter>) {
    let Some(reader) = iter.reading("dbus_message_iter_recurse") else { return };
    check!("dbus_message_iter_recurse", !sub.is_null(), "sub != NULL");
    let types = reader.types();
    let start = reader.start();
    let message = reader.message();
    // Bodies are at most 128 MiB.
    sub.set(match reader.first() {
        b'(' | b'{' => {
            let fields = &types[1..complete_len(types) - 1];
            MessageIter::reader(message, fields, start as u32)
        }
        b'v' => {
            let body = &message.view().body;
            let end = start + 1 + usize::from(body[start]);
            MessageIter::reader(message, &body[start + 1..end], end as u32 + 1)
        }
        b'a' => {
            let (first, end) = reader.elements();
            let element = &types[1..complete_len(types)];
            let mut elements = MessageIter::reader(message, element, first as u32);
            elements.in_array = 1;
            elements.end = end as u32;
            elements
        }
        0 => {
            warn_misuse("You can't recurse into an empty array or off the end of a message body\n");
            return;
        }
        _ => {
            warn_misuse("the current value is not a container (dbus_message_iter_recurse)\n");
            return;
        }
    });
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_iter_get_basic(iter: Out<MessageIter>, value: Untyped) {
    let Some(reader) = iter.reading("dbus_message_iter_get_basic") else { return };
    check!("dbus_message_iter_get_basic", !value.is_null(), "value != NULL");
    let first = reader.first();
    check!(
        "dbus_message_iter_get_basic",
        is_basic(first),
        "_dbus_type_is_basic (dbus_message_iter_get_arg_type (iter))",
    );
    let content = reader.body();
    let bytes = &content.body[reader.start()..];
    match first {
        b's' | b'o' => value.set(bytes[4..].as_ptr()),
        b'g' => value.set(bytes[1..].as_ptr()),
        b'y' => value.set(bytes[0]),
        b'n' | b'q' => value.set([bytes[0], bytes[1]]),
        b'x' | b't' | b'd' => value.set(*bytes.first_chunk::<8>().unwrap_or(&[0; 8])),
        b'h' => value.set(duplicate(content, u32_at(bytes, Endian::NATIVE, 0))),
        _ => value.set(u32_at(bytes, Endian::NATIVE, 0)),
    }
}

/// Returns a new descriptor for a descriptor of the message, or -1.
fn duplicate(content: &DBusMessageContent, index: u32) -> c_int {
    let fd = content.fds.get(index as usize);
    let copy = fd.and_then(|fd| fd.as_fd().try_clone_to_owned().ok());
    copy.map_or(-1, IntoRawFd::into_raw_fd)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_iter_get_element_count(iter: Out<MessageIter>) -> c_int {
    let Some(reader) = iter.reading("dbus_message_iter_get_element_count") else { return 0 };
    check!(
        "dbus_message_iter_get_element_count",
        reader.first() == b'a',
        "dbus_message_iter_get_arg_type (iter) == DBUS_TYPE_ARRAY",
        0
    );
    let (mut at, end) = reader.elements();
    let types = reader.types();
    let element = &types[1..complete_len(types)];
    if is_fixed(element[0]) {
        return c_int::try_from((end - at) / fixed_size(element[0])).unwrap_or(c_int::MAX);
    }
    let body = &reader.body().body;
    let mut count = 0;
    while at < end {
        at = value_end(body, Endian::NATIVE, at, element);
        count += 1;
    }
    count
}

/// Returns the number of bytes from the current element to the end of an array.
#[unsafe(no_mangle)]
extern "C" fn dbus_message_iter_get_array_len(iter: Out<MessageIter>) -> c_int {
    let Some(reader) = iter.reading("dbus_message_iter_get_array_len") else { return 0 };
    c_int::try_from(reader.end.saturating_sub(reader.at)).unwrap_or(c_int::MAX)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_iter_get_fixed_array(
    iter: Out<MessageIter>,
    value: Out<*const c_void>,
    n_elements: Out<c_int>,
) {
    let Some(reader) = iter.reading("dbus_message_iter_get_fixed_array") else { return };
    check!("dbus_message_iter_get_fixed_array", !value.is_null(), "value != NULL");
    let element = reader.types().first().copied().unwrap_or_default();
    check!(
        "dbus_message_iter_get_fixed_array",
        reader.in_array != 0 && is_fixed(element) && element != b'h',
        "(subtype == DBUS_TYPE_INVALID) || (dbus_type_is_fixed (subtype) && subtype != \
         DBUS_TYPE_UNIX_FD)",
    );
    let (at, end) = (reader.at as usize, reader.end as usize);
    value.set(match at < end {
        true => reader.body().body[at..].as_ptr().cast(),
        false => ptr::null(),
    });
    let count = end.saturating_sub(at) / fixed_size(element);
    n_elements.set(c_int::try_from(count).unwrap_or(c_int::MAX));
}

impl DBusMessage {
    /// The first argument, if it is a string.
    pub(crate) fn first_string(&self) -> Option<Vec<u8>> {
        self.make_native();
        let content = self.view();
        if content.signature().to_bytes().first() != Some(&b's') {
            return None;
        }
        let len = u32_at(&content.body, Endian::NATIVE, 0) as usize;
        Some(content.body.get(4..4 + len)?.to_vec())
    }

    /// The first argument, if it is a number or boolean of 32 bits.
    pub(crate) fn first_u32(&self) -> Option<u32> {
        self.make_native();
        let content = self.view();
        let fits = matches!(content.signature().to_bytes().first(), Some(b'u' | b'b' | b'i'));
        fits.then(|| u32_at(&content.body, Endian::NATIVE, 0))
    }
}

/// Returns 1 if a value of the message is a descriptor whose index is not valid.
#[unsafe(no_mangle)]
extern "C" fn diligence_fd_is_missing(
    iter: Out<MessageIter>,
    index: Out<c_int>,
    count: Out<c_int>,
) -> Bool {
    let Some(reader) = iter.reading("dbus_message_get_args") else { return FALSE };
    let content = reader.body();
    let found = u32_at(&content.body, Endian::NATIVE, reader.start());
    index.set(c_int::try_from(found).unwrap_or(c_int::MAX));
    count.set(c_int::try_from(content.fds.len()).unwrap_or(c_int::MAX));
    if (found as usize) < content.fds.len() { FALSE } else { TRUE }
}
