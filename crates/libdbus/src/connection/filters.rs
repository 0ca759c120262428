//! Filters: functions that get every message before objects and pending calls.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

use super::{DBusConnection, HandleFunction};
use crate::c::{Bool, FALSE, FreeFunction, Handle, TRUE, UserData};
use crate::checks::{check, given, warn_misuse};

/// A filter of a connection.
pub(super) struct MessageFilter {
    pub(super) function: HandleFunction,
    /// The data for the function.
    pub(super) data: *mut c_void,
    /// Frees the data. `None` when the filter was removed, perhaps by another filter for the same
    /// message.
    owner: Mutex<Option<UserData>>,
}

// SAFETY: the program decides in which threads its functions and data are used.
unsafe impl Send for MessageFilter {}
// SAFETY: as above.
unsafe impl Sync for MessageFilter {}

impl MessageFilter {
    pub(super) fn is_removed(&self) -> bool {
        self.owner.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }
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
    let filter = MessageFilter { function, data: user_data, owner: Mutex::new(Some(data)) };
    connection.lock().filters.push(Arc::new(filter));
    TRUE
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_remove_filter(
    connection: Handle<DBusConnection>,
    function: HandleFunction,
    user_data: *mut c_void,
) {
    let connection = given!("dbus_connection_remove_filter", connection);
    check!("dbus_connection_remove_filter", function.is_some(), "function != NULL");
    let address = |function: HandleFunction| function.map(|function| function as usize);
    let mut guard = connection.lock();
    // The filter that was added last is removed first.
    let found = guard.filters.iter().rposition(|filter| {
        address(filter.function) == address(function) && filter.data == user_data
    });
    match found {
        Some(at) => {
            let filter = guard.filters.remove(at);
            let owner = filter.owner.lock().unwrap_or_else(PoisonError::into_inner).take();
            guard.defer_drop((owner, Arc::clone(&filter)));
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
