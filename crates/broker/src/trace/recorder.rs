//! The flight recorder: a ring of the most recent events of the bus, which can be written to a file
//! on request.
//!
//! To write the file, the ring is exchanged for a new one, which takes the same time for any size.
//! A thread then writes the old ring, which no longer changes. The participants follow it in the
//! file. Disk space is reserved before the exchange, so a full disk loses no recorded events.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _};
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use bus::RingContents;
use sys::filesystem::path_of_descriptor;
use sys::replace::ReplacedFile;

use super::{Participants, Ring};

/// The ring of the flight recorder.
#[derive(Debug)]
pub(crate) struct RecorderRing {
    pub(super) ring: Ring,
    pub(super) descriptor: OwnedFd,
    pub(super) wanted_len: u64,
    pub(crate) participants: Participants,
}

impl RecorderRing {
    pub(crate) fn new(len: u64) -> io::Result<Self> {
        let (ring, descriptor) = new_ring(len)?;
        let participants = Participants::new(ring.len())?;
        Ok(Self { ring, descriptor, wanted_len: len, participants })
    }

    /// The length that was requested, in bytes.
    pub(crate) const fn wanted_len(&self) -> u64 {
        self.wanted_len
    }

    pub(crate) const fn ring(&mut self) -> &mut Ring {
        &mut self.ring
    }

    /// The descriptor by which other processes can read the ring.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    /// Prepares a file in `folder`, to which the rings are copied if the process crashes. Call
    /// [`sys::crash::forget`] before this recorder is dropped.
    pub(crate) fn save_at_crash(&self, folder: &Path) -> io::Result<()> {
        create_folder(folder)?;
        let memories = [self.descriptor.as_fd(), self.participants.descriptor()];
        sys::crash::save(memories, &unused_path(folder, "crash", sys::clock::realtime()))
    }

    /// Starts to write the recorded events to a new file in `folder`, and continues with an empty
    /// ring. If the file cannot be created, or the disk has no space for it, the ring keeps its
    /// events. The file gets its name when it is complete.
    pub(crate) fn dump(&mut self, folder: &Path) -> io::Result<Dump> {
        create_folder(folder)?;
        let path = unused_path(folder, "flight", sys::clock::realtime());
        let mut file = ReplacedFile::create(&path)?;
        let participants = self.participants.copy()?;
        let memory = File::from(self.descriptor.try_clone()?).metadata()?.len();
        file.reserve(memory + participants.len() as u64)?;
        let (ring, descriptor) = new_ring(self.wanted_len)?;
        self.ring = ring;
        let written = File::from(std::mem::replace(&mut self.descriptor, descriptor));
        let write = move || {
            copy_all(&written, memory, &mut file)?;
            file.write_all(&participants)?;
            file.commit()?;
            Ok(memory + participants.len() as u64)
        };
        let thread = thread::Builder::new().name("flight-recorder".to_owned()).spawn(write)?;
        Ok(Dump { path, thread })
    }
}

/// A file that a thread is writing.
#[derive(Debug)]
pub(crate) struct Dump {
    path: PathBuf,
    thread: JoinHandle<io::Result<u64>>,
}

/// The result of writing a file.
#[derive(Debug)]
pub(crate) struct Dumped {
    pub(crate) path: PathBuf,
    /// The length of the file in bytes.
    pub(crate) outcome: io::Result<u64>,
}

impl Dump {
    pub(crate) fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits until the file is written.
    pub(crate) fn finish(self) -> Dumped {
        let died = || Err(io::Error::other("the writer thread has died"));
        Dumped { path: self.path, outcome: self.thread.join().unwrap_or_else(|_| died()) }
    }
}

/// Copies memory of this length. The file offset does not matter, because other processes that have
/// the descriptor can move it.
fn copy_all(memory: &File, len: u64, to: &mut impl io::Write) -> io::Result<()> {
    let mut buffer = vec![0; COPIED_AT_ONCE];
    let mut at = 0;
    while at < len {
        let read = memory.read_at(&mut buffer, at)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        to.write_all(&buffer[..read])?;
        at += read as u64;
    }
    Ok(())
}

