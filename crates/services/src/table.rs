//! All services that can be started.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::folder::{Folder, Naming};
use crate::service_file::{ServiceFile, ServiceFileError};

/// The services of some folders, by name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Table {
    entries: BTreeMap<String, ServiceEntry>,
}

/// A service, and the path of its file.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ServiceEntry {
    /// The path of the service file.
    #[cfg_attr(feature = "serde", serde(with = "crate::saved_path"))]
    pub path: PathBuf,
    /// The contents of the service file.
    pub service: ServiceFile,
}

impl Table {
    /// Reads all files of all folders. The first folder with a service counts; within a folder, the
    /// first file in the order of names. Unusable files are skipped with a warning, and folders
    /// that do not exist without one.
    #[must_use]
    pub fn read(folders: &[Folder]) -> (Self, Vec<Warning>) {
        let mut reader = ServiceReader::default();
        folders.iter().for_each(|folder| reader.folder(folder));
        (reader.table, reader.warnings)
    }

    /// The service with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&ServiceEntry> {
        self.entries.get(name)
    }

    /// All services, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &ServiceEntry> {
        self.entries.values()
    }
}

/// A file or folder that is not used as a user may expect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Warning {
    /// The path of the file or folder.
    pub path: PathBuf,
    /// The reason of the warning.
    pub kind: WarningKind,
}

/// The reason why a file or folder is not used as a user may expect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WarningKind {
    /// The file or folder cannot be read.
    Unreadable(io::ErrorKind),
    /// The file is larger than any service file.
    TooLarge,
    /// The file is not a service file.
    Invalid(ServiceFileError),
    /// The file does not have the name of this service, so it is ignored.
    Misnamed(String),
    /// The file does not have the name of this service, so the helper does not find it.
    Unfindable(String),
    /// The folder has another file for this service.
    Repeated(String),
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.kind {
            WarningKind::Unreadable(error) => write!(f, "Cannot read \"{path}\": {error}"),
            WarningKind::TooLarge => {
                write!(
                    f,
                    "Service file \"{path}\" is not used: it has more than {FILE_LEN_MAX} bytes"
                )
            }
            WarningKind::Invalid(error) => {
                write!(f, "Service file \"{path}\" is not used: {error}")
            }
            WarningKind::Misnamed(name) => write!(
                f,
                "Service file \"{path}\" is not used: it should be called \"{name}.service\""
            ),
            WarningKind::Unfindable(name) => write!(
                f,
                "Service file \"{path}\" should be called \"{name}.service\", or the service cannot \
                 be started as another user"
            ),
            WarningKind::Repeated(name) => {
                write!(f, "Service file \"{path}\" is not used: there is another one for {name}")
            }
        }
    }
}

#[derive(Default)]
struct ServiceReader {
    table: Table,
    warnings: Vec<Warning>,
}

impl ServiceReader {
    fn folder(&mut self, folder: &Folder) {
        let entries = match fs::read_dir(&folder.path) {
            Ok(entries) => entries,
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    self.warn(&folder.path, WarningKind::Unreadable(error.kind()));
                }
                return;
            }
        };
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let mut paths: Vec<_> = paths.filter(|path| is_service_file(path)).collect();
        paths.sort();
        for path in paths {
            if let Err(kind) = self.file(folder, &path) {
                self.warn(&path, kind);
            }
        }
    }

    fn file(&mut self, folder: &Folder, path: &Path) -> Result<(), WarningKind> {
        let service = ServiceFile::parse(&read(path)?).map_err(WarningKind::Invalid)?;
        let name = service.name.clone();
        if folder.naming != Naming::Any && !is_called_after(path, &name) {
            match folder.naming {
                Naming::Strict => return Err(WarningKind::Misnamed(name)),
                _ => self.warn(path, WarningKind::Unfindable(name.clone())),
            }
        }
        match self.table.entries.get(&name) {
            None => {
                self.table.entries.insert(name, ServiceEntry { path: path.to_owned(), service });
                Ok(())
            }
            Some(first) if first.path.parent() == path.parent() => Err(WarningKind::Repeated(name)),
            // A folder with a higher priority has the service, which is the purpose of priorities.
            Some(_) => Ok(()),
        }
    }

    fn warn(&mut self, path: &Path, kind: WarningKind) {
        self.warnings.push(Warning { path: path.to_owned(), kind });
    }
}

/// Returns true if a path ends in `.service` and is not a folder or a broken link.
fn is_service_file(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.ends_with(SUFFIX)) && path.is_file()
}

fn is_called_after(path: &Path, name: &str) -> bool {
    let called = path.file_name().and_then(|file| file.to_str()?.strip_suffix(SUFFIX));
    called == Some(name)
}

fn read(path: &Path) -> Result<Vec<u8>, WarningKind> {
    let unreadable = |error: io::Error| WarningKind::Unreadable(error.kind());
    let len = fs::metadata(path).map_err(unreadable)?.len();
    if len > FILE_LEN_MAX {
        return Err(WarningKind::TooLarge);
    }
    fs::read(path).map_err(unreadable)
}

const SUFFIX: &str = ".service";

/// The maximum size of a service file, in bytes.
const FILE_LEN_MAX: u64 = 128 * 1024;
