//! The number of messages that a recording lacks.

use std::fmt;

use crate::record::RecordingRecord;
use crate::text::units::counted;

/// The number of missing messages. It is displayed as `nothing lost` or `7 messages lost`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Losses {
    /// The number of places where messages are missing.
    pub gaps: u64,
    /// The number of missing messages, as far as they were counted.
    pub messages: u64,
}

impl Losses {
    /// Adds the losses that a record reports.
    pub fn learn(&mut self, record: &RecordingRecord<'_>) {
        if let RecordingRecord::Gap(gap) = record {
            self.gaps += 1;
            self.messages += gap.lost.unwrap_or(0);
        }
    }
}

impl fmt::Display for Losses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self { gaps: 0, messages: 0 } => f.write_str("nothing lost"),
            Self { gaps, messages: 0 } => {
                write!(f, "{}, how much is missing is not known", counted(gaps, "gap", "gaps"))
            }
            Self { messages, .. } => {
                write!(f, "{} lost", counted(messages, "message", "messages"))
            }
        }
    }
}
