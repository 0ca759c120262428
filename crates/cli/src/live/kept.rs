//! The last messages of a bus that is watched.

use std::time::Duration;

use capture::Capture;
use capture::record::{Method, Record};
use capture::text::units::{counted, duration};
use recorder::Rolling;
use sys::clock::monotonic;

/// The last messages of a bus, and how many there were.
#[derive(Debug)]
pub(crate) struct Kept {
    rolling: Rolling,
    method: Method,
    since: Duration,
    messages: u64,
    lost: u64,
    gaps: u64,
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
            method: Method::Unknown,
            since: monotonic(),
            messages: 0,
            lost: 0,
            gaps: 0,
            bus: Bus::There,
        }
    }

    /// Takes in what comes next.
    pub(super) fn push(&mut self, record: Record<'_>) {
        match &record {
            Record::Bus(bus) => self.method = bus.method,
            Record::Message(_) => self.messages += 1,
            Record::Gap(gap) => {
                self.gaps += 1;
                self.lost += gap.lost.unwrap_or(0);
            }
            _ => {}
        }
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
        let lost = lost(self.lost, self.gaps);
        format!("{all} in {span}{last}, {}, {lost}", seen(self.method))
    }
}

/// How messages were seen.
pub(crate) const fn seen(method: Method) -> &'static str {
    match method {
        Method::Trace => "written by the bus",
        Method::Monitor => "seen by a monitor",
        Method::Eavesdrop => "overheard",
        Method::Unknown => "not seen",
    }
}

/// How many messages are missing, and in how many places.
pub(crate) fn lost(messages: u64, gaps: u64) -> String {
    match (messages, gaps) {
        (0, 0) => "nothing lost".to_owned(),
        (0, gaps) => format!("{}, how much is missing is not known", counted(gaps, "gap", "gaps")),
        (lost, _) => format!("{} lost", counted(lost, "message", "messages")),
    }
}

/// Messages that are told of, at least, once so many have come; at most it is twice as many.
const MESSAGES_KEPT: usize = 100_000;
