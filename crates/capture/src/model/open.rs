//! Captures from files: one or several, each perhaps in parts, or what another program pipes in.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Stdin};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{error, fmt};

use super::Capture;
use super::store::Part;
use crate::file::Reader;
use crate::record::{Bus, BusId, Delivery, RawMessage, Record, Time, Trace};

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
    /// that was cut into several files, and are read too. `-` is what is piped in.
    pub fn open_all(paths: &[impl AsRef<Path>]) -> Result<Self, OpenError> {
        let mut capture = Self::default();
        let mut sources = Vec::new();
        for (set, path) in paths.iter().enumerate() {
            let path = path.as_ref();
            let opened = capture.open_set(path, set, &mut sources);
            opened.map_err(|error| OpenError { path: path.to_owned(), error })?;
        }
        capture.read_sources(&mut sources)?;
        Ok(capture)
    }

    /// Opens a file and the parts that belong to it.
    fn open_set(&mut self, path: &Path, set: usize, sources: &mut Vec<Source>) -> io::Result<()> {
        let unknown = || io::Error::new(io::ErrorKind::InvalidData, "not a recording of messages");
        let first = self.open_source(path, set)?.ok_or_else(unknown)?;
        sources.push(first);
        for part in parts(path) {
            sources.extend(self.open_source(&part, set)?);
        }
        Ok(())
    }

    fn open_source(&mut self, path: &Path, set: usize) -> io::Result<Option<Source>> {
        let (input, part) = if path == Path::new("-") {
            (Input::Stdin(io::stdin()), None)
        } else {
            let file = File::open(path)?;
            // Of a pipe nothing can be read again.
            let again = file.metadata()?.is_file().then(|| file.try_clone()).transpose()?;
            (Input::File(file), again.map(|again| self.store.open(again)))
        };
        let reader = Reader::new(input)?;
        let path = path.to_owned();
        Ok(reader.map(|reader| Source { reader, path, part, set, buses: Vec::new(), ahead: None }))
    }

    fn read_sources(&mut self, sources: &mut [Source]) -> Result<(), OpenError> {
        if let [source] = sources {
            return source.read(self);
        }
        let mut sets = Sets::default();
        for source in &mut *sources {
            source.look_ahead()?;
        }
        while let Some(source) = earliest(sources) {
            source.push_ahead(self, &mut sets);
            source.look_ahead()?;
        }
        Ok(())
    }
}

/// Why a file could not be read.
#[derive(Debug)]
pub struct OpenError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong; of kind `InvalidData` if it has no format that is known.
    pub error: io::Error,
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.error)
    }
}

impl error::Error for OpenError {}

/// A file that is read.
#[derive(Debug)]
struct Source {
    reader: Reader<Input>,
    path: PathBuf,
    /// Where its bytes can be found again, if they can.
    part: Option<Part>,
    /// Which of the recordings it is a part of.
    set: usize,
    /// Its buses, as the capture numbers them.
    buses: Vec<BusId>,
    /// The record that comes next, unless the file is at its end.
    ahead: Option<Ahead>,
}

#[derive(Debug)]
enum Input {
    File(File),
    Stdin(Stdin),
}

