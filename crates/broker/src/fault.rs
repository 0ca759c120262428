//! Faults: what the operating system does not let the bus do.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::folders::Unwatched;
use crate::os_error::OsError;

/// Something that the operating system does not let the bus do. The bus goes on without it.
#[derive(Debug)]
pub(crate) enum Fault {
    /// There is no descriptor for another connection.
    NoDescriptors(DescriptorShortage),
    /// Folders of the configuration cannot be watched for changes.
    UnwatchedFolders(OsError),
    /// A folder of the configuration cannot be watched for changes.
    UnwatchedFolder(Unwatched),
    /// A connection cannot be watched.
    UnwatchedConnection(io::Error),
    /// What the policy asks about a connection cannot be read.
    UnknownAttributes {
        /// The connection, as the log describes it.
        peer: String,
        error: io::Error,
    },
    /// The statistics cannot be served.
    Metrics {
        /// Where, if the configuration names another place than before.
        place: Option<PathBuf>,
        error: io::Error,
    },
    /// The process of a service that did not start in time cannot be killed.
    StrayService(io::Error),
    /// The output of services cannot be passed on.
    ServiceOutput(io::Error),
    /// There is no memory for the flight recorder.
    NoFlightRecorder(io::Error),
    /// The content of the flight recorder cannot be written to a file.
    FlightRecorderDump {
        /// The file or its folder.
        place: String,
        error: io::Error,
    },
}

/// Why there is no descriptor for another connection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DescriptorShortage {
    /// The kernel has none.
    System(OsError),
    /// The last ones are reserved for other purposes.
    Reserved,
}

impl Fault {
    /// The word for this fault in logs and statistics.
    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::NoDescriptors(_) => "no-descriptors",
            Self::UnwatchedFolders(_) | Self::UnwatchedFolder(_) => "unwatched-folder",
            Self::UnwatchedConnection(_) => "unwatched-connection",
            Self::UnknownAttributes { .. } => "standing-unknown",
            Self::Metrics { .. } => "metrics",
            Self::StrayService(_) => "stray-service",
            Self::ServiceOutput(_) => "service-output",
            Self::NoFlightRecorder(_) | Self::FlightRecorderDump { .. } => "flight-recorder",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDescriptors(shortage) => write!(
                f,
                "Cannot accept connections: {shortage}; those who want to connect wait until \
                 others leave"
            ),
            Self::UnwatchedFolders(error) => {
                write!(f, "Cannot watch folders for changes: {error}{RELOAD_HINT}")
            }
            Self::UnwatchedFolder(Unwatched { folder, error }) => {
                let folder = folder.display().to_string();
                write!(f, "Cannot watch {folder:?} for changes: {error}{RELOAD_HINT}")
            }
            Self::UnwatchedConnection(error) => write!(f, "Cannot watch a connection: {error}"),
            Self::UnknownAttributes { peer, error } => {
                write!(f, "Cannot tell what the policy asks of {peer}: {error}")
            }
            Self::Metrics { place: Some(place), error } => {
                write!(f, "Cannot tell what is counted at {}: {error}", place.display())
            }
            Self::Metrics { place: None, error } => {
                write!(f, "Cannot tell what is counted: {error}")
            }
            Self::StrayService(error) => {
                write!(f, "Cannot end a service that has not come in time: {error}")
            }
            Self::ServiceOutput(error) => {
                write!(f, "Cannot pass on what services write: {error}")
            }
            Self::NoFlightRecorder(error) => write!(f, "There is no flight recorder: {error}"),
            Self::FlightRecorderDump { place, error } => {
                write!(f, "Cannot write the flight recorder to {place}: {error}")
            }
        }
    }
}

impl std::error::Error for Fault {}

impl fmt::Display for DescriptorShortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(error) => error.fmt(f),
            Self::Reserved => f.write_str("nearly all descriptors are in use"),
        }
    }
}

/// What an administrator does if changes are not noticed.
const RELOAD_HINT: &str = "; after a change, reload by SIGHUP or ReloadConfig";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_faults_are_those_of_the_documentation() {
        let error = || io::Error::from(io::ErrorKind::OutOfMemory);
        let peer = String::new();
        for (fault, word) in [
            (Fault::NoDescriptors(DescriptorShortage::Reserved), "no-descriptors"),
            (Fault::UnwatchedFolders(OsError::from(error())), "unwatched-folder"),
            (Fault::UnwatchedConnection(error()), "unwatched-connection"),
            (Fault::UnknownAttributes { peer, error: error() }, "standing-unknown"),
            (Fault::Metrics { place: None, error: error() }, "metrics"),
            (Fault::StrayService(error()), "stray-service"),
            (Fault::ServiceOutput(error()), "service-output"),
            (Fault::NoFlightRecorder(error()), "flight-recorder"),
        ] {
            assert_eq!(fault.word(), word);
            assert!(!fault.to_string().is_empty());
        }
    }
}
