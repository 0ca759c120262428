//! The queue of received messages, for programs that read it without dispatch.

use std::ptr;

use super::{DATA_REMAINS, DBusConnection};
use crate::c::Handle;
use crate::checks::{check, given};
use crate::message::{DBusMessage, MessageRef};

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_pop_message(
    connection: Handle<DBusConnection>,
) -> *const DBusMessage {
    let connection = given!("dbus_connection_pop_message", connection, ptr::null());
    let mut guard = connection.lock();
    if guard.update_status() != DATA_REMAINS {
        return ptr::null();
    }
    guard = connection.acquire_dispatch(guard);
    let message = guard.incoming.pop_front();
    if let Some(message) = &message {
        let content = message.view();
        if content.is_reply() {
            guard.stop_timeout(content.reply_serial());
        }
    }
    connection.release_dispatch(&mut guard);
    guard.update_status();
    MessageRef::give(message)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_borrow_message(
    connection: Handle<DBusConnection>,
) -> *const DBusMessage {
    let connection = given!("dbus_connection_borrow_message", connection, ptr::null());
    let mut guard = connection.lock();
    if guard.update_status() != DATA_REMAINS {
        return ptr::null();
    }
    guard = connection.acquire_dispatch(guard);
    let message = guard.incoming.front().cloned();
    if message.is_none() {
        connection.release_dispatch(&mut guard);
    }
    guard.borrowed = message;
    guard.borrowed.as_ref().map_or(ptr::null(), MessageRef::as_ptr)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_return_message(
    connection: Handle<DBusConnection>,
    message: Handle<DBusMessage>,
) {
    let connection = given!("dbus_connection_return_message", connection);
    let message = given!("dbus_connection_return_message", message);
    let mut guard = connection.lock();
    let is_borrowed = guard.borrowed.as_ref().is_some_and(|found| ptr::eq(found.as_ptr(), message));
    check!(
        "dbus_connection_return_message",
        is_borrowed,
        "message == connection->message_borrowed",
    );
    let borrowed = guard.borrowed.take();
    guard.defer_drop(borrowed);
    connection.release_dispatch(&mut guard);
    guard.update_status();
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_steal_borrowed_message(
    connection: Handle<DBusConnection>,
    message: Handle<DBusMessage>,
) {
    let connection = given!("dbus_connection_steal_borrowed_message", connection);
    let message = given!("dbus_connection_steal_borrowed_message", message);
    let mut guard = connection.lock();
    let is_borrowed = guard.borrowed.as_ref().is_some_and(|found| ptr::eq(found.as_ptr(), message));
    check!(
        "dbus_connection_steal_borrowed_message",
        is_borrowed,
        "message == connection->message_borrowed",
    );
    // A thread that waited for this message as a reply may have removed it from the queue.
    let at = guard.incoming.iter().position(|found| ptr::eq(found.as_ptr(), message));
    let queued = at.and_then(|at| guard.incoming.remove(at));
    guard.defer_drop(queued);
    MessageRef::give(guard.borrowed.take());
    connection.release_dispatch(&mut guard);
    guard.update_status();
}
