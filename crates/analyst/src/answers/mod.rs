//! The answers, one module for each part of the page.

mod compare;
mod details;
mod findings;
mod numbers;
mod save;
mod select;
mod switches;
mod table;
mod timeline;
mod value;

use serde::Serialize;

pub use compare::CompareAnswer;
pub(crate) use compare::compare;
pub(crate) use details::message;
pub use details::{
    CommandText, CopyEntry, InBus, MessageDetails, MessageTime, NamedPeer, PhaseTime,
};
pub use findings::{EndingAnswer, FindingsAnswer, RuleEntry};
pub(crate) use findings::{ending, findings};
pub use numbers::{StatisticsAnswer, SummaryAnswer};
pub(crate) use numbers::{statistics, summary};
pub use save::SaveAnswer;
pub(crate) use save::save;
pub use select::{CompleteAnswer, CountsWithoutParts, OfferEntry, SelectAnswer};
pub(crate) use select::{complete, select, without};
pub use switches::SwitchesAnswer;
pub(crate) use switches::switches;
pub use table::{TableColumn, TableData};
pub(crate) use timeline::timeline;
pub use timeline::{MilestoneEntry, StartUpEntry, StepEntry, StepKind, TimelineAnswer};
pub use value::{ValueContent, ValueNode};

/// An answer, under the name of its question.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AnswerBody {
    /// The selected messages; the column `selected` has a bit for each message.
    Select(SelectAnswer),
    /// The number of messages without parts of the selection.
    Without(CountsWithoutParts),
    /// The texts with which a query can continue.
    Complete(CompleteAnswer),
    /// Everything about one message.
    Message(Box<MessageDetails>),
    /// The totals of the selected messages.
    Summary(Box<SummaryAnswer>),
    /// One table of statistics.
    Statistics(StatisticsAnswer),
    /// The findings of the linter.
    Findings(FindingsAnswer),
    /// The reasons why the recording is incomplete.
    Ending(EndingAnswer),
    /// The time that the selected calls spent waiting and working.
    Timeline(Box<TimelineAnswer>),
    /// A file; its bytes are the column `file`.
    Save(SaveAnswer),
    /// The times when processes ran, in the columns `peer`, `from`, `until` and `on`.
    Switches(SwitchesAnswer),
    /// The differences between two recordings.
    Compare(CompareAnswer),
}
