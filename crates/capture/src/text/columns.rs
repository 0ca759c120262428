//! Fits texts to the widths of columns.

use unicode_width::UnicodeWidthStr as _;

/// The alignment of a text in a column, and the part that is kept if it is too wide.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fit {
    /// Left-aligned; the start is kept.
    Start,
    /// Left-aligned; the end is kept, which is more significant in names.
    End,
    /// Right-aligned; the start is kept.
    Number,
}

/// A layout of adjacent columns, used for all aligned output.
///
/// ```
/// use capture::text::columns::{Fit, Grid};
///
/// let rows = [["calls", "12"], ["errors", "3"]].map(|row| row.map(str::to_owned));
/// let grid = Grid::around(&rows, [Fit::Start, Fit::Number], " ");
/// assert_eq!(rows.map(|row| grid.line(row)), ["calls  12", "errors  3"]);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grid {
    /// The width and the alignment of each column.
    columns: Vec<(usize, Fit)>,
    gap: &'static str,
}

impl Grid {
    /// Creates columns of these widths, with `gap` between them.
    pub fn new(columns: impl IntoIterator<Item = (usize, Fit)>, gap: &'static str) -> Self {
        Self { columns: columns.into_iter().collect(), gap }
    }

    /// Creates columns that are as wide as the widest texts in these rows.
    pub fn around<const N: usize>(rows: &[[String; N]], fits: [Fit; N], gap: &'static str) -> Self {
        let widest = |column: usize| rows.iter().map(|row| cells(&row[column])).max().unwrap_or(0);
        Self::new((0..N).map(widest).zip(fits), gap)
    }

    /// Returns the width of a line in cells.
    pub fn width(&self) -> usize {
        let widths: usize = self.columns.iter().map(|(width, _)| width).sum();
        widths + self.gap.len() * self.columns.len().saturating_sub(1)
    }

    /// Narrows a column until lines have at most `line` cells, but keeps at least `min` cells of
    /// it.
    pub fn narrow(&mut self, column: usize, line: usize, min: usize) {
        let others = self.width() - self.columns[column].0;
        let width = &mut self.columns[column].0;
        *width = (*width).min(line.saturating_sub(others).max(min));
    }

    /// Returns the texts of a row, each fitted to the width of its column.
    pub fn fitted<'t, T: AsRef<str>>(
        &'t self,
        row: impl IntoIterator<Item = T, IntoIter: 't>,
    ) -> impl Iterator<Item = String> + 't {
        self.columns.iter().zip(row).map(|(&(width, how), text)| fit(text.as_ref(), width, how))
    }

    /// Returns a row as a line without trailing blanks.
    pub fn line<T: AsRef<str>>(&self, row: impl IntoIterator<Item = T>) -> String {
        self.painted(row, |_, text| text)
    }

    /// Returns a row as a line. `paint` adds colors to the fitted texts, given the index of the
    /// column.
    pub fn painted<T: AsRef<str>>(
        &self,
        row: impl IntoIterator<Item = T>,
        paint: impl Fn(usize, String) -> String,
    ) -> String {
        let cells = self.fitted(row).enumerate().map(|(column, text)| paint(column, text));
        let mut line = cells.collect::<Vec<_>>().join(self.gap);
        line.truncate(line.trim_end().len());
        line
    }
}

/// Cuts or pads a text to exactly `width` cells.
pub fn fit(text: &str, width: usize, fit: Fit) -> String {
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

/// Cuts a text that is too wide, and marks the cut with an ellipsis.
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
        Fit::End if is_prose(text) => return cut(text, width, Fit::Start),
        Fit::End => program_with_unique(text, width).unwrap_or_else(|| {
            let end = text.chars().rev().take_while(&mut has_room);
            let kept = end.map(char::len_utf8).sum::<usize>();
            format!("{ELLIPSIS}{}", whole_words(text, kept))
        }),
    };
    let missing = width.saturating_sub(cells(&kept));
    kept + &" ".repeat(missing)
}

/// Returns true if a text is not a name or a label of a connection. Then its start is more
/// significant than its end.
fn is_prose(text: &str) -> bool {
    text.trim().contains(' ') && !text.contains(SEPARATORS) && !text.contains(" (:")
}

/// Cuts the program in a label such as `program (:1.9)`, and keeps the unique name whole. `None` if
/// the text is not such a label, or if too little of the program would be left.
pub(crate) fn program_with_unique(label: &str, width: usize) -> Option<String> {
    let (program, unique) = label.rsplit_once(" (:")?;
    let room = width.checked_sub(cells(unique) + " (:".len())?;
    (room >= PROGRAM_WIDTH_MIN).then(|| {
        let program = fit(program, room.min(cells(program)), Fit::Start);
        format!("{} (:{unique}", program.trim_end())
    })
}

/// The last `kept` bytes of a text; for a name, from the next whole word on, if there is one.
fn whole_words(text: &str, kept: usize) -> &str {
    let (start, rest) = text.split_at(text.len() - kept);
    if last_word(text).is_none() || start.ends_with(SEPARATORS) {
        return rest;
    }
    match rest.find(SEPARATORS) {
        Some(at) if at + 1 < rest.len() => &rest[at + 1..],
        _ => rest,
    }
}

/// The last word of a name with several words, such as an interface, member or path.
pub(crate) fn last_word(text: &str) -> Option<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let is_name = text.chars().all(|c| is_part(c) || SEPARATORS.contains(&c));
    let (_, word) = text.rsplit_once(SEPARATORS).filter(|_| is_name)?;
    (!word.is_empty()).then_some(word)
}

/// Wraps a text to lines of at most `width` cells. Longer words are not broken.
pub fn folded(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if cells(line) + 1 + cells(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Returns the number of terminal cells that a text takes.
pub fn cells(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

/// The minimum width of the name of a program, in cells. Less would be meaningless.
const PROGRAM_WIDTH_MIN: usize = 3;

const ELLIPSIS: &str = "\u{2026}";

/// The characters between the words of a name.
const SEPARATORS: [char; 2] = ['.', '/'];
