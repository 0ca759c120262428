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
mod members;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;

use super::model::Snapshot;
use super::view::{KEYS, Panel, UpCommand, View};
use crate::screen::controls::{Action, Overlay};
use crate::screen::keys;
use crate::screen::palette::Palette;

/// What is drawn of a bus.
pub(crate) struct Page<'a> {
    /// What there is to show.
    pub(crate) snapshot: &'a Snapshot,
    /// Where the bus listens.
    pub(crate) address: &'a str,
    /// Where a browser finds the page of the bus.
    pub(crate) link: Option<&'a str>,
    /// A line for a shell, to try.
    pub(crate) example: &'a str,
    /// The colors.
    pub(crate) palette: Palette,
}

impl Page<'_> {
    /// Draws everything.
    pub(crate) fn draw(&self, frame: &mut Frame<'_>, view: &mut View) {
        let connections = view.connections(self.snapshot).len();
        let places = Places::new(frame.area(), connections, self.links());
        header::draw(self, view, frame, places.header);
        connections::draw(self, view, frame, places.connections);
        members::draw(self, view, frame, places.members);
        events::draw(self, view, frame, places.events);
        frame.render_widget(self.footer(view, places.footer.width), places.footer);
        if view.controls.overlay == Overlay::Help {
            let width = frame.area().width;
            keys::draw_help(frame, &KEYS, self.palette, self.explanations(width));
        }
    }

    /// Lines of the header with a link.
    fn links(&self) -> u16 {
        u16::from(self.link.is_some())
    }

    fn footer(&self, view: &View, width: u16) -> Line<'static> {
        keys::footer(&KEYS, self.palette, width, |action| match action {
            Action::Pause => Some(view.controls.pause_word().to_owned()),
            Action::View(UpCommand::Sort) => Some(format!("sort: {}", view.sort.word())),
            _ => None,
        })
    }

    /// What the help has besides the keys.
    fn explanations(&self, width: u16) -> impl Iterator<Item = Line<'static>> {
        let example = example(self.example, width.saturating_sub(3));
        let style = self.palette.address();
        let example: Vec<_> =
            example.lines().map(|line| Line::styled(line.to_owned(), style)).collect();
        EXPLANATIONS.into_iter().map(Line::raw).chain(example)
    }

    fn heading_style(&self, view: &View, panel: Panel) -> Style {
        if view.focus == panel { self.palette.focused_heading() } else { self.palette.heading() }
    }
}

/// The line to try; where there is no room for it, as two lines that a shell takes for one.
fn example(line: &str, width: u16) -> String {
    match line.split_once(" -m ") {
        Some((start, end)) if line.len() + 1 > usize::from(width) => {
            format!(" {start} \\\n     -m {end}")
        }
        _ => format!(" {line}"),
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

const EXPLANATIONS: [&str; 8] = [
    "",
    " Rates are averages over 3 seconds. Of a method, BYTES/S and EACH count",
    " the call and its answer. QUEUED is what the bus holds for a connection",
    " that has not read it yet, LOST what it did not get because of that.",
    " Events: + came, - left, = a name has an owner, ! went wrong, > the log.",
    "",
    " To try, in a shell into which you have pasted the line at the top:",
    "",
];

#[cfg(test)]
mod tests;
