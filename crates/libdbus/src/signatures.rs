//! Signatures: validation, and the iterator over the types of a signature.

use std::ffi::{c_char, c_int, c_void};
use std::ptr;

use wire::signature::{Signature, SignatureError, SignatureErrorKind};

use crate::c::{Bool, CText, FALSE, Out, TRUE, copy_text};
use crate::checks::{check, given};
use crate::errors::{DBusError, names};
use crate::types::{is_container, public_code};

/// The text of libdbus for an invalid signature.
pub(crate) const fn reason(kind: SignatureErrorKind) -> &'static str {
    match kind {
        SignatureErrorKind::TooLong => "Signature is too long",
        SignatureErrorKind::ArrayWithoutElement => "Missing array element type",
        SignatureErrorKind::ArrayTooDeep => "Exceeded maximum array recursion",
        SignatureErrorKind::StructTooDeep => "Exceeded maximum struct recursion",
        SignatureErrorKind::StructEmpty => "Struct has no fields",
        SignatureErrorKind::StructNotClosed => "Struct started but not ended",
        SignatureErrorKind::StructNotOpened => "Struct ended but not started",
        SignatureErrorKind::DictEntryOutsideArray => "Dict entry not inside array",
        SignatureErrorKind::DictEntryKeyNotBasic => "Dict key must be basic type",
        SignatureErrorKind::DictEntryTooShort => "Dict entry has only one field",
        SignatureErrorKind::DictEntryTooLong => "Dict entry has too many fields",
        SignatureErrorKind::DictEntryNotClosed => "Dict entry started but not ended",
        SignatureErrorKind::DictEntryNotOpened => "Dict entry ended but not started",
        _ => "Unknown typecode",
    }
}

fn report(failed: SignatureError, error: Out<DBusError>) -> Bool {
    error.store(names::INVALID_SIGNATURE.to_bytes(), reason(failed.kind).as_bytes());
    FALSE
}

#[unsafe(no_mangle)]
extern "C" fn dbus_signature_validate(signature: CText, error: Out<DBusError>) -> Bool {
    match Signature::from_bytes(signature.bytes()) {
        Ok(_) => TRUE,
        Err(failed) => report(failed, error),
    }
}

#[unsafe(no_mangle)]
extern "C" fn dbus_signature_validate_single(signature: CText, error: Out<DBusError>) -> Bool {
    match Signature::from_bytes(signature.bytes()) {
        Ok(valid) if valid.single().is_some() => TRUE,
        Ok(_) => {
            let text = b"Exactly one complete type required in signature";
            error.store(names::INVALID_SIGNATURE.to_bytes(), text);
            FALSE
        }
        Err(failed) => report(failed, error),
    }
}

/// An iterator over types, with the size of `DBusSignatureIter`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct SignatureIter {
    at: *const c_char,
    unused: *mut c_void,
    /// Not 0 if the iterator has passed the last type.
    finished: u32,
    /// Not 0 if this is the element of an array, which is a single type.
    in_array: c_int,
    padding: c_int,
}

const _: () = assert!(size_of::<SignatureIter>() == 32);

impl SignatureIter {
    const fn new(at: *const c_char, in_array: bool) -> Self {
        Self { at, unused: ptr::null_mut(), finished: 0, in_array: in_array as c_int, padding: 0 }
    }

    /// The types from the current one to the end of the whole signature.
    fn rest<'a>(&self) -> &'a [u8] {
        // SAFETY: the program keeps the signature while it uses the iterator.
        unsafe { std::ffi::CStr::from_ptr(self.at) }.to_bytes()
    }

    /// The first character of the current type; 0 if there is none.
    fn first(&self) -> u8 {
        match self.rest().first() {
            Some(b')' | b'}') | None => 0,
            Some(_) if self.finished != 0 => 0,
            Some(first) => *first,
        }
    }

    const fn after(mut self, len: usize) -> Self {
        self.at = self.at.wrapping_add(len);
        self
    }
}

/// The length of the first complete type, whose brackets match.
pub(crate) fn complete_len(types: &[u8]) -> usize {
    let mut open = 0_usize;
    for (at, code) in types.iter().enumerate() {
        match code {
            b'a' => continue,
            b'(' | b'{' => open += 1,
            b')' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        if open == 0 {
            return at + 1;
        }
    }
    types.len()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_signature_iter_init(iter: Out<SignatureIter>, signature: CText) {
    iter.set(SignatureIter::new(signature.as_ptr(), false));
}

#[unsafe(no_mangle)]
extern "C" fn dbus_signature_iter_get_current_type(iter: Out<SignatureIter>) -> c_int {
    // As in libdbus, the end of a struct has the code of its bracket.
    let current = iter.get().filter(|iter| iter.finished == 0);
    current.map_or(0, |iter| public_code(iter.rest().first().copied().unwrap_or(0)))
}

#[unsafe(no_mangle)]
extern "C" fn dbus_signature_iter_get_signature(iter: Out<SignatureIter>) -> *mut c_char {
    let Some(iter) = iter.get() else { return ptr::null_mut() };
    let rest = iter.rest();
    if iter.first() == 0 {
        return copy_text(b"");
    }
    copy_text(&rest[..complete_len(rest)])
}

#[unsafe(no_mangle)]
extern "C" fn dbus_signature_iter_get_element_type(iter: Out<SignatureIter>) -> c_int {
    let iter = given!("dbus_signature_iter_get_element_type", iter, 0);
    check!(
        "dbus_signature_iter_get_element_type",
        iter.first() == b'a',
        "dbus_signature_iter_get_current_type (iter) == DBUS_TYPE_ARRAY",
        0
    );
    iter.rest().get(1).map_or(0, |&first| public_code(first))
}

#[unsafe(no_mangle)]
extern "C" fn dbus_signature_iter_next(iter: Out<SignatureIter>) -> Bool {
    let Some(current) = iter.get() else { return FALSE };
    // As in libdbus, an iterator over an array stays at its single type.
    if current.first() == 0 || current.in_array != 0 {
        return FALSE;
    }
    let mut next = current.after(complete_len(current.rest()));
    let more = next.first() != 0;
    if next.rest().is_empty() {
        next.finished = 1;
    }
    iter.set(next);
    more.into()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_signature_iter_recurse(iter: Out<SignatureIter>, subiter: Out<SignatureIter>) {
    let current = given!("dbus_signature_iter_recurse", iter);
    let container = u8::try_from(public_code(current.first())).unwrap_or_default();
    check!(
        "dbus_signature_iter_recurse",
        is_container(container) && container != b'v',
        "dbus_type_is_container (dbus_signature_iter_get_current_type (iter))",
    );
    subiter.set(SignatureIter::new(current.at.wrapping_add(1), container == b'a'));
}