/// A record that waits for those of other files that are earlier.
#[derive(Debug)]
enum Ahead {
    Message { raw: RawMessage<'static>, bytes: Vec<u8>, trace: Option<OwnedTrace> },
    Other(Record<'static>),
}

type OwnedTrace = (Duration, Vec<Delivery>);

/// By set, the buses of the capture that are its own.
#[derive(Debug, Default)]
struct Sets {
    buses: Vec<Vec<BusId>>,
}

impl Source {
    /// Reads all of it into a capture that nothing else is read into.
    fn read(&mut self, capture: &mut Capture) -> Result<(), OpenError> {
        while let Some(record) = self.reader.next_record().map_err(of(&self.path))? {
            capture.push(with_place(record, self.part));
        }
        Ok(())
    }

    fn look_ahead(&mut self) -> Result<(), OpenError> {
        let record = self.reader.next_record().map_err(of(&self.path))?;
        self.ahead = record.map(|record| Ahead::new(with_place(record, self.part)));
        Ok(())
    }

    fn push_ahead(&mut self, capture: &mut Capture, sets: &mut Sets) {
        if let Some(part) = self.part {
            capture.store.select(part);
        }
        match self.ahead.take() {
            None => {}
            Some(Ahead::Message { mut raw, bytes, trace }) => {
                raw.bus = self.bus(raw.bus, capture, sets);
                let trace = trace.as_ref().map(|(routed_after, deliveries)| Trace {
                    routed_after: *routed_after,
                    deliveries,
                });
                capture.push(Record::Message(RawMessage { bytes: &bytes, trace, ..raw }));
            }
            Some(Ahead::Other(record)) => self.push_other(record, capture, sets),
        }
    }

    fn push_other(&mut self, record: Record<'static>, capture: &mut Capture, sets: &mut Sets) {
        let record = match record {
            Record::Bus(bus) => {
                let id = sets.id(self.set, self.buses.len(), bus, capture);
                self.buses.push(id);
                return;
            }
            Record::Fact { at, bus, fact } => {
                Record::Fact { at, bus: self.bus(bus, capture, sets), fact }
            }
            Record::Gap(mut gap) => {
                gap.bus = self.bus(gap.bus, capture, sets);
                Record::Gap(gap)
            }
            other => other,
        };
        capture.push(record);
    }

    /// What the capture calls a bus of this file, which is made if nothing was said about it.
    fn bus(&mut self, bus: BusId, capture: &mut Capture, sets: &mut Sets) -> BusId {
        while self.buses.len() <= usize::from(bus.0) {
            let id = sets.id(self.set, self.buses.len(), Bus::default(), capture);
            self.buses.push(id);
        }
        self.buses[usize::from(bus.0)]
    }
}

impl Sets {
    /// The bus that is in place `index` in a file of a set: that of another part if they are the
    /// same, or else a new one.
    fn id(&mut self, set: usize, index: usize, bus: Bus, capture: &mut Capture) -> BusId {
        if self.buses.len() <= set {
            self.buses.resize_with(set + 1, Vec::new);
        }
        let known = self.buses[set].get(index).copied();
        if let Some(id) = known.filter(|id| capture.buses.get(usize::from(id.0)) == Some(&bus)) {
            return id;
        }
        let id = BusId(u16::try_from(capture.buses.len()).unwrap_or(u16::MAX));
        capture.push(Record::Bus(bus));
        if known.is_none() {
            self.buses[set].push(id);
        }
        id
    }
}

impl Ahead {
    fn new(record: Record<'_>) -> Self {
        Self::Other(match record {
            Record::Message(raw) => {
                let trace = raw.trace.map(|trace| (trace.routed_after, trace.deliveries.to_vec()));
                let bytes = raw.bytes.to_vec();
                return Self::Message {
                    raw: RawMessage { bytes: &[], trace: None, ..raw },
                    bytes,
                    trace,
                };
            }
            Record::Origin(origin) => Record::Origin(origin),
            Record::Bus(bus) => Record::Bus(bus),
            Record::Fact { at, bus, fact } => Record::Fact { at, bus, fact },
            Record::Gap(gap) => Record::Gap(gap),
            Record::Damage(damage) => Record::Damage(damage),
        })
    }

    /// When it is due; what has no time is at once.
    const fn at(&self) -> Time {
        match self {
            Self::Message { raw, .. } => raw.at,
            Self::Other(Record::Fact { at, .. }) => *at,
            Self::Other(_) => Time(i64::MIN),
        }
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(buffer),
            Self::Stdin(stdin) => stdin.read(buffer),
        }
    }
}

/// The file whose next record is due first.
fn earliest(sources: &mut [Source]) -> Option<&mut Source> {
    let due = |source: &Source| source.ahead.as_ref().map(Ahead::at);
    sources
        .iter_mut()
        .filter_map(|source| Some((due(source)?, source)))
        .min_by_key(|(at, _)| *at)
        .map(|(_, source)| source)
}

/// The parts of a recording besides its first file: those with a number behind its name.
fn parts(path: &Path) -> impl Iterator<Item = PathBuf> {
    let numbered = |number: u32| {
        let mut name = OsString::from(path);
        name.push(format!(".{number}"));
        PathBuf::from(name)
    };
    (1..).map(numbered).take_while(|part| part.is_file()).collect::<Vec<_>>().into_iter()
}

/// What cannot be read again has no place.
fn with_place<'r>(mut record: Record<'r>, part: Option<Part>) -> Record<'r> {
    if let (None, Record::Message(raw)) = (part, &mut record) {
        raw.place = None;
    }
    record
}

fn of(path: &Path) -> impl FnOnce(io::Error) -> OpenError {
    |error| OpenError { path: path.to_owned(), error }
}
