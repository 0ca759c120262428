//! Sending messages, and calls with a reply.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::Arc;

use super::{ConnectionGuard, DBusConnection};
use crate::c::{Bool, FALSE, FreeFunction, Handle, Out, SharedObject, TRUE, UserData, share};
use crate::checks::{check, given};
use crate::errors::{DBusError, LibraryFailure, names};
use crate::event::DBusTimeout;
use crate::message::{DBusMessage, MessageRef, error_of};
use crate::pending::{DBusPendingCall, NotifyFunction};

/// A promise to send a message without an allocation that could fail. Nothing has to be prepared.
pub(crate) struct DBusPreallocatedSend {
    connection: Arc<DBusConnection>,
}

impl SharedObject for DBusPreallocatedSend {}

/// The time in milliseconds that a call waits for its reply by default.
const DEFAULT_TIMEOUT: c_int = 25_000;
/// The argument for a call without a time limit.
const TIMEOUT_INFINITE: c_int = c_int::MAX;

/// How a call is completed.
#[derive(Default)]
pub(super) struct ReplyOptions {
    /// Whether the main loop of the program completes the call when its time is over.
    has_timeout: bool,
    /// The function that is called for the reply.
    notify: Option<(NotifyFunction, UserData)>,
}

impl DBusConnection {
    /// Sends a message and returns its serial.
    pub(super) fn send(&self, guard: &mut ConnectionGuard<'_>, message: &DBusMessage) -> u32 {
        let mut serial = message.view().serial;
        if serial == 0 {
            serial = guard.next_serial();
            message.edit(|content| content.serial = serial);
        }
        // Another thread may be sending the message over another connection, so it is only read.
        if !message.view().locked {
            message.edit(|content| content.locked = true);
        }
        if !guard.is_connected() {
            return serial;
        }
        if guard.send_on_lane(message.view()) {
            return serial;
        }
        guard.queue_for_bus(MessageRef::to(message));
        guard.note_sent(message.view());
        guard.write();
        let is_full = self.is_full(guard);
        guard.update_watches(is_full);
        if !guard.outgoing.is_empty() {
            guard.wake_main_loop();
            if guard.waits_for_socket {
                self.wake();
            }
        }
        serial
    }

    /// True if the message has descriptors that the connection cannot pass.
    fn refuses_fds(&self, message: &DBusMessage) -> bool {
        !message.view().fds.is_empty() && !self.passes_fds()
    }

    /// True if descriptors can be sent over the connection.
    pub(super) fn passes_fds(&self) -> bool {
        self.lock().passes_fds
    }

    /// Sends a call. Returns `None` if the connection is closed.
    pub(super) fn start_call(
        self: &Arc<Self>,
        message: &DBusMessage,
        milliseconds: c_int,
        options: ReplyOptions,
    ) -> Option<Arc<DBusPendingCall>> {
        let ReplyOptions { has_timeout, notify } = options;
        let interval = match milliseconds {
            -1 => Some(DEFAULT_TIMEOUT),
            TIMEOUT_INFINITE => None,
            other => Some(other),
        };
        let mut guard = self.lock();
        if !guard.is_connected() {
            return None;
        }
        // The reply can arrive as soon as the message is sent, so the call is remembered first.
        if message.view().serial == 0 {
            let serial = guard.next_serial();
            message.edit(|content| content.serial = serial);
        }
        let serial = message.view().serial;
        let pending = DBusPendingCall::new(self, serial, interval, guard.unique_name.clone());
        if let Some((function, data)) = notify {
            pending.set_notify(function, data);
        }
        let replaced = guard.pending.insert(serial, Arc::clone(&pending));
        guard.defer_drop(replaced);
        if let Some(interval) = interval.filter(|_| has_timeout) {
            let call = Arc::downgrade(&pending);
            let timeout = DBusTimeout::new(interval, move || {
                if let Some(pending) = call.upgrade()
                    && let Some(connection) = pending.connection.upgrade()
                {
                    connection.time_out(&pending);
                }
                true
            });
            pending.set_timeout(Some(Arc::clone(&timeout)));
            if let Some(functions) = guard.timeouts.add(Arc::clone(&timeout)) {
                guard.deferred.push(Box::new(move || {
                    functions.add(&timeout);
                }));
            }
        }
        self.send(&mut guard, message);
        guard.update_status();
        Some(pending)
    }

