//! The table of methods and signals.

use ratatui::Frame;
use ratatui::layout::Rect;

use super::Page;
use crate::commands::up::model::MemberRow;
use crate::commands::up::units;
use crate::commands::up::view::{Panel, View, busiest};
use crate::screen::palette::Palette;
use crate::screen::table::{Cell, Column, Fit, cells, draw_list, fit, heading, rest, row};

pub(super) fn draw(page: &Page<'_>, view: &mut View, frame: &mut Frame<'_>, area: Rect) {
    let kinds = kinds(area.width);
    let columns = columns(kinds, area.width);
    let heading = heading(&columns, page.heading_style(view, Panel::Members));
    let rows = busiest(&page.snapshot.members);
    draw_list(frame, area, heading, rows.len(), view.scroll(Panel::Members), |place| {
        let cells = kinds.iter().zip(&columns);
        let cells = cells.map(|(kind, at)| kind.cell(page.palette, rows[place], at.width));
        row(&columns, cells.collect())
    });
}

/// What a column tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Member,
    Count,
    Errors,
    Bytes,
    Len,
    Parties,
}

/// The columns for which there is room.
const fn kinds(width: u16) -> &'static [Kind] {
    match width {
        0..56 => &[Kind::Member, Kind::Count, Kind::Bytes],
        56..100 => &[Kind::Member, Kind::Count, Kind::Bytes, Kind::Len, Kind::Parties],
        100.. => &[Kind::Member, Kind::Count, Kind::Errors, Kind::Bytes, Kind::Len, Kind::Parties],
    }
}

/// The columns with their widths; the two texts share what the numbers leave.
fn columns(kinds: &[Kind], width: u16) -> Vec<Column> {
    let mut columns: Vec<Column> = kinds.iter().map(|kind| kind.column()).collect();
    let left = rest(width, &columns) + 1;
    let members = if kinds.contains(&Kind::Parties) { members_width(left) } else { left };
    for (column, kind) in columns.iter_mut().zip(kinds) {
        match kind {
            Kind::Member => column.width = members,
            Kind::Parties => column.width = left - members,
            _ => {}
        }
    }
    columns
}

impl Kind {
    /// The column; the width of the texts is still 0.
    const fn column(self) -> Column {
        let (title, width, fit) = match self {
            Self::Member => ("METHOD OR SIGNAL", 0, Fit::End),
            Self::Count => ("PER S", 5, Fit::Number),
            Self::Errors => ("ERR/S", 5, Fit::Number),
            Self::Bytes => ("BYTES/S", 7, Fit::Number),
            Self::Len => ("EACH", 7, Fit::Number),
            Self::Parties => ("FROM \u{2192} TO", 0, Fit::Start),
        };
        Column { title, width, fit }
    }

    fn cell(self, palette: Palette, row: &MemberRow, width: usize) -> Cell<'_> {
        let idle = palette.number(row.rate.messages);
        match self {
            Self::Member => Cell::new(name(row, width), idle),
            Self::Count if row.errors > 0.0 => {
                Cell::new(units::count(row.rate.messages), palette.alarm())
            }
            Self::Count => Cell::new(units::count(row.rate.messages), idle),
            Self::Errors if row.errors > 0.0 => {
                Cell::new(units::count(row.errors), palette.alarm())
            }
            Self::Errors => Cell::new("", idle),
            Self::Bytes => Cell::new(units::bytes_aligned(row.rate.bytes), idle),
            Self::Len => Cell::new(units::bytes_aligned(row.len), idle),
            Self::Parties => Cell::new(parties(row, width), idle),
        }
    }
}

/// Interface and member; where there is not enough room, the last part of the interface.
fn name(row: &MemberRow, width: usize) -> String {
    let Some(interface) = &row.interface else { return row.member.to_string() };
    let full = format!("{interface}.{}", row.member);
    if cells(&full) <= width {
        return full;
    }
    let last = interface.rsplit('.').next().unwrap_or_default();
    format!("{last}.{}", row.member)
}

/// Sender and recipient. Each has half of the room, and what the other one leaves.
fn parties(row: &MemberRow, width: usize) -> String {
    let (from, to) = row.ends();
    let room = width.saturating_sub(cells(ARROW));
    let to = shortened(&to, room.saturating_sub(cells(&from)).max(room / 2));
    let from = shortened(&from, room.saturating_sub(cells(&to)));
    format!("{from}{ARROW}{to}")
}

/// A name without its first words, or a program without its end, if it is too wide.
fn shortened(name: &str, width: usize) -> String {
    let side = if name.contains(['.', ':']) { Fit::End } else { Fit::Start };
    fit(name, width.min(cells(name)), side).trim_end().to_owned()
}

/// As much as the parties get, but not more than the longest names need.
fn members_width(left: usize) -> usize {
    left.div_ceil(2).min(MEMBERS_WIDTH_MAX)
}

/// Between sender and recipient.
const ARROW: &str = " \u{2192} ";

const MEMBERS_WIDTH_MAX: usize = 64;