const COPIED_AT_ONCE: usize = 1 << 16;

/// A descriptor for another process, with a file offset of its own. Where the bus may not open its
/// memory again, all readers share one offset.
pub(crate) fn for_reader(descriptor: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    match File::open(path_of_descriptor(descriptor)) {
        Ok(file) => Ok(file.into()),
        Err(_) => descriptor.try_clone_to_owned(),
    }
}

fn new_ring(len: u64) -> io::Result<(Ring, OwnedFd)> {
    // Programs are written to the ring of participants.
    Ring::new(len, u32::MAX, RingContents { all_messages: true, programs: false })
}

fn create_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// A path in `folder` that no file has. Its name has the time `now`, or the next free millisecond
/// if this process has written a file within the same one.
fn unused_path(folder: &Path, what: &str, now: Duration) -> PathBuf {
    let mut time = now;
    loop {
        let path = folder.join(name_at(what, time, std::process::id()));
        if fs::symlink_metadata(&path).is_err() {
            return path;
        }
        time += Duration::from_millis(1);
    }
}

/// A name like `flight-20261121T131500.250Z-4711.trace`.
fn name_at(what: &str, now: Duration, pid: u32) -> String {
    let (seconds, millis) = (now.as_secs(), now.subsec_millis());
    let (year, month, day) = date_of(seconds / SECONDS_PER_DAY);
    let second = seconds % SECONDS_PER_DAY;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!(
        "{what}-{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}.{millis:03}Z-{pid}.trace"
    )
}

/// The date of a day, counted from 1970-01-01, in the Gregorian calendar: year, month and day.
///
/// Counts from March 1 of the year 0, so that a leap day is the last day of its year. A calendar
/// library would be a large part of what the daemon links to, for this one use.
const fn date_of(day: u64) -> (u64, u64, u64) {
    let day = day + DAYS_TO_1970;
    let (cycle, day) = (day / DAYS_PER_400_YEARS, day % DAYS_PER_400_YEARS);
    // A leap day every 4 years (1460 days), none every 100 (36524), one every 400 (146096).
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // Five months from March have 153 days, and so have the next five.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let year = 400 * cycle + year;
    if month < 10 { (year, month + 3, day) } else { (year + 1, month - 9, day) }
}

const SECONDS_PER_DAY: u64 = 24 * 60 * 60;

const DAYS_PER_400_YEARS: u64 = 146_097;

/// Days from March 1 of the year 0 to 1970-01-01.
const DAYS_TO_1970: u64 = 719_468;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_the_time() {
        for (second, expected) in [
            (0, "flight-19700101T000000.250Z-7.trace"),
            (951_782_399, "flight-20000228T235959.250Z-7.trace"),
            (951_782_400, "flight-20000229T000000.250Z-7.trace"),
            (1_709_251_199, "flight-20240229T235959.250Z-7.trace"),
            (1_795_266_900, "flight-20261121T131500.250Z-7.trace"),
            (4_107_542_400, "flight-21000301T000000.250Z-7.trace"),
        ] {
            assert_eq!(name_at("flight", Duration::from_millis(1000 * second + 250), 7), expected);
        }
    }

    #[test]
    fn files_of_the_same_millisecond_have_different_names() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut names = Vec::new();
        for _ in 0..3 {
            let path = unused_path(folder.path(), "flight", Duration::from_millis(250));
            File::create_new(&path).expect("an unused name");
            names.push(path.file_name().and_then(|name| name.to_str()).unwrap().to_owned());
        }
        let expected = [250, 251, 252]
            .map(|time| name_at("flight", Duration::from_millis(time), std::process::id()));
        assert_eq!(names, expected);
    }
}
