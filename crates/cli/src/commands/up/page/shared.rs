//! Types that all parts of the page use.

use ratatui::style::Style;

use crate::commands::up::model::Snapshot;
use crate::commands::up::view::{Panel, UpView};
use crate::screen::palette::ScreenPalette;

/// The data to draw.
pub(crate) struct UpPage<'a> {
    pub(crate) snapshot: &'a Snapshot,
    /// The address of the bus.
    pub(crate) address: &'a str,
    /// The address of the page for browsers.
    pub(crate) link: Option<&'a str>,
    /// An example command for a shell.
    pub(crate) example: &'a str,
    pub(crate) palette: ScreenPalette,
}

impl UpPage<'_> {
    pub(super) fn heading_style(&self, view: &UpView, panel: Panel) -> Style {
        if view.focus == panel { self.palette.focused_heading() } else { self.palette.heading() }
    }
}

/// The minimum height of the terminal for a line with the address of the page.
pub(super) const ROOM_FOR_LINKS: u16 = 20;
