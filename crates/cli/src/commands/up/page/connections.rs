//! The table of connections.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Text};

use super::Page;
use crate::commands::up::model::{ConnectionRow, Owner};
use crate::commands::up::units;
use crate::commands::up::view::{Panel, Sort, View};
use crate::screen::palette::Palette;
use crate::screen::table::{Cell, Column, Fit, draw_list, heading, line_of, rest, row};

pub(super) fn draw(page: &Page<'_>, view: &mut View, frame: &mut Frame<'_>, area: Rect) {
    let kinds = kinds(area.width);
    let columns = columns(&kinds, area.width, view.sort);
    let heading = heading(&columns, page.heading_style(view, Panel::Connections));
    if page.snapshot.connection_count() == 0 {
        draw_invitation(page, frame, line_of(area, 3).union(line_of(area, 4)));
    }
    let rows = view.connections(page.snapshot);
    let scroll = view.scroll(Panel::Connections);
    draw_list(frame, area, heading, rows.len(), scroll, |place| {
        row(&columns, kinds.iter().map(|kind| kind.cell(page.palette, rows[place])).collect())
    });
}

/// What to do with a bus that nobody uses yet.
fn draw_invitation(page: &Page<'_>, frame: &mut Frame<'_>, area: Rect) {
    let lines = [
        Line::raw(" Nobody is connected. Paste the line at the top into another shell, and try:"),
        Line::styled(format!(" {}", page.example), page.palette.address()),
    ];
    frame.render_widget(Text::from_iter(lines), area);
}

/// What a column tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Unique,
    Program,
    Pid,
    Names,
    Messages,
    Bytes,
    Queue,
    Peak,
    Lost,
    Rules,
    Total,
    Command,
}

/// The columns for which there is room.
fn kinds(width: u16) -> Vec<Kind> {
    let mut kinds = vec![Kind::Unique, Kind::Program];
    if width >= 70 {
        kinds.push(Kind::Pid);
    }
    if width >= 56 {
        kinds.push(Kind::Names);
    }
    kinds.extend([Kind::Messages, Kind::Bytes, Kind::Queue]);
    if width >= 100 {
        kinds.extend([Kind::Lost, Kind::Rules]);
    }
    if width >= 116 {
        kinds.extend([Kind::Peak, Kind::Total]);
    }
    if width >= 150 {
        kinds.push(Kind::Command);
    }
    kinds
}

/// The columns with their widths; names and commands take what the others leave.
fn columns(kinds: &[Kind], width: u16, sort: Sort) -> Vec<Column> {
    let mut columns: Vec<Column> = kinds.iter().map(|kind| kind.column(sort)).collect();
    let left = rest(width, &columns) + 1;
    let names = if kinds.contains(&Kind::Command) { left.min(NAMES_WIDTH_MAX) } else { left };
    for (column, kind) in columns.iter_mut().zip(kinds) {
        match kind {
            Kind::Names => column.width = names,
            Kind::Command => column.width = left - names,
            _ => {}
        }
    }
    columns
}

impl Kind {
    /// The column; the width of those that take the rest is still 0.
    const fn column(self, sort: Sort) -> Column {
        let (title, width, fit) = match self {
            Self::Unique => (by(sort, Sort::Age, "NAME", "NAME\u{25bc}"), 8, Fit::Start),
            Self::Program => {
                (by(sort, Sort::Program, "PROGRAM", "PROGRAM\u{25b2}"), 13, Fit::Start)
            }
            Self::Pid => ("PID", 7, Fit::Number),
            Self::Names => ("OWNS", 0, Fit::End),
            Self::Messages => (by(sort, Sort::Messages, "MSG/S", "MSG/S\u{25bc}"), 6, Fit::Number),
            Self::Bytes => (by(sort, Sort::Bytes, "BYTES/S", "BYTES/S\u{25bc}"), 8, Fit::Number),
            Self::Queue => (by(sort, Sort::Queue, "QUEUED", "QUEUED\u{25bc}"), 7, Fit::Number),
            Self::Peak => ("PEAK", 7, Fit::Number),
            Self::Lost => ("LOST", 6, Fit::Number),
            Self::Rules => ("RULES", 5, Fit::Number),
            Self::Total => ("SENT", 7, Fit::Number),
            Self::Command => ("COMMAND", 0, Fit::Start),
        };
        Column { title, width, fit }
    }

    fn cell(self, palette: Palette, row: &ConnectionRow) -> Cell<'_> {
        let style = match row.owner {
            Owner::Peer => Style::new(),
            Owner::Bus => palette.bus(),
            Owner::View => palette.pale(),
        };
        let of_owner = |own: Style| if row.owner == Owner::View { style } else { own };
        let program = row.program.as_ref();
        match self {
            Self::Unique if row.owner == Owner::Bus => Cell::new("bus", style),
            Self::Unique => Cell::new(&*row.unique, style),
            Self::Program => Cell::new(program.map_or("?", |known| &known.label), style),
            Self::Pid => {
                let pid = program.and_then(|program| program.pid);
                Cell::new(pid.map_or("?".into(), |pid| pid.to_string()), style)
            }
            Self::Names => Cell::new(names(row), style),
            Self::Messages => {
                let rate = row.rate.messages;
                Cell::new(units::count(rate), of_owner(palette.number(rate)))
            }
            Self::Bytes => bytes(row.rate.bytes, of_owner(palette.number(row.rate.bytes))),
            Self::Total => {
                let total = row.total.bytes as f64;
                bytes(total, of_owner(palette.number(total)))
            }
            Self::Command => Cell::new(program.map_or("", |known| &known.command), palette.pale()),
            Self::Queue | Self::Peak | Self::Lost | Self::Rules => self.stats_cell(palette, row),
        }
    }

    /// What only the bus knows; it does not tell of itself, and some buses tell nothing.
    fn stats_cell(self, palette: Palette, row: &ConnectionRow) -> Cell<'static> {
        let Some(stats) = row.stats else {
            let unknown = if matches!(self, Self::Lost | Self::Rules) { "-" } else { "-    " };
            return Cell::new(unknown, palette.pale());
        };
        match self {
            Self::Queue => bytes(stats.queued as f64, palette.queue(stats.queued)),
            Self::Peak => {
                let peak = stats.queued_peak as f64;
                bytes(peak, palette.number(peak))
            }
            Self::Lost => Cell::new(units::count(stats.lost as f64), palette.never(stats.lost)),
            _ => {
                let rules = stats.rules;
                Cell::new(rules.to_string(), palette.number(rules as f64))
            }
        }
    }
}

/// A title that tells whether the rows are sorted by its column.
const fn by(sort: Sort, column: Sort, plain: &'static str, sorted: &'static str) -> &'static str {
    if sort as u8 == column as u8 { sorted } else { plain }
}

fn bytes(number: f64, style: Style) -> Cell<'static> {
    Cell::new(units::bytes_aligned(number), style)
}

/// The names of a connection: the first, and how many more.
fn names(row: &ConnectionRow) -> String {
    match &*row.names {
        [] if row.owner == Owner::Bus => row.unique.to_string(),
        [] if row.owner == Owner::View => String::from("(this page)"),
        [] => String::new(),
        [only] => only.to_string(),
        [first, more @ ..] => format!("{first} +{}", more.len()),
    }
}

/// Wider than this the names need not be, if there is something else to show.
const NAMES_WIDTH_MAX: usize = 30;
