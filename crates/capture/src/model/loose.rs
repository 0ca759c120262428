//! Replies that belong to no call that waits.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use wire::message::MessageType;

use super::{CallOutcome, Capture, CapturedMessageId, TextId};
use crate::record::BusId;

/// An answer that belongs to no call that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loose {
    /// The answer.
    pub reply: CapturedMessageId,
    /// Why it belongs to none.
    pub kind: LooseKind,
}

/// Why an answer belongs to no call that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LooseKind {
    /// The call had already timed out, or its caller had left.
    Late {
        /// The call.
        call: CapturedMessageId,
    },
    /// An error of the bus about a message that is not a call, which it could not deliver.
    Undelivered {
        /// The message.
        message: CapturedMessageId,
    },
    /// No such call is in the recording, or it was answered before.
    Orphan,
    /// The capture cut its header, or the headers of calls, of which one may be its own.
    Unknown,
}

/// All answers that belong to no call that waits, in the order of the recording.
pub fn loose_replies(capture: &Capture) -> Vec<Loose> {
    let mut given_up: HashMap<(BusId, TextId, u32), CapturedMessageId, RandomState> =
        HashMap::default();
    let mut found = Vec::new();
    for message in capture.messages().filter(|message| message.kind().is_reply()) {
        let Some(call) = message.partner() else {
            let key = (message.bus(), message.destination_id(), message.reply_serial());
            let kind = match given_up.remove(&key) {
                Some(call) => LooseKind::Late { call },
                None if message.lost_its_call() => LooseKind::Unknown,
                None => LooseKind::Orphan,
            };
            found.push(Loose { reply: message.id(), kind });
            continue;
        };
        match message.outcome() {
            Some(CallOutcome::TimedOut) => {
                given_up.insert((call.bus(), call.sender_id(), call.serial()), call.id());
            }
            Some(CallOutcome::CallerLeft) => {
                found
                    .push(Loose { reply: message.id(), kind: LooseKind::Late { call: call.id() } });
            }
            _ => {}
        }
    }
    find_undelivered(capture, &mut found);
    found
}

/// Finds the messages that errors of the bus are about which belong to no call. The bus answers each
/// message that it cannot deliver, late replies too.
fn find_undelivered(capture: &Capture, found: &mut [Loose]) {
    let is_of_bus = |loose: &&mut Loose| {
        let reply = capture.message(loose.reply);
        loose.kind == LooseKind::Orphan
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
            loose.kind = LooseKind::Undelivered { message: message.id() };
        }
    }
}
