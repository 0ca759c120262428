//! Styles and what they mean. The colors are those of the terminal, so they fit its background.

use capture::text::Colours;
use ratatui::style::{Color, Modifier, Style};

use crate::style;

/// What things look like, with or without colors (<https://no-color.org>).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ScreenPalette {
    colours: Colours,
}

impl ScreenPalette {
    /// A palette with or without colors. Without them, bold, dim and reverse must do.
    pub(crate) const fn new(colours: Colours) -> Self {
        Self { colours }
    }

    /// The palette that suits standard output.
    pub(crate) fn of_stdout() -> Self {
        Self::new(style::of_stdout().colours)
    }

    /// The heading of a list.
    pub(crate) fn heading(self) -> Style {
        self.either(
            Style::new().fg(Color::Black).bg(Color::Gray),
            Style::new().add_modifier(Modifier::REVERSED),
        )
    }

    /// The heading of the list that the arrow keys move, if there are several.
    pub(crate) fn focused_heading(self) -> Style {
        self.either(
            Style::new().fg(Color::Black).bg(Color::Cyan),
            Style::new().add_modifier(Modifier::REVERSED | Modifier::BOLD),
        )
    }

    /// What matters most.
    pub(crate) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// What matters little: zeros, our own traffic. Not gray, since what terminals call gray may be
    /// their background.
    pub(crate) fn pale(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// What can be copied.
    pub(crate) fn address(self) -> Style {
        self.colored(Color::Cyan)
    }

    /// What is normal and good to know.
    pub(crate) fn good(self) -> Style {
        self.colored(Color::Green)
    }

    /// The bus itself.
    pub(crate) fn bus(self) -> Style {
        self.colored(Color::LightBlue)
    }

    /// What should not stay like this.
    pub(crate) fn warning(self) -> Style {
        self.colored(Color::Yellow)
    }

    /// What is wrong.
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

    /// The word that says that the view does not follow the bus.
    pub(crate) fn paused(self) -> Style {
        self.either(
            Style::new().fg(Color::Black).bg(Color::Yellow),
            Style::new().add_modifier(Modifier::REVERSED),
        )
    }

    /// A number, or the lack of one.
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

    /// A count that should be 0.
    pub(crate) fn never(self, count: u64) -> Style {
        if count == 0 { self.pale() } else { self.alarm() }
    }

    fn colored(self, color: Color) -> Style {
        self.either(Style::new().fg(color), Style::new())
    }

    const fn either(self, colored: Style, plain: Style) -> Style {
        match self.colours {
            Colours::Wanted => colored,
            Colours::Unwanted => plain,
        }
    }
}

/// A queue of so many bytes for one connection takes longer than moments to drain.
const QUEUE_LARGE: u64 = 1024 * 1024;
