//! What all parts of the page need.

use ratatui::style::Style;

use crate::commands::up::model::Snapshot;
use crate::commands::up::view::{Panel, UpView};
use crate::screen::palette::ScreenPalette;

/// What is drawn of a bus.
pub(crate) struct UpPage<'a> {
    pub(crate) snapshot: &'a Snapshot,
    /// Where the bus listens.
    pub(crate) address: &'a str,
    /// Where a browser finds the page of the bus.
    pub(crate) link: Option<&'a str>,
    /// A line for a shell, to try.
    pub(crate) example: &'a str,
    pub(crate) palette: ScreenPalette,
}

impl UpPage<'_> {
    pub(super) fn heading_style(&self, view: &UpView, panel: Panel) -> Style {
        if view.focus == panel { self.palette.focused_heading() } else { self.palette.heading() }
    }
}

/// From this height of the terminal on, the header has a line for a link.
pub(super) const ROOM_FOR_LINKS: u16 = 20;
