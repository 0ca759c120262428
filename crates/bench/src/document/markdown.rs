//! The pieces of a document: tables, folded parts, texts without signs that mean something.

use std::fmt::{self, Write as _};

use crate::result::SubjectInfo;
use crate::show::{number, words};
use crate::summary::{Outcome, Row};

/// A table of some rows.
pub(super) struct Table<'a> {
    pub(super) rows: Vec<Row<'a>>,
    pub(super) subjects: &'a [String],
    pub(super) columns: Columns,
    pub(super) spread: Spread,
}

/// What stands before the figures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Columns {
    /// The case.
    Plain,
    /// The case, and what is measured there.
    WithMetric,
}

/// Whether figures tell how far the rounds are apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Spread {
    Shown,
    Hidden,
}

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has_floor = self.rows.iter().any(|row| row.floor_share().is_some());
        self.head(f, has_floor)?;
        for row in &self.rows {
            let case = escaped(&row.comparison.case.label);
            match self.columns {
                Columns::Plain => write!(f, "| {case} |")?,
                Columns::WithMetric => write!(f, "| {case}, {} |", unit(row))?,
            }
            for subject in self.subjects {
                write!(f, " {} |", self.cell(row, subject))?;
            }
            write!(f, " {} |", optional(row.ratio(), number::ratio))?;
            if has_floor {
                write!(f, " {} |", optional(row.floor_share(), number::percent))?;
            }
            f.write_char('\n')?;
        }
        Ok(())
    }
}

impl Table<'_> {
    fn head(&self, f: &mut fmt::Formatter<'_>, has_floor: bool) -> fmt::Result {
        f.write_str("| |")?;
        for subject in self.subjects {
            write!(f, " {} |", escaped(subject))?;
        }
        f.write_str(" to best |")?;
        f.write_str(if has_floor { " floor's share |" } else { "" })?;
        let columns = self.subjects.len() + 1 + usize::from(has_floor);
        writeln!(f, "\n| --- |{}", " ---: |".repeat(columns))
    }

    fn cell(&self, row: &Row<'_>, subject: &str) -> String {
        let Some(figure) = row.figure(subject) else {
            let outcome = row.comparison.find(subject);
            let has_failed = outcome.is_some_and(Outcome::has_failed);
            return if has_failed { "failed".to_owned() } else { number::ABSENT.to_owned() };
        };
        let median = number::significant(figure.median);
        let median = if row.is_best(subject) { format!("**{median}**") } else { median };
        match self.spread {
            Spread::Shown if figure.spread() >= SHOWN_SPREAD_MIN => {
                format!("{median} ±{}", number::percent(figure.spread()))
            }
            Spread::Shown | Spread::Hidden => median,
        }
    }
}

/// A part that one has to open.
pub(super) fn folded(title: &str, content: &str) -> String {
    let (title, content) = (escaped(title), content.trim_end());
    format!("<details><summary>{title}</summary>\n\n{content}\n\n</details>\n\n")
}

/// A subject with its version and its command.
pub(super) fn subject(subject: &SubjectInfo) -> String {
    let SubjectInfo { name, version, command } = subject;
    let mut text = format!("{} {}", escaped(name), escaped(version)).trim_end().to_owned();
    if let Some((program, arguments)) = command.split_first() {
        let command: Vec<String> =
            [public(program)].into_iter().chain(arguments.iter().cloned()).collect();
        let _ = write!(text, ": `{}`", words::command_line(&command));
    }
    text
}

/// The path of a program that is installed for all users, or else its file name: where somebody built it
/// means nothing elsewhere.
fn public(program: &str) -> String {
    match program.rsplit_once('/') {
        Some((folder, name)) if !folder.starts_with("/usr") => name.to_owned(),
        _ => program.to_owned(),
    }
}

/// A text in which no sign has a meaning.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            // Within a word it means nothing.
            '_' if escaped.ends_with(char::is_alphanumeric)
                && signs.peek().is_some_and(|next| next.is_alphanumeric()) =>
            {
                escaped.push(sign);
            }
            '\\' | '`' | '*' | '_' | '|' | '[' | ']' => escaped.extend(['\\', sign]),
            '<' => escaped.push_str("&lt;"),
            '&' => escaped.push_str("&amp;"),
            '\n' => escaped.push(' '),
            _ => escaped.push(sign),
        }
    }
    escaped
}

/// The unit of a row, or what is counted, with the direction.
pub(super) fn unit(row: &Row<'_>) -> String {
    let info = row.metric.info();
    let unit = if info.unit.sign().is_empty() { info.label } else { info.unit.sign() };
    format!("{unit} {}", words::arrow(info.better))
}

fn optional(value: Option<f64>, text: fn(f64) -> String) -> String {
    value.map_or(number::ABSENT.to_owned(), text)
}

/// Smaller ones are not worth the space.
const SHOWN_SPREAD_MIN: f64 = 0.005;
