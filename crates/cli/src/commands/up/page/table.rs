//! Lines of columns.

use std::borrow::Cow;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

pub(super) use crate::columns::{Fit, cells, fit};

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
