//! The state of a full disk, and the records that were not written.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use capture::record::{
    BusId, Fact, GapCause, RecordedBus, RecordedTime, RecordingGap, RecordingRecord,
};

/// The state of the disk, and whether records can be written.
#[derive(Debug)]
pub(super) enum DiskState {
    Free,
    Full(UnwrittenRecords),
    /// Writing failed for a permanent reason.
    Broken(io::Error),
}

/// The records that were not written since the disk became full.
#[derive(Debug)]
pub(super) struct UnwrittenRecords {
    since: RecordedTime,
    pub(super) lost: BTreeMap<BusId, u64>,
    /// The gaps, at most one for each bus and cause.
    gaps: Vec<RecordingGap>,
    pub(super) buses: Vec<RecordedBus>,
    /// The reasons why the recordings of the buses ended.
    pub(super) ends: Vec<RecordingRecord<'static>>,
    /// The time when the next attempt is due, by the monotonic clock.
    pub(super) next: Duration,
}

impl DiskState {
    pub(super) fn after(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => Self::Full(UnwrittenRecords {
                since: RecordedTime::default(),
                lost: BTreeMap::new(),
                gaps: Vec::new(),
                buses: Vec::new(),
                ends: Vec::new(),
                next: Duration::ZERO,
            }),
            _ => Self::Broken(error),
        }
    }
}

impl UnwrittenRecords {
    pub(super) fn miss(&mut self, record: &RecordingRecord<'_>) {
        match record {
            RecordingRecord::Message(raw) => {
                if self.lost.is_empty() {
                    self.since = raw.at;
                }
                *self.lost.entry(raw.bus).or_default() += 1;
            }
            RecordingRecord::Bus(bus) => self.buses.push(bus.clone()),
            RecordingRecord::Gap(gap) => self.miss_more(gap),
            RecordingRecord::Fact { at, bus, fact: Fact::Ended { cause } } => {
                if self.lost.is_empty() {
                    self.since = *at;
                }
                let fact = Fact::Ended { cause: *cause };
                self.ends.push(RecordingRecord::Fact { at: *at, bus: *bus, fact });
            }
            _ => {}
        }
    }

    fn miss_more(&mut self, gap: &RecordingGap) {
        let is_same = |known: &&mut RecordingGap| (known.bus, known.cause) == (gap.bus, gap.cause);
        match self.gaps.iter_mut().find(is_same) {
            Some(known) => known.lost = known.lost.zip(gap.lost).map(|(a, b)| a + b),
            None => self.gaps.push(gap.clone()),
        }
    }

    pub(super) fn gaps(&self) -> impl Iterator<Item = RecordingRecord<'static>> {
        let at = Some(self.since);
        let unwritten = self.lost.iter().map(move |(&bus, &lost)| {
            let cause = GapCause::DiskFull;
            RecordingGap { at, bus, cause, lost: Some(lost) }
        });
        unwritten.chain(self.gaps.iter().cloned()).map(RecordingRecord::Gap)
    }
}
