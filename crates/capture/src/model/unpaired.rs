//! Finds replies that belong to no pending call.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use wire::message::MessageType;

use super::{CallOutcome, Capture, CapturedMessageId, TextId};
use crate::record::BusId;

/// A reply that belongs to no pending call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnpairedReply {
    /// The reply or error.
    pub reply: CapturedMessageId,
    /// The reason why it belongs to no pending call.
    pub kind: UnpairedReplyKind,
}

/// The reasons why a reply belongs to no pending call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnpairedReplyKind {
    /// The call had already timed out, or its caller had left.
    Late {
        /// The call that the reply belongs to.
        call: CapturedMessageId,
    },
    /// An error of the bus about a message that it could not deliver and that is not a call.
    Undelivered {
        /// The message that was not delivered.
        message: CapturedMessageId,
    },
    /// The recording has no such call, or the call already got a reply.
    Orphan,
    /// The header of the reply was cut, or the header of a call that it may belong to.
    Unknown,
}

/// Returns all replies that belong to no pending call, in the order of the recording.
pub fn unpaired_replies(capture: &Capture) -> Vec<UnpairedReply> {
    let mut given_up: HashMap<(BusId, TextId, u32), CapturedMessageId, RandomState> =
        HashMap::default();
    let mut found = Vec::new();
    for message in capture.messages().filter(|message| message.kind().is_reply()) {
        let Some(call) = message.partner() else {
            let key = (message.bus(), message.destination_id(), message.reply_serial());
            let kind = match given_up.remove(&key) {
                Some(call) => UnpairedReplyKind::Late { call },
                None if message.lost_its_call() => UnpairedReplyKind::Unknown,
                None => UnpairedReplyKind::Orphan,
            };
            found.push(UnpairedReply { reply: message.id(), kind });
            continue;
        };
        match message.outcome() {
            Some(CallOutcome::TimedOut) => {
                given_up.insert((call.bus(), call.sender_id(), call.serial()), call.id());
            }
            Some(CallOutcome::CallerLeft) => {
                found.push(UnpairedReply {
                    reply: message.id(),
                    kind: UnpairedReplyKind::Late { call: call.id() },
                });
            }
            _ => {}
        }
    }
    find_undelivered(capture, &mut found);
    found
}

/// Finds the undelivered messages that errors of the bus are about. The bus answers each message
/// that it cannot deliver with an error, including late replies.
fn find_undelivered(capture: &Capture, found: &mut [UnpairedReply]) {
    let is_of_bus = |loose: &&mut UnpairedReply| {
        let reply = capture.message(loose.reply);
        loose.kind == UnpairedReplyKind::Orphan
            && reply.kind() == MessageType::Error
            && reply.sender_id() == capture.driver()
    };
    let mut errors: HashMap<_, _, RandomState> = found
        .iter_mut()
        .filter(is_of_bus)
        .map(|loose| {
            let error = capture.message(loose.reply);
            ((error.bus(), error.destination_id(), error.reply_serial()), loose)
        })
        .collect();
    if errors.is_empty() {
        return;
    }
    for message in capture.messages().filter(|it| it.kind() != MessageType::MethodCall) {
        let key = (message.bus(), message.sender_id(), message.serial());
        if let Some(loose) = errors.remove(&key) {
            loose.kind = UnpairedReplyKind::Undelivered { message: message.id() };
        }
    }
}
