//! Handling of received messages.

use std::ffi::{CStr, c_int};
use std::sync::Arc;

use super::{
    COMPLETE, ConnectionGuard, DATA_REMAINS, DBusConnection, DISCONNECTED, DispatchStatus, HANDLED,
    HandlerResult, LOCAL_INTERFACE, NEED_MEMORY, NOT_YET_HANDLED, peers,
};
use crate::c::Handle;
use crate::checks::given;
use crate::errors::{LibraryFailure, names};
use crate::message::{DBusMessage, MessageRef, code, failure_reply, is, kind, method_return};

/// A number that no other thread of the process has now.
fn thread_number() -> usize {
    thread_local! {
        static PLACE: u8 = const { 0 };
    }
    PLACE.with(|place| std::ptr::from_ref(place).addr())
}

impl DBusConnection {
    /// Waits until no other thread handles messages.
    pub(super) fn acquire_dispatch<'c>(
        &'c self,
        mut guard: ConnectionGuard<'c>,
    ) -> ConnectionGuard<'c> {
        let thread = thread_number();
        loop {
            match &mut guard.dispatcher {
                Some((current, depth)) if *current == thread => {
                    *depth += 1;
                    return guard;
                }
                Some(_) => guard = self.wait_for_release(guard, None),
                None => {
                    guard.dispatcher = Some((thread, 1));
                    return guard;
                }
            }
        }
    }

    pub(super) fn release_dispatch(&self, guard: &mut ConnectionGuard<'_>) {
        if let Some((_, depth)) = &mut guard.dispatcher {
            *depth -= 1;
            if *depth == 0 {
                guard.dispatcher = None;
                self.notify_waiting(guard);
            }
        }
    }

    /// Handles the next message.
    pub(super) fn dispatch(&self) -> DispatchStatus {
        let mut guard = self.lock();
        if guard.status() != DATA_REMAINS {
            return guard.update_status();
        }
        guard = self.acquire_dispatch(guard);
        let Some(message) = guard.incoming.pop_front() else {
            self.release_dispatch(&mut guard);
            return guard.update_status();
        };
        drop(guard);
        let result = self.handle(&message);
        let mut guard = self.lock();
        if result == NEED_MEMORY {
            guard.incoming.push_front(message.clone());
        }
        self.release_dispatch(&mut guard);
        if guard.waits_for_socket {
            // The waiting thread may wait for the reply that this thread has handled.
            self.wake();
        }
        let is_end = is(&message, kind::SIGNAL, LOCAL_INTERFACE, DISCONNECTED)
            && message.view().text(code::PATH) == Some(super::LOCAL_PATH);
        if is_end && guard.exits_on_disconnect && result != NEED_MEMORY {
            // SAFETY: the function has no preconditions. It does not run destructors, which could
            // use the connection.
            unsafe { libc::_exit(1) };
        }
        // The message may be the last reference to things of the program.
        guard.defer_drop(message);
        guard.update_status()
    }

    /// Passes a message to the built-in handlers, the call that waits for it, the filters, and the
    /// objects.
    fn handle(&self, message: &MessageRef) -> HandlerResult {
        let (has_builtin, routes) = {
            let guard = self.lock();
            (guard.has_builtin_filters, guard.routes_peer_messages)
        };
        if has_builtin && peers::handle(self, message, routes) == HANDLED {
            return HANDLED;
        }
        let content = message.view();
        if content.is_reply() {
            let mut guard = self.lock();
            guard.stop_timeout(content.reply_serial());
            let pending = guard.pending.remove(&content.reply_serial());
            drop(guard);
            if let Some(pending) = pending {
                pending.complete(message.clone());
                return HANDLED;
            }
        }
        match self.filter(message) {
            NOT_YET_HANDLED => self.pass_to_objects(message),
            result => result,
        }
    }

    fn filter(&self, message: &MessageRef) -> HandlerResult {
        let filters = self.lock().filters.clone();
        for filter in &filters {
            if filter.is_removed() {
                continue;
            }
            let Some(function) = filter.function else { continue };
            // SAFETY: the program has passed this function for this data.
            let result = unsafe { function(self, message.as_ptr(), filter.data) };
            if result != NOT_YET_HANDLED {
                return result;
            }
        }
        NOT_YET_HANDLED
    }

    fn pass_to_objects(&self, message: &MessageRef) -> HandlerResult {
        let content = message.view();
        let Some(path) = content.text(code::PATH) else { return NOT_YET_HANDLED };
        let handlers = self.lock().objects.chain(path.to_bytes());
        for handler in &handlers {
            let Some(function) = handler.function.0 else { continue };
            // SAFETY: the program has passed this function for this data.
            let result = unsafe { function(self, message.as_ptr(), handler.data) };
            if result != NOT_YET_HANDLED {
                return result;
            }
        }
        if content.kind != kind::METHOD_CALL {
            return NOT_YET_HANDLED;
        }
        let reply = match self.introspection(message, path) {
            Some(reply) => reply,
            None => unknown(message),
        };
        self.reply(&reply);
        HANDLED
    }

    /// The reply to Introspect for a path whose handlers do not implement it.
    fn introspection(&self, message: &DBusMessage, path: &CStr) -> Option<MessageRef> {
        if !is(message, kind::METHOD_CALL, c"org.freedesktop.DBus.Introspectable", c"Introspect") {
            return None;
        }
        let children = self.lock().objects.children(path.to_bytes());
        let mut xml = INTROSPECTION_START.to_vec();
        for child in children {
            xml.extend_from_slice(b"  <node name=\"");
            xml.extend_from_slice(&child);
            xml.extend_from_slice(b"\"/>\n");
        }
        xml.extend_from_slice(b"</node>\n");
        let reply = method_return(message);
        reply.edit(|content| content.append_string(&xml));
        Some(reply)
    }

    /// Sends a message without a result for the program.
    pub(super) fn reply(&self, message: &DBusMessage) {
        let mut guard = self.lock();
        self.send(&mut guard, message);
    }
}

/// The start of introspection data.
const INTROSPECTION_START: &[u8] =
    b"<!DOCTYPE node PUBLIC \"-//freedesktop//DTD D-BUS Object Introspection 1.0//EN\"\n\
\"http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd\">\n<node>\n";

/// The error reply to a call that no handler has taken.
fn unknown(message: &DBusMessage) -> MessageRef {
    let content = message.view();
    let text = format!(
        "Method \"{}\" with signature \"{}\" on interface \"{}\" doesn't exist\n",
        content.str(code::MEMBER).unwrap_or_default(),
        content.signature().to_string_lossy(),
        content.str(code::INTERFACE).unwrap_or("(null)"),
    );
    failure_reply(message, &LibraryFailure::new(names::UNKNOWN_METHOD, text))
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_dispatch(connection: Handle<DBusConnection>) -> c_int {
    given!("dbus_connection_dispatch", connection, COMPLETE);
    connection.share().map_or(COMPLETE, |connection: Arc<DBusConnection>| connection.dispatch())
}

#[unsafe(no_mangle)]
extern "C" fn dbus_connection_get_dispatch_status(connection: Handle<DBusConnection>) -> c_int {
    let connection = given!("dbus_connection_get_dispatch_status", connection, COMPLETE);
    connection.lock().status()
}
