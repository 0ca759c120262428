//! Output files that appear under their name only when they are complete.

use std::ffi::{CString, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{
    FallocateFlags, FileType, FlockOperation, Mode, OFlags, PROC_SUPER_MAGIC, fallocate, flock,
    fstat, open, readlinkat, statfs,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::random;
use crate::raw::unfinished::{self, UnfinishedSlot};

/// A file that takes the place of another one when it is [committed](Self::commit).
///
/// The content goes to a new file in the same directory, which only its owner can read (mode 0600).
/// Until the commit a file at the target keeps its content; after it, the target is the new file, and
/// another name of the old file is left behind unchanged. Symbolic links are [resolved](resolve_links)
/// first. Dropped without a commit,
/// the new file is removed, and also if a signal such as `SIGINT` ends the process.
///
/// A target that is not a regular file (a pipe, a terminal, `/dev/null`) or that names a descriptor of
/// this process (`/dev/stdout`, `/dev/fd/3`) is written directly.
#[derive(Debug)]
pub struct ReplacedFile {
    file: File,
    unfinished: Option<UnfinishedFile>,
}

/// The new file until it is committed.
#[derive(Debug)]
struct UnfinishedFile {
    file: TemporaryFile,
    target: PathBuf,
}

/// A file that is removed when this is dropped, or when a signal ends the process.
#[derive(Debug)]
struct TemporaryFile {
    path: PathBuf,
    /// Absent if the handler of signals has no place for it.
    place: Option<UnfinishedSlot>,
}

/// What a path names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TargetKind {
    /// A regular file, a symbolic link to one, or nothing.
    File,
    /// A pipe, a device or a socket.
    Special,
    /// An open descriptor of a process, through procfs.
    Descriptor,
}

impl ReplacedFile {
    /// Starts a file for `target`.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::IsADirectory`] if `target` is a directory; otherwise those of [`resolve_links`],
    /// stat(2) and open(2). The target is unchanged.
    pub fn create(target: &Path) -> io::Result<Self> {
        let resolved = resolve_links(target)?;
        match TargetKind::of(target)? {
            TargetKind::File => Self::create_beside(&resolved),
            TargetKind::Special => open_special(&resolved),
            TargetKind::Descriptor => {
                // What the descriptor has been given already is kept, as with `>> file`.
                let file = OpenOptions::new().append(true).open(target)?;
                Ok(Self { file, unfinished: None })
            }
        }
    }

    fn create_beside(target: &Path) -> io::Result<Self> {
        let name = target.file_name().ok_or(io::ErrorKind::IsADirectory)?;
        loop {
            let path = target.with_file_name(unfinished_name(name.as_bytes())?);
            let mut options = OpenOptions::new();
            let options = options.read(true).write(true).create_new(true).mode(0o600);
            match options.custom_flags(NOFOLLOW).open(&path) {
                Ok(file) => {
                    let (made, target) = (TemporaryFile::new(path)?, target.to_owned());
                    let unfinished = Some(UnfinishedFile { file: made, target });
                    return Ok(Self { file, unfinished });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The path of the unfinished file, for libraries that open files themselves. `None` if the target
    /// is written directly.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.unfinished.as_ref().map(|unfinished| unfinished.file.path.as_path())
    }

    /// Hands over the unfinished file and its path, for content that is worth keeping even if it is never
    /// complete: the file stays until the caller renames or removes it. The path is `None` if the target
    /// is written directly.
    #[must_use]
    pub fn into_parts(self) -> (File, Option<PathBuf>) {
        (self.file, self.unfinished.map(|unfinished| unfinished.file.keep()))
    }

    /// Reserves room on the disk for so many bytes from the beginning. The length of the file stays. Does
    /// nothing where the file system cannot reserve any.
    ///
    /// # Errors
    ///
    /// Those of fallocate(2), `ENOSPC` if there is not enough room.
    pub fn reserve(&self, len: u64) -> io::Result<()> {
        match fallocate(&self.file, FallocateFlags::KEEP_SIZE, 0, len) {
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NODEV | Errno::SPIPE) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives the file its name. The returned handle can be written on: a recording that grows under its
    /// final name is committed after its first bytes.
    ///
    /// # Errors
    ///
    /// Those of rename(2). The target is unchanged and the new file is removed.
    pub fn commit(self) -> io::Result<File> {
        if let Some(unfinished) = self.unfinished {
            fs::rename(&unfinished.file.path, &unfinished.target)?;
            // The name it would remove is gone, and may be taken by another process.
            unfinished.file.keep();
        }
        Ok(self.file)
    }
}

/// The file that a path leads to, which need not exist. A path that names a descriptor of this process
/// stays as it is.
///
/// The symbolic link at the end of the path is followed if it belongs to the user of this process or to the
/// superuser. A link of another user, for example in `/tmp`, could lead to a file that the user of this
/// process would not want to replace.
///
/// # Errors
///
/// [`io::ErrorKind::PermissionDenied`] for a link of another user; otherwise those of open(2) and
/// readlink(2), and `ELOOP` if links lead to each other.
pub fn resolve_links(target: &Path) -> io::Result<PathBuf> {
    let mut path = target.to_owned();
    if is_descriptor(target) {
        return Ok(path);
    }
    for _ in 0..LINKS_MAX {
        let Some(link) = own_link(&path)? else { return Ok(path) };
        path = path.parent().unwrap_or(Path::new("")).join(link);
    }
    Err(Errno::LOOP.into())
}

/// Where a symbolic link leads; `None` if something else or nothing is at the path.
fn own_link(path: &Path) -> io::Result<Option<PathBuf>> {
    // The owner and the content are those of the same link, whatever is done to the path meanwhile.
    let link = match open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()) {
        Ok(link) => link,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let found = fstat(&link)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::Symlink {
        return Ok(None);
    }
    if found.st_uid != 0 && found.st_uid != geteuid().as_raw() {
        let text = "it is a symbolic link of another user";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    }
    let content = readlinkat(&link, "", Vec::new())?;
    Ok(Some(OsString::from_vec(content.into_bytes()).into()))
}

/// Marks an open file as one that grows under its name, until it is closed. Nothing else can be done about a
/// file system that has no locks.
pub fn hold(file: &File) {
    let _ = flock(file, FlockOperation::NonBlockingLockExclusive);
}

/// Checks that no program [holds](hold) the file at `target`, which would then go on to write into a file without
/// a name.
///
/// # Errors
///
/// [`io::ErrorKind::ResourceBusy`] if one does.
pub fn check_not_held(target: &Path) -> io::Result<()> {
    let is_file = TargetKind::of(target).is_ok_and(|kind| kind == TargetKind::File);
    let Some(file) = is_file.then(|| File::open(target).ok()).flatten() else { return Ok(()) };
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Err(Errno::WOULDBLOCK) => {
            let text = "another program is still writing it";
            Err(io::Error::new(io::ErrorKind::ResourceBusy, text))
        }
        _ => Ok(()),
    }
}

impl Write for ReplacedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl TemporaryFile {
    /// Takes responsibility for a file that was just created.
    fn new(path: PathBuf) -> io::Result<Self> {
        let place = unfinished::remember(CString::new(path.as_os_str().as_bytes())?);
        Ok(Self { path, place })
    }

    /// The file stays.
    fn keep(mut self) -> PathBuf {
        drop(self.place.take());
        let path = std::mem::take(&mut self.path);
        std::mem::forget(self);
        path
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // The error that made the caller give up is the one to report.
        let _ = fs::remove_file(&self.path);
    }
}

impl TargetKind {
    fn of(target: &Path) -> io::Result<Self> {
        if is_descriptor(target) {
            return Ok(Self::Descriptor);
        }
        match fs::metadata(target) {
            Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(found) if found.is_file() => Ok(Self::File),
            Ok(_) => Ok(Self::Special),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::File),
            Err(error) => Err(error),
        }
    }
}

/// Opens a target that was found not to be a regular file, and checks that it still is not: a regular
/// file that has taken its place is not written to.
fn open_special(target: &Path) -> io::Result<ReplacedFile> {
    // With O_CREAT the kernel refuses pipes that another user has put into a sticky directory
    // (fs.protected_fifos).
    let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(target);
    let file = file?;
    match file.metadata()?.is_file() {
        true => Err(io::Error::other("it was replaced by a regular file while it was opened")),
        false => Ok(ReplacedFile { file, unfinished: None }),
    }
}

/// Whether a path leads to an entry of procfs, directly or by symbolic links. `/dev/stdout` does.
fn is_descriptor(target: &Path) -> bool {
    let mut path = target.to_owned();
    for _ in 0..LINKS_MAX {
        let parent = match path.parent() {
            Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
            Some(parent) => parent,
            None => return false,
        };
        if statfs(parent).is_ok_and(|found| found.f_type == PROC_SUPER_MAGIC) {
            return true;
        }
        match fs::read_link(&path) {
            Ok(link) => path = parent.join(link),
            Err(_) => return false,
        }
    }
    false
}

/// A name that says which file it will be. The name of the target is cut so that this one is not too
/// long for a file system that takes the other.
fn unfinished_name(target: &[u8]) -> io::Result<OsString> {
    let start = target.get(..NAME_LEN_MAX).unwrap_or(target);
    let mut name = OsString::from_vec([start, b"."].concat());
    name.push(random::letters()?);
    name.push(".unfinished");
    Ok(name)
}

const NOFOLLOW: i32 = OFlags::NOFOLLOW.bits().cast_signed();

/// Symbolic links that the kernel follows (path_resolution(7)).
const LINKS_MAX: usize = 40;

/// Bytes of the target's name in the name of the unfinished file.
const NAME_LEN_MAX: usize = 200;
