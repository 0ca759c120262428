//! Connections to a message bus, and calls of its methods.

use std::ffi::{CStr, CString, c_char, c_int, c_ulong};
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::c::{Bool, CText, FALSE, Handle, Out, TRUE, copy_text, give};
use crate::checks::{check, given};
use crate::connection::{
    DBusConnection, call, call_without_reply, dbus_connection_set_exit_on_disconnect,
};
use crate::errors::{DBusError, LibraryFailure, reported};
use crate::message::{DBusMessage, MessageRef, method_call};
use crate::misc::variable;
use crate::shared;
use crate::syntax::is_bus_name;

/// The buses of `DBusBusType`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KnownBus {
    Session,
    System,
    /// The bus that has started this process.
    Starter,
}

/// The shared connection to each bus, in the order of [`KnownBus`].
static BUSES: Mutex<[Weak<DBusConnection>; 3]> = Mutex::new([const { Weak::new() }; 3]);

/// The address of the system bus without a variable in the environment.
const SYSTEM_ADDRESS: &[u8] = b"unix:path=/run/dbus/system_bus_socket";

impl KnownBus {
    const fn from_number(number: c_int) -> Option<Self> {
        match number {
            0 => Some(Self::Session),
            1 => Some(Self::System),
            2 => Some(Self::Starter),
            _ => None,
        }
    }

    /// The bus that a program means. The starter bus is often one of the others.
    fn resolve(self) -> Self {
        match variable("DBUS_STARTER_BUS_TYPE").as_deref() {
            _ if self != Self::Starter => self,
            Some(b"session") => Self::Session,
            Some(b"system") => Self::System,
            _ if variable("DBUS_STARTER_ADDRESS").is_none() => Self::Session,
            _ => self,
        }
    }

    fn address(self) -> CString {
        let set = |name| variable(name).filter(|address| !address.is_empty());
        let address = match self {
            Self::Session => set("DBUS_SESSION_BUS_ADDRESS").unwrap_or_else(session_default),
            Self::System => {
                set("DBUS_SYSTEM_BUS_ADDRESS").unwrap_or_else(|| SYSTEM_ADDRESS.to_vec())
            }
            Self::Starter => set("DBUS_STARTER_ADDRESS").unwrap_or_default(),
        };
        CString::new(address).unwrap_or_default()
    }
}

fn session_default() -> Vec<u8> {
    user_bus().unwrap_or_else(|| b"autolaunch:".to_vec())
}

/// The address of the session bus of this user, if its socket exists.
pub(crate) fn user_bus() -> Option<Vec<u8>> {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::os::unix::fs::{FileTypeExt, MetadataExt};

    let directory = std::ffi::OsString::from_vec(variable("XDG_RUNTIME_DIR")?);
    let socket = std::path::PathBuf::from(directory).join("bus");
    let found = std::fs::symlink_metadata(&socket).ok()?;
    let is_own = found.uid() == rustix::process::getuid().as_raw();
    (found.file_type().is_socket() && is_own).then(|| {
        let path = crate::addresses::escape(socket.as_os_str().as_bytes());
        [b"unix:path=", path.as_slice()].concat()
    })
}

fn get(number: c_int, is_private: bool, error: Out<DBusError>) -> *const DBusConnection {
    let Some(kind) = KnownBus::from_number(number).map(KnownBus::resolve) else {
        return ptr::null();
    };
    let index = kind as usize;
    if !is_private {
        // The lock is held until the connection is in the table, so that there is only one.
        let mut buses = BUSES.lock().unwrap_or_else(PoisonError::into_inner);
        let current = buses[index].upgrade();
        if let Some(connection) = current.filter(|found| found.lock().is_connected()) {
            return give(connection);
        }
        let opened = reported(shared::open_shared(&kind.address()), error);
        let Some(connection) = opened else { return ptr::null() };
        if !register(&connection, error) {
            connection.lock().is_shared = false;
            connection.close();
            return ptr::null();
        }
        buses[index] = Arc::downgrade(&connection);
        return finish(connection);
    }
    let opened = reported(shared::open_private(&kind.address()), error);
    let Some(connection) = opened else { return ptr::null() };
    if !register(&connection, error) {
        connection.close();
        return ptr::null();
    }
    finish(connection)
}

