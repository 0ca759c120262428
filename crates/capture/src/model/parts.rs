//! The parts of a recording that was split into several files.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::file::RecordingReader;
use crate::record::{BusId, Fact, RecordedProcess, RecordingRecord};

/// The files next to `FILE` that are named `FILE.1`, `FILE.2` and so on.
#[derive(Debug, Default)]
pub(super) struct RecordingParts {
    /// The parts of the same recording.
    pub(super) own: Vec<PathBuf>,
    /// The parts of other recordings, such as files that an earlier recording left behind.
    pub(super) foreign: Vec<PathBuf>,
}

impl RecordingParts {
    pub(super) fn of(path: &Path) -> Self {
        // Standard input can be read only once.
        let bases = path.is_file().then(|| [Some(path.to_owned()), fs::canonicalize(path).ok()]);
        let mut bases = bases.into_iter().flatten().flatten();
        let Some(base) = bases.find(|base| numbered(base, 1).is_file()) else {
            return Self::default();
        };
        let found = (1..).map(|number| numbered(&base, number)).take_while(|part| part.is_file());
        let first = RecordingIdentity::read(path);
        let is_own = |part: &PathBuf| first.is_of_the_recording_of(&RecordingIdentity::read(part));
        let (own, foreign) = found.partition(is_own);
        Self { own, foreign }
    }
}

fn numbered(path: &Path, number: u32) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(format!(".{number}"));
    name.into()
}

/// The facts by which the files of one recording are recognized. The recorder writes them at the
/// start of each file.
#[derive(Debug, Default)]
struct RecordingIdentity {
    /// The connections of the recorder, with the addresses of their buses.
    recorders: BTreeSet<(Option<String>, String)>,
    /// The process IDs of the buses, with their addresses.
    buses: BTreeSet<(Option<String>, u32)>,
    /// True if the file is an excerpt. Excerpts are never split into parts.
    is_excerpt: bool,
}

impl RecordingIdentity {
    /// The identity of a file; empty if it cannot be read, which is reported when it is opened.
    fn read(path: &Path) -> Self {
        Self::try_read(path).unwrap_or_default()
    }

    fn try_read(path: &Path) -> io::Result<Self> {
        let mut identity = Self::default();
        let Some(mut reader) = RecordingReader::new(File::open(path)?)? else {
            return Ok(identity);
        };
        let mut addresses = Vec::new();
        for _ in 0..RECORDS_MAX {
            match reader.next_record()? {
                None => break,
                Some(RecordingRecord::Bus(bus)) => addresses.push(bus.address),
                Some(RecordingRecord::Fact { bus: BusId(bus), fact, .. }) => {
                    let address = addresses.get(usize::from(bus)).cloned().flatten();
                    identity.learn(address, fact);
                }
                Some(_) => {}
            }
        }
        Ok(identity)
    }

    fn learn(&mut self, address: Option<String>, fact: Fact) {
        match fact {
            Fact::Recorder { unique } => {
                self.recorders.insert((address, unique));
            }
            Fact::Bus { process: RecordedProcess { pid: Some(pid), .. } } => {
                self.buses.insert((address, pid));
            }
            Fact::Excerpt(_) => self.is_excerpt = true,
            _ => {}
        }
    }

    /// Returns true if two files belong to one recording, as far as their content shows it. Files
    /// of other programs do not show it.
    fn is_of_the_recording_of(&self, other: &Self) -> bool {
        let share = |buses: &BTreeSet<_>, others: &BTreeSet<_>| {
            buses.is_empty() || others.is_empty() || !buses.is_disjoint(others)
        };
        let has_recorder = [self, other].map(|identity| !identity.recorders.is_empty());
        !self.is_excerpt
            && !other.is_excerpt
            && has_recorder[0] == has_recorder[1]
            && share(&self.buses, &other.buses)
            && (!has_recorder[0] || !self.recorders.is_disjoint(&other.recorders))
    }
}

/// The maximum number of records that are read to identify a file.
const RECORDS_MAX: usize = 4096;
