//! The time that calls and starts of services took.

use capture::Capture;
use capture::activation::failed_starts;
use capture::model::CapturedMessageId;
use capture::record::RecordedTime;
use capture::timeline::start_ups;
use capture::timeline::{
    Activity, CriticalPathStep, Milestone, StartUp, blocked, blocked_table, failed_starts_table,
    shares, slowest, slowest_table,
};
use serde::Serialize;

use super::table::TableData;
use crate::selection::{SelectedMessages, start};

/// The time that calls and starts of services took.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimelineAnswer {
    /// The callers and the services that they waited for.
    pub blocked: TableData,
    /// The slowest of the selected calls.
    pub slowest: TableData,
    /// The share of the calls' time that the bus took; `None` if it is unknown.
    pub shares: Option<TableData>,
    /// Services that failed to start.
    pub failed_starts: TableData,
    /// The starts of services.
    pub start_ups: Vec<StartUpEntry>,
}

/// The start of a service. Times are nanoseconds since the first message.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "StartUp"))]
pub struct StartUpEntry {
    /// The connection of the service.
    pub peer: usize,
    /// The first well-known name that it owned.
    pub name: String,
    /// The known milestones of the start, sorted by time.
    pub milestones: Vec<MilestoneEntry>,
    /// The work and the waits of the service until it was ready.
    pub path: Vec<StepEntry>,
}

/// A point in time in the start of a service.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Milestone"))]
pub struct MilestoneEntry {
    /// The time of the milestone.
    pub at: i64,
    /// A description of the event.
    pub what: &'static str,
    /// The row of the message that shows it.
    pub message: Option<usize>,
}

/// A time span in the start of a service.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Step"))]
pub struct StepEntry {
    /// The start of the span.
    pub from: i64,
    /// The end of the span.
    pub to: i64,
    /// The number of calls in which it is nested.
    pub depth: u8,
    /// The kind of the step.
    pub what: StepKind,
    /// The connection that worked, or the row of the call that the service waited for.
    pub id: usize,
}

/// The kind of a step in the start of a service.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum StepKind {
    /// The connection did some work.
    Works,
    /// The connection waited for a call.
    Waits,
}

/// Returns the time that the selected calls and the starts of services took.
pub(crate) fn timeline(capture: &Capture, selected: &SelectedMessages) -> TimelineAnswer {
    let mut selector = selected.selector();
    let waits = blocked(capture, |call| selector.selects(call));
    let calls = slowest(capture, |call| selector.selects(call), SLOWEST_MAX);
    let parts = shares(capture, |call| selector.selects(call));
    let failed = failed_starts(capture, |_| true);
    TimelineAnswer {
        blocked: TableData::of(&blocked_table(&waits)),
        slowest: TableData::of(&slowest_table(&calls)),
        shares: parts.as_ref().map(TableData::of),
        failed_starts: TableData::of(&failed_starts_table(&failed)),
        start_ups: start_ups(capture).iter().map(|one| StartUpEntry::of(capture, one)).collect(),
    }
}

impl StartUpEntry {
    fn of(capture: &Capture, one: &StartUp) -> Self {
        let since = |at: RecordedTime| at.0 - start(capture).0;
        let milestone = |milestone: &Milestone| MilestoneEntry {
            at: since(milestone.at),
            what: milestone.kind.as_str(),
            message: milestone.message.map(CapturedMessageId::index),
        };
        let step = |step: &CriticalPathStep| {
            let (what, id) = match step.what {
                Activity::Works(peer) => (StepKind::Works, peer.index()),
                Activity::Waits(call) => (StepKind::Waits, call.index()),
            };
            StepEntry { from: since(step.from), to: since(step.to), depth: step.depth, what, id }
        };
        Self {
            peer: one.peer.index(),
            name: capture.strings().get(one.name).to_owned(),
            milestones: one.milestones.iter().map(milestone).collect(),
            path: one.path.iter().map(step).collect(),
        }
    }
}

/// The maximum number of calls in the table of the slowest calls.
const SLOWEST_MAX: usize = 200;
