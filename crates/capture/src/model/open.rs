//! Opens captures from one or several files, each possibly in parts, or from standard input.

use std::collections::{HashMap, VecDeque};
use std::fs::{File, Metadata};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Read, Stdin};
use std::os::unix::fs::{FileExt, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::ahead::ReadAhead;
use super::parts::RecordingParts;
use super::store::{ReadAt, StoredFile};
use super::{Capture, not_a_recording};
use crate::file::RecordingReader;
use crate::record::{BusId, RawMessage, RecordedBus, RecordedTime, RecordingGap, RecordingRecord};

impl Capture {
    /// Reads a file in any supported format, with its further parts: see
    /// [`open_all`](Self::open_all).
    ///
    /// # Errors
    ///
    /// If a file cannot be read. `InvalidData` if its format is unknown.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::open_all(&[path]).map_err(|error| error.error)
    }

    /// Reads files in any supported formats into one capture, merged by time. Each file has its own
    /// buses.
    ///
    /// If `FILE.1`, `FILE.2` and so on exist next to `FILE`, they are parts of one recording that
    /// was split, and are read too, unless their content shows that they belong to another
    /// recording ([`foreign_parts`](Self::foreign_parts)). `-` is standard input.
    ///
    /// A file that is named several times, even by different paths, is read once. A message that
    /// several files contain, such as a recording and an excerpt of it, is in the capture once.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or its format is unknown.
    pub fn open_all(paths: &[impl AsRef<Path>]) -> Result<Self, OpenError> {
        Self::open_all_observed(paths, &Arc::default())
    }

    /// Like [`open_all`](Self::open_all); another thread can query the progress.
    ///
    /// # Errors
    ///
    /// As for [`open_all`](Self::open_all).
    pub fn open_all_observed(
        paths: &[impl AsRef<Path>],
        progress: &Arc<ReadProgress>,
    ) -> Result<Self, OpenError> {
        Self::open_files(&distinct_files(paths), Repeats::Once, progress)
    }

    /// Like [`open_all`](Self::open_all), but keeps the messages of each file even if several files
    /// contain them, so that the files can be compared.
    ///
    /// # Errors
    ///
    /// As for [`open_all`](Self::open_all).
    pub fn open_side_by_side(paths: &[impl AsRef<Path>]) -> Result<Self, OpenError> {
        Self::open_side_by_side_observed(paths, &Arc::default())
    }

    /// Like [`open_side_by_side`](Self::open_side_by_side); another thread can query the progress.
    ///
    /// # Errors
    ///
    /// As for [`open_all`](Self::open_all).
    pub fn open_side_by_side_observed(
        paths: &[impl AsRef<Path>],
        progress: &Arc<ReadProgress>,
    ) -> Result<Self, OpenError> {
        let paths: Vec<_> = paths.iter().map(AsRef::as_ref).collect();
        Self::open_files(&paths, Repeats::Each, progress)
    }

    fn open_files(
        paths: &[&Path],
        repeats: Repeats,
        progress: &Arc<ReadProgress>,
    ) -> Result<Self, OpenError> {
        let mut capture = Self::default();
        let mut sources = Sources { all: Vec::new(), progress };
        for (set, path) in paths.iter().copied().enumerate() {
            let opened = capture.open_set(path, set, &mut sources);
            opened.map_err(|error| OpenError { path: path.to_owned(), error })?;
        }
        let mut sources = sources.all;
        capture.files.paths = paths.iter().map(|&path| path.to_owned()).collect();
        capture.files.read = sources.iter().map(|source| source.path.clone()).collect();
        let read: Vec<_> = capture.files.read.iter().map(|path| OpenedFileId::of(path)).collect();
        capture.files.foreign.retain(|path| !read.contains(&OpenedFileId::of(path)));
        capture.read_sources(&mut sources, repeats)?;
        Ok(capture)
    }

    /// Opens a file and its further parts.
    fn open_set(&mut self, path: &Path, set: usize, sources: &mut Sources<'_>) -> io::Result<()> {
        let progress = sources.progress;
        let first = self.open_source(path, set, progress)?.ok_or_else(not_a_recording)?;
        sources.all.push(first);
        let RecordingParts { own, foreign } = RecordingParts::of(path);
        for part in own {
            sources.all.extend(self.open_source(&part, set, progress)?);
        }
        self.files.foreign.extend(foreign);
        Ok(())
    }

    fn open_source(
        &mut self,
        path: &Path,
        set: usize,
        progress: &Arc<ReadProgress>,
    ) -> io::Result<Option<OpenedFile>> {
        let (input, part) = if path == Path::new("-") {
            (FileInput::Stdin(io::stdin()), None)
        } else {
            let file = File::open(path)?;
            let metadata = file.metadata()?;
            progress.total.fetch_add(metadata.len(), Ordering::Relaxed);
            // A pipe cannot be read again.
            let again = metadata.is_file().then(|| file.try_clone()).transpose()?;
            (FileInput::File(file), again.map(|again| self.store.open(again)))
        };
        let input = ObservedInput { input, progress: Arc::clone(progress) };
        let Some(reader) = RecordingReader::new(input)? else { return Ok(None) };
        let (path, ahead) = (path.to_owned(), ReadAhead::start(reader)?);
        Ok(Some(OpenedFile { ahead, path, part, buses: Buses { set, ids: Vec::new() } }))
    }

    fn read_sources(
        &mut self,
        sources: &mut [OpenedFile],
        repeats: Repeats,
    ) -> Result<(), OpenError> {
        if let [source] = sources {
            return source.read(self);
        }
        let mut sets = RecordingSets::default();
        let mut recent = RecentMessages::new(repeats);
        while let Some((file, source)) = earliest(sources)? {
            source.push_next(self, &mut sets, (file, &mut recent))?;
        }
        self.files.repeated = recent.repeated;
        Ok(())
    }
}

