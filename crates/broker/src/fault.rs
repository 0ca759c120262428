//! Failed system operations that the bus survives.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::folders::Unwatched;
use crate::os_error::OsError;

/// A system operation that failed. The bus continues without it.
#[derive(Debug)]
pub(crate) enum Fault {
    /// There is no descriptor for another connection.
    NoDescriptors(DescriptorShortage),
    /// Directories of the configuration cannot be watched for changes.
    UnwatchedFolders(OsError),
    /// A directory of the configuration cannot be watched for changes.
    UnwatchedFolder(Unwatched),
    /// A connection cannot be watched.
    UnwatchedConnection(io::Error),
    /// An attribute that the policy needs about a connection cannot be read.
    UnknownAttributes {
        /// The description of the connection in the log.
        peer: String,
        error: io::Error,
    },
    /// The metrics cannot be served.
    Metrics {
        /// The new path, if a reload changed it.
        place: Option<PathBuf>,
        error: io::Error,
    },
    /// The process of a service that did not start in time cannot be killed.
    StrayService(io::Error),
    /// The output of services cannot be forwarded.
    ServiceOutput(io::Error),
    /// The socket of a container, which its creator has passed, was shut down.
    ContainerSocket,
    /// The memory of traces cannot be mapped after the program was replaced.
    Traces(io::Error),
    /// The counters of lanes cannot be mapped after the program was replaced, so all lanes end.
    Lanes(io::Error),
    /// The memory of the flight recorder cannot be allocated.
    NoFlightRecorder(io::Error),
    /// The content of the flight recorder cannot be written to a file.
    FlightRecorderDump {
        /// The path of the file or its directory.
        place: String,
        error: io::Error,
    },
}

/// Why there is no descriptor for another connection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DescriptorShortage {
    /// The system has no free descriptors.
    System(OsError),
    /// The remaining ones are reserved for other purposes.
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
            Self::ContainerSocket => "container-socket",
            Self::Traces(_) => "traces",
            Self::Lanes(_) => "lanes",
            Self::NoFlightRecorder(_) | Self::FlightRecorderDump { .. } => "flight-recorder",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDescriptors(shortage) => write!(
                f,
                "Cannot accept connections: {shortage}; new connections wait until others close"
            ),
            Self::UnwatchedFolders(error) => {
                write!(f, "Cannot watch directories for changes: {error}{RELOAD_HINT}")
            }
            Self::UnwatchedFolder(Unwatched { folder, error }) => {
                let folder = folder.display().to_string();
                write!(f, "Cannot watch {folder:?} for changes: {error}{RELOAD_HINT}")
            }
            Self::UnwatchedConnection(error) => write!(f, "Cannot watch a connection: {error}"),
            Self::UnknownAttributes { peer, error } => {
                write!(f, "Cannot look up the attributes of {peer} that the policy needs: {error}")
            }
            Self::Metrics { place: Some(place), error } => {
                write!(f, "Cannot serve metrics at {}: {error}", place.display())
            }
            Self::Metrics { place: None, error } => {
                write!(f, "Cannot serve metrics: {error}")
            }
            Self::StrayService(error) => {
                write!(f, "Cannot kill a service that did not start in time: {error}")
            }
            Self::ContainerSocket => {
                f.write_str("The socket of a container was shut down, so the container ends")
            }
            Self::ServiceOutput(error) => {
                write!(f, "Cannot forward the output of services: {error}")
            }
            Self::Traces(error) => write!(f, "Cannot continue traces: {error}"),
            Self::Lanes(error) => write!(f, "Cannot continue lanes, so all of them end: {error}"),
            Self::NoFlightRecorder(error) => write!(f, "Cannot start the flight recorder: {error}"),
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
            Self::Reserved => f.write_str("nearly all file descriptors are in use"),
        }
    }
}

/// Advice for administrators if changes are not noticed.
const RELOAD_HINT: &str = "; after a change, reload by SIGHUP or ReloadConfig";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fault_causes_match_the_documentation() {
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
            (Fault::ContainerSocket, "container-socket"),
            (Fault::Traces(error()), "traces"),
            (Fault::Lanes(error()), "lanes"),
            (Fault::NoFlightRecorder(error()), "flight-recorder"),
        ] {
            assert_eq!(fault.word(), word);
            assert!(!fault.to_string().is_empty());
        }
    }
}