    /// Sends a call and waits for its reply.
    pub(crate) fn call(
        self: &Arc<Self>,
        message: &DBusMessage,
        milliseconds: c_int,
    ) -> Result<MessageRef, CallFailure> {
        if self.refuses_fds(message) {
            let text = "Cannot send file descriptors on this connection.";
            return Err(CallFailure::Local(LibraryFailure::new(names::FAILED, text)));
        }
        let Some(pending) = self.start_call(message, milliseconds, ReplyOptions::default()) else {
            let closed = LibraryFailure::new(names::DISCONNECTED, "Connection is closed");
            return Err(CallFailure::Local(closed));
        };
        self.block(&pending);
        let reply = pending.take_reply().unwrap_or_else(|| pending.disconnected_error());
        match error_of(&reply) {
            Some((name, text)) => Err(CallFailure::Reply(name.to_owned(), text)),
            None => Ok(reply),
        }
    }
}

/// The reason why a call has no result.
pub(crate) enum CallFailure {
    /// This library could not send the call.
    Local(LibraryFailure),
    /// The reply is this error.
    Reply(std::ffi::CString, Vec<u8>),
}

impl CallFailure {
    fn report(self, error: Out<DBusError>) {
        match self {
            Self::Local(failure) => error.fail(&failure),
            Self::Reply(name, text) => error.store(name.to_bytes(), &text),
        }
    }
}

/// Sends a call, waits for its reply, and stores an error reply in `error`.
pub(crate) fn call(
    connection: &DBusConnection,
    message: &DBusMessage,
    error: Out<DBusError>,
) -> Option<MessageRef> {
    let result = share(connection).call(message, -1);
    result.map_err(|failure| failure.report(error)).ok()
}

