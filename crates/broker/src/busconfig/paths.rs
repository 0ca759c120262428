//! Paths in a configuration.

use std::path::{Path, PathBuf};

/// The path as it is found from everywhere: a bus in the background has left the folder in which it
/// was started.
pub(super) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
