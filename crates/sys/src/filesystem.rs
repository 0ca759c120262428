//! Files that stand for something else: sockets, secrets and locks.

use rustix::fs::{
    Access, AtFlags, FileType, Gid, Mode, OFlags, ResolveFlags, Uid, access, chownat, fstat, open,
    openat2,
};
use rustix::process::geteuid;
use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// What stood where a socket is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum StaleSocket {
    /// Nothing.
    Absent,
    /// A socket, which was removed.
    Removed,
    /// Something else, which was left alone.
    NotASocket,
}

/// Removes the file of a socket, so that another can listen at `path`. Whether somebody listens
/// there is not asked: who starts a bus at a path means to own it.
///
/// # Errors
///
/// Those of lstat(2) and unlink(2).
pub fn remove_stale_socket(path: &Path) -> io::Result<StaleSocket> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.file_type().is_socket() => {
            fs::remove_file(path)?;
            Ok(StaleSocket::Removed)
        }
        Ok(_) => Ok(StaleSocket::NotASocket),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(StaleSocket::Absent),
        Err(error) => Err(error),
    }
}

/// Finds `path` below `root`, as a process whose root directory that is would: no link on the way
/// leads out of it (openat2(2), `RESOLVE_IN_ROOT`). What is found can be used by
/// [`path_of_descriptor`], but not read.
///
/// # Errors
///
/// Those of openat2(2).
pub fn find_in_root(root: &Path, path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let root = open(root, flags | OFlags::DIRECTORY, Mode::empty())?;
    Ok(openat2(root, path, flags, Mode::empty(), ResolveFlags::IN_ROOT)?)
}

/// A path that leads to what a descriptor of this process refers to, as long as it is open.
#[must_use]
pub fn path_of_descriptor(descriptor: impl AsFd) -> PathBuf {
    format!("/proc/self/fd/{}", descriptor.as_fd().as_raw_fd()).into()
}

/// Lets every user connect to the socket at `path`: who may do what is for the bus to decide.
///
/// # Errors
///
/// Those of chmod(2).
pub fn allow_everyone(path: &Path) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(0o777))
}

/// Whose a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileOwner {
    /// The user.
    pub uid: u32,
    /// The group.
    pub gid: u32,
}

/// Makes the socket at `path` somebody else's; nothing but a socket, whatever has taken its place
/// meanwhile.
///
/// # Errors
///
/// Those of open(2) and chown(2), and [`io::ErrorKind::InvalidInput`] if there is no socket.
pub fn give_socket(path: &Path, owner: FileOwner) -> io::Result<()> {
    let file = open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    if !FileType::from_raw_mode(fstat(&file)?.st_mode).is_socket() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let FileOwner { uid, gid } = owner;
    let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
    Ok(chownat(&file, "", Some(uid), Some(gid), AtFlags::EMPTY_PATH)?)
}

/// Whether the folder that a file of ours is in lets us remove it.
#[must_use]
pub fn is_removable(path: &Path) -> bool {
    path.parent().is_some_and(|folder| access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok())
}

/// Whether a directory can hold secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Privacy {
    /// It is ours, and nobody else has any right to it.
    Private,
    /// It belongs to another user.
    OwnedBy {
        /// The number of that user.
        uid: u32,
    },
    /// Its group or others have rights to it.
    OpenToOthers {
        /// Its permissions.
        mode: u32,
    },
    /// It is not a directory.
    NotADirectory,
}

/// Makes the directory `path`, for us only, if there is nothing; and tells whether what is there
/// is private. Secrets in a directory that is not must neither be written nor believed.
///
/// # Errors
///
/// Those of mkdir(2) and stat(2).
pub fn ensure_private_directory(path: &Path) -> io::Result<Privacy> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let found = fs::metadata(path)?;
    let mode = found.permissions().mode() & 0o777;
    Ok(if !found.is_dir() {
        Privacy::NotADirectory
    } else if found.uid() != geteuid().as_raw() {
        Privacy::OwnedBy { uid: found.uid() }
    } else if mode & 0o077 != 0 {
        Privacy::OpenToOthers { mode }
    } else {
        Privacy::Private
    })
}

/// A lock that is held by having made a file, and given back by removing it: dropped is unlocked.
/// It works across machines that share a directory, and outlives a holder that crashes.
#[derive(Debug)]
pub struct LockFile {
    path: PathBuf,
}

impl LockFile {
    /// Takes the lock, or fails at once.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::AlreadyExists`] when somebody holds it; otherwise those of open(2).
    pub fn create(path: PathBuf) -> io::Result<Self> {
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        Ok(Self { path })
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // If it cannot be removed, others treat the lock like that of a holder that crashed.
        let _ = fs::remove_file(&self.path);
    }
}
