//! `DBusError`, and the errors of this library.

use std::ffi::{CStr, c_char, c_void};
use std::{io, ptr};

use crate::c::{Bool, CText, FALSE, Out, copy_text, free};
use crate::checks::check;

/// The error of a program, as the headers define it.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct DBusError {
    name: *const c_char,
    message: *const c_char,
    /// The bit fields of the header. Bit 0 means that the strings are not freed.
    bits: u32,
    padding: *mut c_void,
}

impl DBusError {
    const EMPTY: Self =
        Self { name: ptr::null(), message: ptr::null(), bits: CONST, padding: ptr::null_mut() };

    /// An error without a name, for functions of this library that report one.
    pub(crate) const fn new() -> Self {
        Self::EMPTY
    }

    fn name(&self) -> Option<&CStr> {
        // SAFETY: the name is NULL or a terminated string.
        (!self.name.is_null()).then(|| unsafe { CStr::from_ptr(self.name) })
    }

    pub(crate) fn message(&self) -> Option<&CStr> {
        // SAFETY: the message is NULL or a terminated string.
        (!self.message.is_null()).then(|| unsafe { CStr::from_ptr(self.message) })
    }

    /// Frees the strings and removes the error.
    pub(crate) fn clear(&mut self) {
        if self.bits & CONST == 0 {
            free(self.name.cast_mut().cast());
            free(self.message.cast_mut().cast());
        }
        *self = Self::EMPTY;
    }
}

/// The bit of an error whose strings are not freed.
const CONST: u32 = 1;

/// The reason why a function failed, for its [`DBusError`].
#[derive(Clone, Debug)]
pub(crate) struct LibraryFailure {
    pub(crate) name: &'static CStr,
    pub(crate) message: Vec<u8>,
}

impl LibraryFailure {
    pub(crate) fn new(name: &'static CStr, message: impl Into<Vec<u8>>) -> Self {
        Self { name, message: message.into() }
    }

    /// The error of a system call, with a text before the description of the error.
    pub(crate) fn system(context: &str, error: &io::Error) -> Self {
        Self::new(name_of(error), format!("{context}: {}", description(error)))
    }
}

