//! Data slots of messages.

use std::ffi::c_void;
use std::ptr;

use super::DBusMessage;
use crate::c::{Bool, FALSE, FreeFunction, Handle, Out, TRUE, UserData};
use crate::checks::{check, given};
use crate::slots::SlotAllocator;

static SLOTS: SlotAllocator = SlotAllocator::new();

#[unsafe(no_mangle)]
extern "C" fn dbus_message_allocate_data_slot(slot_p: Out<i32>) -> Bool {
    SLOTS.allocate(slot_p).into()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_free_data_slot(slot_p: Out<i32>) {
    let slot = given!("dbus_message_free_data_slot", slot_p);
    check!("dbus_message_free_data_slot", slot >= 0, "*slot_p >= 0");
    SLOTS.free(slot_p);
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_set_data(
    message: Handle<DBusMessage>,
    slot: i32,
    data: *mut c_void,
    free_data_func: FreeFunction,
) -> Bool {
    let message = given!("dbus_message_set_data", message, FALSE);
    check!("dbus_message_set_data", slot >= 0, "slot >= 0", FALSE);
    let Some(index) = SLOTS.index(slot) else { return FALSE };
    let data = UserData::new(data, free_data_func);
    drop(message.edit(|content| content.slots.set(index, data)));
    TRUE
}

#[unsafe(no_mangle)]
extern "C" fn dbus_message_get_data(message: Handle<DBusMessage>, slot: i32) -> *mut c_void {
    let message = given!("dbus_message_get_data", message, ptr::null_mut());
    SLOTS.index(slot).map_or(ptr::null_mut(), |index| message.view().slots.get(index))
}