/// The progress of reading files.
#[derive(Debug, Default)]
pub struct ReadProgress {
    bytes: AtomicU64,
    /// The total size in bytes of the files whose size is known.
    total: AtomicU64,
}

impl ReadProgress {
    /// Returns the fraction that has been read, from 0 to 1; `None` if no size is known.
    pub fn share(&self) -> Option<f64> {
        let total = self.total.load(Ordering::Relaxed);
        let read = self.bytes.load(Ordering::Relaxed).min(total);
        (total > 0).then(|| read as f64 / total as f64)
    }
}

/// The error returned if a file cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {error}", path.display())]
pub struct OpenError {
    /// The path of the file.
    pub path: PathBuf,
    /// The reason; of kind `InvalidData` if the format of the file is unknown.
    pub error: io::Error,
}

/// The files that are being read.
#[derive(Debug)]
struct Sources<'p> {
    all: Vec<OpenedFile>,
    progress: &'p Arc<ReadProgress>,
}

/// A file that is being read.
#[derive(Debug)]
struct OpenedFile {
    ahead: ReadAhead,
    path: PathBuf,
    /// The file in the store from which messages can be read again; `None` for a pipe.
    part: Option<StoredFile>,
    buses: Buses,
}

/// The buses of a file, and their ids in the capture.
#[derive(Debug)]
struct Buses {
    /// The index of the recording that the file is a part of.
    set: usize,
    /// The ids of the buses in the capture.
    ids: Vec<BusId>,
}

#[derive(Debug)]
enum FileInput {
    File(File),
    Stdin(Stdin),
}

/// An input that counts the bytes read.
#[derive(Debug)]
struct ObservedInput {
    input: FileInput,
    progress: Arc<ReadProgress>,
}

/// The buses of each recording, as ids of the capture.
#[derive(Debug, Default)]
struct RecordingSets {
    buses: Vec<Vec<BusId>>,
}

