//! What the last seconds of buses look like.

use std::collections::VecDeque;
use std::time::Duration;

use capture::query::Query;
use capture::record::{Record, Time};
use capture::statistics::{By, Groups};
use capture::table::Table;
use recorder::Rolling;

use crate::live::Sight;

/// The last messages of buses that are watched, and how many there were in each step.
#[derive(Debug)]
pub(super) struct Window {
    rolling: Rolling,
    span: Duration,
    sight: Sight,
    /// Since the last step.
    now: Step,
    steps: VecDeque<Step>,
}

/// What came in one step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Step {
    /// Messages.
    pub(super) messages: u64,
    /// Bytes in them.
    pub(super) bytes: u64,
}

impl Window {
    /// Nothing yet. Tables will be of the last `span`.
    pub(super) fn new(span: Duration) -> Self {
        Self {
            rolling: Rolling::new(MESSAGES_KEPT),
            span,
            sight: Sight::new(),
            now: Step::default(),
            steps: VecDeque::new(),
        }
    }

    /// Takes in what comes next.
    pub(super) fn push(&mut self, record: Record<'_>) {
        self.sight.learn(&record);
        if let Record::Message(raw) = &record {
            self.now.messages += 1;
            self.now.bytes += u64::from(raw.len);
        }
        self.rolling.push(record);
    }

    /// A step is over.
    pub(super) fn step(&mut self) {
        self.steps.push_back(std::mem::take(&mut self.now));
        let too_many = self.steps.len().saturating_sub(STEPS_KEPT);
        self.steps.drain(..too_many);
    }

    /// What came in each step, the last one last.
    pub(super) const fn steps(&self) -> &VecDeque<Step> {
        &self.steps
    }

    /// How well the bus is seen.
    pub(super) const fn sight(&self) -> Sight {
        self.sight
    }

    /// What the messages of the span until `now` that a query selects have in common.
    pub(super) fn table(&self, by: By, query: &Query, now: Time) -> Table {
        let capture = self.rolling.capture();
        let mut groups = Groups::new(capture, by);
        let mut matcher = query.matcher();
        let since = Time(now.0 - i64::try_from(self.span.as_nanos()).unwrap_or(i64::MAX));
        let start = capture.messages().rev().take_while(|message| message.at() >= since).count();
        for message in capture.messages_from(capture.len() - start) {
            if matcher.selects(&message) {
                groups.add(&message);
            }
        }
        // A call without a reply may still get one, so it is waiting.
        groups.table().without(&LEFT_OUT).with_needed("p50").with_needed("waiting")
    }
}

/// Messages among which calls and names are found; of a busier bus the table has a shorter span.
const MESSAGES_KEPT: usize = 200_000;

/// Steps that a curve can show.
const STEPS_KEPT: usize = 240;

/// Columns that say what others do, or more than there is room for.
const LEFT_OUT: [&str; 13] = [
    "share",
    "max",
    "total",
    "mean",
    "failed total",
    "failed max",
    "calls",
    "signals",
    "time-outs",
    "callee left",
    "unanswered",
    "caller left",
    "unknown",
];
