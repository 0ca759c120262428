//! Filters: functions that get every message before objects and pending calls.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{DBusConnection, HandleFunction};
use crate::c::{Bool, FALSE, FreeFunction, Handle, TRUE, UserData};
use crate::checks::{check, given, warn_misuse};

/// A filter of a connection.
pub(super) struct MessageFilter {
    pub(super) function: HandleFunction,
    pub(super) data: UserData,
    /// Set when the filter was removed, perhaps by another filter for the same message.
    pub(super) is_removed: AtomicBool,
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_add_filter(
    connection: Handle<DBusConnection>,
    function: HandleFunction,
    user_data: *mut c_void,
    free_data_function: FreeFunction,
) -> Bool {
    let connection = given!("dbus_connection_add_filter", connection, FALSE);
    check!("dbus_connection_add_filter", function.is_some(), "function != NULL", FALSE);
    let data = UserData::new(user_data, free_data_function);
    let filter = MessageFilter { function, data, is_removed: AtomicBool::new(false) };
    connection.lock().filters.push(Arc::new(filter));
    TRUE
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_remove_filter(
    connection: Handle<DBusConnection>,
    function: HandleFunction,
    user_data: *mut c_void,
) {
    let connection = given!("dbus_connection_remove_filter", connection, ());
    check!("dbus_connection_remove_filter", function.is_some(), "function != NULL", ());
    let address = |function: HandleFunction| function.map(|function| function as usize);
    let mut guard = connection.lock();
    // The filter that was added last is removed first.
    let found = guard.filters.iter().rposition(|filter| {
        address(filter.function) == address(function) && filter.data.data == user_data
    });
    match found {
        Some(at) => {
            let filter = guard.filters.remove(at);
            filter.is_removed.store(true, Ordering::Relaxed);
            guard.defer_drop(filter);
        }
        None => {
            drop(guard);
            let function = address(function).unwrap_or_default();
            warn_misuse(format_args!(
                "Attempt to remove filter function {function:#x} user data {user_data:?}, but no \
                 such filter has been added\n"
            ));
        }
    }
}
