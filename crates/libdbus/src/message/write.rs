//! Iterators that append values.

use std::borrow::Cow;
use std::ffi::{c_char, c_int, c_void};
use std::os::fd::BorrowedFd;

use wire::names::ObjectPath;
use wire::signature::Signature;

use super::DBusMessage;
use super::iter::MessageIter;
use crate::c::{Bool, CText, FALSE, Handle, Out, TRUE, Untyped, bytes_at, length};
use crate::checks::{check, given, report, warn_misuse};
use crate::types::{self, DICT_ENTRY, STRUCT, fixed_size, is_basic, is_fixed};

/// Returns an iterator that writes, if the message can be changed.
fn unlocked(iter: Out<MessageIter>, function: &str) -> Option<MessageIter> {
    let writer = iter.writing(function)?;
    if writer.message().view().locked {
        warn_misuse(
            "dbus append iterator can't be used: message is locked (has already been sent)\n",
        );
        return None;
    }
    Some(writer)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_iter_init_append(message: Handle<DBusMessage>, iter: Out<MessageIter>) {
    let message = given!("dbus_message_iter_init_append", message);
    check!("dbus_message_iter_init_append", !iter.is_null(), "iter != NULL");
    message.make_native();
    message.edit(|content| content.start_writing());
    iter.set(MessageIter::writer(message, 0));
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_iter_append_basic(
    iter: Out<MessageIter>,
    r#type: c_int,
    value: Untyped,
) -> Bool {
    const FUNCTION: &str = "dbus_message_iter_append_basic";
    let Some(writer) = unlocked(iter, FUNCTION) else { return FALSE };
    let code = types::code(r#type).unwrap_or_default();
    check!("dbus_message_iter_append_basic", is_basic(code), "dbus_type_is_basic (type)", FALSE);
    check!("dbus_message_iter_append_basic", !value.is_null(), "value != NULL", FALSE);
    let message = writer.message();
    message.edit(|content| content.enter(writer.depth));
    match code {
        b's' | b'o' | b'g' => append_text(message, code, value.get()),
        b'h' => append_fd(message, value.get()),
        b'b' => {
            let number: u32 = value.get();
            check!(
                "dbus_message_iter_append_basic",
                number <= 1,
                "*bool_p == 0 || *bool_p == 1",
                FALSE
            );
            message.edit(|content| content.append_fixed(code, &number.to_ne_bytes()))
        }
        b'y' => message.edit(|content| content.append_fixed(code, &[value.get()])),
        b'n' | b'q' => message.edit(|content| content.append_fixed(code, &value.get::<[u8; 2]>())),
        b'i' | b'u' => message.edit(|content| content.append_fixed(code, &value.get::<[u8; 4]>())),
        _ => message.edit(|content| content.append_fixed(code, &value.get::<[u8; 8]>())),
    }
    .into()
}

fn append_text(message: &DBusMessage, code: u8, text: CText) -> bool {
    const FUNCTION: &str = "dbus_message_iter_append_basic";
    let Some(found) = text.get() else {
        report(FUNCTION, "*string_p != NULL", file!(), line!());
        return false;
    };
    let bytes = found.to_bytes();
    let (valid, condition) = match code {
        b'o' => (ObjectPath::from_bytes(bytes).is_ok(), "_dbus_check_is_valid_path (*string_p)"),
        b'g' => {
            (Signature::from_bytes(bytes).is_ok(), "_dbus_check_is_valid_signature (*string_p)")
        }
        _ => (found.to_str().is_ok(), "_dbus_check_is_valid_utf8 (*string_p)"),
    };
    if !valid {
        report(FUNCTION, condition, file!(), line!());
        return false;
    }
    let bytes = outside(message, bytes);
    message.edit(|content| content.append_text(code, &bytes))
}

/// Copies bytes that are in the body of the message, which moves when it grows.
fn outside<'b>(message: &DBusMessage, bytes: &'b [u8]) -> Cow<'b, [u8]> {
    if message.view().body.as_ptr_range().contains(&bytes.as_ptr()) {
        Cow::Owned(bytes.to_vec())
    } else {
        Cow::Borrowed(bytes)
    }
}

fn append_fd(message: &DBusMessage, number: c_int) -> bool {
    if number < 0 {
        return false;
    }
    // SAFETY: the program passes an open descriptor, which it does not close during the call.
    let fd = unsafe { BorrowedFd::borrow_raw(number) };
    match fd.try_clone_to_owned() {
        Ok(copy) => message.edit(|content| content.append_fd(copy)),
        Err(_) => false,
    }
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_iter_append_fixed_array(
    iter: Out<MessageIter>,
    element_type: c_int,
    value: Out<*const c_void>,
    n_elements: c_int,
) -> Bool {
    const FUNCTION: &str = "dbus_message_iter_append_fixed_array";
    let Some(writer) = unlocked(iter, FUNCTION) else { return FALSE };
    let code = types::code(element_type).unwrap_or_default();
    check!(
        "dbus_message_iter_append_fixed_array",
        is_fixed(code) && code != b'h',
        "dbus_type_is_fixed (element_type) && element_type != DBUS_TYPE_UNIX_FD",
        FALSE
    );
    let start = given!("dbus_message_iter_append_fixed_array", value, FALSE);
    let Some(count) = length(n_elements) else {
        report(FUNCTION, "n_elements >= 0", file!(), line!());
        return FALSE;
    };
    let message = writer.message();
    message.edit(|content| content.enter(writer.depth));
    let element = message.view().open_array(writer.depth);
    check!(
        "dbus_message_iter_append_fixed_array",
        element.is_some(),
        "real->u.writer.container_type == DBUS_TYPE_ARRAY",
        FALSE
    );
    if element != Some(code) {
        let expected = types::name(element.unwrap_or(0)).to_string_lossy();
        let written = types::name(code).to_string_lossy();
        warn_misuse(format_args!(
            "Writing an array element of type {written}, but the expected type here is {expected}\n"
        ));
        return FALSE;
    }
    check!(
        "dbus_message_iter_append_fixed_array",
        count <= wire::limits::ARRAY_LEN_MAX / fixed_size(code),
        "n_elements <= DBUS_MAXIMUM_ARRAY_LENGTH / _dbus_type_get_alignment (element_type)",
        FALSE
    );
    let bytes = bytes_at(start, count * fixed_size(code));
    if code == b'b' {
        let valid = bytes.as_chunks().0.iter().all(|bytes| u32::from_ne_bytes(*bytes) <= 1);
        check!(
            "dbus_message_iter_append_fixed_array",
            valid,
            "(*bools)[i] == 0 || (*bools)[i] == 1",
            FALSE
        );
    }
    let bytes = outside(message, bytes);
    message.edit(|content| content.append_elements(code, &bytes));
    TRUE
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_iter_open_container(
    iter: Out<MessageIter>,
    r#type: c_int,
    contained_signature: CText,
    sub: Out<MessageIter>,
) -> Bool {
    const FUNCTION: &str = "dbus_message_iter_open_container";
    check!("dbus_message_iter_open_container", !sub.is_null(), "sub != NULL", FALSE);
    sub.close();
    let Some(writer) = unlocked(iter, FUNCTION) else { return FALSE };
    let first = match types::code(r#type) {
        Some(STRUCT) => b'(',
        Some(DICT_ENTRY) => b'{',
        Some(code @ (b'a' | b'v')) => code,
        _ => {
            report(FUNCTION, "dbus_type_is_container (type)", file!(), line!());
            return FALSE;
        }
    };
    let contained = contained_signature.bytes();
    check!(
        "dbus_message_iter_open_container",
        contained_signature.is_null() == matches!(first, b'(' | b'{'),
        "(type == DBUS_TYPE_STRUCT && contained_signature == NULL) || (type == \
         DBUS_TYPE_DICT_ENTRY && contained_signature == NULL) || (type == DBUS_TYPE_VARIANT && \
         contained_signature != NULL) || (type == DBUS_TYPE_ARRAY && contained_signature != NULL)",
        FALSE
    );
    check!(
        "dbus_message_iter_open_container",
        is_content(first, contained),
        "(type == DBUS_TYPE_ARRAY && contained_signature && *contained_signature == \
         DBUS_DICT_ENTRY_BEGIN_CHAR) || contained_signature == NULL || \
         contained_signature_validity == DBUS_VALID",
        FALSE
    );
    let message = writer.message();
    let opened = message.edit(|content| {
        content.enter(writer.depth);
        content.open(first, contained)
    });
    if opened {
        sub.set(MessageIter::writer(message, writer.depth + 1));
    }
    opened.into()
}

/// Returns true if the types of an array or a variant are valid. As in libdbus, their number is not
/// checked.
fn is_content(first: u8, contained: &[u8]) -> bool {
    match (first, contained.first()) {
        (b'a', Some(b'{')) => Signature::from_bytes(&[b"a", contained].concat()).is_ok(),
        (b'a', None) => false,
        _ => Signature::from_bytes(contained).is_ok(),
    }
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_iter_close_container(
    iter: Out<MessageIter>,
    sub: Out<MessageIter>,
) -> Bool {
    const FUNCTION: &str = "dbus_message_iter_close_container";
    let Some(writer) = unlocked(iter, FUNCTION) else { return FALSE };
    let Some(inner) = sub.writing(FUNCTION) else { return FALSE };
    sub.close();
    writer.message().edit(|content| {
        content.enter(inner.depth);
        content.close().into()
    })
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_iter_abandon_container(iter: Out<MessageIter>, sub: Out<MessageIter>) {
    const FUNCTION: &str = "dbus_message_iter_abandon_container";
    let Some(writer) = iter.writing(FUNCTION) else { return };
    let Some(inner) = sub.writing(FUNCTION) else { return };
    sub.close();
    writer.message().edit(|content| {
        content.enter(inner.depth);
        content.abandon();
    });
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_iter_abandon_container_if_open(
    iter: Out<MessageIter>,
    sub: Out<MessageIter>,
) {
    if !iter.is_closed() && !sub.is_closed() {
        dbus_message_iter_abandon_container(iter, sub);
    }
}

/// The type of a pointer to a string in the C interface.
const _: () = assert!(size_of::<CText>() == size_of::<*const c_char>());
