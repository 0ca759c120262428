//! Where time went.

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

/// Where time went.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimelineAnswer {
    /// Which callers waited for which services.
    pub blocked: TableData,
    /// The slowest calls.
    pub slowest: TableData,
    /// What share of calls the bus took; `None` if it is unknown.
    pub shares: Option<TableData>,
    /// Services that did not start.
    pub failed_starts: TableData,
    /// How services started.
    pub start_ups: Vec<StartUpEntry>,
}

/// How a service started. Times are nanoseconds since the first message.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "StartUp"))]
pub struct StartUpEntry {
    /// Its connection.
    pub peer: usize,
    /// The first well-known name that it owned.
    pub name: String,
    /// What is known about the start, in the order of time.
    pub milestones: Vec<MilestoneEntry>,
    /// What the service did and waited for until it was up.
    pub path: Vec<StepEntry>,
}

/// A point in the start of a service.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Milestone"))]
pub struct MilestoneEntry {
    /// The time.
    pub at: i64,
    /// What happened, in words.
    pub what: &'static str,
    /// The row of the message that shows it.
    pub message: Option<usize>,
}

/// A stretch of time in the start of a service.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Step"))]
pub struct StepEntry {
    /// Its begin.
    pub from: i64,
    /// Its end.
    pub to: i64,
    /// How many calls it is nested in.
    pub depth: u8,
    /// What happened.
    pub what: StepKind,
    /// The connection that worked, or the row of the call that was waited for.
    pub id: usize,
}

/// What happened in a stretch of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum StepKind {
    /// A connection worked.
    Works,
    /// A call was waited for.
    Waits,
}

/// Where the time of the selected calls went.
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

/// How many calls the table of the slowest calls has at most.
const SLOWEST_MAX: usize = 200;
