//! The table of methods and signals.

use capture::text::columns::{Fit, cells, fit};
use capture::text::units;
use ratatui::Frame;
use ratatui::layout::Rect;

use super::shared::UpPage;
use crate::commands::up::model::UsedMember;
use crate::commands::up::view::{Panel, UpView, busiest};
use crate::screen::table::{LiveColumn, LiveTable};

pub(super) fn draw(page: &UpPage<'_>, view: &mut UpView, frame: &mut Frame<'_>, area: Rect) {
    let rows = busiest(&page.snapshot.members);
    let heading = page.heading_style(view, Panel::Members);
    let table = LiveTable { columns: &COLUMNS, sorted: None, heading, palette: page.palette };
    table.draw(frame, area, &rows, view.scroll(Panel::Members));
}

const COLUMNS: [LiveColumn<UsedMember>; 6] = [
    LiveColumn::rest("METHOD OR SIGNAL", members_width, Fit::End, 0, |row, palette, width| {
        (name(row, width), palette.number(row.rate.messages))
    }),
    LiveColumn::fixed("PER S", 5, Fit::Number, 0, |row, palette, _| {
        let rate = row.rate.messages;
        (units::count(rate), if row.errors > 0.0 { palette.alarm() } else { palette.number(rate) })
    }),
    LiveColumn::fixed("ERR/S", 5, Fit::Number, 100, |row, palette, _| match row.errors > 0.0 {
        true => (units::count(row.errors), palette.alarm()),
        false => (String::new(), palette.number(row.rate.messages)),
    }),
    LiveColumn::fixed("BYTES/S", 7, Fit::Number, 0, |row, palette, _| {
        (units::bytes_aligned(row.rate.bytes), palette.number(row.rate.messages))
    }),
    LiveColumn::fixed("EACH", 7, Fit::Number, 56, |row, palette, _| {
        (units::bytes_aligned(row.len), palette.number(row.rate.messages))
    }),
    LiveColumn::rest(
        "FROM \u{2192} TO",
        |left| left,
        Fit::Start,
        56,
        |row, palette, width| (parties(row, width), palette.number(row.rate.messages)),
    ),
];

/// The interface and the member, with only the last part of the interface if there is not enough
/// room.
fn name(row: &UsedMember, width: usize) -> String {
    let Some(interface) = &row.interface else { return row.member.to_string() };
    let full = format!("{interface}.{}", row.member);
    if cells(&full) <= width {
        return full;
    }
    let last = interface.rsplit('.').next().unwrap_or_default();
    format!("{last}.{}", row.member)
}

/// Sender and recipient. Each can use half of the width, and what the other one leaves free.
fn parties(row: &UsedMember, width: usize) -> String {
    let (from, to) = row.ends();
    let room = width.saturating_sub(cells(ARROW));
    let to = shortened(&to, room.saturating_sub(cells(&from)).max(room / 2));
    let from = shortened(&from, room.saturating_sub(cells(&to)));
    format!("{from}{ARROW}{to}")
}

/// Shortens a wide text: a name loses its first words, a program the end of its label.
fn shortened(name: &str, width: usize) -> String {
    let side = if name.contains(['.', ':']) { Fit::End } else { Fit::Start };
    fit(name, width.min(cells(name)), side).trim_end().to_owned()
}

/// Half of the remaining width, up to the width of the longest usual names.
fn members_width(left: usize) -> usize {
    left.div_ceil(2).min(MEMBERS_WIDTH_MAX)
}

/// The separator between sender and recipient.
const ARROW: &str = " \u{2192} ";

const MEMBERS_WIDTH_MAX: usize = 64;
