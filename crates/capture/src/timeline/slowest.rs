//! The calls that took longest.

use std::cmp::Reverse;
use std::time::Duration;

use wire::message::MessageType;

use super::{CallTimes, ProcessorRecord};
use crate::model::{CallOutcome, Capture, CapturedMessage};
use crate::table::{Cell, Column, ColumnUnit, DataTable};

/// The calls whose callers waited longest, the slowest first.
pub fn slowest<'c>(
    capture: &'c Capture,
    mut selects: impl FnMut(&CapturedMessage<'c>) -> bool,
    count: usize,
) -> Vec<CapturedMessage<'c>> {
    let mut calls: Vec<_> = capture
        .messages()
        .filter(|message| message.kind() == MessageType::MethodCall)
        .filter_map(|call| Some((Reverse(call.waited()?), call.id())))
        .filter(|(_, id)| selects(&capture.message(*id)))
        .collect();
    if count < calls.len() {
        calls.select_nth_unstable(count);
        calls.truncate(count);
    }
    calls.sort_unstable();
    calls.into_iter().map(|(_, id)| capture.message(id)).collect()
}

/// Calls with bars as long as they took. If the bus has recorded, what was its part of a bar is of
/// another shade. If it is known when processes had a processor: how long the service took to be woken,
/// and to have a processor for the call.
pub fn slowest_table(calls: &[CapturedMessage<'_>]) -> DataTable {
    let longest = calls.iter().filter_map(CapturedMessage::waited).max().unwrap_or_default();
    let processors =
        calls.first().map(|call| ProcessorRecord::of(call.capture())).unwrap_or_default();
    let turn = |call: &CapturedMessage<'_>| processors.service(call);
    let way = |call: &CapturedMessage<'_>| CallTimes::of(call, &processors);
    let waited = |call: &CapturedMessage<'_>| call.waited().unwrap_or_default();
    let caller =
        |call: &CapturedMessage<'_>| Some(call.capture().program_label(call.from()?).to_owned());
    let time = |name| Column::number(name, ColumnUnit::Time);
    DataTable::of(
        calls,
        &[
            (Column::number("number", ColumnUnit::Count), &|call| Cell::Count(call.id().number())),
            (Column::text("caller"), &|call| Cell::text_or_absent(caller(call))),
            (Column::text("call"), &|call| Cell::Text(call.full_member())),
            (Column::text("of").spare(), &|call| Cell::text(call.awaited_label())),
            (time("time"), &|call| Cell::Time(waited(call))),
            (time("bus"), &|call| Cell::time_or_absent(way(call).map(|way| way.in_bus()))),
            (time("woken"), &|call| Cell::time_or_absent(turn(call).map(|turn| turn.wake_up))),
            (time("on CPU"), &|call| Cell::time_or_absent(turn(call).map(|turn| turn.on))),
            (Column::text("answer").helpful(), &|call| Cell::text_or_absent(answer_of(call))),
            (Column::text("bar").helpful(), &|call| {
                Cell::Text(bar(waited(call), way(call), longest))
            }),
        ],
    )
}

/// What became of a call that did not return: the name of the error, or its outcome.
fn answer_of<'c>(call: &CapturedMessage<'c>) -> Option<&'c str> {
    match call.outcome()? {
        CallOutcome::Returned => None,
        CallOutcome::Failed => call.partner().map(|reply| reply.member()),
        other => Some(other.as_str()),
    }
}

/// A bar of at most [`BAR_WIDTH`] cells, which the longest call has.
fn bar(duration: Duration, way: Option<CallTimes>, longest: Duration) -> String {
    let cells = |time: Duration| {
        let share = time.as_secs_f64() / longest.as_secs_f64().max(f64::MIN_POSITIVE);
        ((share * BAR_WIDTH as f64).round() as usize).min(BAR_WIDTH)
    };
    let all = cells(duration).max(1);
    let bus = way.map_or(0, |way| cells(way.in_bus())).min(all);
    "\u{2592}".repeat(bus) + &"\u{2588}".repeat(all - bus)
}

const BAR_WIDTH: usize = 16;