/// The text of strerror(3).
pub(crate) fn description(error: &io::Error) -> String {
    let text = error.to_string();
    match text.rfind(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// The name of the error that libdbus reports for an error of the system.
pub(crate) fn name_of(error: &io::Error) -> &'static CStr {
    match error.raw_os_error() {
        Some(libc::EPROTONOSUPPORT | libc::EAFNOSUPPORT) => names::NOT_SUPPORTED,
        Some(libc::ENFILE | libc::EMFILE) => names::LIMITS_EXCEEDED,
        Some(libc::EACCES | libc::EPERM) => names::ACCESS_DENIED,
        Some(libc::ENOBUFS | libc::ENOMEM) => names::NO_MEMORY,
        Some(libc::ECONNREFUSED) => names::NO_SERVER,
        Some(libc::ETIMEDOUT) => names::TIMEOUT,
        Some(libc::ENETUNREACH) => names::NO_NETWORK,
        Some(libc::EADDRINUSE) => names::ADDRESS_IN_USE,
        Some(libc::EEXIST) => names::FILE_EXISTS,
        Some(libc::ENOENT) => names::FILE_NOT_FOUND,
        _ => names::FAILED,
    }
}

impl Out<DBusError> {
    /// Stores an error. NULL ignores it.
    pub(crate) fn fail(self, failure: &LibraryFailure) {
        self.store(failure.name.to_bytes(), &failure.message);
    }

    /// Stores an error with copies of these strings.
    pub(crate) fn store(self, name: &[u8], message: &[u8]) {
        if !self.is_null() {
            let (name, message) = (copy_text(name), copy_text(message));
            self.set(DBusError { name, message, bits: 0, padding: ptr::null_mut() });
        }
    }

    pub(crate) fn is_set(self) -> bool {
        self.get().is_some_and(|error| !error.name.is_null())
    }
}

/// Stores the error of a result, and returns its value.
pub(crate) fn reported<T>(result: Result<T, LibraryFailure>, error: Out<DBusError>) -> Option<T> {
    result.map_err(|failure| error.fail(&failure)).ok()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_error_init(error: Out<DBusError>) {
    check!("dbus_error_init", !error.is_null(), "error != NULL");
    error.set(DBusError::EMPTY);
}

#[unsafe(no_mangle)]
extern "C" fn dbus_error_free(error: Out<DBusError>) {
    check!("dbus_error_free", !error.is_null(), "error != NULL");
    if let Some(mut content) = error.get() {
        content.clear();
        error.set(content);
    }
}

#[unsafe(no_mangle)]
extern "C" fn dbus_set_error_const(error: Out<DBusError>, name: CText, message: CText) {
    check!(
        "dbus_set_error_const",
        !error.is_set(),
        "(error) == NULL || !dbus_error_is_set ((error))",
    );
    check!("dbus_set_error_const", !name.is_null(), "name != NULL");
    if error.is_null() {
        return;
    }
    let message = message.get().unwrap_or_else(|| default_message(name));
    error.set(DBusError {
        name: name.as_ptr(),
        message: message.as_ptr(),
        bits: CONST,
        padding: ptr::null_mut(),
    });
}

#[unsafe(no_mangle)]
extern "C" fn dbus_move_error(source: Out<DBusError>, target: Out<DBusError>) {
    check!("dbus_move_error", !target.is_set(), "(error) == NULL || !dbus_error_is_set ((error))",);
    let Some(mut content) = source.get() else { return };
    if target.is_null() {
        content.clear();
        source.set(content);
    } else {
        dbus_error_free(target);
        target.set(content);
        source.set(DBusError::EMPTY);
    }
}

#[unsafe(no_mangle)]
extern "C" fn dbus_error_has_name(error: Out<DBusError>, name: CText) -> Bool {
    check!("dbus_error_has_name", !error.is_null(), "error != NULL", FALSE);
    check!("dbus_error_has_name", !name.is_null(), "name != NULL", FALSE);
    error.get().is_some_and(|content| content.name() == name.get()).into()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_error_is_set(error: Out<DBusError>) -> Bool {
    check!("dbus_error_is_set", !error.is_null(), "error != NULL", FALSE);
    error.is_set().into()
}

/// Stores an error with copies of the strings, for `dbus_set_error`. Without a message, the
/// message is the default for the name.
#[unsafe(no_mangle)]
extern "C" fn diligence_set_error(error: Out<DBusError>, name: CText, message: CText) {
    if error.is_null() {
        return;
    }
    check!("dbus_set_error", !error.is_set(), "(error) == NULL || !dbus_error_is_set ((error))",);
    check!("dbus_set_error", !name.is_null(), "name != NULL");
    let message = message.get().unwrap_or_else(|| default_message(name));
    error.store(name.bytes(), message.to_bytes());
}

/// The message of an error for which the program has given none.
fn default_message<'a>(name: CText) -> &'a CStr {
    let Some(name) = name.get() else { return c"" };
    DEFAULT_MESSAGES.iter().find(|(found, _)| *found == name).map_or(name, |(_, text)| text)
}

/// Messages for errors without one.
const DEFAULT_MESSAGES: &[(&CStr, &CStr)] = &[
    (names::FAILED, c"Unknown error"),
    (names::NO_MEMORY, c"Not enough memory available"),
    (names::IO_ERROR, c"Error reading or writing data"),
    (names::BAD_ADDRESS, c"Could not parse address"),
    (names::NOT_SUPPORTED, c"Feature not supported"),
    (names::LIMITS_EXCEEDED, c"Resource limits exceeded"),
    (names::ACCESS_DENIED, c"Permission denied"),
    (names::AUTH_FAILED, c"Could not authenticate to server"),
    (names::NO_SERVER, c"No server available at address"),
    (names::TIMEOUT, c"Connection timed out"),
    (names::NO_NETWORK, c"Network unavailable"),
    (names::ADDRESS_IN_USE, c"Address already in use"),
    (names::DISCONNECTED, c"Disconnected."),
    (names::INVALID_ARGS, c"Invalid arguments."),
    (names::NO_REPLY, c"Did not get a reply message."),
    (names::FILE_NOT_FOUND, c"File doesn't exist."),
    (names::OBJECT_PATH_IN_USE, c"Object path already in use"),
];

/// The names of the errors that this library creates.
pub(crate) mod names {
    use std::ffi::CStr;

    pub(crate) const ACCESS_DENIED: &CStr = c"org.freedesktop.DBus.Error.AccessDenied";
    pub(crate) const ADDRESS_IN_USE: &CStr = c"org.freedesktop.DBus.Error.AddressInUse";
    pub(crate) const AUTH_FAILED: &CStr = c"org.freedesktop.DBus.Error.AuthFailed";
    pub(crate) const BAD_ADDRESS: &CStr = c"org.freedesktop.DBus.Error.BadAddress";
    pub(crate) const DISCONNECTED: &CStr = c"org.freedesktop.DBus.Error.Disconnected";
    pub(crate) const FAILED: &CStr = c"org.freedesktop.DBus.Error.Failed";
    pub(crate) const FILE_EXISTS: &CStr = c"org.freedesktop.DBus.Error.FileExists";
    pub(crate) const FILE_NOT_FOUND: &CStr = c"org.freedesktop.DBus.Error.FileNotFound";
    pub(crate) const INVALID_ARGS: &CStr = c"org.freedesktop.DBus.Error.InvalidArgs";
    pub(crate) const INVALID_FILE_CONTENT: &CStr = c"org.freedesktop.DBus.Error.InvalidFileContent";
    pub(crate) const INVALID_SIGNATURE: &CStr = c"org.freedesktop.DBus.Error.InvalidSignature";
    pub(crate) const IO_ERROR: &CStr = c"org.freedesktop.DBus.Error.IOError";
    pub(crate) const LIMITS_EXCEEDED: &CStr = c"org.freedesktop.DBus.Error.LimitsExceeded";
    pub(crate) const NOT_SUPPORTED: &CStr = c"org.freedesktop.DBus.Error.NotSupported";
    pub(crate) const NO_MEMORY: &CStr = c"org.freedesktop.DBus.Error.NoMemory";
    pub(crate) const NO_NETWORK: &CStr = c"org.freedesktop.DBus.Error.NoNetwork";
    pub(crate) const NO_REPLY: &CStr = c"org.freedesktop.DBus.Error.NoReply";
    pub(crate) const NO_SERVER: &CStr = c"org.freedesktop.DBus.Error.NoServer";
    pub(crate) const OBJECT_PATH_IN_USE: &CStr = c"org.freedesktop.DBus.Error.ObjectPathInUse";
    pub(crate) const TIMEOUT: &CStr = c"org.freedesktop.DBus.Error.Timeout";
    pub(crate) const UNKNOWN_METHOD: &CStr = c"org.freedesktop.DBus.Error.UnknownMethod";
    pub(crate) const SPAWN_EXEC_FAILED: &CStr = c"org.freedesktop.DBus.Error.Spawn.ExecFailed";
}
