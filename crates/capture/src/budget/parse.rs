//! The parser of budgets: `MEASURE(SUBJECT) RELATION LIMIT`.

use super::{Budget, BudgetError, BudgetErrorKind, BudgetSubject, Measure, Relation};
use crate::model::CallOutcome;
use crate::percentiles::Percentiles;
use crate::query::{Pattern, Query};
use crate::statistics::MessageGroup;
use crate::text::amount::Scale;

pub(super) fn parse(text: &str) -> Result<Budget, BudgetError> {
    let column = |rest: &str| text[..text.len() - rest.len()].chars().count() + 1;
    let rest = text.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(rest.len());
    let (name, behind) = rest.split_at(end);
    let known = MEASURES.iter().find(|(known, _)| *known == name);
    let (_, measure) = known.ok_or_else(|| {
        BudgetErrorKind::UnknownMeasure { found: name.to_owned() }.at(column(rest))
    })?;
    let inside = behind.trim_start().strip_prefix('(');
    let inside = inside.ok_or_else(|| BudgetErrorKind::SubjectMissing.at(column(behind)))?;
    let end =
        closing(inside).ok_or_else(|| BudgetErrorKind::ParenthesisOpen.at(column(inside) - 1))?;
    let subject = subject(&inside[..end]).map_err(|kind| kind.at(column(inside)))?;
    let rest = inside[end + 1..].trim_start();
    let (relation, limit) =
        relation(rest).ok_or_else(|| BudgetErrorKind::RelationMissing.at(column(rest)))?;
    let limit = limit.trim_start();
    let value = measure.limit(limit.trim_end()).map_err(|kind| kind.at(column(limit)))?;
    Ok(Budget { text: text.trim().to_owned(), measure: *measure, subject, relation, limit: value })
}

/// The position of the closing parenthesis that matches an opening one before the text. Queries
/// have parentheses too.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 1_usize;
    for (index, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(index);
        }
    }
    None
}

/// Parses a subject. A single word without the signs of queries is the name of a member.
fn subject(text: &str) -> Result<BudgetSubject, BudgetErrorKind> {
    let text = text.trim();
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '*' | '-');
    match text {
        "" => Err(BudgetErrorKind::SubjectMissing),
        name if name.chars().all(is_name) => Ok(BudgetSubject::Member(Pattern::glob(name))),
        query => Query::parse(query).map(BudgetSubject::Query).map_err(BudgetErrorKind::Query),
    }
}

fn relation(text: &str) -> Option<(Relation, &str)> {
    RELATIONS.iter().find_map(|(sign, relation)| Some((*relation, text.strip_prefix(sign)?)))
}

impl Measure {
    fn limit(self, text: &str) -> Result<u64, BudgetErrorKind> {
        let found = || text.to_owned();
        match self {
            Self::Count(_) | Self::CountOrNone(_) => {
                text.parse().map_err(|_| BudgetErrorKind::NotACount { found: found() })
            }
            Self::Bytes => {
                Scale::BYTES.read(text).map_err(|_| BudgetErrorKind::NotASize { found: found() })
            }
            Self::Time(_) => {
                Scale::TIME.read(text).map_err(|_| BudgetErrorKind::NotATime { found: found() })
            }
        }
    }
}

/// All measures, by name.
pub(super) const MEASURES: [(&str, Measure); 14] = [
    ("calls", Measure::CountOrNone(|group| group.calls)),
    ("signals", Measure::CountOrNone(|group| group.signals)),
    ("messages", Measure::CountOrNone(|group| group.messages)),
    ("errors", Measure::Count(MessageGroup::failures)),
    ("time-outs", Measure::Count(|group| group.calls_that(CallOutcome::TimedOut))),
    ("unanswered", Measure::Count(MessageGroup::unanswered)),
    ("bytes", Measure::Bytes),
    ("p50", Measure::Time(|times| times.p50)),
    ("p90", Measure::Time(|times| times.p90)),
    ("p95", Measure::Time(|times| times.p95)),
    ("p99", Measure::Time(|times| times.p99)),
    ("max", Measure::Time(|times| times.max)),
    ("mean", Measure::Time(Percentiles::mean)),
    ("total", Measure::Time(|times| times.total)),
];

/// All relations; of signs with the same beginning, the longer one is first.
const RELATIONS: [(&str, Relation); 6] = [
    ("<=", Relation::AtMost),
    (">=", Relation::AtLeast),
    ("==", Relation::Equal),
    ("!=", Relation::NotEqual),
    ("<", Relation::Below),
    (">", Relation::Above),
];
