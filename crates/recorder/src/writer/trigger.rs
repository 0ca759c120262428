//! Keeps the last part of a recording in memory until a message matches.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use capture::file::PcapngWriter;
use capture::query::Query;
use capture::record::{BusId, EndCause, Fact, RecordedTime, RecordingOrigin, RecordingRecord};
use sys::replace::ReplacedFile;

use super::chunks::Chunks;
use super::error::RecordingWriteError;
use super::file::remove_previous;
use crate::rolling::RollingCapture;
use crate::standing::StandingFacts;

/// Keeps the last part of a recording, and writes a file shortly after each message that matches
/// the query. No message is written to two files.
#[derive(Debug)]
pub(super) struct Trigger {
    path: PathBuf,
    size: u64,
    query: Query,
    rolling: RollingCapture,
    writer: PcapngWriter<Chunks>,
    chunks: Chunks,
    /// The time of the first message of each chunk.
    starts: VecDeque<RecordedTime>,
    /// The time of the first message that is not in a chunk yet.
    start: Option<RecordedTime>,
    /// The time of the last message.
    last: RecordedTime,
    /// The number of buses in the recording.
    buses: u16,
    /// True if the reason for the end of the recording was written.
    has_ended: bool,
    /// The number of bytes up to the last chunk.
    chunked: u64,
    /// The time when the file is written, if a message matched.
    due: Option<Due>,
    files: Vec<PathBuf>,
    written: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Due {
    /// A message matched; the time is set at the next flush.
    AtNextFlush,
    At(Duration),
}

impl Trigger {
    pub(super) fn new(
        path: PathBuf,
        size: u64,
        query: Query,
        origin: &RecordingOrigin,
    ) -> Result<Self, RecordingWriteError> {
        let chunks = Chunks::default();
        let mut writer = PcapngWriter::new(chunks.clone(), origin)?;
        writer.flush()?;
        chunks.clear();
        let chunked = writer.written().bytes;
        let rolling = RollingCapture::new(MESSAGES_KEPT);
        Ok(Self {
            path,
            size,
            query,
            rolling,
            writer,
            chunks,
            starts: VecDeque::new(),
            start: None,
            last: RecordedTime::default(),
            buses: 0,
            has_ended: false,
            chunked,
            due: None,
            files: Vec::new(),
            written: 0,
        })
    }

    pub(super) fn write(&mut self, record: &RecordingRecord<'_>) -> io::Result<()> {
        match record {
            RecordingRecord::Message(raw) => {
                self.start.get_or_insert(raw.at);
                self.last = self.last.max(raw.at);
                self.writer.write(record)?;
            }
            // Each file begins with the current facts; the writer only needs to count the buses.
            RecordingRecord::Bus(_) => {
                self.buses += 1;
                self.end_chunk()?;
                self.writer.write(record)?;
                self.writer.flush()?;
                self.chunks.pop_back();
                self.chunked = self.writer.written().bytes;
            }
            _ => {
                self.has_ended |=
                    matches!(record, RecordingRecord::Fact { fact: Fact::Ended { .. }, .. });
                self.writer.write(record)?;
            }
        }
        if self.writer.written().bytes - self.chunked >= CHUNK {
            self.end_chunk()?;
        }
        Ok(())
    }

    /// Checks whether a message matches the query.
    pub(super) fn look(&mut self, record: &RecordingRecord<'_>) {
        let Some(id) = self.rolling.push(record.clone()) else { return };
        let message = self.rolling.capture().message(id);
        if self.due.is_none()
            && self.files.len() < FILES_MAX
            && self.query.matcher().selects(&message)
        {
            self.due = Some(Due::AtNextFlush);
        }
    }

    fn end_chunk(&mut self) -> io::Result<()> {
        if self.writer.written().bytes == self.chunked {
            return Ok(());
        }
        self.writer.flush()?;
        self.chunked = self.writer.written().bytes;
        let last = self.starts.back().copied().unwrap_or_default();
        self.starts.push_back(self.start.take().unwrap_or(last));
        while self.chunks.len() > 1 && self.chunks.bytes() > self.size {
            self.chunks.pop_front();
            self.starts.pop_front();
        }
        Ok(())
    }

    /// Writes the file if it is due, and returns its path.
    pub(super) fn flush(
        &mut self,
        now: Duration,
        standing: &StandingFacts,
    ) -> io::Result<Option<PathBuf>> {
        match self.due {
            Some(Due::AtNextFlush) => self.due = Some(Due::At(now + AFTERWARDS)),
            Some(Due::At(at)) if at <= now => return self.save(standing).map(Some),
            Some(Due::At(_)) | None => {}
        }
        Ok(None)
    }

    fn save(&mut self, standing: &StandingFacts) -> io::Result<PathBuf> {
        if !self.has_ended {
            let (at, cause) = (self.last, EndCause::Trigger);
            for bus in (0..self.buses).map(BusId) {
                self.writer.write(&RecordingRecord::Fact {
                    at,
                    bus,
                    fact: Fact::Ended { cause },
                })?;
            }
        }
        self.end_chunk()?;
        let path = self.next_path();
        let mut file = ReplacedFile::create(&path)?;
        let mut head = PcapngWriter::new(&mut file, standing.origin())?;
        for record in standing.records(self.starts.front().copied().unwrap_or_default()) {
            head.write(&record)?;
        }
        head.flush()?;
        let written = head.written().bytes + self.chunks.bytes();
        self.chunks.copy_to(&mut file)?;
        file.commit()?;
        remove_previous(&path)?;
        self.written += written;
        self.due = None;
        self.chunks.clear();
        self.starts.clear();
        self.files.push(path.clone());
        Ok(path)
    }

    /// The path of the next file. The first one has the requested name and replaces an existing
    /// file. Later ones have unused names.
    fn next_path(&self) -> PathBuf {
        if self.files.is_empty() {
            return self.path.clone();
        }
        let mut paths = (self.files.len() + 1..).map(|number| numbered(&self.path, number));
        let is_free = |path: &PathBuf| fs::symlink_metadata(path).is_err();
        paths.find(is_free).expect("there are enough numbers")
    }

    pub(super) const fn written(&self) -> u64 {
        self.written
    }

    pub(super) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Writes the file if a message has matched.
    pub(super) fn finish(mut self, standing: &StandingFacts) -> io::Result<(u64, Vec<PathBuf>)> {
        if self.due.is_some() {
            self.save(standing)?;
        }
        Ok((self.written, self.files))
    }
}

/// Inserts a number before the extension: `slow.pcapng`, `slow-2.pcapng`, ...
fn numbered(path: &Path, number: usize) -> PathBuf {
    if number == 1 {
        return path.to_owned();
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().map(|extension| format!(".{}", extension.to_string_lossy()));
    path.with_file_name(format!("{stem}-{number}{}", extension.unwrap_or_default()))
}

/// The minimum number of messages among which a query finds the call or owner of a message.
const MESSAGES_KEPT: usize = 50_000;

/// The number of bytes that are kept or discarded together.
const CHUNK: u64 = 64 * 1024;

/// The time after the matching message that is also recorded.
const AFTERWARDS: Duration = Duration::from_secs(1);

/// The maximum number of files, so that a condition that always matches does not fill the disk.
pub(super) const FILES_MAX: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trigger_files_are_numbered_before_the_extension() {
        for (path, number, expected) in [
            ("slow.pcapng", 1, "slow.pcapng"),
            ("slow.pcapng", 2, "slow-2.pcapng"),
            ("/a.b/slow", 12, "/a.b/slow-12"),
        ] {
            assert_eq!(numbered(Path::new(path), number), Path::new(expected));
        }
    }
}
