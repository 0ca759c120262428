//! Captures from files: one or several, each perhaps in parts, or what another program pipes in.

use std::collections::{HashMap, VecDeque};
use std::fs::{File, Metadata};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Read, Stdin};
use std::os::unix::fs::{FileExt, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::ahead::Ahead;
use super::parts::RecordingParts;
use super::store::{ReadAt, StoredFile};
use super::{Capture, not_a_recording};
use crate::file::RecordingReader;
use crate::record::{BusId, RawMessage, RecordedBus, RecordedTime, RecordingGap, RecordingRecord};

impl Capture {
    /// Reads a file, whichever format it has, with the parts that belong to it: see
    /// [`open_all`](Self::open_all).
    ///
    /// # Errors
    ///
    /// Of kind `InvalidData` if it has no format that is known.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::open_all(&[path]).map_err(|error| error.error)
    }

    /// Reads files, whichever formats they have, into one capture, in the order of time. Each has
    /// buses of its own.
    ///
    /// If there are a `FILE.1`, `FILE.2` and so on beside a `FILE`, they are parts of one recording
    /// that was cut into several files, and are read too, unless they show that they are of another
    /// recording ([`foreign_parts`](Self::foreign_parts)). `-` is what is piped in.
    ///
    /// A file counts once, however often and under whichever names it is given, and so does a message
    /// that several files have, such as a recording and a copy of a part of it.
    pub fn open_all(paths: &[impl AsRef<Path>]) -> Result<Self, OpenError> {
        Self::open_all_observed(paths, &Arc::default())
    }

    /// As [`open_all`](Self::open_all), while another thread can ask how far it is.
    pub fn open_all_observed(
        paths: &[impl AsRef<Path>],
        progress: &Arc<ReadProgress>,
    ) -> Result<Self, OpenError> {
        Self::open_files(&distinct_files(paths), Repeats::Once, progress)
    }

    /// As [`open_all`](Self::open_all), but what several files have is there for each of them, so that
    /// they can be compared.
    pub fn open_side_by_side(paths: &[impl AsRef<Path>]) -> Result<Self, OpenError> {
        Self::open_side_by_side_observed(paths, &Arc::default())
    }

    /// As [`open_side_by_side`](Self::open_side_by_side), while another thread can ask how far it is.
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

    /// Opens a file and the parts that belong to it.
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
            // Of a pipe nothing can be read again.
            let again = metadata.is_file().then(|| file.try_clone()).transpose()?;
            (FileInput::File(file), again.map(|again| self.store.open(again)))
        };
        let input = ObservedInput { input, progress: Arc::clone(progress) };
        let Some(reader) = RecordingReader::new(input)? else { return Ok(None) };
        let (path, ahead) = (path.to_owned(), Ahead::start(reader)?);
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
        let mut recent = Recent::new(repeats);
        while let Some((file, source)) = earliest(sources)? {
            source.push_next(self, &mut sets, (file, &mut recent))?;
        }
        self.files.repeated = recent.repeated;
        Ok(())
    }
}

/// How much of the files that are opened has been read.
#[derive(Debug, Default)]
pub struct ReadProgress {
    bytes: AtomicU64,
    /// Of the files that have a length.
    total: AtomicU64,
}

impl ReadProgress {
    /// The part that has been read, from 0 to 1; `None` if the length is not known.
    pub fn share(&self) -> Option<f64> {
        let total = self.total.load(Ordering::Relaxed);
        let read = self.bytes.load(Ordering::Relaxed).min(total);
        (total > 0).then(|| read as f64 / total as f64)
    }
}

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {error}", path.display())]
pub struct OpenError {
    /// The file.
    pub path: PathBuf,
    /// The reason; of kind `InvalidData` if the format of the file is unknown.
    pub error: io::Error,
}

/// The files that are read.
#[derive(Debug)]
struct Sources<'p> {
    all: Vec<OpenedFile>,
    progress: &'p Arc<ReadProgress>,
}

