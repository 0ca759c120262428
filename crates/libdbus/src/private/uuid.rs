//! Identifiers in files, for dbus-uuidgen.

use std::ffi::{OsStr, c_char};
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use wire::guid::Guid;

use crate::c::{Bool, CText, FALSE, Out, TRUE, copy_text};
use crate::errors::{DBusError, LibraryFailure, description, name_of, reported};
use crate::login::random_bytes;
use crate::misc::{DBUS_MACHINE_ID, IdFileError, machine_id, read_id};

/// The permissions of a new file: all users can read it.
const MODE: u32 = 0o644;

#[unsafe(no_mangle)]
extern "C" fn _dbus_create_uuid(uuid: Out<*mut c_char>, _error: Out<DBusError>) -> Bool {
    uuid.set(copy_text(create().to_string().as_bytes()));
    TRUE
}

/// Reads the identifier in a file, or the identifier of the machine if `filename` is NULL. If the
/// file does not exist, it can be created with a new identifier.
#[unsafe(no_mangle)]
extern "C" fn _dbus_get_uuid(
    filename: CText,
    uuid: Out<*mut c_char>,
    create_if_not_found: Bool,
    error: Out<DBusError>,
) -> Bool {
    let creates = create_if_not_found != FALSE;
    let found = match filename.get() {
        Some(name) => of_file(Path::new(OsStr::from_bytes(name.to_bytes())), creates),
        None if creates => ensure_of_machine(),
        None => machine_id(),
    };
    let Some(found) = reported(found, error) else { return FALSE };
    uuid.set(copy_text(found.as_bytes()));
    TRUE
}

fn create() -> Guid {
    let seconds = sys::clock::realtime().as_secs();
    Guid::from_random(random_bytes(), u32::try_from(seconds).unwrap_or_default())
}

fn of_file(path: &Path, creates: bool) -> Result<String, LibraryFailure> {
    match read_id(path) {
        Ok(id) => Ok(id),
        Err(IdFileError::Unreadable(_)) if creates => write_new(path),
        Err(error) => Err(error.into_failure(path)),
    }
}

/// Makes sure that the file of dbus-daemon for the identifier of the machine exists.
fn ensure_of_machine() -> Result<String, LibraryFailure> {
    let path = Path::new(DBUS_MACHINE_ID);
    if let Ok(id) = read_id(path) {
        return Ok(id);
    }
    match machine_id() {
        Ok(id) => {
            // As in libdbus, the identifier of the system is good enough if it cannot be copied.
            let _ = write(path, &id);
            Ok(id)
        }
        Err(_) => write_new(path),
    }
}

fn write_new(path: &Path) -> Result<String, LibraryFailure> {
    let id = create().to_string();
    write(path, &id)?;
    Ok(id)
}

/// Writes a new file at once, so that no other process reads a part of it.
fn write(path: &Path, id: &str) -> Result<(), LibraryFailure> {
    let letters: String = random_bytes::<4>().iter().map(|byte| format!("{byte:02x}")).collect();
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{letters}"));
    let temporary = Path::new(&temporary);
    let failed = |error: io::Error| {
        let text = format!("Could not create {}: {}", temporary.display(), description(&error));
        LibraryFailure::new(name_of(&error), text)
    };
    let mut file = fs::File::create_new(temporary).map_err(failed)?;
    let written = file
        .write_all(format!("{id}\n").as_bytes())
        .and_then(|()| file.set_permissions(Permissions::from_mode(MODE)))
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(temporary, path));
    if written.is_err() {
        // The first failure is reported, even if this call fails too.
        let _ = fs::remove_file(temporary);
    }
    written.map_err(failed)
}
