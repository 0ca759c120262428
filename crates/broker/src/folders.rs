//! The directories of the configuration, watched for changes.
//!
//! For a missing directory, the nearest existing parent is watched until the next directory on the
//! path appears.
//!
//! If a directory cannot be watched, the bus still runs. An administrator can then reload by SIGHUP
//! or ReloadConfig.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use services::saved_path::SavedPath;
use sys::watch::{DirectoryChange, DirectoryWatch, WatchId};

use crate::os_error::OsError;
use crate::saved_state::{FdCollector, FdIndex, RestoredFds, StateError};

/// The directories and their watches.
#[derive(Debug)]
pub(crate) struct Folders {
    watch: DirectoryWatch,
    wanted: BTreeSet<PathBuf>,
    watched: BTreeMap<WatchId, Vec<FolderRole>>,
    /// Directories that could not be watched and are already logged.
    unwatched: BTreeSet<PathBuf>,
}

/// The watched directories in a saved state. All paths are relative to the same directory as before.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedFolders {
    watch: FdIndex,
    wanted: Vec<SavedPath>,
    watched: Vec<(i32, Vec<FolderRole>)>,
    unwatched: Vec<SavedPath>,
}

/// Why a directory is watched.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum FolderRole {
    /// Changes of its files matter.
    Folder,
    /// It is the nearest existing parent of a missing directory, whose next path component is
    /// `name`.
    Above {
        #[serde(with = "services::saved_path::name")]
        name: OsString,
    },
}

/// Whether a directory has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FolderChange {
    Nothing,
    Changed,
}

/// A directory that cannot be watched, and the error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Unwatched {
    pub(crate) folder: PathBuf,
    pub(crate) error: OsError,
}

impl Folders {
    /// Creates a watcher without directories.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            watch: DirectoryWatch::new()?,
            wanted: BTreeSet::new(),
            watched: BTreeMap::new(),
            unwatched: BTreeSet::new(),
        })
    }

    /// Saves the watches. The kernel continues to collect changes.
    pub(crate) fn save<'f>(&'f self, fds: &mut FdCollector<'f>) -> SavedFolders {
        let watched = self.watched.iter();
        SavedFolders {
            watch: fds.add(&self.watch),
            wanted: self.wanted.iter().map(SavedPath::from).collect(),
            watched: watched.map(|(id, roles)| (id.number(), roles.clone())).collect(),
            unwatched: self.unwatched.iter().map(SavedPath::from).collect(),
        }
    }

    /// Restores the watches of a saved state.
    pub(crate) fn restore(saved: SavedFolders, fds: &mut RestoredFds) -> Result<Self, StateError> {
        let watched = saved.watched.into_iter();
        Ok(Self {
            watch: DirectoryWatch::from_descriptor(fds.take(saved.watch)?),
            wanted: saved.wanted.into_iter().map(PathBuf::from).collect(),
            watched: watched.map(|(id, roles)| (WatchId::new(id), roles)).collect(),
            unwatched: saved.unwatched.into_iter().map(PathBuf::from).collect(),
        })
    }

    /// Watches exactly these directories from now on. Returns newly failed watches, each once.
    pub(crate) fn watch(&mut self, wanted: BTreeSet<PathBuf>) -> Vec<Unwatched> {
        self.wanted = wanted;
        self.renew()
    }

    /// Renews the watches of directories that appeared or disappeared.
    pub(crate) fn renew(&mut self) -> Vec<Unwatched> {
        let mut watched = BTreeMap::<_, Vec<FolderRole>>::new();
        let mut failed = Vec::new();
        for folder in &self.wanted {
            match self.start(folder) {
                Ok((id, role)) => watched.entry(id).or_default().push(role),
                Err(error) => {
                    failed.push(Unwatched { folder: folder.clone(), error: error.into() });
                }
            }
        }
        for id in self.watched.keys().filter(|id| !watched.contains_key(id)) {
            self.watch.remove(*id);
        }
        self.watched = watched;
        let known = std::mem::take(&mut self.unwatched);
        self.unwatched = failed.iter().map(|failed| failed.folder.clone()).collect();
        failed.retain(|failed| !known.contains(&failed.folder));
        failed
    }

    /// Reads the pending change events.
    pub(crate) fn look(&mut self) -> io::Result<FolderChange> {
        let Self { watch, watched, .. } = self;
        let mut seen = FolderChange::Nothing;
        watch.take(|change| {
            if matters(&change, watched) {
                seen = FolderChange::Changed;
            }
        })?;
        Ok(seen)
    }

    /// Watches a directory, or its nearest existing parent.
    fn start(&self, folder: &Path) -> io::Result<(WatchId, FolderRole)> {
        let mut below: Option<&OsStr> = None;
        for directory in folder.ancestors() {
            let path = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
            match self.watch.add(path) {
                Ok(id) => {
                    let role = below
                        .map_or(FolderRole::Folder, |name| FolderRole::Above { name: name.into() });
                    return Ok((id, role));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    below = directory.file_name();
                }
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::NotFound.into())
    }
}

