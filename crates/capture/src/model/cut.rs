//! Messages whose headers were cut by the recorder.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use wire::message::MessageType;

use crate::record::{BusId, Excerpt};

/// Counts of calls and replies that cannot be paired, because the recorder cut their headers.
#[derive(Debug, Default)]
pub(super) struct CutHeaders {
    by_bus: HashMap<BusId, CutCounts, RandomState>,
}

/// The cut messages of one bus.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CutCounts {
    pub(super) calls: u64,
    pub(super) replies: u64,
    /// True if a signal is cut that may have reported that a connection left.
    pub(super) hides_departures: bool,
}

impl CutHeaders {
    /// The counts of a bus.
    pub(super) fn of(&self, bus: BusId) -> CutCounts {
        self.by_bus.get(&bus).copied().unwrap_or_default()
    }

    pub(super) fn count(&mut self, bus: BusId, kind: MessageType) {
        let counts = self.by_bus.entry(bus).or_default();
        match kind {
            MessageType::MethodCall => counts.calls += 1,
            kind => counts.replies += u64::from(kind.is_reply()),
        }
    }

    /// Adds the counts of messages that an excerpt left out.
    pub(super) fn count_left_out(&mut self, bus: BusId, excerpt: &Excerpt) {
        let counts = self.by_bus.entry(bus).or_default();
        counts.calls += excerpt.cut_calls;
        counts.replies += excerpt.cut_replies;
        counts.hides_departures |= excerpt.cut_signals > 0;
    }

    /// Records a cut signal that may have reported that a connection left.
    pub(super) fn count_hidden(&mut self, bus: BusId) {
        self.by_bus.entry(bus).or_default().hides_departures = true;
    }
}
