//! Functions of the main loop of a program.

use std::ffi::c_void;
use std::sync::Arc;

use super::{Callback, DBusConnection, StatusFunction, WakeupFunction};
use crate::c::{Bool, FALSE, FreeFunction, Handle, UserData};
use crate::checks::given;
use crate::event::{
    AddFunction, ChangeFunction, DBusTimeout, DBusWatch, MainLoopFunctions, install,
};

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_set_watch_functions(
    connection: Handle<DBusConnection>,
    add_function: AddFunction<DBusWatch>,
    remove_function: ChangeFunction<DBusWatch>,
    toggled_function: ChangeFunction<DBusWatch>,
    data: *mut c_void,
    free_data_function: FreeFunction,
) -> Bool {
    let connection = given!("dbus_connection_set_watch_functions", connection, FALSE);
    let functions = MainLoopFunctions::of_program(
        add_function,
        remove_function,
        toggled_function,
        data,
        free_data_function,
    );
    install(functions, |functions| connection.lock().watches.replace(functions))
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_set_timeout_functions(
    connection: Handle<DBusConnection>,
    add_function: AddFunction<DBusTimeout>,
    remove_function: ChangeFunction<DBusTimeout>,
    toggled_function: ChangeFunction<DBusTimeout>,
    data: *mut c_void,
    free_data_function: FreeFunction,
) -> Bool {
    let connection = given!("dbus_connection_set_timeout_functions", connection, FALSE);
    let functions = MainLoopFunctions::of_program(
        add_function,
        remove_function,
        toggled_function,
        data,
        free_data_function,
    );
    install(functions, |functions| connection.lock().timeouts.replace(functions))
}

fn callback<F>(function: F, data: *mut c_void, free: FreeFunction) -> Callback<F> {
    Some((function, Arc::new(UserData::new(data, free))))
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_set_wakeup_main_function(
    connection: Handle<DBusConnection>,
    wakeup_main_function: WakeupFunction,
    data: *mut c_void,
    free_data_function: FreeFunction,
) {
    let connection = given!("dbus_connection_set_wakeup_main_function", connection);
    let new = callback(wakeup_main_function, data, free_data_function);
    let old = std::mem::replace(&mut connection.lock().wakeup, new);
    drop(old);
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_set_dispatch_status_function(
    connection: Handle<DBusConnection>,
    function: StatusFunction,
    data: *mut c_void,
    free_data_function: FreeFunction,
) {
    let connection = given!("dbus_connection_set_dispatch_status_function", connection);
    let new = callback(function, data, free_data_function);
    let old = std::mem::replace(&mut connection.lock().status_function, new);
    drop(old);
}
