//! The short form of a test, and the long one.

use conformance::{Flavour, announce};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// How much a test does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TestDuration {
    /// A second or a few, with all other tests.
    Short,
    /// As in the documents.
    Long,
}

impl TestDuration {
    /// The form that is asked for; none where the bus under test is not ours.
    pub(crate) fn asked() -> Option<Self> {
        if Flavour::under_test() == Flavour::Reference {
            return None;
        }
        raise_descriptors();
        match std::env::var("DILIGENCE_FAULTS").as_deref() {
            Err(_) | Ok("short") => Some(Self::Short),
            Ok("long") => Some(Self::Long),
            Ok(other) => panic!("DILIGENCE_FAULTS is short or long, not {other}"),
        }
    }

    /// One of two, by the form.
    pub(crate) fn pick<T>(self, short: T, long: T) -> T {
        match self {
            Self::Short => short,
            Self::Long => long,
        }
    }

    /// Tells what was seen; of the long form also when the test passes.
    pub(crate) fn tell(self, line: &str) {
        match self {
            Self::Short => println!("{line}"),
            Self::Long => announce(line),
        }
    }
}

/// As many descriptors as may be, of which the shell may have given few. Gives how many.
pub(crate) fn raise_descriptors() -> u64 {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).expect("up to the maximum");
    maximum.unwrap_or(u64::MAX)
}
