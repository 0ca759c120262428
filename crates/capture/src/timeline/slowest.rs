//! The calls that took longest.

use std::cmp::Reverse;
use std::time::Duration;

use wire::message::MessageType;

use super::{Processors, Turn, Way};
use crate::model::{CallOutcome, Capture, Message};
use crate::table::{Cell, Column, Table, Unit};

/// The calls whose callers waited longest, the slowest first.
pub fn slowest<'c>(
    capture: &'c Capture,
    mut selects: impl FnMut(&Message<'c>) -> bool,
    count: usize,
) -> Vec<Message<'c>> {
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
pub fn slowest_table(calls: &[Message<'_>]) -> Table {
    let longest = calls.iter().filter_map(Message::waited).max().unwrap_or_default();
    let mut table = Table::new([
        Column::number("number", Unit::Count),
        Column::text("caller"),
        Column::text("call"),
        Column::text("of").spare(),
        Column::number("time", Unit::Time),
        Column::number("bus", Unit::Time),
        Column::number("woken", Unit::Time),
        Column::number("on CPU", Unit::Time),
        Column::text("answer").helpful(),
        Column::text("bar").helpful(),
    ]);
    let processors = calls.first().map(|call| Processors::of(call.capture())).unwrap_or_default();
    for call in calls {
        let capture = call.capture();
        let turn = processors.service(call);
        let time_of = |of: fn(Turn) -> Duration| turn.map_or(Cell::Absent, |it| Cell::Time(of(it)));
        let way = Way::of(call, &processors);
        let duration = call.waited().unwrap_or_default();
        table.push([
            Cell::Count(call.id().number()),
            Cell::text_or_absent(call.from().map(|peer| capture.program_label(peer))),
            Cell::Text(call.full_member()),
            Cell::text(call.awaited_label()),
            Cell::Time(duration),
            way.map_or(Cell::Absent, |way| Cell::Time(way.in_bus())),
            time_of(|turn| turn.wake_up),
            time_of(|turn| turn.on),
            Cell::text_or_absent(answer_of(call)),
            Cell::Text(bar(duration, way, longest)),
        ]);
    }
    table
}

/// What became of a call that did not return: the name of the error, or its outcome.
fn answer_of<'c>(call: &Message<'c>) -> Option<&'c str> {
    match call.outcome()? {
        CallOutcome::Returned => None,
        CallOutcome::Failed => call.partner().map(|reply| reply.member()),
        other => Some(other.as_str()),
    }
}

/// A bar of at most [`BAR_WIDTH`] cells, which the longest call has.
fn bar(duration: Duration, way: Option<Way>, longest: Duration) -> String {
    let cells = |time: Duration| {
        let share = time.as_secs_f64() / longest.as_secs_f64().max(f64::MIN_POSITIVE);
        ((share * BAR_WIDTH as f64).round() as usize).min(BAR_WIDTH)
    };
    let all = cells(duration).max(1);
    let bus = way.map_or(0, |way| cells(way.in_bus())).min(all);
    "\u{2592}".repeat(bus) + &"\u{2588}".repeat(all - bus)
}

const BAR_WIDTH: usize = 16;
