//! Callers that were blocked until they got a reply.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::Duration;

use foldhash::fast::RandomState;

use crate::model::{Capture, CapturedMessage, CapturedMessageId, RecordedPeerId, TextId};
use crate::table::{Cell, Column, ColumnUnit, DataTable};

/// The total wait of one program for one method of one service.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockedWait {
    /// The program that waited.
    pub caller: String,
    /// The service that it waited for.
    pub callee: String,
    /// The interface and the method.
    pub member: String,
    /// The number of calls.
    pub calls: u64,
    /// The sum of all waits.
    pub total: Duration,
    /// The longest of the waits.
    pub max: Duration,
    /// The call with the longest wait.
    pub worst: CapturedMessageId,
}

/// Returns the waits of blocked callers, grouped and sorted by their total, the longest first.
///
/// A connection counts as blocked by a call if it had no other pending call and sent nothing until
/// it got the reply, like a program that calls synchronously. A program without any other work
/// looks the same. Without a reply, the wait ends when the caller disconnects or the recording
/// ends.
pub fn blocked<'c>(
    capture: &'c Capture,
    mut selects: impl FnMut(&CapturedMessage<'c>) -> bool,
) -> Vec<BlockedWait> {
    let mut sums: HashMap<BlockedKey<'c>, BlockedWait, RandomState> = HashMap::default();
    for call in waits(capture).into_iter().map(|id| capture.message(id)) {
        let Some((caller, duration)) = call.from().zip(call.waited()) else { continue };
        if !selects(&call) {
            continue;
        }
        let key = BlockedKey::of(&call, caller);
        sums.entry(key).or_insert_with_key(|key| key.nothing_yet(&call)).add(&call, duration);
    }
    let mut sums: Vec<_> = sums.into_values().collect();
    sums.sort_by_key(|sum| (Reverse(sum.total), sum.worst));
    sums
}

/// Formats the waits as a table.
pub fn blocked_table(sums: &[BlockedWait]) -> DataTable {
    DataTable::of(
        sums,
        &[
            (Column::text("caller"), &|sum| Cell::text(&sum.caller)),
            (Column::text("blocked on"), &|sum| Cell::text(&sum.member)),
            (Column::text("of").spare(), &|sum| Cell::text(&sum.callee)),
            (Column::number("calls", ColumnUnit::Count), &|sum| Cell::Count(sum.calls)),
            (Column::number("total", ColumnUnit::Time), &|sum| Cell::Time(sum.total)),
            (Column::number("longest", ColumnUnit::Time), &|sum| Cell::Time(sum.max)),
            (Column::number("number", ColumnUnit::Count), &|sum| Cell::Count(sum.worst.number())),
        ],
    )
}

/// The key by which waits are summed.
#[derive(Clone, PartialEq, Eq, Hash)]
struct BlockedKey<'c> {
    caller: &'c str,
    callee: Cow<'c, str>,
    interface: TextId,
    member: TextId,
}

impl<'c> BlockedKey<'c> {
    fn of(call: &CapturedMessage<'c>, caller: RecordedPeerId) -> Self {
        let capture = call.capture();
        Self {
            caller: capture.program_label(caller),
            callee: call.awaited_label(),
            interface: call.interface_id(),
            member: call.member_id(),
        }
    }

    fn nothing_yet(&self, call: &CapturedMessage<'_>) -> BlockedWait {
        BlockedWait {
            caller: self.caller.to_owned(),
            callee: self.callee.clone().into_owned(),
            member: call.full_member(),
            calls: 0,
            total: Duration::ZERO,
            max: Duration::ZERO,
            worst: call.id(),
        }
    }
}

impl BlockedWait {
    fn add(&mut self, call: &CapturedMessage<'_>, duration: Duration) {
        self.calls += 1;
        self.total = self.total.saturating_add(duration);
        if duration > self.max {
            self.max = duration;
            self.worst = call.id();
        }
    }
}

/// The calls whose callers were blocked: first calls with a reply, in the order of the replies,
/// then calls without.
fn waits(capture: &Capture) -> Vec<CapturedMessageId> {
    let mut callers = vec![Caller::default(); capture.directory().peers().count()];
    let mut found = Vec::new();
    for message in capture.messages() {
        if let Some(sender) = message.from() {
            callers[sender.index()].sends(&message);
        }
        let call = message.partner().filter(|_| message.kind().is_reply());
        if let Some(caller) = call.and_then(|call| call.from()) {
            found.extend(callers[caller.index()].is_answered());
        }
    }
    found.extend(callers.into_iter().filter_map(|caller| caller.only));
    found
}

/// The state of a connection that makes calls.
#[derive(Clone, Default)]
struct Caller {
    /// The number of calls without a reply so far.
    pending: u32,
    /// The only pending call, if the connection has sent nothing since.
    only: Option<CapturedMessageId>,
}

impl Caller {
    fn sends(&mut self, message: &CapturedMessage<'_>) {
        self.only = None;
        if message.expects_reply() {
            self.only = (self.pending == 0).then_some(message.id());
            self.pending += 1;
        }
    }

    /// Takes the call that has blocked the connection until now.
    const fn is_answered(&mut self) -> Option<CapturedMessageId> {
        self.pending = self.pending.saturating_sub(1);
        self.only.take()
    }
}
