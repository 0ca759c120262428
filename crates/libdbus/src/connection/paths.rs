//! Registration of the objects of a program.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;

use super::objects::ObjectHandler;
use super::{DBusConnection, HandleFunction, UnregisterFunction};
use crate::c::{Bool, CText, FALSE, Handle, Out, TRUE, copy_texts};
use crate::checks::{check, given, warn};
use crate::errors::{DBusError, names};

/// The functions of an object, as the headers define them.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct ObjectPathVTable {
    unregister_function: UnregisterFunction,
    message_function: HandleFunction,
    padding: [*const c_void; 4],
}

/// Registers a handler, and reports a path that has one already.
fn register(
    connection: &DBusConnection,
    path: &CStr,
    vtable: ObjectPathVTable,
    data: *mut c_void,
    is_fallback: bool,
    error: Out<DBusError>,
) -> Bool {
    let function = (vtable.message_function, vtable.unregister_function);
    let handler = ObjectHandler { function, data, is_fallback };
    if connection.lock().objects.register(path.to_bytes(), handler) {
        return TRUE;
    }
    let text = format!("A handler is already registered for {}", path.to_string_lossy());
    error.store(names::OBJECT_PATH_IN_USE.to_bytes(), text.as_bytes());
    FALSE
}

/// Defines a function that registers an object.
macro_rules! registration {
    ($name:ident $text:literal, $is_fallback:literal) => {
        #[unsafe(no_mangle)]
        extern "C" fn $name(
            connection: Handle<DBusConnection>,
            path: CText,
            vtable: Out<ObjectPathVTable>,
            user_data: *mut c_void,
            error: Out<DBusError>,
        ) -> Bool {
            let connection = given!($text, connection, FALSE);
            let path = given!($text, path, FALSE);
            let vtable = given!($text, vtable, FALSE);
            check!($text, path.to_bytes().first() == Some(&b'/'), "path[0] == '/'", FALSE);
            register(connection, path, vtable, user_data, $is_fallback, error)
        }
    };
}

registration!(
    dbus_connection_try_register_object_path "dbus_connection_try_register_object_path", false
);
registration!(
    dbus_connection_try_register_fallback "dbus_connection_try_register_fallback", true
);

/// Prints a warning for a path that has a handler, which these functions cannot report.
fn registered_or_warned(function: &str, register: impl FnOnce(Out<DBusError>) -> Bool) -> Bool {
    let mut error = DBusError::new();
    let registered = register(Out::to(&mut error));
    if let Some(text) = error.message() {
        warn(format_args!("{function}: {}\n", text.to_string_lossy()));
    }
    error.clear();
    registered
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_register_object_path(
    connection: Handle<DBusConnection>,
    path: CText,
    vtable: Out<ObjectPathVTable>,
    user_data: *mut c_void,
) -> Bool {
    registered_or_warned("dbus_connection_register_object_path", |error| {
        dbus_connection_try_register_object_path(connection, path, vtable, user_data, error)
    })
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_register_fallback(
    connection: Handle<DBusConnection>,
    path: CText,
    vtable: Out<ObjectPathVTable>,
    user_data: *mut c_void,
) -> Bool {
    registered_or_warned("dbus_connection_register_fallback", |error| {
        dbus_connection_try_register_fallback(connection, path, vtable, user_data, error)
    })
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_unregister_object_path(
    connection: Handle<DBusConnection>,
    path: CText,
) -> Bool {
    const NAME: &str = "dbus_connection_unregister_object_path";
    let connection = given!("dbus_connection_unregister_object_path", connection, FALSE);
    let path = given!("dbus_connection_unregister_object_path", path, FALSE);
    check!(
        "dbus_connection_unregister_object_path",
        path.to_bytes().first() == Some(&b'/'),
        "path[0] == '/'",
        FALSE
    );
    let removed = connection.lock().objects.unregister(path.to_bytes());
    match removed {
        Some(handler) => unregistered(connection, &handler),
        None => warn(format_args!(
            "{NAME}: Attempted to unregister path {} which isn't registered\n",
            path.to_string_lossy()
        )),
    }
    TRUE
}

/// Notifies the program that a handler was removed.
pub(super) fn unregistered(
    connection: *const DBusConnection,
    handler: &ObjectHandler<super::ObjectFunctions>,
) {
    if let Some(function) = handler.function.1 {
        // SAFETY: the program has passed this function for this data.
        unsafe { function(connection, handler.data) };
    }
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_get_object_path_data(
    connection: Handle<DBusConnection>,
    path: CText,
    data_p: Out<*mut c_void>,
) -> Bool {
    let connection = given!("dbus_connection_get_object_path_data", connection, FALSE);
    let path = given!("dbus_connection_get_object_path_data", path, FALSE);
    check!("dbus_connection_get_object_path_data", !data_p.is_null(), "data_p != NULL", FALSE);
    let guard = connection.lock();
    let handler = guard.objects.get(path.to_bytes());
    data_p.set(handler.map_or(ptr::null_mut(), |handler| handler.data));
    TRUE
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_list_registered(
    connection: Handle<DBusConnection>,
    parent_path: CText,
    child_entries: Out<*mut *mut c_char>,
) -> Bool {
    let connection = given!("dbus_connection_list_registered", connection, FALSE);
    let parent_path = given!("dbus_connection_list_registered", parent_path, FALSE);
    check!(
        "dbus_connection_list_registered",
        parent_path.to_bytes().first() == Some(&b'/'),
        "parent_path[0] == '/'",
        FALSE
    );
    check!(
        "dbus_connection_list_registered",
        !child_entries.is_null(),
        "child_entries != NULL",
        FALSE
    );
    let children = connection.lock().objects.children(parent_path.to_bytes());
    child_entries.set(copy_texts(children.iter().map(Vec::as_slice)));
    TRUE
}
