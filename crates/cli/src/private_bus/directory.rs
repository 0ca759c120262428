//! A directory for the socket of a private bus, which only its user can enter.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::{env, io};

use sys::random;

/// A directory that nobody else can enter; removed with all that is in it when dropped.
#[derive(Debug)]
pub(crate) struct PrivateDirectory {
    path: PathBuf,
}

impl PrivateDirectory {
    /// Makes one: where the user has the files of his session, or else where temporary files are.
    pub(crate) fn new() -> io::Result<Self> {
        let runtime = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let usable = runtime.filter(|path| path.is_absolute() && is_short_enough(path));
        match usable.map(|parent| Self::new_in(&parent)) {
            Some(Ok(directory)) => Ok(directory),
            Some(Err(_)) | None => Self::new_in(&temporary()),
        }
    }

    /// Makes one below `parent`.
    pub(crate) fn new_in(parent: &Path) -> io::Result<Self> {
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
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        // What cannot be removed is left to whoever cleans up temporary files.
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn temporary() -> PathBuf {
    let chosen = env::temp_dir();
    if is_short_enough(&chosen) { chosen } else { PathBuf::from("/tmp") }
}

/// Whether the path of a socket below this directory would fit in the address of a socket.
fn is_short_enough(parent: &Path) -> bool {
    let below = parent.join(PREFIX).as_os_str().len() + RANDOM_LEN + "/bus".len();
    below <= SOCKET_PATH_LEN_MAX
}

fn random_name() -> io::Result<PathBuf> {
    let mut bytes = [0; RANDOM_LEN];
    random::fill(&mut bytes)?;
    let letters = bytes.map(|byte| LETTERS[usize::from(byte) % LETTERS.len()]);
    let name = [PREFIX.as_bytes(), &letters].concat();
    Ok(PathBuf::from(OsStr::from_bytes(&name)))
}

const PREFIX: &str = "diligence-";
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
        let one = PrivateDirectory::new().unwrap();
        let other = PrivateDirectory::new().unwrap();
        assert_ne!(one.path(), other.path());
        assert_eq!(fs::metadata(one.path()).unwrap().permissions().mode() & 0o777, 0o700);
        fs::write(one.path().join("file"), "content").unwrap();
        let path = one.path().to_owned();
        drop(one);
        assert!(!path.exists());
    }

    #[test]
    fn a_long_way_to_the_socket_is_avoided() {
        assert!(is_short_enough(Path::new("/run/user/1000")));
        assert!(is_short_enough(&Path::new("/").join("x".repeat(84))));
        assert!(!is_short_enough(&Path::new("/").join("x".repeat(86))));
    }
}
