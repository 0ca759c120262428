//! Paths in a configuration file.

use std::path::{Path, PathBuf};

/// The absolute form of a path: a bus in the background has left the directory in which it was
/// started.
pub(super) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
