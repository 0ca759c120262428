//! The directory for transient services, which exist until the user logs out: `dbus-1/services` in
//! the runtime directory. No other program creates it, so a session bus does.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sys::filesystem::{Privacy, ensure_private_directory};

use crate::os_error::OsError;

/// Creates the directory if it is missing, in a runtime directory that belongs to `uid`.
pub(super) fn make_service_dir(runtime_dir: &Path, uid: u32) -> Result<(), ServiceDirError> {
    check_runtime_dir(runtime_dir, uid)?;
    let folder = runtime_dir.join("dbus-1");
    for folder in [&folder, &folder.join("services")] {
        let failed = |error: io::Error| ServiceDirError::Make(folder.clone(), error.into());
        match ensure_private_directory(folder).map_err(failed)? {
            Privacy::NotADirectory => return Err(ServiceDirError::NotADirectory(folder.clone())),
            Privacy::Private | Privacy::OwnedBy { .. } | Privacy::OpenToOthers { .. } => {}
        }
    }
    Ok(())
}

fn check_runtime_dir(runtime_dir: &Path, uid: u32) -> Result<(), ServiceDirError> {
    let path = || runtime_dir.to_owned();
    let found = fs::metadata(runtime_dir)
        .map_err(|error| ServiceDirError::NoRuntimeDir(path(), error.into()))?;
    if !found.is_dir() {
        return Err(ServiceDirError::NotADirectory(path()));
    }
    if found.uid() != uid {
        return Err(ServiceDirError::OwnedBy { path: path(), owner: found.uid(), uid });
    }
    Ok(())
}

/// Why the directory could not be created. The bus runs without it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum ServiceDirError {
    /// The runtime directory does not exist or cannot be read.
    NoRuntimeDir(PathBuf, OsError),
    /// The runtime directory belongs to another user.
    OwnedBy { path: PathBuf, owner: u32, uid: u32 },
    /// Another kind of file is in the place of a directory.
    NotADirectory(PathBuf),
    /// A directory cannot be created.
    Make(PathBuf, OsError),
}

impl fmt::Display for ServiceDirError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unable to set up transient service directory: ")?;
        match self {
            Self::NoRuntimeDir(path, error) => {
                write!(f, "XDG_RUNTIME_DIR {path:?} not available: {error}")
            }
            Self::OwnedBy { path, owner, uid } => {
                write!(f, "XDG_RUNTIME_DIR {path:?} is owned by uid {owner}, not our uid {uid}")
            }
            Self::NotADirectory(path) => write!(f, "{path:?} is not a directory"),
            Self::Make(path, error) => write!(f, "cannot make {path:?}: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_service_folder_is_created_only_in_our_runtime_folder() {
        let temporary = tempfile::tempdir().unwrap();
        let scratch = temporary.path().join("run");
        let missing = make_service_dir(&scratch, 0);
        assert!(matches!(missing, Err(ServiceDirError::NoRuntimeDir(..))), "{missing:?}");
        fs::create_dir(&scratch).unwrap();
        let uid = fs::metadata(&scratch).unwrap().uid();
        let foreign = make_service_dir(&scratch, uid + 1);
        assert!(matches!(foreign, Err(ServiceDirError::OwnedBy { .. })), "{foreign:?}");
        for _ in 0..2 {
            assert_eq!(make_service_dir(&scratch, uid), Ok(()));
        }
        let made = fs::metadata(scratch.join("dbus-1/services")).unwrap();
        assert_eq!(made.permissions().mode() & 0o777, 0o700);
        fs::remove_dir_all(scratch.join("dbus-1")).unwrap();
        fs::write(scratch.join("dbus-1"), "").unwrap();
        let blocked = make_service_dir(&scratch, uid);
        assert_eq!(blocked, Err(ServiceDirError::NotADirectory(scratch.join("dbus-1"))));
    }
}
