//! Memory of the C interface. It comes from the allocator of C, so that tools for it work.

use std::ffi::{c_char, c_void};
use std::ptr;

use crate::c;

#[unsafe(no_mangle)]
extern "C" fn dbus_malloc(bytes: usize) -> *mut c_void {
    if bytes == 0 { ptr::null_mut() } else { c::allocate(bytes) }
}

#[unsafe(no_mangle)]
extern "C" fn dbus_malloc0(bytes: usize) -> *mut c_void {
    if bytes == 0 {
        return ptr::null_mut();
    }
    // SAFETY: calloc has no preconditions.
    unsafe { libc::calloc(bytes, 1) }
}

#[unsafe(no_mangle)]
extern "C" fn dbus_realloc(memory: *mut c_void, bytes: usize) -> *mut c_void {
    if bytes == 0 {
        c::free(memory);
        return ptr::null_mut();
    }
    // SAFETY: the memory is NULL or comes from the allocator of C.
    unsafe { libc::realloc(memory, bytes) }
}

#[unsafe(no_mangle)]
extern "C" fn dbus_free(memory: *mut c_void) {
    c::free(memory);
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dbus_free_string_array(array: *mut *mut c_char) {
    let mut next = array;
    while !next.is_null() {
        // SAFETY: the caller passes an array of strings that ends with NULL.
        let text = unsafe { next.read() };
        if text.is_null() {
            break;
        }
        c::free(text.cast());
        // SAFETY: as above; this was not the end.
        next = unsafe { next.add(1) };
    }
    c::free(array.cast());
}
