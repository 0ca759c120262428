//! References, the end of a connection, and facts about it.

use std::ffi::{CString, c_char, c_int, c_ulong, c_void};
use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::Arc;

use wire::sasl::server::AuthenticatedIdentity;

use super::{ConnectionState, DBusConnection, UserFunction, paths};
use crate::c::{
    Bool, FALSE, FreeFunction, Handle, Out, TRUE, UserData, copy_text, give, take_back,
};
use crate::checks::{given, warn_misuse};
use crate::connect::ConnectedSocket;
use crate::transport::SocketTransport;

/// A connection over a socket that this end has connected.
pub(crate) fn connection_for(connected: ConnectedSocket) -> Arc<DBusConnection> {
    let ConnectedSocket { socket, passes_fds, guid } = connected;
    // Sockets of programs that this library starts are blocking, but it never blocks.
    let connection = DBusConnection::new(SocketTransport::client(socket, passes_fds, guid), false);
    {
        let mut guard = connection.lock();
        guard.write();
        connection.settle(&mut guard);
    }
    connection
}

impl DBusConnection {
    /// The identifier of the server, after authentication.
    pub(crate) fn server(&self) -> Option<wire::guid::Guid> {
        self.lock().guid
    }

    /// Stores the unique name that the bus has given to this connection.
    pub(crate) fn has_registered(&self, name: CString) {
        let mut guard = self.lock();
        guard.allow_lanes(&name);
        guard.unique_name = Some(name);
    }

    /// Closes the connection. The program still gets the messages that have arrived.
    pub(crate) fn close(&self) {
        let mut guard = self.lock();
        if guard.lanes.pause().is_some() {
            guard.process(self, true);
        }
        guard.disconnect();
        guard.update_status();
        self.released.notify_all();
        self.wake();
    }
}

impl ConnectionState {
    /// The user of an accepted client, if this is the end of the server.
    fn user(&self) -> Option<u32> {
        match self.identity {
            Some(AuthenticatedIdentity::Uid(uid)) if self.is_authenticated => Some(uid),
            _ => None,
        }
    }
}

