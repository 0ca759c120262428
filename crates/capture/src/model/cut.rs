//! Messages whose headers the recorder cut.

use wire::message::MessageType;

use crate::record::{BusId, Excerpt};

/// Calls and replies that cannot be paired, because the recorder cut their headers.
#[derive(Debug, Default)]
pub(super) struct CutHeaders {
    /// By bus.
    replies: Vec<u64>,
    /// By bus.
    calls: Vec<u64>,
    /// By bus, whether a signal is cut that may tell that a connection left.
    hidden: Vec<bool>,
}

impl CutHeaders {
    pub(super) fn count(&mut self, bus: BusId, kind: MessageType) {
        let counts = match kind {
            MessageType::MethodCall => &mut self.calls,
            MessageType::MethodReturn | MessageType::Error => &mut self.replies,
            _ => return,
        };
        add(counts, bus, 1);
    }

    /// Counts what an excerpt has left out.
    pub(super) fn count_left_out(&mut self, bus: BusId, excerpt: &Excerpt) {
        add(&mut self.calls, bus, excerpt.cut_calls);
        add(&mut self.replies, bus, excerpt.cut_replies);
        if excerpt.cut_signals > 0 {
            self.count_hidden(bus);
        }
    }

    /// Counts a signal that may tell that a connection left.
    pub(super) fn count_hidden(&mut self, bus: BusId) {
        let index = usize::from(bus.0);
        if self.hidden.len() <= index {
            self.hidden.resize(index + 1, false);
        }
        self.hidden[index] = true;
    }

    pub(super) fn hides_departures(&self, bus: BusId) -> bool {
        self.hidden.get(usize::from(bus.0)).copied().unwrap_or_default()
    }

    /// Replies of a bus.
    pub(super) fn replies(&self, bus: BusId) -> u64 {
        self.replies.get(usize::from(bus.0)).copied().unwrap_or_default()
    }

    /// Calls of a bus.
    pub(super) fn calls(&self, bus: BusId) -> u64 {
        self.calls.get(usize::from(bus.0)).copied().unwrap_or_default()
    }
}

fn add(counts: &mut Vec<u64>, bus: BusId, more: u64) {
    let index = usize::from(bus.0);
    if counts.len() <= index {
        counts.resize(index + 1, 0);
    }
    counts[index] += more;
}