/// A file that is read.
#[derive(Debug)]
struct OpenedFile {
    ahead: Ahead,
    path: PathBuf,
    /// Where its bytes can be found again, if they can.
    part: Option<StoredFile>,
    buses: Buses,
}

/// The buses of a file.
#[derive(Debug)]
struct Buses {
    /// Which of the recordings the file is a part of.
    set: usize,
    /// As the capture numbers them.
    ids: Vec<BusId>,
}

#[derive(Debug)]
enum FileInput {
    File(File),
    Stdin(Stdin),
}

/// An input whose bytes are counted.
#[derive(Debug)]
struct ObservedInput {
    input: FileInput,
    progress: Arc<ReadProgress>,
}

/// By set, the buses of the capture that are its own.
#[derive(Debug, Default)]
struct RecordingSets {
    buses: Vec<Vec<BusId>>,
}

impl OpenedFile {
    /// Reads all of it into a capture that nothing else is read into.
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
        (file, recent): (usize, &mut Recent),
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

    /// Has the places of the next records be in this file.
    fn select(&self, capture: &mut Capture) {
        if let Some(part) = self.part {
            capture.store.select(part);
        }
    }
}

impl Buses {
    /// The record with the capture's number of its bus; `None` if it is one of a bus, which is
    /// taken in.
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

    /// What the capture calls a bus of this file, which is made if nothing was said about it.
    fn id(&mut self, bus: BusId, capture: &mut Capture, sets: &mut RecordingSets) -> BusId {
        while self.ids.len() <= usize::from(bus.0) {
            self.ids.push(sets.id(self.set, self.ids.len(), RecordedBus::default(), capture));
        }
        self.ids[usize::from(bus.0)]
    }
}

impl RecordingSets {
    /// The bus that is in place `index` in a file of a set: that of another part if they are the
    /// same, or else a new one.
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
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        FileExt::read_exact_at(self, buffer, offset)
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

/// The file whose next record is due first, and its place.
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

/// The last messages of several files, to find those that more than one file has: messages of the same
/// bus with the same bytes and the same time in nanoseconds.
#[derive(Debug)]
struct Recent {
    repeats: Repeats,
    /// In which file each was found first.
    files: HashMap<(RecordedTime, u64), usize>,
    order: VecDeque<(RecordedTime, u64)>,
    hasher: RandomState,
    /// How many messages were found again.
    repeated: u64,
}

/// How often a message counts that several files have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Repeats {
    Once,
    /// In each file.
    Each,
}

impl Recent {
    fn new(repeats: Repeats) -> Self {
        let (files, order) = (HashMap::new(), VecDeque::new());
        Self { repeats, files, order, hasher: RandomState::new(), repeated: 0 }
    }

    /// Whether another file has this message, too. A bus is known by its address; of one without, no
    /// message is found again.
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

/// The paths without those of files that are read already: files that are named before, and parts of
/// others that are named.
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

/// Which file a path leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct OpenedFileId {
    device: u64,
    inode: u64,
}

impl OpenedFileId {
    /// The file at a path; `None` for what is not a regular file, which can be read only once.
    fn of(path: &Path) -> Option<Self> {
        let metadata = path.metadata().ok().filter(Metadata::is_file)?;
        Some(Self { device: metadata.dev(), inode: metadata.ino() })
    }
}

/// What cannot be read again has no place.
fn with_place<'r>(
    mut record: RecordingRecord<'r>,
    part: Option<StoredFile>,
) -> RecordingRecord<'r> {
    if let (None, RecordingRecord::Message(raw)) = (part, &mut record) {
        raw.place = None;
    }
    record
}

/// Messages that are remembered: files have them in the order of routing, in which a later one may be a
/// little older.
const RECENT_MAX: usize = 1 << 14;

fn of(path: &Path) -> impl FnOnce(io::Error) -> OpenError {
    |error| OpenError { path: path.to_owned(), error }
}
