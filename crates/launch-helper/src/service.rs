//! The service that was asked for.

use std::fs;
use std::io;
use std::path::Path;

use services::{Folder, ServiceFile};

use crate::failure::Failure;

/// A service with all that is needed to start it as another user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Startable {
    /// The user, by name or number.
    pub user: String,
    /// The program, by its path.
    pub program: String,
    /// Its arguments, the program not among them.
    pub arguments: Vec<String>,
}

/// Finds the service file that is called after `name` in the first folder that has one.
///
/// # Errors
///
/// There is none, or it cannot be used.
pub fn find(name: &str, folders: &[Folder]) -> Result<Startable, Failure> {
    for folder in folders {
        let path = folder.path.join(format!("{name}.service"));
        match fs::read(&path) {
            Ok(bytes) => return startable(name, &path, &bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Failure::Unreadable(path, error)),
        }
    }
    Err(Failure::ServiceNotFound)
}

fn startable(name: &str, path: &Path, bytes: &[u8]) -> Result<Startable, Failure> {
    let path = || path.to_owned();
    let service = ServiceFile::parse(bytes).map_err(|error| Failure::FileInvalid(path(), error))?;
    if service.name != name {
        return Err(Failure::Misnamed(path()));
    }
    let user = service.user.ok_or_else(|| Failure::NoUser(path()))?;
    let command = service.command.map_err(|error| Failure::Command(path(), error))?;
    let arguments = command.words().iter().skip(1).cloned().collect();
    Ok(Startable { user, program: command.program().to_owned(), arguments })
}
