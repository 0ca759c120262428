//! Type codes: the predicates of the C interface, and facts about each type.

use std::ffi::{CStr, c_char, c_int};

use crate::c::{Bool, FALSE};
use crate::checks::check;

/// The type code of a struct in the C interface; in signatures it is written with parentheses.
pub(crate) const STRUCT: u8 = b'r';
/// The type code of a dict entry in the C interface; in signatures it is written with braces.
pub(crate) const DICT_ENTRY: u8 = b'e';

/// The code in the C interface for the type that begins with a character of a signature.
pub(crate) const fn public_code(first: u8) -> c_int {
    match first {
        b'(' => STRUCT as c_int,
        b'{' => DICT_ENTRY as c_int,
        code => code as c_int,
    }
}

/// The type code as a byte; `None` if the number cannot be a type code.
pub(crate) fn code(number: c_int) -> Option<u8> {
    u8::try_from(number).ok().filter(|&code| is_valid(code))
}

pub(crate) const fn is_basic(code: u8) -> bool {
    is_fixed(code) || matches!(code, b's' | b'o' | b'g')
}

pub(crate) const fn is_fixed(code: u8) -> bool {
    matches!(code, b'y' | b'b' | b'n' | b'q' | b'i' | b'u' | b'x' | b't' | b'd' | b'h')
}

pub(crate) const fn is_container(code: u8) -> bool {
    matches!(code, b'a' | b'v' | STRUCT | DICT_ENTRY)
}

const fn is_valid(code: u8) -> bool {
    is_basic(code) || is_container(code)
}

/// The alignment of the type that begins with a character of a signature, in bytes.
pub(crate) const fn alignment(first: u8) -> usize {
    match first {
        b'y' | b'g' | b'v' => 1,
        b'n' | b'q' => 2,
        b'x' | b't' | b'd' | b'(' | b'{' | STRUCT | DICT_ENTRY => 8,
        _ => 4,
    }
}

/// The size of a fixed type in bytes, in messages and in arrays of the C interface.
pub(crate) const fn fixed_size(code: u8) -> usize {
    match code {
        b'y' => 1,
        b'n' | b'q' => 2,
        b'x' | b't' | b'd' => 8,
        _ => 4,
    }
}

/// The name of a type in warnings and errors.
pub(crate) const fn name(code: u8) -> &'static CStr {
    match code {
        b'y' => c"byte",
        b'b' => c"boolean",
        b'n' => c"int16",
        b'q' => c"uint16",
        b'i' => c"int32",
        b'u' => c"uint32",
        b'x' => c"int64",
        b't' => c"uint64",
        b'd' => c"double",
        b's' => c"string",
        b'o' => c"object_path",
        b'g' => c"signature",
        b'h' => c"unix_fd",
        b'a' => c"array",
        b'v' => c"variant",
        STRUCT | b'(' => c"struct",
        DICT_ENTRY | b'{' => c"dict_entry",
        0 => c"invalid",
        _ => c"unknown",
    }
}

#[unsafe(no_mangle)]
extern "C" fn dbus_type_is_valid(typecode: c_int) -> Bool {
    code(typecode).is_some().into()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_type_is_basic(typecode: c_int) -> Bool {
    let valid = typecode == 0 || code(typecode).is_some();
    check!(
        "dbus_type_is_basic",
        valid,
        "dbus_type_is_valid (typecode) || typecode == DBUS_TYPE_INVALID",
        FALSE
    );
    code(typecode).is_some_and(is_basic).into()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_type_is_container(typecode: c_int) -> Bool {
    let valid = typecode == 0 || code(typecode).is_some();
    check!(
        "dbus_type_is_container",
        valid,
        "dbus_type_is_valid (typecode) || typecode == DBUS_TYPE_INVALID",
        FALSE
    );
    code(typecode).is_some_and(is_container).into()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_type_is_fixed(typecode: c_int) -> Bool {
    let valid = typecode == 0 || code(typecode).is_some();
    check!(
        "dbus_type_is_fixed",
        valid,
        "dbus_type_is_valid (typecode) || typecode == DBUS_TYPE_INVALID",
        FALSE
    );
    code(typecode).is_some_and(is_fixed).into()
}

/// The name of a type, for functions in C.
#[unsafe(no_mangle)]
extern "C" fn diligence_type_name(typecode: c_int) -> *const c_char {
    name(u8::try_from(typecode).unwrap_or(u8::MAX)).as_ptr()
}
