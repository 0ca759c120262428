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

/// A file that replaces another one when it is [committed](Self::commit).
///
/// The content goes to a new file in the same directory, which only its owner can read (mode 0600).
/// Until the commit, a file at the target keeps its content; after it, the target is the new file,
/// and other hard links to the old file are unchanged. Symbolic links are [resolved](resolve_links)
/// first. Dropping the value without a commit removes the new file, and so does a signal such as
/// `SIGINT` that ends the process.
///
/// A target that is not a regular file (a pipe, a terminal, `/dev/null`) or that names a descriptor
/// of this process (`/dev/stdout`, `/dev/fd/3`) is written directly.
#[derive(Debug)]
pub struct ReplacedFile {
    file: File,
    unfinished: Option<UnfinishedFile>,
}

/// The new file, until it is committed.
#[derive(Debug)]
struct UnfinishedFile {
    file: TemporaryFile,
    target: PathBuf,
}

/// A file that is removed when this value is dropped, or when a signal ends the process.
#[derive(Debug)]
struct TemporaryFile {
    path: PathBuf,
    /// `None` if the signal handler has no free slot.
    place: Option<UnfinishedSlot>,
}

/// The kind of file that a path names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TargetKind {
    /// A regular file, a symbolic link to one, or no file.
    File,
    /// A pipe, a device or a socket.
    Special,
    /// An open descriptor of a process, through procfs.
    Descriptor,
}

impl ReplacedFile {
    /// Creates a file that will replace `target`.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::IsADirectory`] if `target` is a directory; otherwise the errors of
    /// [`resolve_links`], stat(2) and open(2). The target is unchanged.
    pub fn create(target: &Path) -> io::Result<Self> {
        let resolved = resolve_links(target)?;
        match TargetKind::of(target)? {
            TargetKind::File => Self::create_replacement(&resolved),
            TargetKind::Special => open_special(&resolved),
            TargetKind::Descriptor => {
                // Keeps existing content of the descriptor, like `>> file`.
                let file = OpenOptions::new().append(true).open(target)?;
                Ok(Self { file, unfinished: None })
            }
        }
    }

    fn create_replacement(target: &Path) -> io::Result<Self> {
        let name = target.file_name().ok_or(io::ErrorKind::IsADirectory)?;
        loop {
            let path = target.with_file_name(unfinished_name(name.as_bytes())?);
            match TemporaryFile::create(path) {
                Ok((file, made)) => {
                    let unfinished = UnfinishedFile { file: made, target: target.to_owned() };
                    return Ok(Self { file, unfinished: Some(unfinished) });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The path of the unfinished file, for libraries that open files themselves. `None` if the
    /// target is written directly.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.unfinished.as_ref().map(|unfinished| unfinished.file.path.as_path())
    }

    /// Returns the unfinished file and its path, for content worth keeping even if it is
    /// incomplete: the file remains until the caller renames or removes it. The path is `None` if
    /// the target is written directly.
    #[must_use]
    pub fn into_parts(self) -> (File, Option<PathBuf>) {
        (self.file, self.unfinished.map(|unfinished| unfinished.file.keep()))
    }

    /// Reserves disk space for the first `len` bytes. The length of the file does not change. Does
    /// nothing if the file system does not support it.
    ///
    /// # Errors
    ///
    /// Fails with the errors of fallocate(2), such as `ENOSPC` if there is not enough space.
    pub fn reserve(&self, len: u64) -> io::Result<()> {
        match fallocate(&self.file, FallocateFlags::KEEP_SIZE, 0, len) {
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NODEV | Errno::SPIPE) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Renames the file to its target. The returned handle can still be written to: a recording
    /// that grows under its final name is committed after its first bytes.
    ///
    /// # Errors
    ///
    /// Fails with the errors of rename(2). The target is unchanged and the new file is removed.
    pub fn commit(self) -> io::Result<File> {
        if let Some(unfinished) = self.unfinished {
            fs::rename(&unfinished.file.path, &unfinished.target)?;
            // The temporary name no longer exists, and another process may reuse it.
            unfinished.file.keep();
        }
        Ok(self.file)
    }
}

/// Returns the file that a path leads to, which need not exist. A path that names a descriptor of
/// this process is returned unchanged.
///
/// A symbolic link at the end of the path is followed if it belongs to the user of this process or
/// to the superuser. A link of another user, for example in `/tmp`, could lead to a file that the
/// user of this process does not want to replace.
///
/// # Errors
///
/// [`io::ErrorKind::PermissionDenied`] for a link of another user; otherwise the errors of open(2)
/// and readlink(2), and `ELOOP` for a cycle of links.
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

/// Returns the target of a symbolic link; `None` if the path is not a link or does not exist.
fn own_link(path: &Path) -> io::Result<Option<PathBuf>> {
    // Opens the link first, so that its owner and its content belong to the same link even if the
    // path changes.
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

/// Locks an open file while it grows under its name, until it is closed. Does nothing on a file
/// system without locks.
pub fn hold(file: &File) {
    let _ = flock(file, FlockOperation::NonBlockingLockExclusive);
}

/// Checks that no program [holds](hold) the file at `target`. Such a program would continue to
/// write into a file without a name.
///
/// # Errors
///
/// [`io::ErrorKind::ResourceBusy`] if a program holds the file.
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
    /// Creates a file that does not exist yet.
    fn create(path: PathBuf) -> io::Result<(File, Self)> {
        // First the path, then the file: a signal in between finds no file to remove. The path ends
        // in random letters, so a file of another program does not have it.
        let place = unfinished::remember(CString::new(path.as_os_str().as_bytes())?);
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create_new(true).mode(0o600);
        let file = options.custom_flags(NOFOLLOW).open(&path)?;
        Ok((file, Self { path, place }))
    }

    /// Keeps the file and returns its path.
    fn keep(mut self) -> PathBuf {
        drop(self.place.take());
        let path = std::mem::take(&mut self.path);
        std::mem::forget(self);
        path
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // The earlier error is the one to report.
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

/// Opens a target that is not a regular file, and checks again after opening: it does not write to
/// a regular file that has replaced the target.
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

/// True if a path leads to an entry of procfs, directly or through symbolic links. `/dev/stdout`
/// does.
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

/// Returns a name derived from the target. The name of the target is truncated, so that the result
/// is not too long for a file system that accepts the target.
fn unfinished_name(target: &[u8]) -> io::Result<OsString> {
    let start = target.get(..NAME_LEN_MAX).unwrap_or(target);
    let mut name = OsString::from_vec([start, b"."].concat());
    name.push(random::letters()?);
    name.push(".unfinished");
    Ok(name)
}

const NOFOLLOW: i32 = OFlags::NOFOLLOW.bits().cast_signed();

/// The number of symbolic links that the kernel follows (path_resolution(7)).
const LINKS_MAX: usize = 40;

/// The number of bytes of the target's name in the name of the unfinished file.
const NAME_LEN_MAX: usize = 200;
