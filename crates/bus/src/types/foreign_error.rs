//! Errors of the daemon that the core passes on without looking at them.

use alloc::rc::Rc;
use alloc::string::ToString;
use core::error::Error;
use core::fmt;

/// An error of the daemon, such as one of a system call or of a file. The core passes it on to peers
/// and to the log; it never looks at it.
#[derive(Clone, Debug)]
pub struct ForeignError(Rc<dyn Error>);

impl ForeignError {
    /// Wraps an error.
    pub fn new(error: impl Error + 'static) -> Self {
        Self(Rc::new(error))
    }
}

impl fmt::Display for ForeignError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Errors are the same if they read the same: nothing else is known of them.
impl PartialEq for ForeignError {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for ForeignError {}
