//! Whether the clock of a recording was set back.

use std::time::Duration;

use super::{Capture, CapturedMessageId};
use crate::record::RecordedTime;

impl Capture {
    /// The messages before which the clock was set back: those that are at least [`CLOCK_BACK_MIN`] older
    /// than the message before them on the same bus. Messages that a bus recorded itself stand in the order
    /// of routing, with the times of receiving, and do not count. Our recorder reads a clock that never goes
    /// back, so in its files nothing counts if the notes are missing that say which bus recorded itself.
    pub fn clock_set_back(&self) -> Vec<CapturedMessageId> {
        if self.is_without_notes() {
            return Vec::new();
        }
        let mut last: Vec<Option<RecordedTime>> = vec![None; self.buses().len().max(1)];
        let mut found = Vec::new();
        for message in self.messages().filter(|message| !message.is_traced()) {
            let bus = usize::from(message.bus().0);
            if last.len() <= bus {
                last.resize(bus + 1, None);
            }
            let back = last[bus].and_then(|last| last.since(message.at()));
            if back.is_some_and(|back| back >= CLOCK_BACK_MIN) {
                found.push(message.id());
            }
            last[bus] = Some(message.at());
        }
        found
    }
}

/// A clock that is read by several threads may go back by less.
pub const CLOCK_BACK_MIN: Duration = Duration::from_millis(1);
