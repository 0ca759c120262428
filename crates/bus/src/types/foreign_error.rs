//! Errors of the daemon that the core passes on unchanged.

use alloc::rc::Rc;
use alloc::string::{String, ToString};
use core::error::Error;
use core::fmt;

/// An error of the daemon, such as a failed system call or an invalid file. The core passes it to
/// peers and to the log without interpreting it.
#[derive(Clone, Debug)]
pub struct ForeignError(Rc<dyn Error>);

impl ForeignError {
    /// An error of which only the text is left.
    pub(crate) fn of_text(text: String) -> Self {
        Self::new(ErrorText(text))
    }

    /// Wraps an error of the daemon.
    pub fn new(error: impl Error + 'static) -> Self {
        Self(Rc::new(error))
    }
}

/// The text of an error.
#[derive(Debug)]
struct ErrorText(String);

impl fmt::Display for ErrorText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for ErrorText {}

impl fmt::Display for ForeignError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Errors are equal if their texts are equal, because the core knows only the text.
impl PartialEq for ForeignError {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for ForeignError {}
