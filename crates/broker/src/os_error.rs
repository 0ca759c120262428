//! Errors of the operating system as comparable values, displayed like in other programs.

use std::fmt;
use std::io;

/// Why a system call failed.
///
/// ```
/// use broker::os_error::OsError;
/// use std::fs::File;
///
/// let error = File::open("/no such file").map_err(OsError::from).unwrap_err();
/// assert_eq!(error.to_string(), "No such file or directory");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OsError {
    /// The error number of the kernel (errno(3)).
    Number(i32),
    /// An error of the standard library that has no error number.
    Kind(io::ErrorKind),
}

impl OsError {
    /// The kind of the error, for decisions that do not need the number.
    #[must_use]
    pub fn kind(self) -> io::ErrorKind {
        match self {
            Self::Number(number) => io::Error::from_raw_os_error(number).kind(),
            Self::Kind(kind) => kind,
        }
    }
}

impl From<io::Error> for OsError {
    fn from(error: io::Error) -> Self {
        error.raw_os_error().map_or_else(|| Self::Kind(error.kind()), Self::Number)
    }
}

impl fmt::Display for OsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => {
                let text = io::Error::from_raw_os_error(*number).to_string();
                let suffix = format!(" (os error {number})");
                f.write_str(text.strip_suffix(&suffix).unwrap_or(&text))
            }
            Self::Kind(kind) => kind.fmt(f),
        }
    }
}

impl std::error::Error for OsError {}
