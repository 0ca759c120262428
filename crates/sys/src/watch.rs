//! Changes of what is in directories, as a readable descriptor (inotify(7)).
//!
//! Each user has few instances and a limited number of watches, so a program must be able to do
//! without: what cannot be watched is an error like any other.

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A set of watched directories.
#[derive(Debug)]
pub struct DirectoryWatch {
    inotify: OwnedFd,
}

/// A watched directory. One that is watched twice, by whichever paths, has one id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct WatchId(i32);

/// What has happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DirectoryChange<'a> {
    /// An entry of a directory came, went, or has another content.
    Entry {
        /// The directory.
        directory: WatchId,
        /// The name of the entry.
        name: &'a OsStr,
    },
    /// A directory is no longer there, or no longer at its path.
    Gone(WatchId),
    /// So much has happened that the kernel did not keep it all.
    Lost,
}

impl DirectoryWatch {
    /// One that watches nothing yet.
    ///
    /// # Errors
    ///
    /// `EMFILE` when this user has too many of these, and the others of inotify_init(2).
    pub fn new() -> io::Result<Self> {
        Ok(Self { inotify: inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)? })
    }

    /// Starts to watch a directory, or does nothing if it is watched already.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::NotFound`] when it is not there, `ENOSPC` when this user watches too much,
    /// and the others of inotify_add_watch(2).
    pub fn add(&self, directory: &Path) -> io::Result<WatchId> {
        Ok(WatchId(inotify::add_watch(&self.inotify, directory, CHANGES)?))
    }

    /// Ends a watch. Changes from before may still be [taken](Self::take).
    pub fn remove(&self, id: WatchId) {
        // A directory that is gone has taken its watch along.
        let _ = inotify::remove_watch(&self.inotify, id.0);
    }

    /// Hands all changes that have not been taken yet to `each`, without waiting for more.
    ///
    /// # Errors
    ///
    /// None that a correct caller can cause.
    pub fn take(&self, mut each: impl FnMut(DirectoryChange<'_>)) -> io::Result<()> {
        let mut buffer = [MaybeUninit::uninit(); BUFFER_LEN];
        let mut reader = Reader::new(&self.inotify, &mut buffer);
        loop {
            match reader.next() {
                Ok(event) => {
                    let id = WatchId(event.wd());
                    let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
                    if let Some(change) = change(event.events(), id, name) {
                        each(change);
                    }
                }
                Err(Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl AsFd for DirectoryWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inotify.as_fd()
    }
}

fn change(
    events: ReadFlags,
    directory: WatchId,
    name: Option<&OsStr>,
) -> Option<DirectoryChange<'_>> {
    if events.contains(ReadFlags::QUEUE_OVERFLOW) {
        return Some(DirectoryChange::Lost);
    }
    if events.intersects(ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF | ReadFlags::UNMOUNT) {
        return Some(DirectoryChange::Gone(directory));
    }
    // What is left without a name is the end of a watch, of which there was word before.
    name.map(|name| DirectoryChange::Entry { directory, name })
}

/// An entry that is written to has changed when the writer is done. A link is never written to.
const CHANGES: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVE)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR);

/// Bytes for many changes; one takes less than 300.
const BUFFER_LEN: usize = 4096;
