//! Why a text is no budget.

use super::parse;
use crate::query::QueryError;

/// A malformed budget.
#[derive(Clone, Debug, thiserror::Error)]
#[error("column {column}: {kind}")]
pub struct BudgetError {
    /// The column of the text, in characters from 1.
    pub column: usize,
    /// What is wrong there.
    pub kind: BudgetErrorKind,
}

/// What can be wrong with a budget.
#[derive(Clone, Debug, thiserror::Error)]
pub enum BudgetErrorKind {
    /// No measure has this name.
    #[error("`{found}` is not measured; expected one of {}", measures())]
    UnknownMeasure {
        /// The text in the place of the measure.
        found: String,
    },
    /// A measure needs a query in parentheses.
    #[error("expected what is measured, in parentheses: `(org.x.Iface.Method)`")]
    SubjectMissing,
    /// A parenthesis is not closed.
    #[error("the parenthesis is never closed")]
    ParenthesisOpen,
    /// The text in parentheses is not a query.
    #[error("the query: {0}")]
    Query(QueryError),
    /// A comparison sign is missing.
    #[error("expected <, <=, >, >=, == or !=")]
    RelationMissing,
    /// The limit must be a whole number.
    #[error("{}", limit(found, "a whole number, such as 10"))]
    NotACount {
        /// The text in the place of the limit.
        found: String,
    },
    /// The limit must be a time with a unit.
    #[error("{}", limit(found, "a time with its unit, such as 20ms"))]
    NotATime {
        /// The text in the place of the limit.
        found: String,
    },
    /// The limit must be a size.
    #[error("{}", limit(found, "a size, such as 512 or 4KiB"))]
    NotASize {
        /// The text in the place of the limit.
        found: String,
    },
}

impl BudgetErrorKind {
    pub(super) const fn at(self, column: usize) -> BudgetError {
        BudgetError { column, kind: self }
    }
}

/// A limit is missing or malformed.
fn limit(found: &str, expected: &str) -> String {
    match found {
        "" => format!("the limit is missing; expected {expected}"),
        found => format!("{found} is not a limit; expected {expected}"),
    }
}

fn measures() -> String {
    parse::MEASURES.map(|(name, _)| name).join(", ")
}
