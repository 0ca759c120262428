//! Where a bus is shown: as a page on a terminal, or as lines on standard output.

use std::io;
use std::time::Duration;

use sys::clock;
use viewer::Server;

use super::keys::{self, Next};
use super::model::{Model, Notes, Snapshot};
use super::page::{Page, Palette};
use super::plain::{self, Plain};
use super::view::{Following, View};
use crate::output::write_text;
use crate::screen::{Input, Screen};

/// Where to show it.
#[derive(Debug)]
pub(super) enum Front {
    /// As a page on a terminal.
    Page(Box<PageFront>),
    /// As lines on standard output.
    Plain(PlainFront),
}

/// Lines, and what they have said.
#[derive(Debug)]
pub(super) struct PlainFront {
    plain: Plain,
    hints: Hints,
    /// The address of the page that was printed last.
    link: Option<String>,
}

/// A page, and what it shows.
#[derive(Debug)]
pub(super) struct PageFront {
    screen: Screen,
    view: View,
    hints: Hints,
    palette: Palette,
    snapshot: Snapshot,
    stale: Staleness,
    /// The address of the page as it was drawn last.
    link: Option<String>,
    /// Columns and lines of the terminal.
    size: (u16, u16),
    /// When it was last looked at what there is to draw.
    refreshed: Duration,
    drawn: Duration,
}

/// What somebody needs to use the bus.
#[derive(Debug)]
pub(super) struct Hints {
    /// Where it listens.
    pub(super) address: String,
    /// What shows it in a browser.
    pub(super) page: Option<Server>,
    /// The address of the page that was printed first. It may have been used already.
    pub(super) printed_link: Option<String>,
    /// A line for a shell, to try.
    pub(super) example: &'static str,
}

/// Whether the page must be drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Staleness {
    Fresh,
    Stale,
}

impl Front {
    /// When it wants to be asked to [refresh](Self::refresh), or `otherwise`.
    pub(super) fn deadline(&self, otherwise: Duration) -> Duration {
        match self {
            Self::Page(page) => otherwise.min(match page.stale {
                Staleness::Stale => page.drawn + DRAW_INTERVAL,
                Staleness::Fresh => page.refreshed + SIZE_INTERVAL,
            }),
            Self::Plain(_) => otherwise,
        }
    }

    /// Shows what is known now.
    pub(super) fn show(&mut self, model: &Model, now: Duration) -> io::Result<()> {
        match self {
            Self::Page(page) => {
                if page.view.flow == Following::Live {
                    page.snapshot = model.snapshot(now);
                    page.stale = Staleness::Stale;
                }
                Ok(())
            }
            Self::Plain(front) => {
                let text = front.lines(clock::realtime(), &model.snapshot(now), model.notes());
                write_text(&text)
            }
        }
    }

    /// Reads keys, and does what they ask for.
    pub(super) fn take_keys(&mut self) -> io::Result<Next> {
        let Self::Page(page) = self else { return Ok(Next::Stay) };
        let Input::Keys(keys) = page.screen.input()? else { return Ok(Next::Quit) };
        for action in keys::actions(&keys) {
            page.stale = Staleness::Stale;
            if keys::apply(action, &mut page.view, &page.snapshot) == Next::Quit {
                return Ok(Next::Quit);
            }
        }
        Ok(Next::Stay)
    }

    /// Draws if something has changed, but not too often.
    pub(super) fn refresh(&mut self, now: Duration) -> io::Result<()> {
        let Self::Page(page) = self else { return Ok(()) };
        page.refreshed = now;
        let link = page.hints.link();
        if link != page.link {
            page.link = link;
            page.stale = Staleness::Stale;
        }
        if now >= page.drawn + DRAW_INTERVAL && page.screen.size()? != page.size {
            page.size = page.screen.size()?;
            page.stale = Staleness::Stale;
        }
        if page.stale == Staleness::Fresh || now < page.drawn + DRAW_INTERVAL {
            return Ok(());
        }
        page.stale = Staleness::Fresh;
        page.drawn = now;
        let drawn = Page {
            snapshot: &page.snapshot,
            view: &page.view,
            address: &page.hints.address,
            link: page.link.as_deref(),
            example: page.hints.example,
            palette: page.palette,
        };
        page.screen.draw(|frame| drawn.draw(frame))
    }
}

impl Hints {
    /// Where a browser finds the page: an address that works once.
    pub(super) fn link(&self) -> Option<String> {
        self.page.as_ref().map(Server::address)
    }
}

impl PlainFront {
    /// Lines after these hints.
    pub(super) fn new(hints: Hints) -> Self {
        Self { plain: Plain::default(), link: hints.printed_link.clone(), hints }
    }

    fn lines(&mut self, now: Duration, snapshot: &Snapshot, notes: &Notes) -> String {
        let mut text = self.plain.lines(now, snapshot, notes);
        let link = self.hints.link();
        if link != self.link {
            text.extend(link.as_deref().map(|link| plain::line(now, "page", link)));
            self.link = link;
        }
        text
    }
}

impl PageFront {
    /// A page that gives these hints.
    pub(super) fn new(screen: Screen, hints: Hints, palette: Palette) -> Self {
        Self {
            screen,
            view: View::default(),
            link: hints.link(),
            hints,
            palette,
            snapshot: Snapshot::default(),
            stale: Staleness::Stale,
            size: (0, 0),
            refreshed: Duration::ZERO,
            drawn: Duration::ZERO,
        }
    }
}

/// The page is not drawn more often than this.
const DRAW_INTERVAL: Duration = Duration::from_millis(200);

/// So often it is looked whether the terminal has another size, for no signal tells.
const SIZE_INTERVAL: Duration = Duration::from_millis(250);
