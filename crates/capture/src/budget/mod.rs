//! What a recording must not exceed: `p95(org.x.Y.Z) < 20ms`.
//!
//! ```
//! use capture::budget::{Budget, BudgetVerdict};
//! use capture::query::Query;
//! use testkit::recording::TestRecording;
//!
//! let mut recording = TestRecording::new();
//! let call = recording.call(":1.5", "org.example.Mail", "/ org.example.Mail.Count", &());
//! recording.wait_ms(80).reply(&call, ":1.6", &(7_u32,));
//! let capture = recording.capture();
//!
//! let budget: Budget = "max(org.example.Mail.*) < 20ms".parse()?;
//! assert_eq!(budget.check(&capture, &Query::default()).verdict, BudgetVerdict::Exceeded);
//! # Ok::<(), capture::budget::BudgetError>(())
//! ```

mod error;
mod parse;

use std::collections::HashMap;
use std::str::FromStr;
use std::time::Duration;

use crate::model::{Capture, CapturedMessage, TextId};
use crate::percentiles::Percentiles;
use crate::query::{Matcher, Pattern, Query};
use crate::record::nanos;
use crate::statistics::MessageGroup;
use crate::table::{Cell, Column, ColumnUnit, DataTable};

pub use error::{BudgetError, BudgetErrorKind};

/// A measure of some messages with its limit.
#[derive(Clone, Debug)]
pub struct Budget {
    text: String,
    measure: Measure,
    subject: BudgetSubject,
    relation: Relation,
    limit: u64,
}

/// What is measured.
#[derive(Clone, Copy, Debug)]
pub enum Measure {
    /// How many messages or calls of a kind there are.
    Count(fn(&MessageGroup) -> u64),
    /// A count that may be zero without a mistake in the name: of messages, calls or signals.
    CountOrNone(fn(&MessageGroup) -> u64),
    /// A property of the durations from call to return; errors are not among them.
    Time(fn(&Percentiles) -> Duration),
    /// Bytes of all messages.
    Bytes,
}

/// Of which messages.
#[derive(Clone, Debug)]
pub enum BudgetSubject {
    /// Those whose interface and member, with a point between, are so.
    Member(Pattern),
    /// Those that a query selects.
    Query(Query),
}

/// How a value must compare with its limit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Relation {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
}

/// What came of a budget.
#[derive(Clone, Debug)]
pub struct BudgetOutcome {
    /// The budget as it was written.
    pub text: String,
    /// What was found.
    pub found: Cell,
    /// Whether it is as it must be.
    pub verdict: BudgetVerdict,
}

worded_enum! {
    /// Whether a budget is kept.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum BudgetVerdict {
        /// It is.
        Kept = "ok",
        /// It is not.
        Exceeded = "FAILED",
        /// There is nothing to measure: a name may be written wrong.
        NothingFound = "FAILED: no such call",
    }
}

impl Budget {
    /// Measures those messages of a recording that `within` selects, without those of the recorder.
    pub fn check(&self, capture: &Capture, within: &Query) -> BudgetOutcome {
        let mut group = MessageGroup::default();
        let (mut within, mut subject) = (within.matcher(), self.subject.matcher());
        let mut selects = |one: &CapturedMessage<'_>| within.selects(one) && subject.selects(one);
        for message in capture.messages().filter(|message| selects(message)) {
            group.add(&message);
        }
        let value = self.is_there(&group).then(|| self.measure.of(&mut group)).flatten();
        let verdict = match value {
            None => BudgetVerdict::NothingFound,
            Some(value) if self.relation.holds(value, self.limit) => BudgetVerdict::Kept,
            Some(_) => BudgetVerdict::Exceeded,
        };
        let found = value.map_or(Cell::Absent, |value| self.measure.cell(value));
        BudgetOutcome { text: self.text.clone(), found, verdict }
    }

    /// Whether there is anything to measure. That nothing is there may be what is wanted of a query,
    /// or of what is counted.
    const fn is_there(&self, group: &MessageGroup) -> bool {
        match (&self.subject, self.measure) {
            (BudgetSubject::Query(_), _) | (_, Measure::CountOrNone(_)) => true,
            (BudgetSubject::Member(_), _) => group.messages > 0,
        }
    }
}

impl FromStr for Budget {
    type Err = BudgetError;

    fn from_str(text: &str) -> Result<Self, BudgetError> {
        parse::parse(text)
    }
}

/// Outcomes as a table.
pub fn table(outcomes: &[BudgetOutcome]) -> DataTable {
    DataTable::of(
        outcomes,
        &[
            (Column::text("verdict"), &|outcome| Cell::text(outcome.verdict.as_str())),
            (Column::text("budget"), &|outcome| Cell::text(&outcome.text)),
            (Column::number("found", ColumnUnit::Count), &|outcome| outcome.found.clone()),
        ],
    )
}

impl BudgetSubject {
    fn matcher(&self) -> SubjectMatcher<'_> {
        match self {
            Self::Query(query) => SubjectMatcher::Query(query.matcher()),
            Self::Member(pattern) => SubjectMatcher::Member(pattern, HashMap::new()),
        }
    }
}

/// What is measured, asked of messages one after the other.
enum SubjectMatcher<'b> {
    Query(Matcher<'b>),
    /// The pattern, and of which members it was asked already.
    Member(&'b Pattern, HashMap<(TextId, TextId), bool>),
}

impl SubjectMatcher<'_> {
    fn selects(&mut self, message: &CapturedMessage<'_>) -> bool {
        match self {
            Self::Query(matcher) => matcher.selects(message),
            Self::Member(pattern, known) => {
                let asked = message.call().unwrap_or(*message);
                let key = (asked.interface_id(), asked.member_id());
                *known.entry(key).or_insert_with(|| pattern.selects(&asked.full_member()))
            }
        }
    }
}

impl Measure {
    /// What is measured of messages; `None` if they have no such thing.
    fn of(self, group: &mut MessageGroup) -> Option<u64> {
        match self {
            Self::Count(count) | Self::CountOrNone(count) => Some(count(group)),
            Self::Bytes => Some(group.bytes),
            Self::Time(time) => Some(nanos(time(&Percentiles::of(&mut group.durations)?))),
        }
    }

    const fn cell(self, value: u64) -> Cell {
        match self {
            Self::Count(_) | Self::CountOrNone(_) => Cell::Count(value),
            Self::Bytes => Cell::Bytes(value),
            Self::Time(_) => Cell::nanos(value),
        }
    }
}

impl Relation {
    const fn holds(self, value: u64, limit: u64) -> bool {
        match self {
            Self::Below => value < limit,
            Self::AtMost => value <= limit,
            Self::Above => value > limit,
            Self::AtLeast => value >= limit,
            Self::Equal => value == limit,
            Self::NotEqual => value != limit,
        }
    }
}
