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
pub struct Table {
    entries: BTreeMap<String, ServiceEntry>,
}

/// A service, and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServiceEntry {
    /// The file.
    pub path: PathBuf,
    /// What it says.
    pub service: ServiceFile,
}

impl Table {
    /// Reads all files of all folders. The first folder that has a service counts; within one
    /// folder, the first file in the order of names. What cannot be used is passed over with a
    /// warning, and a folder that does not exist without one.
    #[must_use]
    pub fn read(folders: &[Folder]) -> (Self, Vec<Warning>) {
        let mut reader = ServiceReader::default();
        folders.iter().for_each(|folder| reader.folder(folder));
        (reader.table, reader.warnings)
    }

    /// Finds a service.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&ServiceEntry> {
        self.entries.get(name)
    }

    /// All services, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &ServiceEntry> {
        self.entries.values()
    }
}

/// A file or folder that is not used as somebody may expect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Warning {
    /// Which one.
    pub path: PathBuf,
    /// Why.
    pub kind: WarningKind,
}

/// Why a file or folder is not used as somebody may expect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WarningKind {
    /// It cannot be read.
    Unreadable(io::ErrorKind),
    /// It is larger than any service file.
    TooLarge,
    /// It is no service file.
    Invalid(ServiceFileError),
    /// It is not called after this service, so it does not count.
    Misnamed(String),
    /// It is not called after this service, so the helper does not find it.
    Unfindable(String),
    /// There was another file for this service in the same folder.
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
            // A folder that counts more has one: that is what folders that count more are for.
            Some(_) => Ok(()),
        }
    }

    fn warn(&mut self, path: &Path, kind: WarningKind) {
        self.warnings.push(Warning { path: path.to_owned(), kind });
    }
}

/// Whether a path ends in `.service` and does not name a folder or something that is gone.
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

/// Bytes in a service file.
const FILE_LEN_MAX: u64 = 128 * 1024;
