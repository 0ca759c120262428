//! Budgets: limits that a recording must keep, such as `p95(org.x.Y.Z) < 20ms`.
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

use std::borrow::Cow;
use std::collections::HashMap;
use std::str::FromStr;
use std::time::Duration;

use crate::model::{Capture, CapturedMessage, TextId};
use crate::percentiles::Percentiles;
use crate::query::{Matcher, Pattern, Query, likely};
use crate::record::nanos;
use crate::statistics::MessageGroup;
use crate::table::{Cell, Column, ColumnUnit, DataTable};

pub use error::{BudgetError, BudgetErrorKind};

/// A limit for a measure of some messages.
#[derive(Clone, Debug)]
pub struct Budget {
    text: String,
    measure: Measure,
    subject: BudgetSubject,
    relation: Relation,
    limit: u64,
}

/// A quantity that a budget limits.
#[derive(Clone, Copy, Debug)]
pub enum Measure {
    /// The number of messages or calls of a kind.
    Count(fn(&MessageGroup) -> u64),
    /// The number of messages, calls or signals. Zero does not suggest a misspelled name.
    CountOrNone(fn(&MessageGroup) -> u64),
    /// A statistic of the durations from call to reply, without calls that failed.
    Time(fn(&Percentiles) -> Duration),
    /// The total size of the messages in bytes.
    Bytes,
}

/// The messages that a budget measures.
#[derive(Clone, Debug)]
pub enum BudgetSubject {
    /// Messages whose interface and member, joined by a point, match this pattern.
    Member(Pattern),
    /// Messages that this query selects.
    Query(Query),
}

/// The required relation of a value to its limit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Relation {
    /// The value is less than the limit: `<`.
    Below,
    /// The value is at most the limit: `<=`.
    AtMost,
    /// The value is greater than the limit: `>`.
    Above,
    /// The value is at least the limit: `>=`.
    AtLeast,
    /// The value equals the limit: `==`.
    Equal,
    /// The value differs from the limit: `!=`.
    NotEqual,
}

/// The result of checking a budget.
#[derive(Clone, Debug)]
pub struct BudgetOutcome {
    /// The text of the budget.
    pub text: String,
    /// The value that was measured.
    pub found: Cell,
    /// The verdict about the value.
    pub verdict: BudgetVerdict,
}

worded_enum! {
    /// The verdict about a budget.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum BudgetVerdict {
        /// The value is within the limit.
        Kept = "ok",
        /// The value is not within the limit.
        Exceeded = "FAILED",
        /// No message could be measured: a name may be misspelled.
        NothingFound = "FAILED: no such call",
    }
}

impl Budget {
    /// Measures the messages of a recording that `within` selects, without messages of the
    /// recorder.
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

    /// The recorded members that this budget may mean, most likely first, if its pattern matches none.
    pub fn similar_members(&self, capture: &Capture) -> Vec<String> {
        let BudgetSubject::Member(pattern) = &self.subject else { return Vec::new() };
        let mut by_ids = HashMap::new();
        for message in capture.messages() {
            let asked = message.call().unwrap_or(message);
            by_ids.entry((asked.interface_id(), asked.member_id())).or_insert((asked, 0)).1 += 1;
        }
        let mut found = HashMap::<Cow<'_, str>, u64>::new();
        for (message, count) in by_ids.into_values() {
            *found.entry(message.full_member().into()).or_default() += count;
        }
        if found.keys().any(|name| pattern.selects(name)) {
            return Vec::new();
        }
        likely(pattern, &found).into_iter().map(|(name, _)| name.to_owned()).collect()
    }

    /// Returns true if the group can be measured. A query may be meant to select no message, and a
    /// count may be meant to be zero.
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

/// Formats outcomes as a table.
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

/// Applies the subject of a budget to one message after the other.
enum SubjectMatcher<'b> {
    Query(Matcher<'b>),
    /// The pattern, and its cached results for members.
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
    /// The value of the measure for a group; `None` if the group has no such value.
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
