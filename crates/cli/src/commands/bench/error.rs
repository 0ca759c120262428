//! Errors of `diligence bench`.

use std::path::{Path, PathBuf};
use std::{fmt, io};

use bench::report::MarkerError;
use bench::result::ReadError;

/// Why `diligence bench` failed.
#[derive(Debug)]
pub(super) enum BenchError {
    /// The reader of the output has closed it.
    NobodyReads,
    /// The system does not allow the start.
    Start(io::Error),
    /// The output cannot be written.
    Output(io::Error),
    /// A file cannot be opened or written.
    File { path: PathBuf, error: io::Error },
    /// A file does not hold results.
    Results { path: PathBuf, error: ReadError },
    /// A file has no place for the headline.
    Marker { path: PathBuf, error: MarkerError },
    /// The results have no headline.
    NoHeadline,
    /// None of the chosen subjects is available.
    NothingToMeasure,
}

impl BenchError {
    /// The error of a file.
    pub(super) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        |error| Self::File { path, error }
    }

    /// The error of the output.
    pub(super) fn output(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::NobodyReads,
            _ => Self::Output(error),
        }
    }
}

impl fmt::Display for BenchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NobodyReads => f.write_str("nobody reads what is written"),
            Self::Start(error) => write!(f, "cannot begin: {error}"),
            Self::Output(error) => write!(f, "cannot write what was measured: {error}"),
            Self::File { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Results { path, error } => {
                write!(f, "{} is not a file of results: {error}", path.display())
            }
            Self::Marker { path, error } => write!(f, "{}: {error}", path.display()),
            Self::NoHeadline => {
                f.write_str("the results are not of `bench compare`, so there is no headline")
            }
            Self::NothingToMeasure => f.write_str("nothing is left to measure"),
        }
    }
}
