//! Files other than plain data files: sockets, secrets and locks.

use rustix::fs::{
    Access, AtFlags, FileType, Gid, Mode, OFlags, ResolveFlags, Uid, access, chownat, fcntl_getfl,
    fstat, open, openat2,
};
use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
pub use unix::filesystem::{Privacy, ensure_private_directory};

/// The file found where a socket is to be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum StaleSocket {
    /// There is no file.
    Absent,
    /// A socket, which was removed.
    Removed,
    /// Another kind of file, which was not changed.
    NotASocket,
}

/// Removes a socket file, so that another socket can listen at `path`. It does not check for a
/// listener: starting a bus at a path means taking the path over.
///
/// # Errors
///
/// Fails with the errors of lstat(2) and unlink(2).
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

/// The file of a Unix socket. It is removed on drop, unless another program has replaced it.
///
/// After a fork, only one of the two processes may drop it: the other leaves with
/// [`exit`](std::process::exit), which runs no destructors.
#[derive(Debug)]
pub struct SocketFile {
    /// Absolute, because the process may change its working directory.
    path: PathBuf,
    identity: FileIdentity,
}

impl SocketFile {
    /// Takes ownership of the file at `path`.
    ///
    /// # Errors
    ///
    /// Fails with the errors of lstat(2) and getcwd(3).
    pub fn of(path: &Path) -> io::Result<Self> {
        let identity = FileIdentity::of(path)?;
        Ok(Self { path: std::path::absolute(path)?, identity })
    }

    /// Takes ownership of a file that was at this absolute path before.
    #[must_use]
    pub fn found_before(path: PathBuf, identity: FileIdentity) -> Self {
        Self { path, identity }
    }

    /// The absolute path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The identity of the file.
    #[must_use]
    pub fn identity(&self) -> FileIdentity {
        self.identity
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if FileIdentity::of(&self.path).is_ok_and(|found| found == self.identity) {
            // If this fails, the next program that listens at this path replaces the file.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// What distinguishes a file from all others, also from a later one at the same path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileIdentity {
    /// The number of the file system.
    pub device: u64,
    /// The number of the file in the file system.
    pub inode: u64,
}

impl FileIdentity {
    fn of(path: &Path) -> io::Result<Self> {
        let found = fs::symlink_metadata(path)?;
        Ok(Self { device: found.dev(), inode: found.ino() })
    }

    /// The identity of an open file, such as a socket: two descriptors of the same socket have the
    /// same one.
    ///
    /// # Errors
    ///
    /// Fails with the errors of fstat(2).
    pub fn of_descriptor(descriptor: impl AsFd) -> io::Result<Self> {
        let found = fstat(descriptor)?;
        Ok(Self { device: found.st_dev, inode: found.st_ino })
    }
}

/// Finds `path` below `root`, like a process whose root directory is `root`: symbolic links do not
/// lead out of it (openat2(2), `RESOLVE_IN_ROOT`). The result can be used with
/// [`path_of_descriptor`], but not read.
///
/// # Errors
///
/// Fails with the errors of openat2(2).
pub fn find_in_root(root: &Path, path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let root = open(root, flags | OFlags::DIRECTORY, Mode::empty())?;
    Ok(openat2(root, path, flags, Mode::empty(), ResolveFlags::IN_ROOT)?)
}

/// Returns a path to the file that a descriptor of this process refers to, valid as long as the
/// descriptor is open.
#[must_use]
pub fn path_of_descriptor(descriptor: impl AsFd) -> PathBuf {
    format!("/proc/self/fd/{}", descriptor.as_fd().as_raw_fd()).into()
}

/// Lets every user connect to the socket at `path`; the bus authorizes each peer itself.
///
/// # Errors
///
/// Fails with the errors of chmod(2).
pub fn allow_everyone(path: &Path) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(0o777))
}

/// True if a descriptor is the read end of a pipe, named or not, and cannot be written.
///
/// # Errors
///
/// Fails with the errors of fstat(2) and fcntl(2).
pub fn is_read_end(descriptor: impl AsFd) -> io::Result<bool> {
    let is_pipe = FileType::from_raw_mode(fstat(&descriptor)?.st_mode).is_fifo();
    Ok(is_pipe && fcntl_getfl(descriptor)? & OFlags::ACCMODE == OFlags::RDONLY)
}

/// The owner of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileOwner {
    /// The numeric user id.
    pub uid: u32,
    /// The numeric group id.
    pub gid: u32,
}

/// Changes the owner of the socket at `path`. It never changes a file of another kind, even if one
/// has replaced the socket.
///
/// # Errors
///
/// Fails with the errors of open(2) and chown(2), and with [`io::ErrorKind::InvalidInput`] if the
/// file is not a socket.
pub fn give_socket(path: &Path, owner: FileOwner) -> io::Result<()> {
    let file = open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    if !FileType::from_raw_mode(fstat(&file)?.st_mode).is_socket() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let FileOwner { uid, gid } = owner;
    let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
    Ok(chownat(&file, "", Some(uid), Some(gid), AtFlags::EMPTY_PATH)?)
}

/// True if the permissions of its folder let this process remove its file.
#[must_use]
pub fn is_removable(path: &Path) -> bool {
    path.parent().is_some_and(|folder| access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok())
}

/// Who can enter a new directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectoryAccess {
    /// Only the owner of the directory.
    Owner,
    /// Every user, but only the owner can change it.
    Everyone,
}

/// Creates the directory `path` if it does not exist.
///
/// # Errors
///
/// Fails with the errors of mkdir(2).
pub fn ensure_directory(path: &Path, access: DirectoryAccess) -> io::Result<()> {
    let mode = match access {
        DirectoryAccess::Owner => 0o700,
        DirectoryAccess::Everyone => 0o755,
    };
    match DirBuilder::new().mode(mode).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// A lock that consists of a file; dropping it removes the file and releases the lock. It works
/// across machines that share a directory, and remains if the holder crashes.
#[derive(Debug)]
pub struct LockFile {
    path: PathBuf,
}

impl LockFile {
    /// Takes the lock, or fails immediately.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::AlreadyExists`] if the lock is held; otherwise the errors of open(2).
    pub fn create(path: PathBuf) -> io::Result<Self> {
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        Ok(Self { path })
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // If the file cannot be removed, others treat the lock as left over from a crash.
        let _ = fs::remove_file(&self.path);
    }
}
