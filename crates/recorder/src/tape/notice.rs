//! Events of a recording that are reported at once.

use std::fmt;
use std::path::PathBuf;

use capture::text::units::counted;

use super::trigger::FILES_MAX;

/// An event that the person who records should see at once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TapeNotice {
    /// The disk is full.
    Full,
    /// There is room again; this many messages were not written.
    Room(u64),
    /// A message matched the trigger, and this file was written.
    Triggered(PathBuf),
    /// The same, and no more files will be written.
    LastTriggered(PathBuf),
}

impl fmt::Display for TapeNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("there is no room on the disk: messages are counted only"),
            Self::Room(lost) => {
                let lost = counted(*lost, "message is", "messages are");
                write!(f, "there is room on the disk again: {lost} not in the file")
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
