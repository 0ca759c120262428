//! What is wanted of buses that are listened to.

use std::time::Duration;

use capture::trace::AssemblerPatience;

use crate::objects::ObjectIntrospection;

/// What is wanted of buses that are listened to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RecordingOptions {
    /// Only messages that match one of these rules; all if there are none.
    pub filters: Vec<String>,
    /// Whether messages come soon, or with all that will be known of them.
    pub pace: RecordingPace,
    /// Whether objects are asked what they have.
    pub objects: ObjectIntrospection,
    /// What is recorded besides.
    pub beside: Beside,
}

/// When a message comes of which the bus itself tells when its copies have left. Messages come in
/// the order of routing, so one that waits holds up those behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RecordingPace {
    /// When all copies have left, or a recipient has not read for a second.
    #[default]
    Complete,
    /// Soon enough to be looked at while it happens. Of a copy that leaves later it is not known
    /// when it did.
    Prompt,
}

/// What is recorded beside messages, and who talks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Beside {
    /// Nothing.
    #[default]
    Nothing,
    /// When the processes of the buses and their connections have a processor.
    Switches,
}

impl RecordingOptions {
    /// What somebody wants who looks at messages while they come.
    pub fn live(filters: &[String]) -> Self {
        Self { filters: filters.to_vec(), pace: RecordingPace::Prompt, ..Self::default() }
    }
}

impl RecordingPace {
    pub(crate) fn patience(self) -> AssemblerPatience {
        match self {
            Self::Complete => AssemblerPatience::default(),
            Self::Prompt => AssemblerPatience { time: PROMPT, ..AssemblerPatience::default() },
        }
    }
}

/// With the pause between two looks at the ring of a bus, this is less than anybody notices. Copies
/// for who reads leave within microseconds.
const PROMPT: Duration = Duration::from_millis(20);
