//! The page: a snapshot, drawn as a [`View`] wants it, on a terminal of any size.
//!
//! ```text
//!   header        what bus, how busy, a curve of the last seconds
//!   connections   who is there, and what each sends
//!   members       which methods and signals
//!   events        what happened
//!   footer        keys
//! ```
//!
//! On a terminal with little room, parts show fewer lines and columns, the last parts first.

mod connections;
mod events;
mod header;
mod help;
mod members;
mod palette;
mod table;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

pub(crate) use palette::{Colours, Palette};

use super::model::Snapshot;
use super::view::{Following, Overlay, Panel, View};

/// All that is drawn.
pub(crate) struct Page<'a> {
    /// What there is to show.
    pub(crate) snapshot: &'a Snapshot,
    /// How it is to be shown.
    pub(crate) view: &'a View,
    /// Where the bus listens.
    pub(crate) address: &'a str,
    /// Where a browser finds the picture of the bus.
    pub(crate) link: Option<&'a str>,
    /// A line for a shell, to try.
    pub(crate) example: &'a str,
    /// The colours.
    pub(crate) palette: Palette,
}

impl Page<'_> {
    /// Draws everything.
    pub(crate) fn draw(&self, frame: &mut Frame<'_>) {
        let places =
            Places::new(frame.area(), self.view.connections(self.snapshot).len(), self.links());
        header::draw(self, frame, places.header);
        connections::draw(self, frame, places.connections);
        members::draw(self, frame, places.members);
        events::draw(self, frame, places.events);
        self.draw_footer(frame, places.footer);
        if self.view.overlay == Overlay::Help {
            help::draw(self, frame);
        }
    }

    /// Lines of the header with a link.
    fn links(&self) -> u16 {
        u16::from(self.link.is_some())
    }

    fn draw_footer(&self, frame: &mut Frame<'_>, area: Rect) {
        let pause = match self.view.flow {
            Following::Live => "pause",
            Following::Paused => "resume",
        };
        let sort = format!("sort: {}", self.view.sort.word());
        let keys = [
            ("q", "quit"),
            ("s", sort.as_str()),
            ("p", pause),
            ("i", "self"),
            ("Tab", "pane"),
            ("\u{2191}\u{2193}", "scroll"),
            ("h", "help"),
        ];
        let spans = keys.into_iter().flat_map(|(key, does)| {
            [
                Span::raw(" "),
                Span::styled(format!(" {key} "), self.palette.key()),
                Span::raw(format!(" {does}")),
            ]
        });
        frame.render_widget(Line::from_iter(spans), area);
    }

    /// The lines of a part that are to be seen, of which `skipped` are scrolled away.
    fn visible<T>(&self, panel: Panel, mut rows: Vec<T>, room: u16) -> Vec<T> {
        // What is scrolled away comes back when there is room for it.
        let most = rows.len().saturating_sub(usize::from(room));
        rows.drain(..self.view.offset(panel).min(most));
        rows.truncate(usize::from(room));
        rows
    }
}

/// Where everything is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Places {
    header: Rect,
    connections: Rect,
    members: Rect,
    events: Rect,
    footer: Rect,
}

impl Places {
    /// Divides the screen. The parts do not move when a single connection comes or goes.
    fn new(screen: Rect, connections: usize, links: u16) -> Self {
        let header = match screen.height {
            TALL.. => HEADER_LINES_TALL + links,
            ROOM_FOR_LINKS.. => HEADER_LINES + links,
            _ => HEADER_LINES,
        };
        let footer = u16::from(screen.height > header);
        let body = screen.height.saturating_sub(header + footer);
        let wanted = connections.next_multiple_of(CONNECTIONS_STEP).min(usize::from(u16::MAX));
        let heading = 1;
        let connections = match body {
            0..BODY_FOR_TWO => body,
            _ => (heading + wanted as u16).min(body * 9 / 20),
        };
        let rest = body - connections;
        let events = match body {
            0..BODY_FOR_THREE => 0,
            _ => (rest * 2 / 5).max(EVENTS_LINES_MIN),
        };
        let mut top = screen.y;
        let mut next = |height: u16| {
            let height = height.min(screen.bottom().saturating_sub(top));
            let place = Rect { y: top, height, ..screen };
            top += height;
            place
        };
        Self {
            header: next(header),
            connections: next(connections),
            members: next(rest - events),
            events: next(events),
            footer: next(footer),
        }
    }
}

/// The line `index` of an area; empty where there is none.
fn line_of(area: Rect, index: u16) -> Rect {
    let line = Rect { y: area.y.saturating_add(index), height: 1, ..area };
    line.intersection(area)
}

/// The area without a margin of one column at its sides.
fn inner(area: Rect) -> Rect {
    Rect { x: area.x + area.width.min(1), width: area.width.saturating_sub(2), ..area }
}

/// From this height on the header has a higher curve.
const TALL: u16 = 36;

/// From this height on it has a line for a link.
const ROOM_FOR_LINKS: u16 = 20;
const HEADER_LINES: u16 = 3;
const HEADER_LINES_TALL: u16 = 5;

/// The room for connections grows in steps of so many lines.
const CONNECTIONS_STEP: usize = 4;

/// Lines below which the members, or the events, are left out.
const BODY_FOR_TWO: u16 = 6;
const BODY_FOR_THREE: u16 = 9;

/// Lines of the events, with their heading, if there are any.
const EVENTS_LINES_MIN: u16 = 3;

#[cfg(test)]
mod tests;
