//! Directories for sockets and other files, which only their user can enter.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::{env, io};

use crate::random;

/// A directory that nobody else can enter; removed with all that is in it when dropped.
#[derive(Debug)]
pub struct PrivateDirectory {
    path: PathBuf,
}

impl PrivateDirectory {
    /// Makes one whose name begins with `prefix`: where the user has the files of his session, or
    /// else where temporary files are, but not so far down that a socket in it, with a name like
    /// `bus`, could not be connected to.
    ///
    /// # Errors
    ///
    /// Those of mkdir(2).
    pub fn new(prefix: &str) -> io::Result<Self> {
        let runtime = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let candidates = runtime.into_iter().chain([env::temp_dir()]);
        let mut usable =
            candidates.filter(|path| path.is_absolute() && is_short_enough(path, prefix));
        usable
            .find_map(|parent| Self::new_in(&parent, prefix).ok())
            .map_or_else(|| Self::new_in(Path::new("/tmp"), prefix), Ok)
    }

    /// Makes one below `parent`, whose name begins with `prefix`.
    ///
    /// # Errors
    ///
    /// Those of mkdir(2).
    pub fn new_in(parent: &Path, prefix: &str) -> io::Result<Self> {
        loop {
            let path = parent.join(format!("{prefix}{}", random::letters()?));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        // What cannot be removed is left to whoever cleans up temporary files.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Whether the path of a socket below this directory would fit in the address of a socket.
fn is_short_enough(parent: &Path, prefix: &str) -> bool {
    let below = "/".len() + prefix.len() + random::LETTERS_LEN + "/bus".len();
    parent.as_os_str().len() + below <= SOCKET_PATH_LEN_MAX
}

/// Bytes of a path that every program can connect to (unix(7)).
const SOCKET_PATH_LEN_MAX: usize = 107;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_directory_is_private_and_goes_with_what_is_in_it() {
        let [one, other] = [(); 2].map(|()| PrivateDirectory::new("test-").unwrap());
        assert_ne!(one.path, other.path);
        assert_eq!(fs::metadata(&one.path).unwrap().permissions().mode() & 0o777, 0o700);
        fs::write(one.path().join("file"), "content").unwrap();
        let path = one.path.clone();
        drop(one);
        assert!(!path.exists());
    }

    #[test]
    fn a_long_way_to_the_socket_is_avoided() {
        let longest = SOCKET_PATH_LEN_MAX - "/prefix-123456/bus".len();
        let of_len = |len: usize| Path::new("/").join("x".repeat(len - 1));
        assert!(is_short_enough(&of_len(longest), "prefix-"));
        assert!(!is_short_enough(&of_len(longest + 1), "prefix-"));
    }
}
