//! The last messages of a bus that is watched.

use std::time::Duration;

use capture::Capture;
use capture::record::Record;
use capture::text::units::{counted, duration};
use recorder::Rolling;
use sys::clock::monotonic;

use super::Sight;

/// The last messages of a bus, and how many there were.
#[derive(Debug)]
pub(crate) struct Kept {
    rolling: Rolling,
    sight: Sight,
    since: Duration,
    messages: u64,
    bus: Bus,
}

/// Whether the bus is still there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Bus {
    There,
    Gone,
}

impl Kept {
    /// Nothing yet.
    pub(super) fn new() -> Self {
        Self {
            rolling: Rolling::new(MESSAGES_KEPT),
            sight: Sight::new(),
            since: monotonic(),
            messages: 0,
            bus: Bus::There,
        }
    }

    /// Takes in what comes next.
    pub(super) fn push(&mut self, record: Record<'_>) {
        self.sight.learn(&record);
        self.messages += u64::from(matches!(record, Record::Message(_)));
        self.rolling.push(record);
    }

    /// The bus did not come back.
    pub(super) fn without_bus(self) -> Self {
        Self { bus: Bus::Gone, ..self }
    }

    /// What was kept.
    pub(crate) const fn capture(&self) -> &Capture {
        self.rolling.capture()
    }

    /// Whether it has ended because the bus has.
    pub(crate) fn is_bus_gone(&self) -> bool {
        self.bus == Bus::Gone
    }

    /// What of the bus was seen, and how well: one line.
    pub(crate) fn summary(&self) -> String {
        let kept = self.rolling.capture().len() as u64;
        let all = counted(self.messages, "message", "messages");
        let span = duration(monotonic().saturating_sub(self.since));
        let last = match kept < self.messages {
            true => format!(", of which the last {} count", counted(kept, "one", "ones")),
            false => String::new(),
        };
        format!("{all} in {span}{last}, {}", self.sight)
    }
}

/// Messages that are told of, at least, once so many have come; at most it is twice as many.
const MESSAGES_KEPT: usize = 100_000;
