//! Finding the installed daemon.
//!
//! It is looked for next to the program that asks, where builds and packages put both, and then in the
//! folders of `PATH`.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use crate::PROGRAM;

/// The daemon is not installed where this process looks for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DaemonMissing {
    /// The directory of this program, if the system reports it.
    beside: Option<PathBuf>,
}

/// Returns the path of the installed daemon.
///
/// # Errors
///
/// When no executable file of this name is next to this program or in the directories of `PATH`.
pub fn daemon() -> Result<PathBuf, DaemonMissing> {
    // The kernel resolves symbolic links in this path, so it names the folder of the real file.
    let own = env::current_exe().ok();
    let beside = own.as_deref().and_then(Path::parent).map(Path::to_owned);
    daemon_in(beside, env::var_os("PATH"))
}

/// Like [`daemon`], for a program in the directory `beside` and this value of `PATH`.
///
/// # Errors
///
/// The same as for [`daemon`].
pub fn daemon_in(
    beside: Option<PathBuf>,
    path: Option<OsString>,
) -> Result<PathBuf, DaemonMissing> {
    let path = path.unwrap_or_default();
    // A relative folder would mean another file after each change of the working directory.
    let folders = env::split_paths(&path).filter(|folder| folder.is_absolute());
    let mut candidates = beside.iter().cloned().chain(folders).map(|folder| folder.join(PROGRAM));
    let found = candidates.find(|path| is_executable(path));
    found.ok_or(DaemonMissing { beside })
}

/// True if this user may execute the file. A file of another user that this user may not execute must not
/// hide one that it may.
fn is_executable(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

impl fmt::Display for DaemonMissing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the program {PROGRAM} is missing: it is neither ")?;
        match &self.beside {
            Some(folder) => write!(f, "in {}, next to this program, ", folder.display())?,
            None => f.write_str("next to this program ")?,
        }
        f.write_str("nor in a directory of PATH; install it there")
    }
}

impl std::error::Error for DaemonMissing {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    struct DaemonFolder(PathBuf);

    impl DaemonFolder {
        fn new(name: &str) -> Self {
            let path =
                env::temp_dir().join(format!("diligence-locate-{}-{name}", std::process::id()));
            fs::create_dir(&path).unwrap();
            Self(path)
        }

        fn with_program(self, mode: u32) -> Self {
            let program = self.0.join(PROGRAM);
            fs::write(&program, "").unwrap();
            fs::set_permissions(&program, Permissions::from_mode(mode)).unwrap();
            self
        }
    }

    impl Drop for DaemonFolder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_daemon_is_next_to_the_program_or_in_path() {
        let empty = DaemonFolder::new("empty");
        let plain = DaemonFolder::new("plain").with_program(0o644);
        let first = DaemonFolder::new("first").with_program(0o755);
        let second = DaemonFolder::new("second").with_program(0o755);
        let check = |beside: &DaemonFolder, path: &[&DaemonFolder], expected: &DaemonFolder| {
            let path = env::join_paths(path.iter().map(|folder| &folder.0)).unwrap();
            let found = daemon_in(Some(beside.0.clone()), Some(path));
            assert_eq!(found, Ok(expected.0.join(PROGRAM)));
        };
        check(&first, &[&second], &first);
        check(&empty, &[&empty, &second, &first], &second);
        // A file that cannot be executed is not the program.
        check(&plain, &[&plain, &first], &first);
    }

    #[test]
    fn a_missing_daemon_is_reported_with_the_places() {
        let empty = DaemonFolder::new("missing");
        let error = daemon_in(Some(empty.0.clone()), Some("relative:".into())).unwrap_err();
        let expected = format!(
            "the program diligence-bus is missing: it is neither in {}, next to this program, nor in a \
             directory of PATH; install it there",
            empty.0.display()
        );
        assert_eq!(error.to_string(), expected);
        assert!(daemon_in(None, None).is_err());
    }
}
