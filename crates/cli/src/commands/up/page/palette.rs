//! Colours and what they mean. They are those of the terminal, so they fit its background.

use ratatui::style::{Color, Modifier, Style};

use crate::commands::up::model::{NoteKind, Owner};

/// Whether to use colours (<https://no-color.org>).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Colours {
    /// Use them.
    Some,
    /// Bold, dim and reverse must do.
    None,
}

/// What things look like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Palette {
    colours: Colours,
}

impl Palette {
    /// A palette with or without colours.
    pub(crate) const fn new(colours: Colours) -> Self {
        Self { colours }
    }

    /// The heading of a part of the page.
    pub(super) fn heading(self) -> Style {
        self.either(
            Style::new().fg(Color::Black).bg(Color::Gray),
            Style::new().add_modifier(Modifier::REVERSED),
        )
    }

    /// The heading of the part that the arrows move.
    pub(super) fn focused_heading(self) -> Style {
        self.either(
            Style::new().fg(Color::Black).bg(Color::Cyan),
            Style::new().add_modifier(Modifier::REVERSED | Modifier::BOLD),
        )
    }

    /// What matters most.
    pub(super) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// What is there and matters little: zeros, our own traffic. Not grey, since what terminals call
    /// so may be their background.
    pub(super) fn pale(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// What can be copied.
    pub(super) fn address(self) -> Style {
        self.coloured(Color::Cyan)
    }

    /// The curve.
    pub(super) fn curve(self) -> Style {
        self.coloured(Color::Green)
    }

    /// What should not stay so.
    pub(super) fn warning(self) -> Style {
        self.coloured(Color::Yellow)
    }

    /// What is wrong.
    pub(super) fn alarm(self) -> Style {
        self.coloured(Color::Red).add_modifier(Modifier::BOLD)
    }

    /// The name of a key.
    pub(super) fn key(self) -> Style {
        self.heading()
    }

    /// That the page does not follow.
    pub(super) fn paused(self) -> Style {
        self.either(
            Style::new().fg(Color::Black).bg(Color::Yellow),
            Style::new().add_modifier(Modifier::REVERSED),
        )
    }

    /// A connection of this owner.
    pub(super) fn owner(self, owner: Owner) -> Style {
        match owner {
            Owner::Peer => Style::new(),
            Owner::Bus => self.coloured(Color::LightBlue),
            Owner::View => self.pale(),
        }
    }

    /// A number, or the lack of one.
    pub(super) fn number(self, number: f64) -> Style {
        if number < 0.05 { self.pale() } else { Style::new() }
    }

    /// Bytes that wait for a connection.
    pub(super) fn queue(self, bytes: u64) -> Style {
        match bytes {
            0 => self.pale(),
            1..QUEUE_LARGE => self.warning(),
            QUEUE_LARGE.. => self.alarm(),
        }
    }

    /// Something that should never be, by how often it is.
    pub(super) fn never(self, count: u64) -> Style {
        if count == 0 { self.pale() } else { self.alarm() }
    }

    /// The sign of a kind of note.
    pub(super) fn note(self, kind: NoteKind) -> Style {
        match kind {
            NoteKind::Arrival => self.coloured(Color::Green),
            NoteKind::Departure => self.pale(),
            NoteKind::Name => self.coloured(Color::Cyan),
            NoteKind::Log => self.warning(),
            NoteKind::Error | NoteKind::Trouble => self.alarm(),
        }
    }

    fn coloured(self, colour: Color) -> Style {
        self.either(Style::new().fg(colour), Style::new())
    }

    const fn either(self, coloured: Style, plain: Style) -> Style {
        match self.colours {
            Colours::Some => coloured,
            Colours::None => plain,
        }
    }
}

/// Bytes that wait for one connection and are no longer a matter of moments.
const QUEUE_LARGE: u64 = 1024 * 1024;
