//! How many descriptors a process may have open (getrlimit(2), `RLIMIT_NOFILE`).
//!
//! A bus needs more than the usual soft limit of 1024, which most programs keep because select(2)
//! fails beyond it. So the bus raises its own limit, and gives its children the original one.

use rustix::process::{Resource, Rlimit, geteuid, getrlimit, setrlimit};
use std::io;

/// A limit of open files: the soft one, which holds, and the hard one, up to which it may be
/// raised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenFiles(Rlimit);

/// How many descriptors this process may have open: the soft limit, `u64::MAX` if there is none.
#[must_use]
pub fn open_files_max() -> u64 {
    OpenFiles::current().soft().unwrap_or(u64::MAX)
}

impl OpenFiles {
    /// The limit of this process.
    #[must_use]
    pub fn current() -> Self {
        Self(getrlimit(Resource::Nofile))
    }

    /// The number of descriptors that may be open, `None` for any number.
    #[must_use]
    pub fn soft(&self) -> Option<u64> {
        self.0.current
    }

    /// The number up to which [`OpenFiles::soft`] may be raised, `None` for any number.
    #[must_use]
    pub fn hard(&self) -> Option<u64> {
        self.0.maximum
    }

    /// Raises the soft limit of this process to its hard limit, and as root both to at least 65536
    /// if the system lets it. Returns the limit as it was before.
    ///
    /// # Errors
    ///
    /// Those of setrlimit(2); the limit then is unchanged.
    pub fn raise() -> io::Result<Self> {
        let before = Self::current();
        let hard = before.hard();
        let wanted = hard.map(|hard| hard.max(ROOT_MINIMUM));
        if !geteuid().is_root() || set(wanted, wanted).is_err() {
            set(hard, hard)?;
        }
        Ok(before)
    }

    /// Makes this the limit of this process. Allowed between fork and exec.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::PermissionDenied`] when it has a higher hard limit than now.
    pub fn restore(&self) -> io::Result<()> {
        set(self.soft(), self.hard())
    }
}

fn set(current: Option<u64>, maximum: Option<u64>) -> io::Result<()> {
    Ok(setrlimit(Resource::Nofile, Rlimit { current, maximum })?)
}

/// What root raises the limits to, if they are lower.
const ROOT_MINIMUM: u64 = 65536;