impl OpenedFile {
    /// Reads the whole file into a capture that has no other files.
    fn read(&mut self, capture: &mut Capture) -> Result<(), OpenError> {
        self.select(capture);
        while let Some(record) = self.ahead.next().map_err(of(&self.path))? {
            capture.push(with_place(record, self.part));
        }
        Ok(())
    }

    fn push_next(
        &mut self,
        capture: &mut Capture,
        sets: &mut RecordingSets,
        (file, recent): (usize, &mut RecentMessages),
    ) -> Result<(), OpenError> {
        self.select(capture);
        let record = self.ahead.next().map_err(of(&self.path))?;
        let record = record.filter(|record| match record {
            RecordingRecord::Message(raw) => {
                let bus = self.buses.ids.get(usize::from(raw.bus.0)).copied();
                let bus = bus.and_then(|bus| capture.buses.get(usize::from(bus.0)));
                !recent.has_from_another(file, bus, raw)
            }
            _ => true,
        });
        let record = record.and_then(|record| self.buses.renumber(record, capture, sets));
        if let Some(record) = record {
            capture.push(with_place(record, self.part));
        }
        Ok(())
    }

    /// Selects this file for the positions of the next records.
    fn select(&self, capture: &mut Capture) {
        if let Some(part) = self.part {
            capture.store.select(part);
        }
    }
}

impl Buses {
    /// Replaces the bus of a record by its id in the capture. Adds the bus and returns `None` if
    /// the record describes one.
    fn renumber<'r>(
        &mut self,
        mut record: RecordingRecord<'r>,
        capture: &mut Capture,
        sets: &mut RecordingSets,
    ) -> Option<RecordingRecord<'r>> {
        let bus = match &mut record {
            RecordingRecord::Bus(bus) => {
                let id = sets.id(self.set, self.ids.len(), std::mem::take(bus), capture);
                self.ids.push(id);
                return None;
            }
            RecordingRecord::Message(RawMessage { bus, .. })
            | RecordingRecord::Fact { bus, .. }
            | RecordingRecord::Gap(RecordingGap { bus, .. }) => bus,
            RecordingRecord::Origin(_) | RecordingRecord::Damage(_) => return Some(record),
        };
        *bus = self.id(*bus, capture, sets);
        Some(record)
    }

    /// The id of a bus of this file in the capture. A bus without a description is added.
    fn id(&mut self, bus: BusId, capture: &mut Capture, sets: &mut RecordingSets) -> BusId {
        while self.ids.len() <= usize::from(bus.0) {
            self.ids.push(sets.id(self.set, self.ids.len(), RecordedBus::default(), capture));
        }
        self.ids[usize::from(bus.0)]
    }
}

impl RecordingSets {
    /// The id of the bus at `index` in a file of a recording: the id in another part if the buses
    /// are equal, or else a new one.
    fn id(&mut self, set: usize, index: usize, bus: RecordedBus, capture: &mut Capture) -> BusId {
        if self.buses.len() <= set {
            self.buses.resize_with(set + 1, Vec::new);
        }
        let known = self.buses[set].get(index).copied();
        if let Some(id) = known.filter(|id| capture.buses.get(usize::from(id.0)) == Some(&bus)) {
            return id;
        }
        let id = BusId(u16::try_from(capture.buses.len()).unwrap_or(u16::MAX));
        capture.push(RecordingRecord::Bus(bus));
        capture.files.of_buses.push(set);
        if known.is_none() {
            self.buses[set].push(id);
        }
        id
    }
}

impl ReadAt for File {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        FileExt::read_at(self, buffer, offset)
    }
}

impl Read for ObservedInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = match &mut self.input {
            FileInput::File(file) => file.read(buffer)?,
            FileInput::Stdin(stdin) => stdin.read(buffer)?,
        };
        self.progress.bytes.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// The file whose next record has the earliest time, with its index.
