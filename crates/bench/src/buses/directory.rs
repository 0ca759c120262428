//! The directory of one bus: its socket, its configuration and its output.

use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use sys::private_directory::PrivateDirectory;
use wire::address::{Address, AddressList, Transport, UnixTransport};

/// The paths of the files of one bus.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct BusFiles {
    directory: PathBuf,
}

impl BusFiles {
    /// Returns the paths in a directory, which need not exist.
    pub(super) fn new_in(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// The socket that the bus listens at.
    pub(super) fn socket(&self) -> PathBuf {
        self.directory.join(SOCKET)
    }

    pub(super) fn address(&self) -> AddressList {
        let path = self.socket().into_os_string().into_vec();
        Address::from(Transport::Unix(UnixTransport::Path(path))).into()
    }

    pub(super) fn config(&self) -> PathBuf {
        self.directory.join("bus.conf")
    }

    /// The file that receives the output of the bus's processes.
    pub(super) fn log(&self) -> PathBuf {
        self.directory.join("log")
    }
}

/// Creates a directory for the files of one bus, or of one benchmark.
pub(crate) fn private_directory() -> io::Result<PrivateDirectory> {
    PrivateDirectory::new("diligence-bench-")
}

const SOCKET: &str = "bus";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strange_names_are_escaped_in_the_address() {
        let address = BusFiles::new_in("/a b").address();
        assert_eq!(address.to_string(), "unix:path=/a%20b/bus");
    }
}
