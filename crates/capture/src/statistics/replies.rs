//! Calls without an answer, and answers without a call.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use wire::message::MessageType;

use crate::model::{CallOutcome, Capture, Message, MessageId, Text};
use crate::record::BusId;
use crate::table::{Cell, Column, Table, Unit};

/// An answer that belongs to no call that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loose {
    /// The answer.
    pub reply: MessageId,
    /// Why it belongs to none.
    pub kind: LooseKind,
}

/// Why an answer belongs to no call that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LooseKind {
    /// The call had already timed out, or its caller had left.
    Late {
        /// The call.
        call: MessageId,
    },
    /// An error of the bus about a message that is not a call, which it could not deliver.
    Undelivered {
        /// The message.
        message: MessageId,
    },
    /// No such call is in the recording, or it was answered before.
    Orphan,
    /// The capture cut its header, or the headers of calls, of which one may be its own.
    Unknown,
}

/// All answers that belong to no call that waits, in the order of the recording.
pub fn loose_replies(capture: &Capture) -> Vec<Loose> {
    let mut given_up: HashMap<(BusId, Text, u32), MessageId, RandomState> = HashMap::default();
    let mut found = Vec::new();
    for message in capture.messages() {
        let Some(call) = message.partner().filter(|_| message.kind().is_reply()) else {
            if message.kind().is_reply() {
                let key = (message.bus(), message.destination_id(), message.reply_serial());
                let kind = given_up.remove(&key);
                let kind = match kind {
                    Some(call) => LooseKind::Late { call },
                    None if message.lost_its_call() => LooseKind::Unknown,
                    None => LooseKind::Orphan,
                };
                found.push(Loose { reply: message.id(), kind });
            }
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

/// Calls to which no callee replied.
fn unanswered(capture: &Capture) -> impl Iterator<Item = (Message<'_>, CallOutcome)> {
    let calls = capture.messages().filter(|message| message.kind() == MessageType::MethodCall);
    let outcomes = calls.filter_map(|call| Some((call, call.outcome()?)));
    outcomes.filter(|(_, outcome)| {
        outcome.is_unanswered()
            || matches!(outcome, CallOutcome::TimedOut | CallOutcome::CalleeLeft)
    })
}

/// Calls to which the callee did not reply, with how long their callers waited, and replies that came late or belong to
/// no call.
pub fn replies(capture: &Capture, mut selects: impl FnMut(&Message<'_>) -> bool) -> Table {
    let mut table = Table::new([
        Column::number("number", Unit::Count),
        Column::text("what"),
        Column::number("waited", Unit::Time),
        Column::text("from"),
        Column::text("to"),
        Column::text("member"),
    ]);
    for (call, outcome) in unanswered(capture).filter(|(call, _)| selects(call)) {
        let waited = call.waited().map_or(Cell::Absent, Cell::Time);
        table.push(row(&call, &call, outcome.as_str(), waited));
    }
    for loose in loose_replies(capture) {
        let reply = capture.message(loose.reply);
        if !selects(&reply) {
            continue;
        }
        table.push(match loose.kind {
            LooseKind::Late { call } => {
                let call = capture.message(call);
                let waited = reply.at().since(call.at()).map_or(Cell::Absent, Cell::Time);
                row(&reply, &call, "late", waited)
            }
            LooseKind::Undelivered { message } => {
                let message = capture.message(message);
                let about = message.call().unwrap_or(message);
                row(&reply, &about, "not delivered", Cell::Absent)
            }
            LooseKind::Orphan => row(&reply, &reply, "no call", Cell::Absent),
            LooseKind::Unknown => row(&reply, &reply, "unknown call", Cell::Absent),
        });
    }
    table
}

fn row(message: &Message<'_>, call: &Message<'_>, what: &str, waited: Cell) -> [Cell; 6] {
    let capture = message.capture();
    let name = |name: Text| Cell::text(capture.label_of(message.bus(), name, message.at()));
    [
        Cell::Count(message.id().number()),
        Cell::text(what),
        waited,
        name(message.sender_id()),
        name(message.destination_id()),
        Cell::Text(call.full_member()),
    ]
}
