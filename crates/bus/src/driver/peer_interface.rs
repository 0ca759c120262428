//! `org.freedesktop.DBus.Peer` of the bus as the other end of a connection: calls without a
//! destination ("Standard Interfaces").

use alloc::format;

use wire::Message;
use wire::message::{Builder, MessageType};

use crate::routing::Router;
use crate::types::{Effects, ErrorKind, PeerId};

/// Answers a call without a destination.
pub(crate) fn call_without_destination(
    from: PeerId,
    message: &Message<'_>,
    router: &mut Router,
    fx: &mut Effects,
) {
    if message.message_type() != MessageType::MethodCall {
        return;
    }
    if router.tracing.is_on() {
        let forward = router.forward(from, message, fx);
        router.tracing.record(&forward, None, None, &router.registry, fx);
    }
    let call = message.serial();
    let interface = message.interface().map(|name| name.as_str());
    let member = message.member().map_or("", |name| name.as_str());
    match (interface, member) {
        (Some(PEER), "Ping") => router.answer(from, Builder::method_return(call), &(), fx),
        (Some(PEER), "GetMachineId") if router.identity.machine_id.is_some() => {
            let id = router.identity.machine_id.clone().unwrap_or_default();
            router.answer(from, Builder::method_return(call), &(id,), fx);
        }
        _ => {
            let text = format!(
                "Method \"{member}\" with signature \"{}\" on interface \"{}\" doesn't exist\n",
                message.signature(),
                interface.unwrap_or("(null)"),
            );
            let builder = Builder::error(ErrorKind::UnknownMethod.name(), call);
            router.answer(from, builder, &(text,), fx);
        }
    }
}

const PEER: &str = "org.freedesktop.DBus.Peer";
