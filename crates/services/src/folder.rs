//! The folders in which service files are searched for.

use std::path::{Path, PathBuf};

/// A folder of service files.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Folder {
    /// The path of the folder, which need not exist.
    pub path: PathBuf,
    /// The rule for the names of its files.
    pub naming: Naming,
}

/// The rule for the names of files in a folder; all of them end in `.service`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Naming {
    /// Any name is allowed.
    Any,
    /// Any name is allowed, with a warning if it differs from the name of the service, because the
    /// helper does not find such a file.
    Advised,
    /// The name must be the name of the service; other files are ignored. This applies to folders
    /// that change at run time.
    Strict,
}

impl Folder {
    /// A folder that the configuration names.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { path, naming: Naming::Any }
    }

    fn of(base: &Path, below: &str, naming: Naming) -> Self {
        Self { path: base.join(below), naming }
    }
}

/// The variables that determine the folders of a session bus; empty ones count as unset.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SessionPlaces {
    /// The value of `XDG_RUNTIME_DIR`.
    pub runtime_dir: Option<PathBuf>,
    /// The value of `XDG_DATA_HOME`.
    pub data_home: Option<PathBuf>,
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// The value of `XDG_DATA_DIRS`: folders separated by `:`.
    pub data_dirs: Option<String>,
}

/// The folders of a session bus, by descending priority (`<standard_session_servicedirs/>`).
///
/// ```
/// use services::{SessionPlaces, session_folders};
/// use std::path::Path;
///
/// let places = SessionPlaces { home: Some("/home/me".into()), ..SessionPlaces::default() };
/// let folders = session_folders(&places);
/// assert_eq!(folders[0].path, Path::new("/home/me/.local/share/dbus-1/services"));
/// ```
#[must_use]
pub fn session_folders(places: &SessionPlaces) -> Vec<Folder> {
    let runtime = places.runtime_dir.iter();
    let runtime = runtime.map(|base| Folder::of(base, SESSION, Naming::Strict));
    let home = || places.home.as_ref().map(|home| home.join(".local/share"));
    let own = places.data_home.clone().or_else(home);
    let listed = places.data_dirs.as_deref().unwrap_or(DATA_DIRS);
    let listed = listed.split(':').filter(|path| path.starts_with('/')).map(PathBuf::from);
    let data = own.into_iter().chain(listed).chain([PathBuf::from(DATA_DIR)]);
    let data = data.map(|base| Folder::of(&base, SESSION, Naming::Any));
    without_repetition(runtime.chain(data))
}

/// The folders of a system bus, by descending priority (`<standard_system_servicedirs/>`).
#[must_use]
pub fn system_folders() -> Vec<Folder> {
    let strict = ["/etc", "/run"].map(|base| (base, Naming::Strict));
    let advised = ["/usr/local/share", "/usr/share", DATA_DIR, "/lib"];
    let advised = advised.map(|base| (base, Naming::Advised));
    let all = strict.into_iter().chain(advised);
    without_repetition(all.map(|(base, naming)| Folder::of(Path::new(base), SYSTEM, naming)))
}

/// Removes repeated folders; the first one stays.
fn without_repetition(folders: impl Iterator<Item = Folder>) -> Vec<Folder> {
    let mut list: Vec<Folder> = Vec::new();
    for folder in folders {
        if list.iter().all(|other| other.path != folder.path) {
            list.push(folder);
        }
    }
    list
}

const SESSION: &str = "dbus-1/services";
const SYSTEM: &str = "dbus-1/system-services";

/// The default of `XDG_DATA_DIRS`.
const DATA_DIRS: &str = "/usr/local/share:/usr/share";

/// The data folder of packages.
const DATA_DIR: &str = "/usr/share";
