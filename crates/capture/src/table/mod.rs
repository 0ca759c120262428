//! What was found out, in rows and columns: one type for all commands.
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

/// Rows and columns.
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
    /// What stands above it; with the unit behind it, its key in JSON and CSV.
    pub name: &'static str,
    /// What is in it.
    pub unit: ColumnUnit,
    /// What becomes of it where a line is too short for the table.
    pub need: Need,
}

/// What is in a column.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Unit"))]
#[serde(rename_all = "lowercase")]
pub enum ColumnUnit {
    /// Texts.
    Text,
    /// How many.
    Count,
    /// How many bytes.
    Bytes,
    /// A length of time.
    Time,
    /// A part of a whole, from 0 to 1.
    Share,
    /// How many in a second.
    Rate,
    /// How many on average, with one decimal for people.
    Mean,
}

/// What becomes of a column where a line is too short for the table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Need {
    /// It is left out first.
    Spare,
    /// It is left out before the last words of names would be cut.
    Helpful,
    /// It stays; if it is a text, it is cut.
    Always,
}

/// What stands in a row under a column.
#[derive(Clone, PartialEq, Debug)]
pub enum Cell {
    /// Nothing is known, or there is nothing.
    Absent,
    /// A text.
    Text(String),
    /// How many.
    Count(u64),
    /// How many bytes.
    Bytes(u64),
    /// A length of time.
    Time(Duration),
    /// A part of a whole, from 0 to 1.
    Share(f64),
    /// How many in a second.
    Rate(f64),
    /// How many on average.
    Mean(f64),
    /// Bad news: another value, which a terminal shows in red.
    Alarm(Box<Self>),
}

/// A column with the function that makes its cells from the items of the rows.
pub(crate) type FilledColumn<'f, R> = (Column, &'f dyn Fn(&R) -> Cell);

impl Column {
    /// A column of texts.
    pub const fn text(name: &'static str) -> Self {
        Self { name, unit: ColumnUnit::Text, need: Need::Always }
    }

    /// A column of numbers.
    pub const fn number(name: &'static str, unit: ColumnUnit) -> Self {
        Self { name, unit, need: Need::Always }
    }

    /// The same column, which is left out where there is no room.
    pub const fn spare(self) -> Self {
        Self { need: Need::Spare, ..self }
    }

    /// The same column, which is left out before names are cut so short that they say nothing.
    pub const fn helpful(self) -> Self {
        Self { need: Need::Helpful, ..self }
    }

    /// Its key in JSON and CSV, which ends in the unit: `p90_ns`.
    pub fn key(&self) -> Cow<'static, str> {
        let (name, unit) = (self.name.replace([' ', '-'], "_").to_lowercase(), self.unit.suffix());
        match unit {
            _ if name == unit.trim_start_matches('_') => name.into(),
            unit => format!("{name}{unit}").into(),
        }
    }
}

impl ColumnUnit {
    /// What the keys of JSON and CSV end in.
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
    /// A text. What would speak to the terminal is made visible where it is shown.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A text, if there is one.
    pub fn text_or_absent(text: Option<impl Into<String>>) -> Self {
        text.map_or(Self::Absent, Self::text)
    }

    /// A length of time, if it is known.
    pub(crate) fn time_or_absent(time: Option<Duration>) -> Self {
        time.map_or(Self::Absent, Self::Time)
    }

    /// A length of time.
    pub const fn nanos(nanos: u64) -> Self {
        Self::Time(Duration::from_nanos(nanos))
    }

    /// What part of `whole` this is; absent if there is no whole.
    pub fn share(part: u64, whole: u64) -> Self {
        if whole == 0 { Self::Absent } else { Self::Share(part as f64 / whole as f64) }
    }

    /// How many of a sum each of `count` has on average; absent if there are none.
    pub fn mean(sum: u64, count: u64) -> Self {
        if count == 0 { Self::Absent } else { Self::Mean(sum as f64 / count as f64) }
    }

    /// How many in a second; absent if no time has passed.
    pub fn rate(count: u64, span: Duration) -> Self {
        if span.is_zero() { Self::Absent } else { Self::Rate(count as f64 / span.as_secs_f64()) }
    }

    /// The same cell, as an alarm if `is_bad`.
    #[must_use]
    pub fn alarm_if(self, is_bad: bool) -> Self {
        if is_bad { Self::Alarm(Box::new(self)) } else { self }
    }

    /// As people read it; in a column of numbers all units are equally wide.
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

    /// The larger number first, texts by the alphabet, what is absent last.
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
    /// An empty table.
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Self {
            columns: columns.into_iter().collect(),
            rows: Vec::new(),
            omitted: 0,
            notes: Vec::new(),
        }
    }

    /// A table with a row for each item. Each column has the function that makes its cells.
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

    /// Its columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Its rows, with a cell for each column.
    pub fn rows(&self) -> &[Vec<Cell>] {
        &self.rows
    }

    /// How many rows were left out.
    pub const fn omitted(&self) -> usize {
        self.omitted
    }

    /// What to know before its numbers are believed, in sentences without a full stop.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Adds a note.
    pub fn add_note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Adds a row.
    ///
    /// # Panics
    ///
    /// If it has not a cell for each column.
    #[track_caller]
    pub fn push(&mut self, row: impl IntoIterator<Item = Cell>) {
        let row: Vec<_> = row.into_iter().collect();
        assert_eq!(row.len(), self.columns.len(), "a cell for each column");
        self.rows.push(row);
    }

    /// Sorts by a column, by its name or key: the largest number first, texts by the alphabet.
    /// Equal rows stay in their order.
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
        // Without it the order could not be understood.
        self.columns[index].need = Need::Always;
        Ok(())
    }

    /// The same table without the columns of these names.
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

    /// The same table, in which this column stays where there is little room.
    #[must_use]
    pub fn with_needed(mut self, name: &str) -> Self {
        let needed = self.columns.iter_mut().filter(|column| column.name == name);
        needed.for_each(|column| column.need = Need::Always);
        self
    }

    /// Whether a column is there in lines of this width.
    pub fn shows(&self, name: &str, style: Style) -> bool {
        let widths = self.shown_widths(style.width);
        let mut columns = self.columns.iter().zip(widths);
        columns.any(|(column, width)| column.name == name && width.is_some())
    }

    /// Leaves out all rows but the first.
    pub fn truncate(&mut self, rows: usize) {
        self.omitted += self.rows.len().saturating_sub(rows);
        self.rows.truncate(rows);
    }
}

/// A table has no column of the requested name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no column `{asked}`; expected one of {}", names.join(", "))]
pub struct NoSuchColumn {
    /// The requested column.
    pub asked: String,
    /// The columns of the table.
    pub names: Vec<&'static str>,
}
