//! The short form of a test, and the long one.

use conformance::{announce, note};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The length of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TestDuration {
    /// A few seconds, as part of all tests.
    Short,
    /// The form whose figures the documents contain.
    Long,
}

impl TestDuration {
    /// Returns the requested form.
    pub(crate) fn requested() -> Self {
        raise_descriptors();
        match std::env::var("DILIGENCE_FAULTS").as_deref() {
            Err(_) | Ok("short") => Self::Short,
            Ok("long") => Self::Long,
            Ok(other) => panic!("DILIGENCE_FAULTS is short or long, not {other}"),
        }
    }

    /// Selects one of two values by the form.
    pub(crate) fn pick<T>(self, short: T, long: T) -> T {
        match self {
            Self::Short => short,
            Self::Long => long,
        }
    }

    /// Prints an observation; in the short form only if the test fails.
    pub(crate) fn report(self, line: &str) {
        match self {
            Self::Short => note(line),
            Self::Long => announce(line),
        }
    }
}

/// Raises the descriptor limit of this process to its maximum, because a shell may have set a low
/// one. Returns it.
pub(crate) fn raise_descriptors() -> u64 {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).expect("up to the maximum");
    maximum.unwrap_or(u64::MAX)
}
