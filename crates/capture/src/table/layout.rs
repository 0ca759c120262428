//! Tables for people: aligned columns that fit the width of a line.

use super::{Cell, ColumnUnit, DataTable, Need};
use crate::text::Style;
use crate::text::columns::{Fit, Grid, cells, last_word};

impl DataTable {
    /// Returns the table as lines that are at most as wide as the style states, if the columns of
    /// numbers fit. Empty columns are left out.
    pub fn to_text(&self, style: Style) -> String {
        let rows = self.shown_rows();
        let widths = self.widths(&rows, style.width);
        let shown: Vec<usize> =
            (0..widths.len()).filter(|&index| widths[index].is_some()).collect();
        let fits = self.columns.iter().map(|column| column.unit.fit());
        let columns = widths.into_iter().zip(fits).filter_map(|(width, fit)| Some((width?, fit)));
        let grid = Grid::new(columns, GAP);
        let names = grid.line(shown.iter().map(|&index| self.columns[index].name));
        let mut text = style.strong(names) + "\n";
        for (row, cells) in rows.iter().zip(&self.rows) {
            let line = grid.painted(shown.iter().map(|&index| &row[index]), |column, text| {
                match &cells[shown[column]] {
                    Cell::Alarm(_) => style.alarm(text),
                    _ => text,
                }
            });
            text.push_str(&line);
            text.push('\n');
        }
        text
    }

    /// The width of each column in lines of this width; `None` for columns that are left out.
    pub(super) fn shown_widths(&self, line: usize) -> Vec<Option<usize>> {
        self.widths(&self.shown_rows(), line)
    }

    fn shown_rows(&self) -> Vec<Vec<String>> {
        let shown = |row: &Vec<Cell>| row.iter().map(Cell::shown).collect();
        self.rows.iter().map(shown).collect()
    }

    fn widths(&self, rows: &[Vec<String>], line: usize) -> Vec<Option<usize>> {
        let natural = |index: usize| {
            let widest = rows.iter().map(|row| cells(row[index].trim_end())).max()?;
            let unpadded = rows.iter().map(|row| cells(&row[index])).max()?;
            let is_empty = widest == 0;
            (!is_empty).then_some(unpadded.max(cells(self.columns[index].name)))
        };
        let mut widths: Vec<_> = match rows {
            [] => {
                (0..self.columns.len()).map(|index| Some(cells(self.columns[index].name))).collect()
            }
            _ => (0..self.columns.len()).map(natural).collect(),
        };
        let readable = self.readable(rows);
        self.drop(&mut widths, line, Need::Spare, &vec![TEXT_WIDTH_GOOD; readable.len()]);
        self.drop(&mut widths, line, Need::Helpful, &readable);
        self.shrink_texts(&mut widths, line, &readable);
        self.shrink_texts(&mut widths, line, &vec![TEXT_WIDTH_MIN; readable.len()]);
        widths
    }

    /// The minimum width of each column at which its texts can be distinguished.
    fn readable(&self, rows: &[Vec<String>]) -> Vec<usize> {
        let widest = |index: usize| {
            let texts = rows.iter().map(|row| row[index].trim_end());
            texts.map(readable_cells).max().unwrap_or(0).min(TEXT_WIDTH_GOOD)
        };
        (0..self.columns.len()).map(widest).collect()
    }

    /// Narrows the widest text column repeatedly, until the line fits, or all are at their minimum.
    fn shrink_texts(&self, widths: &mut [Option<usize>], line: usize, min: &[usize]) {
        while total(widths) > line {
            let texts = self.columns.iter().zip(&mut *widths).zip(min);
            let texts = texts.filter_map(|((column, width), min)| {
                width.as_mut().filter(|width| column.unit == ColumnUnit::Text && **width > *min)
            });
            let Some(widest) = texts.max_by_key(|width| **width) else { return };
            *widest -= 1;
        }
    }

    /// Leaves out columns of this need, from the last, until the line fits with texts at their
    /// minimum widths.
    fn drop(&self, widths: &mut [Option<usize>], line: usize, need: Need, min: &[usize]) {
        for index in (0..self.columns.len()).rev() {
            let mut shrunk = widths.to_vec();
            self.shrink_texts(&mut shrunk, line, min);
            if total(&shrunk) > line && self.columns[index].need == need {
                widths[index] = None;
            }
        }
    }
}

impl ColumnUnit {
    const fn fit(self) -> Fit {
        match self {
            Self::Text => Fit::End,
            _ => Fit::Number,
        }
    }
}

fn total(widths: &[Option<usize>]) -> usize {
    let taken = widths.iter().flatten().map(|width| width + GAP.len());
    taken.sum::<usize>().saturating_sub(GAP.len())
}

/// The number of cells by which a text can be recognized: for a name, its last word and the
/// ellipsis before it.
fn readable_cells(text: &str) -> usize {
    let word = last_word(text).map_or(0, |word| cells(word) + 1);
    word.max(cells(text).min(TEXT_WIDTH_DISTINCT))
}

const GAP: &str = "  ";

/// The width of texts, in cells, above which other columns are not left out for them.
const TEXT_WIDTH_GOOD: usize = 36;

/// The width, in cells, at which most texts can be distinguished.
const TEXT_WIDTH_DISTINCT: usize = 16;

/// The minimum width of a text, in cells.
const TEXT_WIDTH_MIN: usize = 8;
