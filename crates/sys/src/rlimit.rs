//! The limit of open descriptors of a process (getrlimit(2), `RLIMIT_NOFILE`).
//!
//! A bus needs more than the usual soft limit of 1024, which most programs keep because select(2)
//! fails beyond it. So the bus raises its own limit, and restores the original one for its
//! children.

use rustix::process::{Resource, Rlimit, geteuid, getrlimit, setrlimit};
use std::io;

/// A limit of open files: the soft limit, which applies, and the hard limit, up to which it may be
/// raised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenFiles(Rlimit);

/// Returns how many descriptors this process may have open: the soft limit, `u64::MAX` if
/// unlimited.
#[must_use]
pub fn open_files_max() -> u64 {
    OpenFiles::current().soft().unwrap_or(u64::MAX)
}

impl OpenFiles {
    /// Returns the limit of this process.
    #[must_use]
    pub fn current() -> Self {
        Self(getrlimit(Resource::Nofile))
    }

    /// The limit with these values, `None` if unlimited.
    #[must_use]
    pub const fn new(soft: Option<u64>, hard: Option<u64>) -> Self {
        Self(Rlimit { current: soft, maximum: hard })
    }

    /// The soft limit, `None` if unlimited.
    #[must_use]
    pub fn soft(&self) -> Option<u64> {
        self.0.current
    }

    /// The limit up to which [`OpenFiles::soft`] may be raised, `None` if unlimited.
    #[must_use]
    pub fn hard(&self) -> Option<u64> {
        self.0.maximum
    }

    /// Raises the soft limit of this process to its hard limit; as root, raises both to at least
    /// 65536 if the system permits it. Returns the previous limit.
    ///
    /// # Errors
    ///
    /// Fails with the errors of setrlimit(2); the limit is unchanged then.
    pub fn raise() -> io::Result<Self> {
        let before = Self::current();
        let hard = before.hard();
        let wanted = hard.map(|hard| hard.max(ROOT_MINIMUM));
        if !geteuid().is_root() || set(wanted, wanted).is_err() {
            set(hard, hard)?;
        }
        Ok(before)
    }

    /// Applies this limit to this process. May be called between fork and exec.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::PermissionDenied`] if its hard limit is higher than the current one.
    pub fn restore(&self) -> io::Result<()> {
        set(self.soft(), self.hard())
    }
}

fn set(current: Option<u64>, maximum: Option<u64>) -> io::Result<()> {
    Ok(setrlimit(Resource::Nofile, Rlimit { current, maximum })?)
}

/// The limit that root raises lower limits to.
const ROOT_MINIMUM: u64 = 65536;
