//! The last part of a recording in memory, until something happens.

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
use super::error::TapeError;
use super::file::remove_previous;
use crate::rolling::Rolling;
use crate::standing::StandingFacts;

/// Keeps the last part of a recording, and writes a file a little after each message that was
/// waited for. No message is in two files.
#[derive(Debug)]
pub(super) struct Trigger {
    path: PathBuf,
    size: u64,
    query: Query,
    rolling: Rolling,
    writer: PcapngWriter<Chunks>,
    chunks: Chunks,
    /// When the first message of each chunk came.
    starts: VecDeque<RecordedTime>,
    /// When the first message came that is not in a chunk yet.
    start: Option<RecordedTime>,
    /// When the last message came.
    last: RecordedTime,
    /// How many buses there are.
    buses: u16,
    /// Whether the recording has said why it ends.
    has_ended: bool,
    /// Bytes up to the last chunk.
    chunked: u64,
    /// A message was met; the file is written at this time of the monotonic clock.
    due: Option<Due>,
    files: Vec<PathBuf>,
    written: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Due {
    /// As soon as somebody says what time it is.
    Met,
    At(Duration),
}

impl Trigger {
    pub(super) fn new(
        path: PathBuf,
        size: u64,
        query: Query,
        origin: &RecordingOrigin,
    ) -> Result<Self, TapeError> {
        let chunks = Chunks::default();
        let mut writer = PcapngWriter::new(chunks.clone(), origin)?;
        writer.flush()?;
        chunks.clear();
        let chunked = writer.written().bytes;
        let rolling = Rolling::new(MESSAGES_KEPT);
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
            // Each file begins with what holds; the writer only has to count the buses.
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

    /// Whether this is what is waited for.
    pub(super) fn look(&mut self, record: &RecordingRecord<'_>) {
        let Some(id) = self.rolling.push(record.clone()) else { return };
        let message = self.rolling.capture().message(id);
        if self.due.is_none()
            && self.files.len() < FILES_MAX
            && self.query.matcher().selects(&message)
        {
            self.due = Some(Due::Met);
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

    /// Writes the file if it is time to; returns which.
    pub(super) fn flush(
        &mut self,
        now: Duration,
        standing: &StandingFacts,
    ) -> io::Result<Option<PathBuf>> {
        match self.due {
            Some(Due::Met) => self.due = Some(Due::At(now + AFTERWARDS)),
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

    /// The first file has the name that was asked for, and takes the place of another one. Those after it
    /// have names that no file has.
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

    /// Writes the file that is due.
    pub(super) fn finish(mut self, standing: &StandingFacts) -> io::Result<(u64, Vec<PathBuf>)> {
        if self.due.is_some() {
            self.save(standing)?;
        }
        Ok((self.written, self.files))
    }
}

/// `slow.pcapng`, `slow-2.pcapng`, ...
fn numbered(path: &Path, number: usize) -> PathBuf {
    if number == 1 {
        return path.to_owned();
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().map(|extension| format!(".{}", extension.to_string_lossy()));
    path.with_file_name(format!("{stem}-{number}{}", extension.unwrap_or_default()))
}

/// Messages that a query can find a call or an owner among.
const MESSAGES_KEPT: usize = 50_000;

/// Bytes that are kept or forgotten together.
const CHUNK: u64 = 64 * 1024;

/// What follows the message within this time is in the file too.
const AFTERWARDS: Duration = Duration::from_secs(1);

/// Files that are written at most, so that a condition that always holds does not fill the disk.
pub(super) const FILES_MAX: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_numbered_before_the_extension() {
        for (path, number, expected) in [
            ("slow.pcapng", 1, "slow.pcapng"),
            ("slow.pcapng", 2, "slow-2.pcapng"),
            ("/a.b/slow", 12, "/a.b/slow-12"),
        ] {
            assert_eq!(numbered(Path::new(path), number), Path::new(expected));
        }
    }
}
