//! Directories for sockets and other files, accessible only to their user.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::{env, io};

use crate::random;

/// A directory that only its user can access. Dropping it removes it with its content.
#[derive(Debug)]
pub struct PrivateDirectory {
    path: PathBuf,
}

impl PrivateDirectory {
    /// Creates a directory whose name begins with `prefix`: in the user's runtime directory, or
    /// else in the directory for temporary files, but not with a path so long that a socket in it,
    /// with a name like `bus`, could not be connected to.
    ///
    /// # Errors
    ///
    /// Fails with the errors of mkdir(2).
    pub fn new(prefix: &str) -> io::Result<Self> {
        let runtime = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let candidates = runtime.into_iter().chain([env::temp_dir()]);
        let mut usable =
            candidates.filter(|path| path.is_absolute() && is_short_enough(path, prefix));
        usable
            .find_map(|parent| Self::new_in(&parent, prefix).ok())
            .map_or_else(|| Self::new_in(Path::new("/tmp"), prefix), Ok)
    }

    /// Creates a directory below `parent`, whose name begins with `prefix`.
    ///
    /// # Errors
    ///
    /// Fails with the errors of mkdir(2).
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

    /// Takes the ownership of a directory that another `PrivateDirectory` has created, in an earlier
    /// program of this process.
    #[must_use]
    pub const fn adopt(path: PathBuf) -> Self {
        Self { path }
    }

    /// The path of the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        // Files that cannot be removed are left to the cleanup of temporary files.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// True if the path of a socket below this directory fits in a socket address.
fn is_short_enough(parent: &Path, prefix: &str) -> bool {
    let below = "/".len() + prefix.len() + random::LETTERS_LEN + "/bus".len();
    parent.as_os_str().len() + below <= SOCKET_PATH_LEN_MAX
}

/// The number of bytes of a path that every program can connect to (unix(7)).
const SOCKET_PATH_LEN_MAX: usize = 107;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_directory_is_private_and_is_removed_with_its_contents() {
        let [one, other] = [(); 2].map(|()| PrivateDirectory::new("test-").unwrap());
        assert_ne!(one.path, other.path);
        assert_eq!(fs::metadata(&one.path).unwrap().permissions().mode() & 0o777, 0o700);
        fs::write(one.path().join("file"), "content").unwrap();
        let path = one.path.clone();
        drop(one);
        assert!(!path.exists());
    }

    #[test]
    fn private_directories_keep_socket_paths_short() {
        let longest = SOCKET_PATH_LEN_MAX - "/prefix-123456/bus".len();
        let of_len = |len: usize| Path::new("/").join("x".repeat(len - 1));
        assert!(is_short_enough(&of_len(longest), "prefix-"));
        assert!(!is_short_enough(&of_len(longest + 1), "prefix-"));
    }
}