fn finish(connection: Arc<DBusConnection>) -> *const DBusConnection {
    let connection = give(connection);
    dbus_connection_set_exit_on_disconnect(Handle::to(connection), TRUE);
    connection
}

/// Calls Hello, unless the connection has a name.
fn register(connection: &DBusConnection, error: Out<DBusError>) -> bool {
    if connection.lock().unique_name.is_some() {
        return true;
    }
    let Some(reply) = call(connection, &method(c"Hello"), error) else { return false };
    let name = reply.first_string().and_then(|name| CString::new(name).ok());
    match name.filter(|name| is_bus_name(name)) {
        Some(name) => {
            connection.has_registered(name);
            true
        }
        None => {
            let text = "the reply to Hello contains no valid name";
            error.fail(&LibraryFailure::new(crate::errors::names::FAILED, text));
            false
        }
    }
}

/// A call of a method of the bus.
fn method(name: &CStr) -> MessageRef {
    method_call(
        Some(c"org.freedesktop.DBus"),
        c"/org/freedesktop/DBus",
        Some(c"org.freedesktop.DBus"),
        name,
    )
}

/// A call of a method of the bus with a string as the first argument.
fn method_with(name: &CStr, argument: &CStr) -> MessageRef {
    let message = method(name);
    message.edit(|content| content.append_string(argument.to_bytes()));
    message
}

