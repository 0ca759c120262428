//! Connections that several parts of a program share.

use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use wire::guid::Guid;

use crate::addresses;
use crate::c::{CText, Out, give};
use crate::checks::{check, given};
use crate::connect::connect;
use crate::connection::{DBusConnection, connection_for};
use crate::errors::{DBusError, LibraryFailure, reported};

/// The shared connections, which the library keeps until they are closed.
static SHARED: Mutex<Vec<Arc<DBusConnection>>> = Mutex::new(Vec::new());

/// Returns a connection to an address: one that exists, if the server is the same.
pub(crate) fn open_shared(address: &std::ffi::CStr) -> Result<Arc<DBusConnection>, LibraryFailure> {
    for entry in addresses::parse(address)? {
        let guid = entry.value(c"guid").and_then(|text| Guid::parse(text.to_bytes()).ok());
        if let Some(found) = guid.and_then(find) {
            return Ok(found);
        }
    }
    let connection = open_private(address)?;
    keep(&connection);
    Ok(connection)
}

/// Opens a connection that the program closes.
pub(crate) fn open_private(
    address: &std::ffi::CStr,
) -> Result<Arc<DBusConnection>, LibraryFailure> {
    connect(address).map(connection_for)
}

/// Makes a connection shared.
pub(crate) fn keep(connection: &Arc<DBusConnection>) {
    let weak = Arc::downgrade(connection);
    let mut guard = connection.lock();
    guard.is_shared = true;
    guard.forget = Some(Box::new(move || {
        let forgotten = {
            let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
            let at = shared.iter().position(|found| ptr::eq(Arc::as_ptr(found), weak.as_ptr()));
            at.map(|at| shared.swap_remove(at))
        };
        drop(forgotten);
    }));
    drop(guard);
    SHARED.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(connection));
}

fn find(guid: Guid) -> Option<Arc<DBusConnection>> {
    let shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    shared.iter().find(|found| found.server() == Some(guid)).cloned()
}

/// Closes all shared connections, at the end of a program.
pub(crate) fn close_all() {
    let connections = std::mem::take(&mut *SHARED.lock().unwrap_or_else(PoisonError::into_inner));
    for connection in connections {
        connection.lock().is_shared = false;
        connection.close();
    }
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_open(address: CText, error: Out<DBusError>) -> *const DBusConnection {
    let address = given!("dbus_connection_open", address, ptr::null());
    check!(
        "dbus_connection_open",
        !error.is_set(),
        "(error) == NULL || !dbus_error_is_set ((error))",
        ptr::null()
    );
    reported(open_shared(address), error).map_or(ptr::null(), give)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_open_private(
    address: CText,
    error: Out<DBusError>,
) -> *const DBusConnection {
    let address = given!("dbus_connection_open_private", address, ptr::null());
    check!(
        "dbus_connection_open_private",
        !error.is_set(),
        "(error) == NULL || !dbus_error_is_set ((error))",
        ptr::null()
    );
    reported(open_private(address), error).map_or(ptr::null(), give)
}
