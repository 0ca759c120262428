//! `org.freedesktop.DBus.Peer` of the bus as the peer of a connection: calls without a destination
//! ("Standard Interfaces").

use alloc::string::ToString;

use wire::Message;
use wire::message::{Builder, MessageType};

use crate::routing::Router;
use crate::types::{Effects, PeerId, RefusalReason};

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
            let reason = RefusalReason::PeerMethodUnknown {
                interface: interface.map(Into::into),
                member: member.into(),
                signature: message.signature().as_str().into(),
            };
            let builder = Builder::error(reason.kind().name(), call);
            router.answer(from, builder, &(reason.to_string(),), fx);
        }
    }
}

const PEER: &str = "org.freedesktop.DBus.Peer";
