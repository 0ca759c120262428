//! The amounts that have been recorded.

use std::path::PathBuf;

use capture::losses::Losses;

/// The amounts recorded so far.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RecordingTally {
    /// The number of messages, except messages from and to the recorder.
    pub messages: u64,
    /// The number of bytes in these messages.
    pub bytes: u64,
    /// The number of messages from and to the recorder, which are in the file too.
    pub of_recorder: u64,
    /// The messages that are missing.
    pub losses: Losses,
    /// The number of bytes written to files.
    pub written: u64,
    /// The paths of the existing files.
    pub files: Vec<PathBuf>,
}
