//! Lines of columns.

use std::borrow::Cow;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// A column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Column {
    /// What stands above it.
    pub(super) title: &'static str,
    /// How many cells wide it is.
    pub(super) width: usize,
    /// What becomes of texts that are shorter or longer.
    pub(super) fit: Fit,
}

/// What becomes of a text that is not as wide as its column.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Fit {
    /// It stands at the left, and its start is kept.
    Start,
    /// It stands at the left, and its end is kept: of a name, that says more.
    End,
    /// It stands at the right.
    Number,
}

/// A text with its style.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Cell<'a> {
    text: Cow<'a, str>,
    style: Style,
}

impl<'a> Cell<'a> {
    pub(super) fn new(text: impl Into<Cow<'a, str>>, style: Style) -> Self {
        Self { text: text.into(), style }
    }
}

/// A row of cells, one for each column.
pub(super) fn row(columns: &[Column], cells: Vec<Cell<'_>>) -> Line<'static> {
    let spans = columns.iter().zip(cells).flat_map(|(column, cell)| {
        [Span::raw(" "), Span::styled(fit(&cell.text, column.width, column.fit), cell.style)]
    });
    spans.collect()
}

/// The titles of columns; those of numbers stand above their last digits.
pub(super) fn heading(columns: &[Column], style: Style) -> Line<'static> {
    let cells = columns.iter().map(|column| Cell::new(column.title, style)).collect();
    row(columns, cells).style(style)
}

/// The width that is left for the rest of a line beside these columns.
pub(super) fn rest(width: u16, columns: &[Column]) -> usize {
    let taken: usize = columns.iter().map(|column| column.width + 1).sum();
    // One column is left free at the right, and one before what takes the rest.
    usize::from(width).saturating_sub(taken + 2)
}

/// Makes a text exactly `width` cells wide.
pub(super) fn fit(text: &str, width: usize, fit: Fit) -> String {
    let taken = cells(text);
    if taken > width {
        return cut(text, width, fit);
    }
    let space = " ".repeat(width - taken);
    match fit {
        Fit::Start | Fit::End => text.to_owned() + &space,
        Fit::Number => space + text,
    }
}

/// Cuts a text that is too wide, and marks where.
fn cut(text: &str, width: usize, fit: Fit) -> String {
    let Some(room) = width.checked_sub(cells(ELLIPSIS)) else { return String::new() };
    let mut used = 0;
    let mut has_room = |c: &char| {
        used += cells(c.encode_utf8(&mut [0; 4]));
        used <= room
    };
    let kept = match fit {
        Fit::Start | Fit::Number => {
            let kept: String = text.chars().take_while(&mut has_room).collect();
            kept + ELLIPSIS
        }
        Fit::End => {
            let mut kept: Vec<char> = text.chars().rev().take_while(&mut has_room).collect();
            kept.reverse();
            ELLIPSIS.chars().chain(kept).collect()
        }
    };
    let missing = width.saturating_sub(cells(&kept));
    kept + &" ".repeat(missing)
}

/// How many cells of the terminal a text takes.
pub(super) fn cells(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { Span::raw(text).width() }
}

const ELLIPSIS: &str = "\u{2026}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_as_wide_as_their_columns() {
        for (text, width, how, expected) in [
            ("name", 6, Fit::Start, "name  "),
            ("name", 6, Fit::End, "name  "),
            ("12", 4, Fit::Number, "  12"),
            ("name", 4, Fit::Start, "name"),
            ("a.long.name", 6, Fit::Start, "a.lon\u{2026}"),
            ("a.long.name", 6, Fit::End, "\u{2026}.name"),
            ("12345", 3, Fit::Number, "12\u{2026}"),
            ("name", 1, Fit::End, "\u{2026}"),
            ("name", 0, Fit::Start, ""),
            ("", 0, Fit::Start, ""),
            // Characters of two cells, and one that would not fit in whole.
            ("\u{7535}\u{6c60}", 5, Fit::Start, "\u{7535}\u{6c60} "),
            ("\u{7535}\u{6c60}\u{7535}", 5, Fit::Start, "\u{7535}\u{6c60}\u{2026}"),
            ("\u{7535}\u{6c60}\u{7535}", 4, Fit::End, "\u{2026}\u{7535} "),
        ] {
            assert_eq!(fit(text, width, how), expected, "{text:?} in {width}");
        }
    }
}
