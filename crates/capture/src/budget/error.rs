//! Errors of malformed budgets.

use super::parse;
use crate::query::QueryError;

/// The error of a malformed budget.
#[derive(Clone, Debug, thiserror::Error)]
#[error("column {column}: {kind}")]
pub struct BudgetError {
    /// The column of the error, in characters from 1.
    pub column: usize,
    /// The reason why the budget is malformed.
    pub kind: BudgetErrorKind,
}

/// The reason why a budget is malformed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum BudgetErrorKind {
    /// No measure has this name.
    #[error("`{found}` is not a measure; expected one of {}", measures())]
    UnknownMeasure {
        /// The text at the position of the measure.
        found: String,
    },
    /// A measure needs a query in parentheses.
    #[error("expected a member or a query in parentheses: `(org.x.Iface.Method)`")]
    SubjectMissing,
    /// A parenthesis is not closed.
    #[error("the parenthesis is not closed")]
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
        /// The text at the position of the limit.
        found: String,
    },
    /// The limit must be a time with a unit.
    #[error("{}", limit(found, "a time with its unit, such as 20ms"))]
    NotATime {
        /// The text at the position of the limit.
        found: String,
    },
    /// The limit must be a size.
    #[error("{}", limit(found, "a size, such as 512 or 4KiB"))]
    NotASize {
        /// The text at the position of the limit.
        found: String,
    },
}

impl BudgetErrorKind {
    pub(super) const fn at(self, column: usize) -> BudgetError {
        BudgetError { column, kind: self }
    }
}

/// Formats an error about a missing or malformed limit.
fn limit(found: &str, expected: &str) -> String {
    match found {
        "" => format!("the limit is missing; expected {expected}"),
        found => format!("{found} is not a limit; expected {expected}"),
    }
}

fn measures() -> String {
    parse::MEASURES.map(|(name, _)| name).join(", ")
}