/// Sends a message that needs no reply.
pub(crate) fn call_without_reply(connection: &DBusConnection, message: &DBusMessage) {
    let mut guard = connection.lock();
    connection.send(&mut guard, message);
    guard.update_status();
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_send(
    connection: Handle<DBusConnection>,
    message: Handle<DBusMessage>,
    serial: Out<u32>,
) -> Bool {
    let connection = given!("dbus_connection_send", connection, FALSE);
    let message = given!("dbus_connection_send", message, FALSE);
    if connection.refuses_fds(message) {
        return FALSE;
    }
    let mut guard = connection.lock();
    serial.set(connection.send(&mut guard, message));
    guard.update_status();
    TRUE
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_preallocate_send(
    connection: Handle<DBusConnection>,
) -> *const DBusPreallocatedSend {
    given!("dbus_connection_preallocate_send", connection, ptr::null());
    let Some(connection) = connection.share() else { return ptr::null() };
    crate::c::give(Arc::new(DBusPreallocatedSend { connection }))
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_free_preallocated_send(
    connection: Handle<DBusConnection>,
    preallocated: Handle<DBusPreallocatedSend>,
) {
    const FUNCTION: &str = "dbus_connection_free_preallocated_send";
    let connection = given!("dbus_connection_free_preallocated_send", connection);
    let preallocated = given!("dbus_connection_free_preallocated_send", preallocated);
    if !ptr::eq(connection, Arc::as_ptr(&preallocated.connection)) {
        crate::checks::report(FUNCTION, "connection == preallocated->connection", file!(), line!());
        return;
    }
    drop(crate::c::take_back(preallocated));
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_send_preallocated(
    connection: Handle<DBusConnection>,
    preallocated: Handle<DBusPreallocatedSend>,
    message: Handle<DBusMessage>,
    serial: Out<u32>,
) {
    let sender = given!("dbus_connection_send_preallocated", connection);
    let preallocated = given!("dbus_connection_send_preallocated", preallocated);
    given!("dbus_connection_send_preallocated", message);
    check!(
        "dbus_connection_send_preallocated",
        ptr::eq(sender, Arc::as_ptr(&preallocated.connection)),
        "preallocated->connection == connection",
    );
    dbus_connection_send(connection, message, serial);
    drop(crate::c::take_back(preallocated));
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_send_with_reply(
    connection: Handle<DBusConnection>,
    message: Handle<DBusMessage>,
    pending_return: Out<*const DBusPendingCall>,
    timeout_milliseconds: c_int,
) -> Bool {
    given!("dbus_connection_send_with_reply", connection, FALSE);
    let message = given!("dbus_connection_send_with_reply", message, FALSE);
    check!(
        "dbus_connection_send_with_reply",
        timeout_milliseconds >= -1,
        "timeout_milliseconds >= 0 || timeout_milliseconds == -1",
        FALSE
    );
    let options = ReplyOptions { has_timeout: true, notify: None };
    start(connection, message, pending_return, timeout_milliseconds, options)
}

/// Starts a call for a program.
fn start(
    connection: Handle<DBusConnection>,
    message: &DBusMessage,
    pending_return: Out<*const DBusPendingCall>,
    milliseconds: c_int,
    options: ReplyOptions,
) -> Bool {
    pending_return.set(ptr::null());
    let Some(connection) = connection.share() else { return FALSE };
    // As in libdbus, the missing pending call is the only sign of this failure.
    if connection.refuses_fds(message) {
        return TRUE;
    }
    if let Some(pending) = connection.start_call(message, milliseconds, options)
        && !pending_return.is_null()
    {
        pending_return.set(crate::c::give(pending));
    }
    TRUE
}

/// Sends a call with a function for its reply, which cannot arrive before the function is set. The
/// patches of CommonAPI add this function to libdbus.
#[unsafe(no_mangle)]
extern "C" fn dbus_connection_send_with_reply_set_notify(
    connection: Handle<DBusConnection>,
    message: Handle<DBusMessage>,
    pending_return: Out<*const DBusPendingCall>,
    notify: NotifyFunction,
    user_data: *mut c_void,
    free_user_data: FreeFunction,
    timeout_milliseconds: c_int,
) -> Bool {
    given!("dbus_connection_send_with_reply_set_notify", connection, FALSE);
    let message = given!("dbus_connection_send_with_reply_set_notify", message, FALSE);
    check!(
        "dbus_connection_send_with_reply_set_notify",
        timeout_milliseconds >= -1,
        "timeout_milliseconds >= 0 || timeout_milliseconds == -1",
        FALSE
    );
    let notify = Some((notify, UserData::new(user_data, free_user_data)));
    let options = ReplyOptions { has_timeout: true, notify };
    start(connection, message, pending_return, timeout_milliseconds, options)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_send_with_reply_and_block(
    connection: Handle<DBusConnection>,
    message: Handle<DBusMessage>,
    timeout_milliseconds: c_int,
    error: Out<DBusError>,
) -> *const DBusMessage {
    let none = ptr::null();
    given!("dbus_connection_send_with_reply_and_block", connection, none);
    let message = given!("dbus_connection_send_with_reply_and_block", message, none);
    check!(
        "dbus_connection_send_with_reply_and_block",
        timeout_milliseconds >= -1,
        "timeout_milliseconds >= 0 || timeout_milliseconds == -1",
        none
    );
    check!(
        "dbus_connection_send_with_reply_and_block",
        !error.is_set(),
        "(error) == NULL || !dbus_error_is_set ((error))",
        none
    );
    let Some(connection) = connection.share() else { return none };
    let result = connection.call(message, timeout_milliseconds);
    MessageRef::give(result.map_err(|failure| failure.report(error)).ok())
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_has_messages_to_send(connection: Handle<DBusConnection>) -> Bool {
    let connection = given!("dbus_connection_has_messages_to_send", connection, FALSE);
    (!connection.lock().outgoing.is_empty()).into()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_can_send_type(
    connection: Handle<DBusConnection>,
    r#type: c_int,
) -> Bool {
    let connection = given!("dbus_connection_can_send_type", connection, FALSE);
    match crate::types::code(r#type) {
        None => FALSE,
        Some(b'h') => connection.passes_fds().into(),
        Some(_) => TRUE,
    }
}
