//! The last messages of a bus that is listened to, so that they can be asked about.

use capture::record::{Origin, Record, Time};
use capture::{Capture, MessageId};

use crate::standing::Standing;

/// A capture of what came last. It does not grow for ever: when it is full, a second one that was
/// begun halfway takes its place, so each message finds at least so many before it.
#[derive(Debug)]
pub struct Rolling {
    standing: Standing,
    /// What is asked.
    full: Capture,
    /// What will be.
    next: Capture,
    /// Messages that are there at least, once so many have come.
    kept: usize,
}

impl Rolling {
    /// Keeps at least `kept` messages, and at most twice as many.
    pub fn new(kept: usize) -> Self {
        let standing = Standing::new(Origin::default());
        Self { standing, full: Capture::default(), next: Capture::default(), kept: kept.max(1) }
    }

    /// Takes in what comes next. Of a message, says where it is now.
    pub fn push(&mut self, record: Record<'_>) -> Option<MessageId> {
        let at = match &record {
            Record::Message(raw) => Some(raw.at),
            _ => None,
        };
        self.standing.learn(&record);
        self.next.push(record.clone());
        self.full.push(record);
        let at = at?;
        if self.next.len() >= self.kept && self.full.len() >= 2 * self.kept {
            self.turn_over(at);
        }
        self.full.messages().next_back().map(|message| message.id())
    }

    fn turn_over(&mut self, at: Time) {
        let mut fresh = Capture::default();
        self.standing.records(at).for_each(|record| fresh.push(record));
        self.full = std::mem::replace(&mut self.next, fresh);
    }

    /// What is there.
    pub const fn capture(&self) -> &Capture {
        &self.full
    }
}
