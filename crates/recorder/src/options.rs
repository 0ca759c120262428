//! The options that determine what is recorded.

use std::time::Duration;

use capture::trace::AssemblerLimits;

use crate::objects::ObjectIntrospection;

/// The options of a recording.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RecordingOptions {
    /// Match rules: only messages that match one of them are recorded; all if there are none.
    pub filters: Vec<String>,
    /// The pace: messages are provided promptly, or with complete times.
    pub pace: RecordingPace,
    /// The introspection of objects.
    pub objects: ObjectIntrospection,
    /// The recording of processor use.
    pub processors: ProcessorRecording,
}

/// The time when messages of a traced bus are provided. The bus records when copies were written;
/// this may be after later messages were routed. Messages are provided in the order of routing, so
/// a waiting message delays later ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RecordingPace {
    /// The message is provided when all copies were written, but at most one second after it was
    /// routed, or earlier if more than 64 MiB wait.
    #[default]
    Complete,
    /// The message is provided soon enough for live display. The times of copies that are written
    /// later are unknown.
    Prompt,
}

/// The recording of the processor use of processes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ProcessorRecording {
    /// Processor use is not recorded.
    #[default]
    Off,
    /// The times at which the processes of buses and connections run on a processor are recorded.
    Switches,
}

impl RecordingOptions {
    /// Creates options for displaying messages as they come.
    pub fn live(filters: &[String]) -> Self {
        Self { filters: filters.to_vec(), pace: RecordingPace::Prompt, ..Self::default() }
    }
}

impl RecordingPace {
    pub(crate) fn limits(self) -> AssemblerLimits {
        match self {
            Self::Complete => AssemblerLimits::default(),
            Self::Prompt => AssemblerLimits { time: PROMPT, ..AssemblerLimits::default() },
        }
    }
}

/// Together with the interval at which the ring is checked, this is imperceptible. Copies for a
/// recipient that reads are written within microseconds.
const PROMPT: Duration = Duration::from_millis(20);