impl AsFd for Folders {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.watch.as_fd()
    }
}

fn matters(change: &DirectoryChange<'_>, watched: &BTreeMap<WatchId, Vec<FolderRole>>) -> bool {
    match change {
        DirectoryChange::Lost => true,
        DirectoryChange::Gone(directory) => watched.contains_key(directory),
        DirectoryChange::Entry { directory, name } => {
            watched.get(directory).into_iter().flatten().any(|role| match role {
                FolderRole::Folder => true,
                FolderRole::Above { name: awaited } => awaited == name,
            })
        }
    }
}

/// Debounces changes: the installation of a package changes many files.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct ChangeBurst {
    since: Duration,
    last: Duration,
}

impl ChangeBurst {
    /// Notes another change, and keeps the time of the first one.
    pub(crate) fn extended(earlier: Option<Self>, now: Duration) -> Self {
        Self { since: earlier.map_or(now, |earlier| earlier.since), last: now }
    }

    /// When to act on the changes.
    pub(crate) fn due(self) -> Duration {
        self.last.saturating_add(QUIET).min(self.since.saturating_add(DELAY_MAX))
    }
}

/// The time without changes after which they are acted on.
const QUIET: Duration = Duration::from_millis(50);

/// Changes are acted on after this time at the latest, even if more of them follow.
const DELAY_MAX: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    use sys::private_directory::PrivateDirectory;

    #[test]
    fn existing_and_missing_folders_are_watched() {
        let scratch = PrivateDirectory::new("folders-").unwrap();
        let at = |path: &str| scratch.path().join(path);
        fs::create_dir(at("here")).unwrap();
        let mut folders = Folders::new().unwrap();
        assert_eq!(folders.watch(BTreeSet::from([at("here"), at("not/yet")])), []);
        let check = |folders: &mut Folders, change: &dyn Fn(), expected: FolderChange| {
            change();
            assert_eq!(folders.look().unwrap(), expected);
            assert_eq!(folders.look().unwrap(), FolderChange::Nothing);
            assert_eq!(folders.renew(), []);
        };
        let write = |path: &str| fs::write(at(path), "").unwrap();
        check(&mut folders, &|| (), FolderChange::Nothing);
        check(&mut folders, &|| write("here/a"), FolderChange::Changed);
        check(&mut folders, &|| write("beside"), FolderChange::Nothing);
        check(&mut folders, &|| fs::create_dir(at("not")).unwrap(), FolderChange::Changed);
        check(&mut folders, &|| write("not/beside"), FolderChange::Nothing);
        check(&mut folders, &|| fs::create_dir(at("not/yet")).unwrap(), FolderChange::Changed);
        check(&mut folders, &|| write("not/yet/a"), FolderChange::Changed);
        check(&mut folders, &|| fs::remove_dir_all(at("here")).unwrap(), FolderChange::Changed);
        check(&mut folders, &|| fs::create_dir(at("here")).unwrap(), FolderChange::Changed);
        check(&mut folders, &|| write("here/b"), FolderChange::Changed);
        assert_eq!(folders.watch(BTreeSet::from([at("here")])), []);
        check(&mut folders, &|| write("not/yet/b"), FolderChange::Nothing);
    }

    #[test]
    fn each_unwatchable_folder_is_reported_once() {
        let scratch = PrivateDirectory::new("unwatched-").unwrap();
        let file = scratch.path().join("file");
        fs::write(&file, "").unwrap();
        let mut folders = Folders::new().unwrap();
        let [Unwatched { folder, error }] = &folders.watch(BTreeSet::from([file.clone()]))[..]
        else {
            panic!("a file is not a directory")
        };
        assert_eq!((folder, error.kind()), (&file, io::ErrorKind::NotADirectory));
        assert_eq!(folders.renew(), []);
        fs::remove_file(&file).unwrap();
        assert_eq!(folders.renew(), [], "it is waited for now");
        fs::write(&file, "").unwrap();
        assert_eq!(folders.renew().len(), 1);
    }

    #[test]
    fn changes_are_debounced_up_to_a_maximum() {
        let at = Duration::from_millis;
        let first = ChangeBurst::extended(None, at(1000));
        assert_eq!(first.due(), at(1050));
        let second = ChangeBurst::extended(Some(first), at(1040));
        assert_eq!(second.due(), at(1090));
        assert_eq!(ChangeBurst::extended(Some(second), at(1490)).due(), at(1500));
    }
}
