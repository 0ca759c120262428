//! Why a text is no budget.

use std::fmt;

use super::parse;
use crate::query::QueryError;

/// Why a text is no budget, and where.
#[derive(Clone, Debug)]
pub struct BudgetError {
    /// The column of the text, in characters from 1.
    pub column: usize,
    /// What is wrong there.
    pub kind: BudgetErrorKind,
}

/// What can be wrong with a budget.
#[derive(Clone, Debug)]
pub enum BudgetErrorKind {
    /// There is no measure of this name.
    UnknownMeasure {
        /// What stands there.
        found: String,
    },
    /// Behind a measure, what is measured must stand in parentheses.
    SubjectMissing,
    /// A parenthesis is never closed.
    ParenthesisOpen,
    /// What is measured is no query.
    Query(QueryError),
    /// A sign that compares must stand here.
    RelationMissing,
    /// The limit is a whole number.
    NotACount {
        /// What stands there.
        found: String,
    },
    /// The limit is a time with a unit.
    NotATime {
        /// What stands there.
        found: String,
    },
    /// The limit is a size.
    NotASize {
        /// What stands there.
        found: String,
    },
}

impl BudgetErrorKind {
    pub(super) const fn at(self, column: usize) -> BudgetError {
        BudgetError { column, kind: self }
    }
}

impl fmt::Display for BudgetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: ", self.column)?;
        match &self.kind {
            BudgetErrorKind::UnknownMeasure { found } => {
                let names: Vec<_> = parse::MEASURES.iter().map(|(name, _)| *name).collect();
                write!(f, "`{found}` is not measured; expected one of {}", names.join(", "))
            }
            BudgetErrorKind::SubjectMissing => {
                f.write_str("expected what is measured, in parentheses: `(org.x.Iface.Method)`")
            }
            BudgetErrorKind::ParenthesisOpen => f.write_str("the parenthesis is never closed"),
            BudgetErrorKind::Query(error) => write!(f, "the query: {error}"),
            BudgetErrorKind::RelationMissing => f.write_str("expected <, <=, >, >=, == or !="),
            BudgetErrorKind::NotACount { found } => limit(f, found, "a whole number, such as 10"),
            BudgetErrorKind::NotATime { found } => {
                limit(f, found, "a time with its unit, such as 20ms")
            }
            BudgetErrorKind::NotASize { found } => limit(f, found, "a size, such as 512 or 4KiB"),
        }
    }
}

/// That a limit is missing or malformed.
fn limit(f: &mut fmt::Formatter<'_>, found: &str, expected: &str) -> fmt::Result {
    match found {
        "" => write!(f, "the limit is missing; expected {expected}"),
        found => write!(f, "{found} is not a limit; expected {expected}"),
    }
}

impl std::error::Error for BudgetError {}
