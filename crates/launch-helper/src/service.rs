//! Finds the service file of the requested service.

use std::fs;
use std::io;
use std::path::Path;

use services::{Folder, ServiceFile};

use crate::failure::LaunchFailure;

/// The fields of a service file that are needed to start the service as another user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Startable {
    /// The user, by name or number.
    pub user: String,
    /// The path of the program.
    pub program: String,
    /// The arguments, without the program.
    pub arguments: Vec<String>,
}

/// Finds the service file named after `name` in the first directory that has one.
///
/// # Errors
///
/// There is no such file, or it cannot be used.
pub fn find(name: &str, folders: &[Folder]) -> Result<Startable, LaunchFailure> {
    for folder in folders {
        let path = folder.path.join(format!("{name}.service"));
        match fs::read(&path) {
            Ok(bytes) => return startable(name, &path, &bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(LaunchFailure::Unreadable(path, error)),
        }
    }
    Err(LaunchFailure::ServiceNotFound)
}

fn startable(name: &str, path: &Path, bytes: &[u8]) -> Result<Startable, LaunchFailure> {
    let path = || path.to_owned();
    let service =
        ServiceFile::parse(bytes).map_err(|error| LaunchFailure::FileInvalid(path(), error))?;
    if service.name != name {
        return Err(LaunchFailure::Misnamed(path()));
    }
    let user = service.user.ok_or_else(|| LaunchFailure::NoUser(path()))?;
    let command = service.command.map_err(|error| LaunchFailure::Command(path(), error))?;
    let arguments = command.words().iter().skip(1).cloned().collect();
    Ok(Startable { user, program: command.program().to_owned(), arguments })
}
