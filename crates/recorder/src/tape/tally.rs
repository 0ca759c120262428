//! What has been recorded.

use std::path::PathBuf;

use capture::losses::Losses;

/// What has been recorded so far.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RecordingTally {
    /// Messages, without those of the recorder.
    pub messages: u64,
    /// Bytes in these messages.
    pub bytes: u64,
    /// Messages from and to the recorder, which are in the file too.
    pub of_recorder: u64,
    /// Messages that are missing.
    pub losses: Losses,
    /// Bytes written to files.
    pub written: u64,
    /// The files that exist now.
    pub files: Vec<PathBuf>,
}
