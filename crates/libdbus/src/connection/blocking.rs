//! Functions that wait: for replies, for messages, and until messages are sent.

use std::ffi::c_int;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::io::duration;
use super::{DATA_REMAINS, DBusConnection};
use crate::c::{Bool, FALSE, Handle};
use crate::checks::{check, given};
use crate::pending::DBusPendingCall;

impl DBusConnection {
    /// Waits until a call is completed.
    pub(super) fn block(&self, pending: &Arc<DBusPendingCall>) {
        let interval = pending.interval.and_then(duration);
        let deadline = interval.and_then(|interval| Instant::now().checked_add(interval));
        let mut guard = self.lock();
        loop {
            if pending.is_completed() {
                break;
            }
            let rest = deadline.map(|at| at.saturating_duration_since(Instant::now()));
            let found = guard.incoming.iter().position(|message| {
                let content = message.view();
                content.is_reply() && content.reply_serial() == pending.serial
            });
            let reply = match found.and_then(|at| guard.incoming.remove(at)) {
                Some(reply) => Some(reply),
                None if !guard.is_connected() => Some(pending.disconnected_error()),
                None if rest == Some(Duration::ZERO) => Some(pending.timeout_error()),
                None => None,
            };
            if let Some(reply) = reply {
                guard.stop_timeout(pending.serial);
                let entry = guard.pending.remove(&pending.serial);
                guard.update_status();
                drop(guard);
                drop(entry);
                pending.complete(reply);
                return;
            }
            guard = self.wait(guard, rest, Some(pending.serial));
        }
        guard.update_status();
    }

    /// Completes a call with an error because its time is over.
    pub(super) fn time_out(&self, pending: &Arc<DBusPendingCall>) {
        let mut guard = self.lock();
        guard.stop_timeout(pending.serial);
        let current = guard.pending.get(&pending.serial);
        if current.is_some_and(|current| Arc::ptr_eq(current, pending)) {
            guard.incoming.push_back(pending.timeout_error());
            guard.wake_main_loop();
        }
        guard.update_status();
    }

    /// Reads and writes for a program without a main loop. Returns false if no message can come
    /// any more.
    fn read_write(&self, timeout: Option<Duration>, dispatches: bool) -> bool {
        let mut guard = self.lock();
        if dispatches && guard.status() == DATA_REMAINS {
            drop(guard);
            self.dispatch();
            return self.expects_messages();
        }
        if guard.is_connected() {
            guard = self.wait(guard, timeout, None);
        }
        guard.update_status();
        drop(guard);
        if dispatches {
            self.dispatch();
        }
        self.expects_messages()
    }

    /// True until the program has got the signal Disconnected.
    fn expects_messages(&self) -> bool {
        let guard = self.lock();
        guard.is_connected() || !guard.has_reported_end || !guard.incoming.is_empty()
    }
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_read_write(
    connection: Handle<DBusConnection>,
    timeout_milliseconds: c_int,
) -> Bool {
    let connection = given!("dbus_connection_read_write", connection, FALSE);
    check!(
        "dbus_connection_read_write",
        timeout_milliseconds >= -1,
        "timeout_milliseconds >= 0 || timeout_milliseconds == -1",
        FALSE
    );
    connection.read_write(duration(timeout_milliseconds), false).into()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_read_write_dispatch(
    connection: Handle<DBusConnection>,
    timeout_milliseconds: c_int,
) -> Bool {
    given!("dbus_connection_read_write_dispatch", connection, FALSE);
    check!(
        "dbus_connection_read_write_dispatch",
        timeout_milliseconds >= -1,
        "timeout_milliseconds >= 0 || timeout_milliseconds == -1",
        FALSE
    );
    let Some(connection) = connection.share() else { return FALSE };
    connection.read_write(duration(timeout_milliseconds), true).into()
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn dbus_connection_flush(connection: Handle<DBusConnection>) {
    let connection = given!("dbus_connection_flush", connection);
    let mut guard = connection.lock();
    while guard.is_connected() && !guard.outgoing.is_empty() {
        guard = connection.wait(guard, None, None);
    }
    guard.update_status();
}

#[unsafe(no_mangle)]
extern "C" fn dbus_pending_call_block(pending: Handle<DBusPendingCall>) {
    given!("dbus_pending_call_block", pending);
    let Some(pending) = pending.share() else { return };
    if pending.is_completed() {
        return;
    }
    match pending.connection.upgrade() {
        Some(connection) => connection.block(&pending),
        None => pending.complete(pending.disconnected_error()),
    }
}

#[unsafe(no_mangle)]
extern "C" fn dbus_pending_call_cancel(pending: Handle<DBusPendingCall>) {
    given!("dbus_pending_call_cancel", pending);
    let Some(pending) = pending.share() else { return };
    let Some(connection) = pending.connection.upgrade() else { return };
    let mut guard = connection.lock();
    let current = guard.pending.get(&pending.serial);
    if current.is_some_and(|current| Arc::ptr_eq(current, &pending)) {
        guard.stop_timeout(pending.serial);
        let entry = guard.pending.remove(&pending.serial);
        guard.defer_drop(entry);
    }
}
