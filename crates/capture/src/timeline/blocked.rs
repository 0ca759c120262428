//! Callers that did nothing else until their answer came.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::Duration;

use foldhash::fast::RandomState;

use crate::model::{Capture, CapturedMessage, CapturedMessageId, RecordedPeerId, TextId};
use crate::table::{Cell, Column, ColumnUnit, DataTable};

/// What a program has waited for one method of one service.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Blocked {
    /// Who waited.
    pub caller: String,
    /// For whom.
    pub callee: String,
    /// Interface and method.
    pub member: String,
    /// How often.
    pub calls: u64,
    /// How long, all times together.
    pub total: Duration,
    /// How long the longest time.
    pub max: Duration,
    /// The call of the longest time.
    pub worst: CapturedMessageId,
}

/// For whom callers waited and did nothing else, those first who waited longest, all times together.
///
/// A connection counts as blocked by a call if it had no other call pending and sent nothing until
/// the answer came, as programs do that call synchronously. A program that had nothing else to do
/// looks the same. Without an answer, the wait ends when the caller leaves or the recording ends.
pub fn blocked<'c>(
    capture: &'c Capture,
    mut selects: impl FnMut(&CapturedMessage<'c>) -> bool,
) -> Vec<Blocked> {
    let mut sums: HashMap<BlockedKey<'c>, Blocked, RandomState> = HashMap::default();
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

/// The same as a table.
pub fn blocked_table(sums: &[Blocked]) -> DataTable {
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

/// What waits are summed by.
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

    fn nothing_yet(&self, call: &CapturedMessage<'_>) -> Blocked {
        Blocked {
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

impl Blocked {
    fn add(&mut self, call: &CapturedMessage<'_>, duration: Duration) {
        self.calls += 1;
        self.total = self.total.saturating_add(duration);
        if duration > self.max {
            self.max = duration;
            self.worst = call.id();
        }
    }
}

/// The calls whose callers were blocked, in the order in which the answers came, then those without
/// an answer.
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

/// A connection that calls.
#[derive(Clone, Default)]
struct Caller {
    /// Calls that are not answered yet, or never.
    pending: u32,
    /// The only one of these, if nothing was sent since.
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

    /// The call that has blocked the connection until now.
    const fn is_answered(&mut self) -> Option<CapturedMessageId> {
        self.pending = self.pending.saturating_sub(1);
        self.only.take()
    }
}
