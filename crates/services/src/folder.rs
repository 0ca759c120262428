//! Where service files are looked for.

use std::path::{Path, PathBuf};

/// A folder of service files.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Folder {
    /// Where it is. It need not exist.
    pub path: PathBuf,
    /// How files in it must be called.
    pub naming: Naming,
}

/// How the files in a folder must be called, apart from ending in `.service`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Naming {
    /// As they like.
    Any,
    /// As they like, but one that is not called after its service cannot be found by the helper,
    /// which is worth a warning.
    Advised,
    /// After the service: others do not count. So it is where files come and go at run time.
    Strict,
}

impl Folder {
    /// A folder that is named in a configuration.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { path, naming: Naming::Any }
    }

    fn of(base: &Path, below: &str, naming: Naming) -> Self {
        Self { path: base.join(below), naming }
    }
}

/// What decides where the services of a session are looked for; empty variables count as unset.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SessionPlaces {
    /// `XDG_RUNTIME_DIR`.
    pub runtime_dir: Option<PathBuf>,
    /// `XDG_DATA_HOME`.
    pub data_home: Option<PathBuf>,
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// `XDG_DATA_DIRS`, folders with `:` between them.
    pub data_dirs: Option<String>,
}

/// The folders of a session bus, the first of which counts most
/// (`<standard_session_servicedirs/>`).
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

/// The folders of a system bus, the first of which counts most
/// (`<standard_system_servicedirs/>`).
#[must_use]
pub fn system_folders() -> Vec<Folder> {
    let strict = ["/etc", "/run"].map(|base| (base, Naming::Strict));
    let advised = ["/usr/local/share", "/usr/share", DATA_DIR, "/lib"];
    let advised = advised.map(|base| (base, Naming::Advised));
    let all = strict.into_iter().chain(advised);
    without_repetition(all.map(|(base, naming)| Folder::of(Path::new(base), SYSTEM, naming)))
}

/// A folder that is named twice counts where it stands first.
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

/// What is searched where `XDG_DATA_DIRS` is not set.
const DATA_DIRS: &str = "/usr/local/share:/usr/share";

/// Where packages put their files.
const DATA_DIR: &str = "/usr/share";