/// Calls a method of the bus that returns a number.
fn number(
    connection: &DBusConnection,
    message: &DBusMessage,
    error: Out<DBusError>,
) -> Option<u32> {
    call(connection, message, error)?.first_u32()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_bus_get(r#type: c_int, error: Out<DBusError>) -> *const DBusConnection {
    check!(
        "dbus_bus_get",
        KnownBus::from_number(r#type).is_some(),
        "type >= 0 && type < N_BUS_TYPES",
        ptr::null()
    );
    check!(
        "dbus_bus_get",
        !error.is_set(),
        "(error) == NULL || !dbus_error_is_set ((error))",
        ptr::null()
    );
    get(r#type, false, error)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_bus_get_private(r#type: c_int, error: Out<DBusError>) -> *const DBusConnection {
    check!(
        "dbus_bus_get_private",
        KnownBus::from_number(r#type).is_some(),
        "type >= 0 && type < N_BUS_TYPES",
        ptr::null()
    );
    check!(
        "dbus_bus_get_private",
        !error.is_set(),
        "(error) == NULL || !dbus_error_is_set ((error))",
        ptr::null()
    );
    get(r#type, true, error)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_bus_register(connection: Handle<DBusConnection>, error: Out<DBusError>) -> Bool {
    let connection = given!("dbus_bus_register", connection, FALSE);
    register(connection, error).into()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_bus_set_unique_name(
    connection: Handle<DBusConnection>,
    unique_name: CText,
) -> Bool {
    let connection = given!("dbus_bus_set_unique_name", connection, FALSE);
    let unique_name = given!("dbus_bus_set_unique_name", unique_name, FALSE);
    let mut guard = connection.lock();
    let previous = guard.unique_name.replace(unique_name.to_owned());
    guard.former_names.extend(previous);
    TRUE
}

#[unsafe(no_mangle)]
extern "C" fn dbus_bus_get_unique_name(connection: Handle<DBusConnection>) -> *const c_char {
    let connection = given!("dbus_bus_get_unique_name", connection, ptr::null());
    let guard = connection.lock();
    guard.unique_name.as_ref().map_or(ptr::null(), |name| name.as_ptr())
}

/// The result for a user that is not known.
const NO_USER: c_ulong = c_ulong::MAX;

#[unsafe(no_mangle)]
extern "C" fn dbus_bus_get_unix_user(
    connection: Handle<DBusConnection>,
    name: CText,
    error: Out<DBusError>,
) -> c_ulong {
    let connection = given!("dbus_bus_get_unix_user", connection, NO_USER);
    let name = given!("dbus_bus_get_unix_user", name, NO_USER);
    check!(
        "dbus_bus_get_unix_user",
        is_bus_name(name),
        "_dbus_check_is_valid_bus_name (name)",
        NO_USER
    );
    let message = method_with(c"GetConnectionUnixUser", name);
    number(connection, &message, error).map_or(NO_USER, c_ulong::from)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_bus_get_id(
    connection: Handle<DBusConnection>,
    error: Out<DBusError>,
) -> *mut c_char {
    let connection = given!("dbus_bus_get_id", connection, ptr::null_mut());
    let reply = call(connection, &method(c"GetId"), error);
    let id = reply.and_then(|reply| reply.first_string());
    id.map_or(ptr::null_mut(), |id| copy_text(&id))
}

#[unsafe(no_mangle)]
extern "C" fn dbus_bus_request_name(
    connection: Handle<DBusConnection>,
    name: CText,
    flags: u32,
    error: Out<DBusError>,
) -> c_int {
    let connection = given!("dbus_bus_request_name", connection, 0);
    let name = given!("dbus_bus_request_name", name, 0);
    check!("dbus_bus_request_name", is_bus_name(name), "_dbus_check_is_valid_bus_name (name)", 0);
    let message = method_with(c"RequestName", name);
    message.edit(|content| content.append_u32(flags));
    let result = number(connection, &message, error);
    result.and_then(|result| c_int::try_from(result).ok()).unwrap_or(-1)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_bus_release_name(
    connection: Handle<DBusConnection>,
    name: CText,
    error: Out<DBusError>,
) -> c_int {
    let connection = given!("dbus_bus_release_name", connection, 0);
    let name = given!("dbus_bus_release_name", name, 0);
    check!("dbus_bus_release_name", is_bus_name(name), "_dbus_check_is_valid_bus_name (name)", 0);
    let result = number(connection, &method_with(c"ReleaseName", name), error);
    result.and_then(|result| c_int::try_from(result).ok()).unwrap_or(-1)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_bus_name_has_owner(
    connection: Handle<DBusConnection>,
    name: CText,
    error: Out<DBusError>,
) -> Bool {
    let connection = given!("dbus_bus_name_has_owner", connection, FALSE);
    let name = given!("dbus_bus_name_has_owner", name, FALSE);
    check!(
        "dbus_bus_name_has_owner",
        is_bus_name(name),
        "_dbus_check_is_valid_bus_name (name)",
        FALSE
    );
    number(connection, &method_with(c"NameHasOwner", name), error).unwrap_or(FALSE)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_bus_start_service_by_name(
    connection: Handle<DBusConnection>,
    name: CText,
    flags: u32,
    result: Out<u32>,
    error: Out<DBusError>,
) -> Bool {
    let connection = given!("dbus_bus_start_service_by_name", connection, FALSE);
    check!(
        "dbus_bus_start_service_by_name",
        name.get().is_some_and(is_bus_name),
        "_dbus_check_is_valid_bus_name (name)",
        FALSE
    );
    let message = method_with(c"StartServiceByName", name.get().unwrap_or_default());
    message.edit(|content| content.append_u32(flags));
    match number(connection, &message, error) {
        Some(found) => {
            result.set(found);
            TRUE
        }
        None => FALSE,
    }
}

/// Sends a match rule. Without a place for the error, it does not wait for the reply.
fn send_rule(connection: &DBusConnection, member: &CStr, rule: &CStr, error: Out<DBusError>) {
    let message = method_with(member, rule);
    if error.is_null() {
        message.edit(|content| content.flags |= wire::message::Flags::NO_REPLY_EXPECTED.bits());
        call_without_reply(connection, &message);
    } else {
        call(connection, &message, error);
    }
}

#[unsafe(no_mangle)]
extern "C" fn dbus_bus_add_match(
    connection: Handle<DBusConnection>,
    rule: CText,
    error: Out<DBusError>,
) {
    let connection = given!("dbus_bus_add_match", connection);
    let rule = given!("dbus_bus_add_match", rule);
    send_rule(connection, c"AddMatch", rule, error);
}

#[unsafe(no_mangle)]
extern "C" fn dbus_bus_remove_match(
    connection: Handle<DBusConnection>,
    rule: CText,
    error: Out<DBusError>,
) {
    let connection = given!("dbus_bus_remove_match", connection);
    let rule = given!("dbus_bus_remove_match", rule);
    send_rule(connection, c"RemoveMatch", rule, error);
}

/// Frees what the library keeps between calls: the shared connections.
#[unsafe(no_mangle)]
extern "C" fn dbus_shutdown() {
    shared::close_all();
}
