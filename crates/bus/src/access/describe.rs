//! Descriptions of messages and processes, for refusals and log events.

use super::AccessQuery;
use crate::policy::ReplyClass;
use crate::registry::{Peer, Registry};
use crate::types::{DeliveryDescription, ProcessDescription, SenderDescription};

/// Describes a message, its sender and its recipient.
pub(crate) fn describe_delivery(
    query: &AccessQuery<'_>,
    registry: &Registry,
) -> DeliveryDescription {
    let message = query.message;
    let sender = match query.from.and_then(|from| registry.get(from)) {
        None => SenderDescription::Bus,
        Some(sender) => match sender.unique_name() {
            None => SenderDescription::Unregistered,
            Some(name) => {
                SenderDescription::Peer { name: name.into(), process: describe_process(sender) }
            }
        },
    };
    DeliveryDescription {
        message_type: message.message_type(),
        sender,
        path: message.path().map(|path| path.as_str().into()),
        interface: message.interface().map(|name| name.as_str().into()),
        member: message.member().map(|name| name.as_str().into()),
        error_name: message.error_name().map(|name| name.as_str().into()),
        is_requested_reply: query.reply == ReplyClass::Requested,
        destination: message.destination().map(|name| name.as_str().into()),
        recipient: query.to.and_then(|to| registry.get(to)).map(describe_process),
    }
}

/// Describes the process of a connection.
pub(crate) fn describe_process(peer: &Peer) -> ProcessDescription {
    let attributes = peer.attributes();
    ProcessDescription {
        uid: peer.user,
        pid: peer.credentials.pid,
        command: attributes.and_then(|it| it.command.as_deref()).map(Into::into),
        label: attributes.and_then(|it| it.label.as_deref()).map(Into::into),
        container: peer.container.clone(),
    }
}
