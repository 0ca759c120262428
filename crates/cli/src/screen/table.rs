//! Lists of rows below a heading, and rows of columns.

use std::borrow::Cow;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

pub(crate) use capture::text::columns::{Fit, cells, fit};

use super::scroll::Scroll;

/// Draws rows below a heading, from the one on that `scroll` says; `row` makes the line of a row.
pub(crate) fn draw_list<'l>(
    frame: &mut Frame<'_>,
    area: Rect,
    heading: Line<'_>,
    rows: usize,
    scroll: &mut Scroll,
    row: impl Fn(usize) -> Line<'l>,
) {
    frame.render_widget(heading, line_of(area, 0));
    let below = Rect { y: area.y.saturating_add(1), height: area.height.saturating_sub(1), ..area };
    draw_rows(frame, below.intersection(area), rows, scroll, row);
}

/// Draws rows, from the one on that `scroll` says; `row` makes the line of a row.
pub(crate) fn draw_rows<'l>(
    frame: &mut Frame<'_>,
    area: Rect,
    rows: usize,
    scroll: &mut Scroll,
    row: impl Fn(usize) -> Line<'l>,
) {
    let start = scroll.show(rows, usize::from(area.height));
    for (place, line) in (start..rows).zip(0..area.height) {
        frame.render_widget(row(place), line_of(area, line));
    }
}

/// The line `index` of an area; empty where there is none.
pub(crate) fn line_of(area: Rect, index: u16) -> Rect {
    let line = Rect { y: area.y.saturating_add(index), height: 1, ..area };
    line.intersection(area)
}

/// A column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Column {
    /// What stands above it.
    pub(crate) title: &'static str,
    /// How many cells wide it is.
    pub(crate) width: usize,
    /// What becomes of texts that are shorter or longer.
    pub(crate) fit: Fit,
}

/// A text with its style.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Cell<'a> {
    text: Cow<'a, str>,
    style: Style,
}

impl<'a> Cell<'a> {
    pub(crate) fn new(text: impl Into<Cow<'a, str>>, style: Style) -> Self {
        Self { text: text.into(), style }
    }
}

/// A row of cells, one for each column.
pub(crate) fn row(columns: &[Column], cells: Vec<Cell<'_>>) -> Line<'static> {
    let spans = columns.iter().zip(cells).flat_map(|(column, cell)| {
        [Span::raw(" "), Span::styled(fit(&cell.text, column.width, column.fit), cell.style)]
    });
    spans.collect()
}

/// The titles of columns; those of numbers stand above their last digits.
pub(crate) fn heading(columns: &[Column], style: Style) -> Line<'static> {
    let cells = columns.iter().map(|column| Cell::new(column.title, style)).collect();
    row(columns, cells).style(style)
}

/// The width that is left for the rest of a line beside these columns.
pub(crate) fn rest(width: u16, columns: &[Column]) -> usize {
    let taken: usize = columns.iter().map(|column| column.width + 1).sum();
    // One column is left free at the right, and one before what takes the rest.
    usize::from(width).saturating_sub(taken + 2)
}
