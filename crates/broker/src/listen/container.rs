//! The sockets of containers.

use std::env;
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::lchown;
use std::path::{Path, PathBuf};

use sys::filesystem::{DirectoryAccess, FileOwner, ensure_directory};

use super::{ListenError, Listener, listen_in};
use crate::busconfig::BusType;
use crate::os_error::OsError;

/// The directory for the sockets of containers.
///
/// The sockets have paths, so that a sandbox can mount them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ContainerFolder {
    /// The directory of a system bus, which other users can enter.
    System,
    /// A directory in the runtime directory of a user.
    Runtime(PathBuf),
    /// The directory for temporary files, used without a runtime directory.
    Temporary(PathBuf),
}

impl ContainerFolder {
    /// The directory of a bus of this type that this user runs.
    pub(crate) fn of_bus(bus_type: Option<&BusType>, uid: u32) -> Self {
        if uid == 0 || bus_type == Some(&BusType::System) {
            return Self::System;
        }
        let variable = |name| env::var_os(name).filter(|value: &OsString| !value.is_empty());
        match variable("XDG_RUNTIME_DIR") {
            Some(folder) => Self::Runtime(folder.into()),
            None => Self::Temporary(variable("TMPDIR").map_or("/tmp".into(), PathBuf::from)),
        }
    }

    /// Creates the directory of a system bus and gives it to the user of the bus. Only root can do
    /// that.
    pub(crate) fn prepare_for(owner: FileOwner) -> io::Result<()> {
        let folder = Path::new(SYSTEM_FOLDER);
        for created in [folder.parent().expect("it is not the root"), folder] {
            ensure_directory(created, DirectoryAccess::Everyone)?;
        }
        lchown(folder, Some(owner.uid), Some(owner.gid))
    }

    /// Listens in the directory, which is created if it does not exist.
    pub(crate) fn listen(&self) -> Result<Listener, ListenError> {
        match self {
            Self::System => {
                let folder = Path::new(SYSTEM_FOLDER);
                let parent = folder.parent().expect("it is not the root");
                create([parent, folder], DirectoryAccess::Everyone)?;
                listen_in(folder)
            }
            Self::Runtime(runtime) => {
                let parent = runtime.join("dbus-1");
                let folder = parent.join("containers");
                create([&parent, &folder], DirectoryAccess::Owner)?;
                listen_in(&folder)
            }
            Self::Temporary(folder) => listen_in(folder),
        }
    }
}

fn create(folders: [&Path; 2], access: DirectoryAccess) -> Result<(), ListenError> {
    folders.into_iter().try_for_each(|folder| {
        ensure_directory(folder, access).map_err(|error| ListenError::Folder {
            folder: folder.to_owned(),
            error: OsError::from(error),
        })
    })
}

/// The directory of a system bus, which dbus-daemon uses, too.
const SYSTEM_FOLDER: &str = "/run/dbus/containers";
