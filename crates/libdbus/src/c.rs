//! Types for the arguments of exported functions.
//!
//! Only C programs call the exported functions. The headers of libdbus require each pointer to be
//! NULL, if the function allows it, or valid. These types represent such pointers, so that the
//! functions themselves need no unsafe code.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;

/// A truth value of the C interface: 0 is false.
pub(crate) type Bool = u32;

/// The value that is false in the C interface.
pub(crate) const FALSE: Bool = 0;

/// The value that is true in the C interface.
pub(crate) const TRUE: Bool = 1;

/// A string argument: NULL, or terminated by a 0 byte.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct CText(*const c_char);

impl CText {
    pub(crate) const fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Returns the string, or `None` for NULL.
    pub(crate) fn get<'a>(self) -> Option<&'a CStr> {
        // SAFETY: the caller passes a terminated string, which stays valid during the call.
        (!self.is_null()).then(|| unsafe { CStr::from_ptr(self.0) })
    }

    /// Returns the bytes of the string. NULL has none.
    pub(crate) fn bytes<'a>(self) -> &'a [u8] {
        self.get().map_or(&[], CStr::to_bytes)
    }

    pub(crate) const fn as_ptr(self) -> *const c_char {
        self.0
    }
}

impl From<&'static CStr> for CText {
    fn from(text: &'static CStr) -> Self {
        Self(text.as_ptr())
    }
}

/// A place for a result: NULL, or valid and aligned.
#[repr(transparent)]
pub(crate) struct Out<T>(*mut T);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T> Out<T> {
    pub(crate) const fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// A place that is a variable of this library.
    pub(crate) const fn to(place: &mut T) -> Self {
        Self(place)
    }

    /// Stores a value, without dropping the previous content. NULL ignores it.
    pub(crate) fn set(self, value: T) {
        if !self.is_null() {
            // SAFETY: the caller passes a place for a value of this type.
            unsafe { self.0.write(value) };
        }
    }

    /// Returns the value at this place, or `None` for NULL.
    pub(crate) fn get(self) -> Option<T>
    where
        T: Copy,
    {
        // SAFETY: the caller passes a place with a value of this type.
        (!self.is_null()).then(|| unsafe { self.0.read() })
    }
}

/// An object of this library: NULL, or valid while the caller has a reference to it.
#[repr(transparent)]
pub(crate) struct Handle<T>(*const T);

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Handle<T> {}

impl<T> Handle<T> {
    /// The argument for a call of an exported function by this library.
    pub(crate) const fn to(object: *const T) -> Self {
        Self(object)
    }

    /// Returns the object, or `None` for NULL.
    pub(crate) fn get<'a>(self) -> Option<&'a T> {
        // SAFETY: the caller has a reference to the object, which stays valid during the call.
        unsafe { self.0.as_ref() }
    }
}

/// A type whose objects are always created in an [`Arc`], which counts the references of the
/// program.
pub(crate) trait SharedObject {}

impl<T: SharedObject> Handle<T> {
    /// Returns one more reference to the object.
    pub(crate) fn share(self) -> Option<Arc<T>> {
        self.get().map(share)
    }
}

/// Returns one more reference to an object.
pub(crate) fn share<T: SharedObject>(object: &T) -> Arc<T> {
    // SAFETY: objects of this type are created in an `Arc`, and the caller has a reference.
    unsafe {
        Arc::increment_strong_count(object);
        Arc::from_raw(object)
    }
}

/// Gives one reference to the program.
pub(crate) fn give<T: SharedObject>(object: Arc<T>) -> *const T {
    Arc::into_raw(object)
}

/// Takes one reference back from the program.
pub(crate) fn take_back<T: SharedObject>(object: &T) -> Arc<T> {
    // SAFETY: the program gives up a reference that it got from `give`.
    unsafe { Arc::from_raw(object) }
}

/// A pointer to bytes of a known size that only the type code tells: NULL, or valid.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Untyped(*mut c_void);

impl Untyped {
    pub(crate) const fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Stores a value of the type that the caller has promised by a type code.
    pub(crate) fn set<T>(self, value: T) {
        // SAFETY: the type code in the message or argument determines the type of the place.
        unsafe { self.0.cast::<T>().write_unaligned(value) };
    }

    /// Reads a value of the type that the caller has promised by a type code.
    pub(crate) fn get<T: Copy>(self) -> T {
        // SAFETY: the type code in the argument determines the type of the place.
        unsafe { self.0.cast::<T>().read_unaligned() }
    }
}

/// Returns the `len` bytes that an argument points to.
pub(crate) fn bytes_at<'a>(start: *const c_void, len: usize) -> &'a [u8] {
    if start.is_null() || len == 0 {
        return &[];
    }
    // SAFETY: the caller passes this number of bytes, which stay valid during the call.
    unsafe { std::slice::from_raw_parts(start.cast(), len) }
}

/// A function that frees the data of a program.
pub(crate) type FreeFunction = Option<unsafe extern "C" fn(*mut c_void)>;

/// Data of a program, with the function that frees it. Dropping calls this function, so a lock
/// must not be held.
#[derive(Debug)]
pub(crate) struct UserData {
    pub(crate) data: *mut c_void,
    free: FreeFunction,
}

// SAFETY: the program decides by the functions that it calls which threads use its data.
unsafe impl Send for UserData {}
// SAFETY: as above; this library only passes the pointer on.
unsafe impl Sync for UserData {}

impl UserData {
    pub(crate) const fn new(data: *mut c_void, free: FreeFunction) -> Self {
        Self { data, free }
    }
}

impl Drop for UserData {
    fn drop(&mut self) {
        if let Some(free) = self.free {
            // SAFETY: the program has passed this function for this data.
            unsafe { free(self.data) };
        }
    }
}

/// Allocates a copy of a string that the program frees with `dbus_free`.
pub(crate) fn copy_text(bytes: &[u8]) -> *mut c_char {
    let text: *mut u8 = allocate(bytes.len() + 1).cast();
    if !text.is_null() {
        // SAFETY: the allocation has room for the bytes and the 0 byte.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), text, bytes.len());
            text.add(bytes.len()).write(0);
        }
    }
    text.cast()
}

/// Allocates an array of strings that ends with NULL, for `dbus_free_string_array`.
pub(crate) fn copy_texts<'t>(texts: impl ExactSizeIterator<Item = &'t [u8]>) -> *mut *mut c_char {
    let len = texts.len();
    let array: *mut *mut c_char = allocate((len + 1) * size_of::<*mut c_char>()).cast();
    if !array.is_null() {
        for (index, text) in texts.enumerate() {
            // SAFETY: the array has room for the strings and for NULL.
            unsafe { array.add(index).write(copy_text(text)) };
        }
        // SAFETY: as above.
        unsafe { array.add(len).write(ptr::null_mut()) };
    }
    array
}

/// Allocates memory with malloc(3).
pub(crate) fn allocate(bytes: usize) -> *mut c_void {
    // SAFETY: malloc has no preconditions.
    unsafe { libc::malloc(bytes) }
}

/// Frees memory of [`allocate`]; NULL is allowed.
pub(crate) fn free(memory: *mut c_void) {
    // SAFETY: the memory comes from the allocator of C.
    unsafe { libc::free(memory) };
}

/// The number of bytes in an argument of type `int`, or `None` if it is negative.
pub(crate) fn length(value: c_int) -> Option<usize> {
    usize::try_from(value).ok()
}
