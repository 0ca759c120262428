//! Events of a recording that are reported immediately.

use std::fmt;
use std::path::PathBuf;

use capture::text::units::counted;

use super::trigger::FILES_MAX;

/// An event that the user should see immediately.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RecordingNotice {
    /// The disk is full.
    Full,
    /// The disk has space again. This number of messages was not written.
    Room(u64),
    /// A message matched the trigger, and this file was written.
    Triggered(PathBuf),
    /// A message matched the trigger, and the last possible file was written.
    LastTriggered(PathBuf),
}

impl fmt::Display for RecordingNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("the disk is full: messages are counted but not written"),
            Self::Room(lost) => {
                let lost = counted(*lost, "message is", "messages are");
                write!(f, "the disk has space again: {lost} not in the file")
            }
            Self::Triggered(path) => write!(f, "trigger matched: wrote {}", path.display()),
            Self::LastTriggered(path) => write!(
                f,
                "trigger matched: wrote {}, the last of {FILES_MAX} files",
                path.display()
            ),
        }
    }
}
