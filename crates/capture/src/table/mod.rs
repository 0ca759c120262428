//! Tables of results: one type for all commands.
//!
//! ```
//! use capture::table::{Cell, Column, DataTable, ColumnUnit};
//! use capture::text::Style;
//!
//! let mut table = DataTable::new([
//!     Column::text("service"),
//!     Column::number("calls", ColumnUnit::Count),
//!     Column::number("p90", ColumnUnit::Time),
//! ]);
//! table.push([Cell::text("org.example.Mail"), Cell::Count(12), Cell::nanos(1_200_000)]);
//! assert_eq!(table.to_text(Style::plain(80)), "\
//! service           calls      p90
//! org.example.Mail     12  1.20 ms
//! ");
//! assert_eq!(table.to_csv(), "service,calls,p90_ns\norg.example.Mail,12,1200000\n");
//! assert_eq!(
//!     serde_json::to_string(&table)?,
//!     r#"[{"service":"org.example.Mail","calls":12,"p90_ns":1200000}]"#,
//! );
//! # Ok::<(), serde_json::Error>(())
//! ```

mod csv;
mod json;
mod layout;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::time::Duration;

use serde::Serialize;

use crate::text::{Style, units, visible};
pub use csv::csv_line;

/// A table of results with named columns.
#[derive(Clone, PartialEq, Debug)]
pub struct DataTable {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    omitted: usize,
    notes: Vec<String>,
}

/// A column of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Column {
    /// The heading. With the suffix of the unit, it is the key in JSON and CSV.
    pub name: &'static str,
    /// The unit of the cells.
    pub unit: ColumnUnit,
    /// The importance of the column if a line is too narrow for the table.
    pub need: Need,
}

/// The units of cells.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Unit"))]
#[serde(rename_all = "lowercase")]
pub enum ColumnUnit {
    /// The cells are texts.
    Text,
    /// The cells are numbers of items.
    Count,
    /// The cells are numbers of bytes.
    Bytes,
    /// The cells are durations.
    Time,
    /// The cells are fractions of a whole, from 0 to 1.
    Share,
    /// The cells are numbers per second.
    Rate,
    /// The cells are averages, shown with one decimal.
    Mean,
}

/// The importance of a column in lines that are too narrow for the table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Need {
    /// The column is left out first.
    Spare,
    /// The column is left out before the last words of names are cut.
    Helpful,
    /// The column is always shown. Texts in it are cut.
    Always,
}

/// A value in a row of a table.
#[derive(Clone, PartialEq, Debug)]
pub enum Cell {
    /// The value is unknown or absent.
    Absent,
    /// A text without a unit.
    Text(String),
    /// A number of items.
    Count(u64),
    /// A number of bytes.
    Bytes(u64),
    /// A length of time.
    Time(Duration),
    /// A fraction of a whole, from 0 to 1.
    Share(f64),
    /// A number per second.
    Rate(f64),
    /// An average of numbers.
    Mean(f64),
    /// A value that needs attention, which a terminal shows in red.
    Alarm(Box<Self>),
}

/// A column, with the function that computes its cells from the items of the rows.
pub(crate) type FilledColumn<'f, R> = (Column, &'f dyn Fn(&R) -> Cell);

impl Column {
    /// Creates a column of texts.
    pub const fn text(name: &'static str) -> Self {
        Self { name, unit: ColumnUnit::Text, need: Need::Always }
    }

    /// Creates a column of numbers.
    pub const fn number(name: &'static str, unit: ColumnUnit) -> Self {
        Self { name, unit, need: Need::Always }
    }

    /// Marks the column to be left out first if there is no room.
    pub const fn spare(self) -> Self {
        Self { need: Need::Spare, ..self }
    }

    /// Marks the column to be left out before the last words of names are cut.
    pub const fn helpful(self) -> Self {
        Self { need: Need::Helpful, ..self }
    }

    /// Returns the key of the column in JSON and CSV, which ends with the unit: `p90_ns`.
    pub fn key(&self) -> Cow<'static, str> {
        let (name, unit) = (self.name.replace([' ', '-'], "_").to_lowercase(), self.unit.suffix());
        match unit {
            _ if name == unit.trim_start_matches('_') => name.into(),
            unit => format!("{name}{unit}").into(),
        }
    }
}

impl ColumnUnit {
    /// The suffix of keys in JSON and CSV.
    const fn suffix(self) -> &'static str {
        match self {
            Self::Text | Self::Count | Self::Share => "",
            Self::Bytes => "_bytes",
            Self::Time => "_ns",
            Self::Rate => "_per_s",
            Self::Mean => "_mean",
        }
    }
}

impl Cell {
    /// Creates a text cell. Control characters in the text are escaped when it is shown.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Creates a text cell; absent if there is no text.
    pub fn text_or_absent(text: Option<impl Into<String>>) -> Self {
        text.map_or(Self::Absent, Self::text)
    }

    /// A cell with a duration; absent if it is unknown.
    pub(crate) fn time_or_absent(time: Option<Duration>) -> Self {
        time.map_or(Self::Absent, Self::Time)
    }

    /// Creates a cell with a duration in nanoseconds.
    pub const fn nanos(nanos: u64) -> Self {
        Self::Time(Duration::from_nanos(nanos))
    }

    /// Creates a cell with the fraction that `part` is of `whole`; absent if `whole` is 0.
    pub fn share(part: u64, whole: u64) -> Self {
        if whole == 0 { Self::Absent } else { Self::Share(part as f64 / whole as f64) }
    }

    /// Creates a cell with the average of `count` values from their sum; absent if `count` is 0.
    pub fn mean(sum: u64, count: u64) -> Self {
        if count == 0 { Self::Absent } else { Self::Mean(sum as f64 / count as f64) }
    }

