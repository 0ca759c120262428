//! Errors of `diligence bench`.

use std::io;
use std::path::{Path, PathBuf};

use bench::report::MarkerError;
use bench::result::ResultsError;

use crate::exit::ExitError;

/// An error of `diligence bench`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchError {
    #[error("cannot write to standard output: the reader has closed it")]
    OutputClosed,
    /// The system does not allow the start of the measurement.
    #[error("cannot start the measurement: {0}")]
    Start(io::Error),
    #[error("cannot write the results: {0}")]
    Output(io::Error),
    /// A file cannot be opened or written.
    #[error("{}: {error}", path.display())]
    File { path: PathBuf, error: io::Error },
    #[error("{} is not a results file: {error}", path.display())]
    Results { path: PathBuf, error: ResultsError },
    /// The tables of a file cannot be replaced.
    #[error("{}: {error}", path.display())]
    Marker { path: PathBuf, error: MarkerError },
    /// The chosen buses are not available.
    #[error("no bus is left to measure")]
    NothingToMeasure,
}

impl BenchError {
    /// Returns a function that converts the error of a file.
    pub(super) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        |error| Self::File { path, error }
    }

    /// Converts an error of standard output.
    pub(super) fn output(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::Output(error),
        }
    }
}

impl ExitError for BenchError {
    fn is_quiet(&self) -> bool {
        matches!(self, Self::OutputClosed)
    }
}
