//! Directories for secrets, such as the cookies of `DBUS_COOKIE_SHA1`.

use rustix::process::geteuid;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;

/// Whether a directory is safe for secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Privacy {
    /// The directory belongs to this user, and other users have no access.
    Private,
    /// The directory belongs to another user.
    OwnedBy {
        /// The user id of the owner.
        uid: u32,
    },
    /// The group or other users have access.
    OpenToOthers {
        /// The permission bits of the directory.
        mode: u32,
    },
    /// The path is not a directory.
    NotADirectory,
}

/// Creates the directory `path`, for this user only, if it does not exist, and reports whether the
/// directory is private. Never write or trust secrets in a directory that is not.
///
/// # Errors
///
/// Fails with the errors of mkdir(2) and stat(2).
pub fn ensure_private_directory(path: &Path) -> io::Result<Privacy> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let found = fs::metadata(path)?;
    let mode = found.permissions().mode() & 0o777;
    Ok(if !found.is_dir() {
        Privacy::NotADirectory
    } else if found.uid() != geteuid().as_raw() {
        Privacy::OwnedBy { uid: found.uid() }
    } else if mode & 0o077 != 0 {
        Privacy::OpenToOthers { mode }
    } else {
        Privacy::Private
    })
}
