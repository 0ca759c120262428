//! Styles and their meanings. Only the colors of the terminal's palette are used, so that they suit
//! its background.

use capture::text::Colors;
use ratatui::style::{Color, Modifier, Style};

use crate::style;

/// The styles of the screen, with or without colors (<https://no-color.org>).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ScreenPalette {
    colors: Colors,
}

impl ScreenPalette {
    /// Returns a palette with or without colors. Without them, it uses bold, dim and reverse.
    pub(crate) const fn new(colors: Colors) -> Self {
        Self { colors }
    }

    /// Returns the palette for standard output, which follows `NO_COLOR`.
    pub(crate) fn of_stdout() -> Self {
        Self::new(style::of_stdout().colors)
    }

    /// The heading of a list.
    pub(crate) fn heading(self) -> Style {
        self.either(
            Style::new().fg(Color::Black).bg(Color::Gray),
            Style::new().add_modifier(Modifier::REVERSED),
        )
    }

    /// The heading of the list that the arrow keys scroll, if the view has several lists.
    pub(crate) fn focused_heading(self) -> Style {
        self.either(
            Style::new().fg(Color::Black).bg(Color::Cyan),
            Style::new().add_modifier(Modifier::REVERSED | Modifier::BOLD),
        )
    }

    /// The most important text.
    pub(crate) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Less important text: zeros, and the traffic of this program. It is dim instead of gray,
    /// because gray is the background color of some terminals.
    pub(crate) fn pale(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// Addresses, which the user can copy.
    pub(crate) fn address(self) -> Style {
        self.colored(Color::Cyan)
    }

    /// Normal conditions that are worth showing.
    pub(crate) fn good(self) -> Style {
        self.colored(Color::Green)
    }

    /// Text about the bus itself.
    pub(crate) fn bus(self) -> Style {
        self.colored(Color::LightBlue)
    }

    /// Conditions that need attention.
    pub(crate) fn warning(self) -> Style {
        self.colored(Color::Yellow)
    }

    /// Errors and failed operations.
    pub(crate) fn alarm(self) -> Style {
        self.colored(Color::Red).add_modifier(Modifier::BOLD)
    }

    /// The name of a key.
    pub(crate) fn key(self) -> Style {
        self.heading()
    }

    /// The cursor of a line that is edited.
    pub(crate) fn cursor(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// The word that marks a paused view.
    pub(crate) fn paused(self) -> Style {
        self.either(
            Style::new().fg(Color::Black).bg(Color::Yellow),
            Style::new().add_modifier(Modifier::REVERSED),
        )
    }

    /// A number, which is dim if it would be shown as 0.0.
    pub(crate) fn number(self, number: f64) -> Style {
        if number < 0.05 { self.pale() } else { Style::new() }
    }

    /// Bytes that are queued for a connection.
    pub(crate) fn queue(self, bytes: u64) -> Style {
        match bytes {
            0 => self.pale(),
            1..QUEUE_LARGE => self.warning(),
            QUEUE_LARGE.. => self.alarm(),
        }
    }

    /// A count that is 0 in normal operation.
    pub(crate) fn zero_expected(self, count: u64) -> Style {
        if count == 0 { self.pale() } else { self.alarm() }
    }

    fn colored(self, color: Color) -> Style {
        self.either(Style::new().fg(color), Style::new())
    }

    const fn either(self, colored: Style, plain: Style) -> Style {
        match self.colors {
            Colors::Wanted => colored,
            Colors::Unwanted => plain,
        }
    }
}

/// The queue size in bytes from which a queue is marked as an alarm, because it does not drain
/// within moments.
const QUEUE_LARGE: u64 = 1024 * 1024;