fn earliest(sources: &mut [OpenedFile]) -> Result<Option<(usize, &mut OpenedFile)>, OpenError> {
    let mut earliest = None;
    for (place, source) in sources.iter_mut().enumerate() {
        let due = source.ahead.due().map_err(of(&source.path))?;
        if let Some(at) = due
            && earliest.as_ref().is_none_or(|(first, _)| at < *first)
        {
            earliest = Some((at, (place, source)));
        }
    }
    Ok(earliest.map(|(_, found)| found))
}

/// The last messages of several files, to detect messages that more than one file contains:
/// messages of the same bus with the same bytes and the same time in nanoseconds.
#[derive(Debug)]
struct RecentMessages {
    repeats: Repeats,
    /// The index of the file in which each message was first found.
    files: HashMap<(RecordedTime, u64), usize>,
    order: VecDeque<(RecordedTime, u64)>,
    hasher: RandomState,
    /// The number of messages that were found again.
    repeated: u64,
}

/// The number of times that a message counts if several files contain it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Repeats {
    Once,
    /// Once for each file.
    Each,
}

impl RecentMessages {
    fn new(repeats: Repeats) -> Self {
        let (files, order) = (HashMap::new(), VecDeque::new());
        Self { repeats, files, order, hasher: RandomState::new(), repeated: 0 }
    }

    /// Returns true if another file contains this message too. Buses are identified by their
    /// address; messages of a bus without an address are never considered equal.
    fn has_from_another(
        &mut self,
        file: usize,
        bus: Option<&RecordedBus>,
        raw: &RawMessage<'_>,
    ) -> bool {
        if self.repeats == Repeats::Each {
            return false;
        }
        let Some(address) = bus.and_then(|bus| bus.address.as_deref()) else { return false };
        let key = (raw.at, self.hasher.hash_one((address, raw.bytes)));
        match self.files.get(&key) {
            Some(first) if *first != file => {
                self.repeated += 1;
                return true;
            }
            Some(_) => return false,
            None => {}
        }
        self.files.insert(key, file);
        self.order.push_back(key);
        if self.order.len() > RECENT_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.files.remove(&oldest);
        }
        false
    }
}

/// Returns the paths without files that are read anyway: files that were named before, and parts of
/// other named files.
pub fn distinct_files(paths: &[impl AsRef<Path>]) -> Vec<&Path> {
    let files: Vec<_> = paths.iter().map(|path| OpenedFileId::of(path.as_ref())).collect();
    let parts_of = |path: &Path| -> Vec<_> {
        RecordingParts::of(path).own.iter().filter_map(|part| OpenedFileId::of(part)).collect()
    };
    let parts: Vec<_> = paths.iter().map(|path| parts_of(path.as_ref())).collect();
    let is_read_already = |place: usize| {
        let Some(file) = files[place] else { return false };
        let is_part = |other: usize| files[other] != Some(file) && parts[other].contains(&file);
        files[..place].contains(&Some(file)) || (0..paths.len()).any(is_part)
    };
    let distinct = paths.iter().enumerate().filter(|(place, _)| !is_read_already(*place));
    distinct.map(|(_, path)| path.as_ref()).collect()
}

/// The identity of the file at a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct OpenedFileId {
    device: u64,
    inode: u64,
}

impl OpenedFileId {
    /// The file at a path; `None` unless it is a regular file, as others can be read only once.
    fn of(path: &Path) -> Option<Self> {
        let metadata = path.metadata().ok().filter(Metadata::is_file)?;
        Some(Self { device: metadata.dev(), inode: metadata.ino() })
    }
}

/// Removes the position of a message in an input that cannot be read again.
fn with_place<'r>(
    mut record: RecordingRecord<'r>,
    part: Option<StoredFile>,
) -> RecordingRecord<'r> {
    if let (None, RecordingRecord::Message(raw)) = (part, &mut record) {
        raw.place = None;
    }
    record
}

/// The number of messages that are remembered. Files have messages in the order of routing, so a
/// later message may be slightly older.
const RECENT_MAX: usize = 1 << 14;

fn of(path: &Path) -> impl FnOnce(io::Error) -> OpenError {
    |error| OpenError { path: path.to_owned(), error }
}
