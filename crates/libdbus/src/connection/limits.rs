//! Limits of a connection.

use std::ffi::c_long;

use super::DBusConnection;
use crate::c::Handle;
use crate::checks::given;

/// Defines the getter and the setter of a limit.
macro_rules! limit {
    ($get:ident $get_name:literal, $set:ident $set_name:literal, $($place:ident).+) => {
        #[unsafe(no_mangle)]
        extern "C" fn $set(connection: Handle<DBusConnection>, size: c_long) {
            let connection = given!($set_name, connection);
            let mut guard = connection.lock();
            guard.$($place).+ = usize::try_from(size).unwrap_or_default();
            connection.settle(&mut guard);
        }

        #[unsafe(no_mangle)]
        extern "C" fn $get(connection: Handle<DBusConnection>) -> c_long {
            let connection = given!($get_name, connection, 0);
            c_long::try_from(connection.lock().$($place).+).unwrap_or(c_long::MAX)
        }
    };
}

limit!(
    dbus_connection_get_max_message_size "dbus_connection_get_max_message_size",
    dbus_connection_set_max_message_size "dbus_connection_set_max_message_size",
    limits.message_bytes
);
limit!(
    dbus_connection_get_max_message_unix_fds "dbus_connection_get_max_message_unix_fds",
    dbus_connection_set_max_message_unix_fds "dbus_connection_set_max_message_unix_fds",
    limits.message_fds
);
limit!(
    dbus_connection_get_max_received_size "dbus_connection_get_max_received_size",
    dbus_connection_set_max_received_size "dbus_connection_set_max_received_size",
    received_bytes_max
);
limit!(
    dbus_connection_get_max_received_unix_fds "dbus_connection_get_max_received_unix_fds",
    dbus_connection_set_max_received_unix_fds "dbus_connection_set_max_received_unix_fds",
    received_fds_max
);

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_get_outgoing_size(connection: Handle<DBusConnection>) -> c_long {
    let connection = given!("dbus_connection_get_outgoing_size", connection, 0);
    c_long::try_from(connection.lock().outgoing_size).unwrap_or(c_long::MAX)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_get_outgoing_unix_fds(connection: Handle<DBusConnection>) -> c_long {
    let connection = given!("dbus_connection_get_outgoing_unix_fds", connection, 0);
    c_long::try_from(connection.lock().outgoing_fds).unwrap_or(c_long::MAX)
}
