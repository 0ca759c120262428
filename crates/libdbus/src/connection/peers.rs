//! The interface `org.freedesktop.DBus.Peer`, which every connection has.

use super::{DBusConnection, HANDLED, HandlerResult, NOT_YET_HANDLED};
use crate::errors::{LibraryFailure, names};
use crate::message::{DBusMessage, code, failure_reply, is, kind, method_return};
use crate::misc;

/// Handles calls of the interface. With `routes`, messages to other connections are not handled.
pub(super) fn handle(
    connection: &DBusConnection,
    message: &DBusMessage,
    routes: bool,
) -> HandlerResult {
    let content = message.view();
    if content.kind != kind::METHOD_CALL
        || content.text(code::INTERFACE) != Some(INTERFACE)
        || (routes && content.text(code::DESTINATION).is_some())
    {
        return NOT_YET_HANDLED;
    }
    let reply = if is(message, kind::METHOD_CALL, INTERFACE, c"Ping") {
        method_return(message)
    } else if is(message, kind::METHOD_CALL, INTERFACE, c"GetMachineId") {
        match misc::machine_id() {
            Ok(id) => {
                let reply = method_return(message);
                reply.edit(|content| content.append_string(id.as_bytes()));
                reply
            }
            Err(failure) => failure_reply(message, &failure),
        }
    } else {
        let text = "Unknown method invoked on org.freedesktop.DBus.Peer interface";
        failure_reply(message, &LibraryFailure::new(names::UNKNOWN_METHOD, text))
    };
    connection.reply(&reply);
    HANDLED
}

const INTERFACE: &std::ffi::CStr = c"org.freedesktop.DBus.Peer";
