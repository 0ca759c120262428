//! Changes in directories, as a readable descriptor (inotify(7)).
//!
//! Each user has few instances and a limited number of watches, so a program must be able to work
//! without them: a failed watch is an ordinary error.

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

/// The id of a watched directory. A directory that is watched twice, by whichever paths, has one
/// id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct WatchId(i32);

/// A change in a watched directory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DirectoryChange<'a> {
    /// An entry of a directory was created, removed or modified.
    Entry {
        /// The id of the directory.
        directory: WatchId,
        /// The name of the entry.
        name: &'a OsStr,
    },
    /// A directory was removed, or moved from its path.
    Gone(WatchId),
    /// The kernel dropped changes because there were too many.
    Lost,
}

impl WatchId {
    /// The id with this number.
    pub const fn new(number: i32) -> Self {
        Self(number)
    }

    /// The number of the kernel for this watch.
    pub const fn number(self) -> i32 {
        self.0
    }
}

impl DirectoryWatch {
    /// Creates a watch without directories.
    ///
    /// # Errors
    ///
    /// `EMFILE` if this user has too many instances; otherwise the errors of inotify_init(2).
    pub fn new() -> io::Result<Self> {
        Ok(Self { inotify: inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)? })
    }

    /// Restores a watch from its descriptor, with its directories.
    pub const fn from_descriptor(inotify: OwnedFd) -> Self {
        Self { inotify }
    }

    /// Starts to watch a directory, or does nothing if it is watched already.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::NotFound`] if it does not exist, `ENOSPC` if this user has too many
    /// watches; otherwise the errors of inotify_add_watch(2).
    pub fn add(&self, directory: &Path) -> io::Result<WatchId> {
        Ok(WatchId(inotify::add_watch(&self.inotify, directory, CHANGES)?))
    }

    /// Ends a watch. [`take`](Self::take) may still return earlier changes.
    pub fn remove(&self, id: WatchId) {
        // Fails if the directory was removed, which ended the watch.
        let _ = inotify::remove_watch(&self.inotify, id.0);
    }

    /// Passes all pending changes to `each`, without waiting for more.
    ///
    /// # Errors
    ///
    /// Fails only if the watch is misused by its caller.
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
    // The remaining event without a name is the end of a watch, which an earlier event reported.
    name.map(|name| DirectoryChange::Entry { directory, name })
}

/// A modified entry is reported when the writer closes it. A link is never modified.
const CHANGES: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVE)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR);

/// A buffer size in bytes for many changes; one takes less than 300.
const BUFFER_LEN: usize = 4096;
