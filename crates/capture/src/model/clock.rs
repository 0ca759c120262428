//! Detects whether the clock of a recording was set back.

use std::time::Duration;

use super::{Capture, CapturedMessageId};
use crate::record::RecordedTime;

impl Capture {
    /// Returns the messages before which the clock was set back: those at least [`CLOCK_BACK_MIN`]
    /// older than the previous message of the same bus. Traced messages are not considered: they
    /// are in the order of routing, with the times of receiving. Diligence's recorder reads a clock
    /// that never goes back, so a file of its own that lacks the notes that say which bus was
    /// traced yields no messages.
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

/// The minimum step back. The times of a clock that several threads read may go back by less.
pub const CLOCK_BACK_MIN: Duration = Duration::from_millis(1);
