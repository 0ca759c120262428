//! The table of connections.

use capture::text::columns::Fit;
use capture::text::units;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Text};
use recorder::ConnectionStatistics;

use super::shared::UpPage;
use crate::commands::up::model::{ConnectionOwner, ConnectionRow};
use crate::commands::up::view::{Panel, UpView};
use crate::screen::palette::ScreenPalette;
use crate::screen::table::{LiveColumn, LiveTable, line_of};

pub(super) fn draw(page: &UpPage<'_>, view: &mut UpView, frame: &mut Frame<'_>, area: Rect) {
    if page.snapshot.connection_count() == 0 {
        draw_invitation(page, frame, line_of(area, 3).union(line_of(area, 4)));
    }
    let rows = view.connections(page.snapshot);
    let heading = page.heading_style(view, Panel::Connections);
    let sorted = Some(view.sort.column());
    let table = LiveTable { columns: &COLUMNS, sorted, heading, palette: page.palette };
    table.draw(frame, area, &rows, view.scroll(Panel::Connections));
}

/// Explains how to use the bus while it has no connections.
fn draw_invitation(page: &UpPage<'_>, frame: &mut Frame<'_>, area: Rect) {
    let lines = [
        Line::raw(" No connections yet. Paste the line at the top into another shell, and try:"),
        Line::styled(format!(" {}", page.example), page.palette.address()),
    ];
    frame.render_widget(Text::from_iter(lines), area);
}

const COLUMNS: [LiveColumn<ConnectionRow>; 12] = [
    LiveColumn::fixed("NAME", 8, Fit::Start, 0, |row, palette, _| {
        let name = if row.owner == ConnectionOwner::Bus { "bus" } else { &row.unique };
        (name.to_owned(), text_style(row, palette))
    }),
    LiveColumn::fixed("PROGRAM", 13, Fit::Start, 0, |row, palette, _| {
        let program = row.program.as_ref().map_or("?", |program| &program.label);
        (program.to_owned(), text_style(row, palette))
    }),
    LiveColumn::fixed("PID", 7, Fit::Number, 70, |row, palette, _| {
        let pid = row.program.as_ref().and_then(|program| program.pid);
        (pid.map_or("?".into(), |pid| pid.to_string()), text_style(row, palette))
    }),
    // The names need at most this width if there is another column to show.
    LiveColumn::rest(
        "OWNS",
        |left| if left < 30 { left } else { 30 },
        Fit::End,
        56,
        |row, palette, _| (names(row), text_style(row, palette)),
    ),
    LiveColumn::fixed("MSG/S", 6, Fit::Number, 0, |row, palette, _| {
        let rate = row.rate.messages;
        (units::count(rate), number_style(row, palette, rate))
    }),
    LiveColumn::fixed("BYTES/S", 8, Fit::Number, 0, |row, palette, _| {
        let rate = row.rate.bytes;
        (units::bytes_aligned(rate), number_style(row, palette, rate))
    }),
    LiveColumn::fixed("QUEUED", 7, Fit::Number, 0, |row, palette, _| {
        of_statistics(row, palette, "-    ", |known| {
            (units::bytes_aligned(known.queued as f64), palette.queue(known.queued))
        })
    }),
    LiveColumn::fixed("LOST", 6, Fit::Number, 100, |row, palette, _| {
        of_statistics(row, palette, "-", |known| {
            (units::count(known.lost as f64), palette.zero_expected(known.lost))
        })
    }),
    LiveColumn::fixed("RULES", 5, Fit::Number, 100, |row, palette, _| {
        of_statistics(row, palette, "-", |known| {
            (known.rules.to_string(), palette.number(known.rules as f64))
        })
    }),
    LiveColumn::fixed("PEAK", 7, Fit::Number, 116, |row, palette, _| {
        of_statistics(row, palette, "-    ", |known| {
            let peak = known.queued_peak as f64;
            (units::bytes_aligned(peak), palette.number(peak))
        })
    }),
    LiveColumn::fixed("SENT", 7, Fit::Number, 116, |row, palette, _| {
        let total = row.total.bytes as f64;
        (units::bytes_aligned(total), number_style(row, palette, total))
    }),
    LiveColumn::rest(
        "COMMAND",
        |left| left,
        Fit::Start,
        150,
        |row, palette, _| {
            let command = row.program.as_ref().map_or("", |program| &program.command);
            (command.to_owned(), palette.pale())
        },
    ),
];

/// The style of a text about a connection. The connections of this program are dim.
fn text_style(row: &ConnectionRow, palette: ScreenPalette) -> Style {
    match row.owner {
        ConnectionOwner::Peer => Style::new(),
        ConnectionOwner::Bus => palette.bus(),
        ConnectionOwner::View => palette.pale(),
    }
}

fn number_style(row: &ConnectionRow, palette: ScreenPalette, number: f64) -> Style {
    if row.owner == ConnectionOwner::View { palette.pale() } else { palette.number(number) }
}

/// A cell with statistics from the bus. It has none about itself, and some buses report none.
fn of_statistics(
    row: &ConnectionRow,
    palette: ScreenPalette,
    unknown: &str,
    shown: impl Fn(ConnectionStatistics) -> (String, Style),
) -> (String, Style) {
    row.stats.map_or_else(|| (unknown.to_owned(), palette.pale()), shown)
}

/// The first name of a connection, and the number of its other names.
fn names(row: &ConnectionRow) -> String {
    match &*row.names {
        [] if row.owner == ConnectionOwner::Bus => row.unique.to_string(),
        [] if row.owner == ConnectionOwner::View => String::from("(this page)"),
        [] => String::new(),
        [only] => only.to_string(),
        [first, more @ ..] => format!("{first} +{}", more.len()),
    }
}