impl Drop for DBusConnection {
    fn drop(&mut self) {
        let this = ptr::from_ref(self);
        let mut guard = self.lock();
        let is_connected = guard.is_connected();
        let is_shared = guard.is_shared;
        guard.disconnect();
        let timeouts: Vec<_> = guard.pending.keys().copied().collect();
        timeouts.into_iter().for_each(|serial| guard.stop_timeout(serial));
        let handlers = guard.objects.take();
        // Functions that free data of the program may use the connection, which still exists.
        let slots = std::mem::take(&mut guard.slots);
        let filters = std::mem::take(&mut guard.filters);
        drop(guard);
        drop((slots, filters));
        for handler in handlers.into_iter().rev() {
            paths::unregistered(this, &handler);
        }
        if is_connected {
            let reason = match is_shared {
                true => {
                    "Most likely, the application called unref() too many times and removed a \
                     reference belonging to libdbus, since this is a shared connection."
                }
                false => {
                    "Most likely, the application was supposed to call dbus_connection_close(), \
                     since this is a private connection."
                }
            };
            warn_misuse(format_args!(
                "The last reference on a connection was dropped without closing the connection. \
                 This is a bug in an application. See dbus_connection_unref() documentation for \
                 details.\n{reason}\n"
            ));
        }
    }
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_ref(connection: Handle<DBusConnection>) -> *const DBusConnection {
    given!("dbus_connection_ref", connection, ptr::null());
    connection.share().map_or(ptr::null(), give)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_unref(connection: Handle<DBusConnection>) {
    let connection = given!("dbus_connection_unref", connection);
    drop(take_back(connection));
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_close(connection: Handle<DBusConnection>) {
    let connection = given!("dbus_connection_close", connection);
    if connection.lock().is_shared {
        warn_misuse(
            "Applications must not close shared connections - see dbus_connection_close() docs. \
             This is a bug in the application.\n",
        );
        return;
    }
    connection.close();
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_get_is_connected(connection: Handle<DBusConnection>) -> Bool {
    let connection = given!("dbus_connection_get_is_connected", connection, FALSE);
    connection.lock().is_connected().into()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_get_is_authenticated(connection: Handle<DBusConnection>) -> Bool {
    let connection = given!("dbus_connection_get_is_authenticated", connection, FALSE);
    connection.lock().is_authenticated.into()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_get_is_anonymous(connection: Handle<DBusConnection>) -> Bool {
    let connection = given!("dbus_connection_get_is_anonymous", connection, FALSE);
    // As in libdbus, a client is anonymous, and so is a client that is not authenticated yet.
    connection.lock().user().is_none().into()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_get_server_id(connection: Handle<DBusConnection>) -> *mut c_char {
    let connection = given!("dbus_connection_get_server_id", connection, ptr::null_mut());
    let guid = connection.lock().guid;
    guid.map_or(ptr::null_mut(), |guid| copy_text(guid.to_string().as_bytes()))
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_get_unix_fd(
    connection: Handle<DBusConnection>,
    fd: Out<c_int>,
) -> Bool {
    let connection = given!("dbus_connection_get_unix_fd", connection, FALSE);
    let mut guard = connection.lock();
    let Some(transport) = &guard.transport else { return FALSE };
    fd.set(transport.socket.as_raw_fd());
    // A program that waits for this descriptor does not learn of messages on lanes.
    if guard.lanes.are_enabled() {
        guard.stop_lanes();
        guard.write();
        connection.settle(&mut guard);
    }
    TRUE
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_get_socket(
    connection: Handle<DBusConnection>,
    fd: Out<c_int>,
) -> Bool {
    dbus_connection_get_unix_fd(connection, fd)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_get_unix_user(
    connection: Handle<DBusConnection>,
    uid: Out<c_ulong>,
) -> Bool {
    let connection = given!("dbus_connection_get_unix_user", connection, FALSE);
    let guard = connection.lock();
    match guard.user() {
        Some(found) => {
            uid.set(found.into());
            TRUE
        }
        None => FALSE,
    }
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_get_unix_process_id(
    connection: Handle<DBusConnection>,
    pid: Out<c_ulong>,
) -> Bool {
    let connection = given!("dbus_connection_get_unix_process_id", connection, FALSE);
    let guard = connection.lock();
    match guard.peer.and_then(|peer| peer.pid).filter(|_| guard.is_authenticated) {
        Some(found) => {
            pid.set(found.into());
            TRUE
        }
        None => FALSE,
    }
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_get_adt_audit_session_data(
    connection: Handle<DBusConnection>,
    data: Out<*mut c_void>,
    data_size: Out<i32>,
) -> Bool {
    given!("dbus_connection_get_adt_audit_session_data", connection, FALSE);
    // Only Solaris has such data.
    data.set(ptr::null_mut());
    data_size.set(0);
    FALSE
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_set_unix_user_function(
    connection: Handle<DBusConnection>,
    function: UserFunction,
    data: *mut c_void,
    free_data_function: FreeFunction,
) {
    let connection = given!("dbus_connection_set_unix_user_function", connection);
    let data = Arc::new(UserData::new(data, free_data_function));
    let old = connection.lock().user_function.replace((function, data));
    drop(old);
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_get_windows_user(
    connection: Handle<DBusConnection>,
    windows_sid_p: Out<*mut c_char>,
) -> Bool {
    given!("dbus_connection_get_windows_user", connection, FALSE);
    windows_sid_p.set(ptr::null_mut());
    FALSE
}

/// Keeps the data, so that it is freed as the program expects. The function is never called.
#[unsafe(no_mangle)]
extern "C" fn dbus_connection_set_windows_user_function(
    connection: Handle<DBusConnection>,
    _function: *const c_void,
    data: *mut c_void,
    free_data_function: FreeFunction,
) {
    let connection = given!("dbus_connection_set_windows_user_function", connection);
    let data = UserData::new(data, free_data_function);
    let old = connection.lock().windows_user_data.replace(data);
    drop(old);
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_set_allow_anonymous(connection: Handle<DBusConnection>, value: Bool) {
    let connection = given!("dbus_connection_set_allow_anonymous", connection);
    connection.lock().allows_anonymous = value != FALSE;
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_set_route_peer_messages(
    connection: Handle<DBusConnection>,
    value: Bool,
) {
    let connection = given!("dbus_connection_set_route_peer_messages", connection);
    connection.lock().routes_peer_messages = value != FALSE;
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dbus_connection_set_exit_on_disconnect(
    connection: Handle<DBusConnection>,
    exit_on_disconnect: Bool,
) {
    let connection = given!("dbus_connection_set_exit_on_disconnect", connection);
    connection.lock().exits_on_disconnect = exit_on_disconnect != FALSE;
}

/// Does nothing: this library never causes SIGPIPE.
#[unsafe(no_mangle)]
extern "C" fn dbus_connection_set_change_sigpipe(_will_modify_sigpipe: Bool) {}

/// Turns the handling of the interface Peer on or off, for monitors. libdbus has this function since
/// development version 1.15; tools of 1.14 use the private one.
#[unsafe(no_mangle)]
extern "C" fn dbus_connection_set_builtin_filters_enabled(
    connection: Handle<DBusConnection>,
    value: Bool,
) {
    let connection = given!("dbus_connection_set_builtin_filters_enabled", connection);
    connection.lock().has_builtin_filters = value != FALSE;
}

/// The same as the public function, for tools of libdbus 1.14.
#[unsafe(no_mangle)]
extern "C" fn _dbus_connection_set_builtin_filters_enabled(
    connection: Handle<DBusConnection>,
    value: Bool,
) {
    dbus_connection_set_builtin_filters_enabled(connection, value);
}
