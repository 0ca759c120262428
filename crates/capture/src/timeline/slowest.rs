//! The calls with the longest durations.

use std::cmp::Reverse;
use std::time::Duration;

use wire::message::MessageType;

use super::{CallTimes, ProcessorRecord};
use crate::model::{CallOutcome, Capture, CapturedMessage};
use crate::table::{Cell, Column, ColumnUnit, DataTable};

/// Returns the calls whose callers waited longest, the slowest first.
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

/// Formats calls with bars for their durations. If the bus recorded itself, its share of a bar has
/// another shade. If processor times are known, the table has the time until the service was woken,
/// and its processor time for the call.
pub fn slowest_table(calls: &[CapturedMessage<'_>]) -> DataTable {
    let longest = calls.iter().filter_map(CapturedMessage::waited).max().unwrap_or_default();
    let processors =
        calls.first().map(|call| ProcessorRecord::of(call.capture())).unwrap_or_default();
    let turn = |call: &CapturedMessage<'_>| processors.service(call);
    let times = |call: &CapturedMessage<'_>| CallTimes::of(call, &processors);
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
            (time("bus"), &|call| Cell::time_or_absent(times(call).map(|times| times.in_bus()))),
            (time("woken"), &|call| Cell::time_or_absent(turn(call).map(|turn| turn.wake_up))),
            (time("on CPU"), &|call| Cell::time_or_absent(turn(call).map(|turn| turn.on))),
            (Column::text("answer").helpful(), &|call| Cell::text_or_absent(answer_of(call))),
            (Column::text("bar").helpful(), &|call| {
                Cell::Text(bar(waited(call), times(call), longest))
            }),
        ],
    )
}

/// The outcome of a call without a successful reply: the name of the error, or the outcome.
fn answer_of<'c>(call: &CapturedMessage<'c>) -> Option<&'c str> {
    match call.outcome()? {
        CallOutcome::Returned => None,
        CallOutcome::Failed => call.partner().map(|reply| reply.member()),
        other => Some(other.as_str()),
    }
}

/// A bar of at most [`BAR_WIDTH`] cells, which is the length for the longest call.
fn bar(duration: Duration, times: Option<CallTimes>, longest: Duration) -> String {
    let cells = |time: Duration| {
        let share = time.as_secs_f64() / longest.as_secs_f64().max(f64::MIN_POSITIVE);
        ((share * BAR_WIDTH as f64).round() as usize).min(BAR_WIDTH)
    };
    let all = cells(duration).max(1);
    let bus = times.map_or(0, |times| cells(times.in_bus())).min(all);
    "\u{2592}".repeat(bus) + &"\u{2588}".repeat(all - bus)
}

const BAR_WIDTH: usize = 16;
