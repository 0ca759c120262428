//! Lists of rows below a heading, and tables whose columns keep their widths while the values
//! change.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use capture::text::columns::{Fit, Grid};

use super::palette::ScreenPalette;
use super::scroll::Scroll;

/// Draws a heading and the visible rows below it. `row` returns the line of the row with an index.
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

/// Draws the visible rows. `row` returns the line of the row with an index.
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

/// The line `index` of an area; empty if the area is not high enough.
pub(crate) fn line_of(area: Rect, index: u16) -> Rect {
    let line = Rect { y: area.y.saturating_add(index), height: 1, ..area };
    line.intersection(area)
}

/// A column of a [`LiveTable`] with rows of this type.
pub(crate) struct LiveColumn<R> {
    title: &'static str,
    width: ColumnWidth,
    fit: Fit,
    /// The minimum width of the terminal for which the column is shown.
    from: u16,
    /// Returns the text of a row and its style. The number is the width of the column in cells.
    cell: fn(&R, ScreenPalette, usize) -> (String, Style),
}

/// The width of a column, which does not depend on its texts.
#[derive(Clone, Copy)]
enum ColumnWidth {
    Cells(usize),
    /// A part of the remaining cells, or all of them for the last such column.
    Rest(fn(usize) -> usize),
}

impl<R> LiveColumn<R> {
    /// A column of this many cells, which is shown from this width of the terminal.
    pub(crate) const fn fixed(
        title: &'static str,
        width: usize,
        fit: Fit,
        from: u16,
        cell: fn(&R, ScreenPalette, usize) -> (String, Style),
    ) -> Self {
        Self { title, width: ColumnWidth::Cells(width), fit, from, cell }
    }

    /// A column that takes the remaining width, or a part of it if a later column does the same.
    pub(crate) const fn rest(
        title: &'static str,
        part: fn(usize) -> usize,
        fit: Fit,
        from: u16,
        cell: fn(&R, ScreenPalette, usize) -> (String, Style),
    ) -> Self {
        Self { title, width: ColumnWidth::Rest(part), fit, from, cell }
    }
}

/// A table as wide as the terminal.
pub(crate) struct LiveTable<R: 'static> {
    pub(crate) columns: &'static [LiveColumn<R>],
    /// The title of the column by which the rows are sorted, and the mark after it.
    pub(crate) sorted: Option<(&'static str, char)>,
    pub(crate) heading: Style,
    pub(crate) palette: ScreenPalette,
}

impl<R> LiveTable<R> {
    /// Draws the table with these rows.
    pub(crate) fn draw(&self, frame: &mut Frame<'_>, area: Rect, rows: &[&R], scroll: &mut Scroll) {
        let shown = self.columns.iter().filter(|column| column.from <= area.width);
        let shown: Vec<_> = shown.collect();
        let widths = widths(&shown, area.width);
        let grid =
            Grid::new(widths.iter().copied().zip(shown.iter().map(|column| column.fit)), " ");
        let line = |cells: Vec<(String, Style)>| -> Line<'static> {
            let (texts, styles): (Vec<_>, Vec<_>) = cells.into_iter().unzip();
            let cells = grid.fitted(texts).zip(styles);
            cells.flat_map(|(text, style)| [Span::raw(" "), Span::styled(text, style)]).collect()
        };
        let titles = shown.iter().map(|column| match self.sorted {
            Some((title, mark)) if title == column.title => format!("{title}{mark}"),
            _ => column.title.to_owned(),
        });
        let heading = line(titles.map(|title| (title, self.heading)).collect());
        draw_list(frame, area, heading.style(self.heading), rows.len(), scroll, |place| {
            let columns = shown.iter().zip(&widths);
            let cell = |(column, width): (&&LiveColumn<R>, &usize)| {
                (column.cell)(rows[place], self.palette, *width)
            };
            line(columns.map(cell).collect())
        });
    }
}

/// The width of each column on a terminal of this width. One cell at the right stays free.
fn widths<R>(columns: &[&LiveColumn<R>], width: u16) -> Vec<usize> {
    let fixed = columns.iter().map(|column| match column.width {
        ColumnWidth::Cells(width) => width,
        ColumnWidth::Rest(_) => 0,
    });
    let taken = fixed.sum::<usize>() + columns.len();
    let mut left = usize::from(width).saturating_sub(taken + 2) + 1;
    let is_rest = |column: &&LiveColumn<R>| matches!(column.width, ColumnWidth::Rest(_));
    let last = columns.iter().rposition(is_rest);
    let width = |(place, column): (usize, &&LiveColumn<R>)| match column.width {
        ColumnWidth::Cells(width) => width,
        ColumnWidth::Rest(_) if Some(place) == last => left,
        ColumnWidth::Rest(part) => {
            let width = part(left);
            left -= width;
            width
        }
    };
    columns.iter().enumerate().map(width).collect()
}
