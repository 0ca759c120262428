//! The directory of one bus: its socket, its configuration, what it wrote.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use sys::random;
use wire::address::{Address, AddressList, Transport, UnixAddress};

/// Where the files of one bus are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Files {
    directory: PathBuf,
}

impl Files {
    /// Those in a directory, which need not exist.
    pub(super) fn new_in(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// The socket at which the bus listens.
    pub(super) fn socket(&self) -> PathBuf {
        self.directory.join(SOCKET)
    }

    /// The socket as an address.
    pub(super) fn address(&self) -> AddressList {
        let path = self.socket().into_os_string().into_vec();
        Address::from(Transport::Unix(UnixAddress::Path(path))).into()
    }

    /// The file with its configuration.
    pub(super) fn config(&self) -> PathBuf {
        self.directory.join("bus.conf")
    }

    /// The file with all that its processes write.
    pub(super) fn log(&self) -> PathBuf {
        self.directory.join("log")
    }
}

/// A directory that nobody else can enter; removed with all that is in it when dropped.
#[derive(Debug)]
pub(crate) struct PrivateDirectory {
    path: PathBuf,
}

impl PrivateDirectory {
    /// Makes one: where the user has the files of his session, or else where temporary files are.
    pub(crate) fn new() -> io::Result<Self> {
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let candidates = runtime.into_iter().chain([std::env::temp_dir()]);
        let mut usable = candidates.filter(|path| path.is_absolute() && is_short_enough(path));
        usable
            .find_map(|parent| Self::new_in(&parent).ok())
            .map_or_else(|| Self::new_in(Path::new("/tmp")), Ok)
    }

    /// Makes one below `parent`.
    fn new_in(parent: &Path) -> io::Result<Self> {
        loop {
            let path = parent.join(random_name()?);
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What is in it, if it is that of a bus.
    pub(super) fn files(&self) -> Files {
        Files::new_in(&self.path)
    }
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        // What cannot be removed is left to whoever cleans up temporary files.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Whether the path of a socket below this directory would fit in the address of a socket.
fn is_short_enough(parent: &Path) -> bool {
    let below = PREFIX.len() + RANDOM_LEN + "//".len() + SOCKET.len();
    parent.as_os_str().len() + below <= SOCKET_PATH_LEN_MAX
}

fn random_name() -> io::Result<OsString> {
    let mut bytes = [0; RANDOM_LEN];
    random::fill(&mut bytes)?;
    let letters = bytes.map(|byte| LETTERS[usize::from(byte) % LETTERS.len()]);
    Ok(OsStr::from_bytes(&[PREFIX.as_bytes(), &letters].concat()).to_owned())
}

const SOCKET: &str = "bus";
const PREFIX: &str = "diligence-bench-";
const RANDOM_LEN: usize = 6;
const LETTERS: &[u8; 32] = b"abcdefghijkmnopqrstuvwxyz2345678";

/// Bytes of a path that every program can connect to (unix(7)).
const SOCKET_PATH_LEN_MAX: usize = 107;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_directory_is_private_and_goes_with_what_is_in_it() {
        let (one, other) = (PrivateDirectory::new().unwrap(), PrivateDirectory::new().unwrap());
        assert_ne!(one.path, other.path);
        assert_eq!(fs::metadata(&one.path).unwrap().permissions().mode() & 0o777, 0o700);
        fs::write(one.files().log(), "content").unwrap();
        let path = one.path.clone();
        drop(one);
        assert!(!path.exists());
    }

    #[test]
    fn a_long_way_to_the_socket_is_avoided() {
        let longest = SOCKET_PATH_LEN_MAX - "/diligence-bench-123456/bus".len();
        let of_len = |len: usize| Path::new("/").join("x".repeat(len - 1));
        assert!(is_short_enough(&of_len(longest)));
        assert!(!is_short_enough(&of_len(longest + 1)));
    }

    #[test]
    fn strange_names_are_escaped_in_the_address() {
        let address = Files::new_in("/a b").address();
        assert_eq!(address.to_string(), "unix:path=/a%20b/bus");
    }
}