    /// Creates a cell with a number per second; absent if `span` is zero.
    pub fn rate(count: u64, span: Duration) -> Self {
        if span.is_zero() { Self::Absent } else { Self::Rate(count as f64 / span.as_secs_f64()) }
    }

    /// Turns the cell into an alarm if `is_bad`.
    #[must_use]
    pub fn alarm_if(self, is_bad: bool) -> Self {
        if is_bad { Self::Alarm(Box::new(self)) } else { self }
    }

    /// The text for people. Units are padded to equal widths for alignment.
    fn shown(&self) -> String {
        match self {
            Self::Absent => String::new(),
            Self::Text(text) => visible::printable(text).into_owned(),
            Self::Count(count) => units::grouped(*count),
            Self::Bytes(bytes) => units::bytes_aligned(*bytes as f64),
            Self::Time(time) => units::duration_aligned(*time),
            Self::Share(share) => units::share(*share),
            Self::Rate(rate) => format!("{}/s", units::count(*rate)),
            Self::Mean(mean) => format!("{mean:.1}"),
            Self::Alarm(cell) => cell.shown(),
        }
    }

    /// The order of cells when sorted: larger numbers first, texts alphabetically, absent cells
    /// last.
    fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Alarm(one), other) => one.order(other),
            (one, Self::Alarm(other)) => one.order(other),
            (Self::Text(one), Self::Text(other)) => one.cmp(other),
            (Self::Absent, Self::Absent) => Ordering::Equal,
            (Self::Absent, _) => Ordering::Greater,
            (_, Self::Absent) => Ordering::Less,
            (Self::Count(one), Self::Count(other)) | (Self::Bytes(one), Self::Bytes(other)) => {
                other.cmp(one)
            }
            (Self::Time(one), Self::Time(other)) => other.cmp(one),
            (Self::Share(one), Self::Share(other))
            | (Self::Rate(one), Self::Rate(other))
            | (Self::Mean(one), Self::Mean(other)) => other.total_cmp(one),
            _ => Ordering::Equal,
        }
    }
}

impl DataTable {
    /// Creates an empty table.
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Self {
            columns: columns.into_iter().collect(),
            rows: Vec::new(),
            omitted: 0,
            notes: Vec::new(),
        }
    }

    /// Creates a table with a row for each item. The functions compute the cells of the columns.
    pub(crate) fn of<R>(
        rows: impl IntoIterator<Item = R>,
        columns: &[FilledColumn<'_, R>],
    ) -> Self {
        let mut table = Self::new(columns.iter().map(|(column, _)| *column));
        for row in rows {
            table.push(columns.iter().map(|(_, cell)| cell(&row)));
        }
        table
    }

    /// Returns the columns of the table.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns the rows, with one cell for each column.
    pub fn rows(&self) -> &[Vec<Cell>] {
        &self.rows
    }

    /// Returns the number of rows that were left out.
    pub const fn omitted(&self) -> usize {
        self.omitted
    }

    /// Returns caveats about the numbers, as sentences without a full stop.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Adds a caveat about the numbers.
    pub fn add_note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Appends a row to the table.
    ///
    /// # Panics
    ///
    /// If the number of cells differs from the number of columns.
    #[track_caller]
    pub fn push(&mut self, row: impl IntoIterator<Item = Cell>) {
        let row: Vec<_> = row.into_iter().collect();
        assert_eq!(row.len(), self.columns.len(), "a cell for each column");
        self.rows.push(row);
    }

    /// Sorts the rows by a column, which is given by name or key: larger numbers first, texts
    /// alphabetically. Equal rows stay in their order.
    ///
    /// # Errors
    ///
    /// If there is no such column.
    pub fn sort(&mut self, name: &str) -> Result<(), NoSuchColumn> {
        let is_meant = |column: &Column| column.name == name || column.key() == name;
        let found = self.columns.iter().position(is_meant);
        let index = found.ok_or_else(|| NoSuchColumn {
            asked: name.to_owned(),
            names: self.columns.iter().map(|column| column.name).collect(),
        })?;
        self.rows.sort_by(|one, other| one[index].order(&other[index]));
        // Without this column, the order of the rows would be unclear.
        self.columns[index].need = Need::Always;
        Ok(())
    }

    /// Removes the columns with these names.
    #[must_use]
    pub fn without(mut self, names: &[&str]) -> Self {
        let stays: Vec<bool> =
            self.columns.iter().map(|column| !names.contains(&column.name)).collect();
        for row in &mut self.rows {
            let mut places = stays.iter();
            row.retain(|_| places.next().is_none_or(|stays| *stays));
        }
        let mut places = stays.iter();
        self.columns.retain(|_| places.next().is_none_or(|stays| *stays));
        self
    }

    /// Marks a column to be shown even if there is little room.
    #[must_use]
    pub fn with_needed(mut self, name: &str) -> Self {
        let needed = self.columns.iter_mut().filter(|column| column.name == name);
        needed.for_each(|column| column.need = Need::Always);
        self
    }

    /// Returns true if a column is shown in lines of the width of the style.
    pub fn shows(&self, name: &str, style: Style) -> bool {
        let widths = self.shown_widths(style.width);
        let mut columns = self.columns.iter().zip(widths);
        columns.any(|(column, width)| column.name == name && width.is_some())
    }

    /// Keeps the first `rows` rows and counts the others as omitted.
    pub fn truncate(&mut self, rows: usize) {
        self.omitted += self.rows.len().saturating_sub(rows);
        self.rows.truncate(rows);
    }
}

/// The error returned if a table has no column with the requested name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no column `{asked}`; expected one of {}", names.join(", "))]
pub struct NoSuchColumn {
    /// The column that was requested.
    pub asked: String,
    /// The columns of the table.
    pub names: Vec<&'static str>,
}
