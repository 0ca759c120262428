//! The machine, the version, the environment, and threads.

use std::env;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;
use std::{fs, io, ptr};

use wire::guid::Guid;

use crate::c::{Bool, CText, FALSE, Out, TRUE, copy_text};
use crate::checks::{given, warn};
use crate::errors::{DBusError, LibraryFailure, description, name_of, names, reported};

/// The version of libdbus whose interface this library has.
const VERSION: [c_int; 3] = [1, 14, 10];

/// The file of dbus-daemon with the id of the machine.
pub(crate) const DBUS_MACHINE_ID: &str = "/var/lib/dbus/machine-id";

/// The files with the id of the machine.
const MACHINE_ID_FILES: [&str; 2] = [DBUS_MACHINE_ID, "/etc/machine-id"];

/// Reads the id of the machine.
pub(crate) fn machine_id() -> Result<String, LibraryFailure> {
    let [dbus, system] = MACHINE_ID_FILES
        .map(Path::new)
        .map(|path| read_id(path).map_err(|error| error.into_failure(path)));
    let dbus = match dbus {
        Ok(id) => return Ok(id),
        Err(failure) => failure,
    };
    system.map_err(|system| {
        let text = format!(
            "D-Bus library appears to be incorrectly set up: see the manual page for dbus-uuidgen \
             to correct this issue. ({}; {})",
            String::from_utf8_lossy(&dbus.message),
            String::from_utf8_lossy(&system.message),
        );
        LibraryFailure::new(system.name, text)
    })
}

/// The reason why a file has no id.
pub(crate) enum IdFileError {
    /// The file cannot be opened or read.
    Unreadable(io::Error),
    /// The path leads to something other than a file.
    NotAFile,
    /// The content has this number of bytes instead of 32 digits.
    Length(usize),
    /// The content has other characters than hexadecimal digits.
    NotHexadecimal,
}

impl IdFileError {
    pub(crate) fn into_failure(self, path: &Path) -> LibraryFailure {
        let file = path.display();
        match self {
            Self::Unreadable(error) => {
                let text = format!("Failed to open \"{file}\": {}", description(&error));
                LibraryFailure::new(name_of(&error), text)
            }
            Self::NotAFile => {
                LibraryFailure::new(names::FAILED, format!("\"{file}\" is not a regular file"))
            }
            Self::Length(len) => {
                let text = format!(
                    "UUID file '{file}' should contain a hex string of length 32, not length \
                     {len}, with no other text"
                );
                LibraryFailure::new(names::INVALID_FILE_CONTENT, text)
            }
            Self::NotHexadecimal => {
                let text = format!("UUID file '{file}' contains invalid hex data");
                LibraryFailure::new(names::INVALID_FILE_CONTENT, text)
            }
        }
    }
}

pub(crate) fn read_id(path: &Path) -> Result<String, IdFileError> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(IdFileError::NotAFile);
    }
    let content = fs::read(path).map_err(IdFileError::Unreadable)?;
    let text = content.trim_ascii_end();
    if text.len() != 32 {
        return Err(IdFileError::Length(text.len()));
    }
    Guid::parse(text).map(|id| id.to_string()).map_err(|_| IdFileError::NotHexadecimal)
}

/// True if the process has more rights than the user who started it. Then the environment is not
/// trusted.
pub(crate) fn is_privileged() -> bool {
    // SAFETY: the function has no preconditions.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// A variable of the environment, unless the process is privileged.
pub(crate) fn variable(name: &str) -> Option<Vec<u8>> {
    if is_privileged() {
        return None;
    }
    env::var_os(name).map(std::os::unix::ffi::OsStringExt::into_vec)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_get_local_machine_id() -> *mut c_char {
    match machine_id() {
        Ok(id) => copy_text(id.as_bytes()),
        Err(failure) => {
            warn(format_args!("{}\n", String::from_utf8_lossy(&failure.message)));
            ptr::null_mut()
        }
    }
}

#[unsafe(no_mangle)]
extern "C" fn dbus_try_get_local_machine_id(error: Out<DBusError>) -> *mut c_char {
    reported(machine_id(), error).map_or(ptr::null_mut(), |id| copy_text(id.as_bytes()))
}

#[unsafe(no_mangle)]
extern "C" fn dbus_get_version(major: Out<c_int>, minor: Out<c_int>, micro: Out<c_int>) {
    major.set(VERSION[0]);
    minor.set(VERSION[1]);
    micro.set(VERSION[2]);
}

#[unsafe(no_mangle)]
extern "C" fn dbus_setenv(variable: CText, value: CText) -> Bool {
    let name = given!("dbus_setenv", variable, FALSE);
    // SAFETY: both are terminated strings. The C program has to make sure that no other thread
    // uses the environment, as for setenv(3).
    let result = unsafe {
        match value.get() {
            Some(value) => libc::setenv(name.as_ptr(), value.as_ptr(), 1),
            None => libc::unsetenv(name.as_ptr()),
        }
    };
    (result == 0).into()
}

/// Accepts the functions of a program for locks. This library always uses its own locks.
#[unsafe(no_mangle)]
extern "C" fn dbus_threads_init(_functions: *const c_void) -> Bool {
    TRUE
}

#[unsafe(no_mangle)]
extern "C" fn dbus_threads_init_default() -> Bool {
    TRUE
}

/// The name of this library, for a search in core dumps.
#[used]
static IDENTIFICATION: &CStr = c"Diligence libdbus";
