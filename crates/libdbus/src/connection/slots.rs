//! Data slots of connections.

use std::ffi::c_void;
use std::ptr;

use super::DBusConnection;
use crate::c::{Bool, FALSE, FreeFunction, Handle, Out, TRUE, UserData};
use crate::checks::{check, given};
use crate::slots::SlotAllocator;

static SLOTS: SlotAllocator = SlotAllocator::new();

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_allocate_data_slot(slot_p: Out<i32>) -> Bool {
    SLOTS.allocate(slot_p).into()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_free_data_slot(slot_p: Out<i32>) {
    let slot = given!("dbus_connection_free_data_slot", slot_p);
    check!("dbus_connection_free_data_slot", slot >= 0, "*slot_p >= 0");
    SLOTS.free(slot_p);
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_set_data(
    connection: Handle<DBusConnection>,
    slot: i32,
    data: *mut c_void,
    free_data_func: FreeFunction,
) -> Bool {
    let connection = given!("dbus_connection_set_data", connection, FALSE);
    check!("dbus_connection_set_data", slot >= 0, "slot >= 0", FALSE);
    let Some(index) = SLOTS.index(slot) else { return FALSE };
    let previous = connection.lock().slots.set(index, UserData::new(data, free_data_func));
    drop(previous);
    TRUE
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_get_data(
    connection: Handle<DBusConnection>,
    slot: i32,
) -> *mut c_void {
    let connection = given!("dbus_connection_get_data", connection, ptr::null_mut());
    check!("dbus_connection_get_data", slot >= 0, "slot >= 0", ptr::null_mut());
    SLOTS.index(slot).map_or(ptr::null_mut(), |index| connection.lock().slots.get(index))
}
