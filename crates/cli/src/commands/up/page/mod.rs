//! The drawing of a snapshot on a terminal of any size, with the settings of an [`UpView`].
//!
//! ```text
//!   header        address of the bus, totals, a curve of the last seconds
//!   connections   the connections and what each sends
//!   members       methods and signals
//!   events        the latest events
//!   footer        keys
//! ```
//!
//! On a small terminal, parts show fewer lines and columns. The last parts are reduced first.

mod connections;
mod events;
mod header;
mod members;
mod shared;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::view::{KEYS, UpCommand, UpView};
use crate::screen::controls::{Action, Overlay};
use crate::screen::keys;
use shared::ROOM_FOR_LINKS;
pub(crate) use shared::UpPage;

/// Draws the parts of the page, and the help over them if it is open.
pub(crate) fn draw(page: &UpPage<'_>, frame: &mut Frame<'_>, view: &mut UpView) {
    let connections = view.connections(page.snapshot).len();
    let places = PageAreas::new(frame.area(), connections, u16::from(page.link.is_some()));
    header::draw(page, view, frame, places.header);
    connections::draw(page, view, frame, places.connections);
    members::draw(page, view, frame, places.members);
    events::draw(page, view, frame, places.events);
    let footer = keys::footer(&KEYS, page.palette, places.footer.width, |action| match action {
        Action::Pause => Some(view.controls.pause_word().to_owned()),
        Action::View(UpCommand::Sort) => Some(format!("sort: {}", view.sort.word())),
        _ => None,
    });
    frame.render_widget(footer, places.footer);
    if view.controls.overlay == Overlay::Help {
        let example = example(page.example, frame.area().width.saturating_sub(3));
        let example = example.lines().map(|line| Line::styled(line, page.palette.address()));
        let explanations = EXPLANATIONS.into_iter().map(Line::raw).chain(example);
        keys::draw_help(frame, &KEYS, page.palette, explanations);
    }
}

/// The example command, split into two lines with a backslash if there is not enough room.
fn example(line: &str, width: u16) -> String {
    match line.split_once(" -m ") {
        Some((start, end)) if line.len() + 1 > usize::from(width) => {
            format!(" {start} \\\n     -m {end}")
        }
        _ => format!(" {line}"),
    }
}

/// The areas of the parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct PageAreas {
    header: Rect,
    connections: Rect,
    members: Rect,
    events: Rect,
    footer: Rect,
}

impl PageAreas {
    /// Divides the screen. The areas do not change when a single connection comes or goes.
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

/// The minimum height of the screen for a higher curve.
const TALL: u16 = 36;

const HEADER_LINES: u16 = 3;
const HEADER_LINES_TALL: u16 = 5;

/// The area for connections grows in steps of this number of lines.
const CONNECTIONS_STEP: usize = 4;

/// The minimum heights of the body with two and three lists.
const BODY_FOR_TWO: u16 = 6;
const BODY_FOR_THREE: u16 = 9;

/// The minimum height of the events with their heading, if they are shown.
const EVENTS_LINES_MIN: u16 = 3;

const EXPLANATIONS: [&str; 8] = [
    "",
    " Rates are averages over 3 seconds. For methods, BYTES/S and EACH include",
    " the replies. QUEUED counts bytes that the connection has not read yet,",
    " and LOST counts messages that were dropped because that queue was full.",
    " Events: + connected, - disconnected, = owner of a name, ! problem, > log.",
    "",
    " An example for the shell into which you have pasted the line at the top:",
    "",
];

#[cfg(test)]
mod tests;
