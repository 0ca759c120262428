//! Writes recordings and counts all losses.

mod chunks;
mod disk_state;
mod error;
mod file;
mod notice;
mod output;
mod recording_file;
mod tally;
mod trigger;

use std::io;
use std::time::Duration;

use capture::bodies::{Bodies, Reducer};
use capture::record::{BusId, Fact, RawMessage, RecordedTime, RecordingOrigin, RecordingRecord};
use wire::Message;

use disk_state::DiskState;
pub use error::{RecordingWriteError, UnfinishedRecording};
pub use notice::RecordingNotice;
pub use output::RecordingDestination;
use output::{END_LEN, RecordingOutput};
use recording_file::RecordFit;
pub use tally::RecordingTally;

use crate::standing::StandingFacts;

/// A recording that is being written.
///
/// While the disk is full, messages are only counted. When there is space again, the recording
/// continues after a gap.
#[derive(Debug)]
pub struct RecordingWriter {
    reducer: Reducer,
    standing: StandingFacts,
    output: RecordingOutput,
    disk: DiskState,
    /// The maximum size of the file in bytes.
    max: Option<u64>,
    /// True if a message did not fit into the maximum size of the file.
    is_complete: bool,
    tally: RecordingTally,
    /// The connections of the recorder.
    own: Vec<(BusId, String)>,
}

impl RecordingWriter {
    /// Creates the files of a destination.
    ///
    /// # Errors
    ///
    /// If the files cannot be created.
    pub fn open(
        destination: RecordingDestination,
        bodies: Bodies,
        origin: RecordingOrigin,
    ) -> Result<Self, RecordingWriteError> {
        let output = RecordingOutput::create(destination, &origin)?;
        Ok(Self {
            reducer: Reducer::new(bodies),
            standing: StandingFacts::new(origin),
            output,
            disk: DiskState::Free,
            max: None,
            is_complete: false,
            tally: RecordingTally::default(),
            own: Vec::new(),
        })
    }

    /// Limits the size of a single file to `max` bytes. The facts of the start and the reason for
    /// the end are written regardless.
    #[must_use]
    pub fn limited(mut self, max: Option<u64>) -> Self {
        self.max = max.map(|max| max.saturating_sub(END_LEN));
        self
    }

    /// Returns true if a message did not fit into the maximum size of the file. Later messages are
    /// not recorded.
    pub const fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Writes the next record. Returns a notice if the disk became full.
    pub fn put(&mut self, record: RecordingRecord<'_>) -> Option<RecordingNotice> {
        let is_limited = !is_about_the_recording(&record);
        if is_limited && self.is_complete {
            return None;
        }
        let before = self.tally.clone();
        self.count(&record);
        self.output.look(&record);
        let reduced = self.reducer.reduce(record)?;
        self.standing.learn(&reduced);
        match &mut self.disk {
            DiskState::Free => {
                let max = self.max.filter(|_| is_limited);
                let error = match self.output.write(&reduced, max, &self.standing) {
                    Ok(RecordFit::Written) => return None,
                    Ok(RecordFit::TooLarge) => {
                        self.is_complete = true;
                        self.tally = before;
                        return None;
                    }
                    Err(error) => error,
                };
                self.disk = DiskState::after(error);
                let DiskState::Full(full) = &mut self.disk else { return None };
                full.miss(&reduced);
                Some(RecordingNotice::Full)
            }
            DiskState::Full(full) => {
                full.miss(&reduced);
                None
            }
            DiskState::Broken(_) => None,
        }
    }

    fn count(&mut self, record: &RecordingRecord<'_>) {
        self.tally.losses.learn(record);
        match record {
            RecordingRecord::Fact { bus, fact: Fact::Recorder { unique }, .. } => {
                self.own.push((*bus, unique.clone()));
            }
            RecordingRecord::Message(raw) if self.is_own(raw) => self.tally.of_recorder += 1,
            RecordingRecord::Message(raw) => {
                self.tally.messages += 1;
                self.tally.bytes += u64::from(raw.len);
            }
            _ => {}
        }
    }

    /// Returns true if a message is from or to a connection of the recorder.
    fn is_own(&self, raw: &RawMessage<'_>) -> bool {
        let Ok(message) = Message::parse(raw.bytes) else { return false };
        let ends = [
            message.sender().map(|name| name.as_str()),
            message.destination().map(|name| name.as_str()),
        ];
        let is_end = |unique: &str| ends.contains(&Some(unique));
        self.own.iter().any(|(bus, unique)| *bus == raw.bus && is_end(unique))
    }

    /// Writes buffered records to the file. It must be called periodically, as it also checks
    /// whether a full disk has space again, and writes the file of a trigger when it is due.
    pub fn flush(&mut self, now: Duration) -> Option<RecordingNotice> {
        match &mut self.disk {
            DiskState::Free => match self.output.flush(now, &self.standing) {
                Ok(notice) => notice,
                Err(error) => {
                    self.disk = DiskState::after(error);
                    matches!(self.disk, DiskState::Full(_)).then_some(RecordingNotice::Full)
                }
            },
            DiskState::Full(full) if full.next <= now => self.try_again(now),
            DiskState::Full(_) | DiskState::Broken(_) => None,
        }
    }

    fn try_again(&mut self, now: Duration) -> Option<RecordingNotice> {
        let DiskState::Full(full) = &mut self.disk else { return None };
        full.next = now.saturating_add(TRY_AGAIN);
        self.output.flush(now, &self.standing).ok()?;
        let DiskState::Full(full) = std::mem::replace(&mut self.disk, DiskState::Free) else {
            return None;
        };
        let lost = full.lost.values().sum();
        let gaps: Vec<_> = full.gaps().collect();
        let buses = full.buses.into_iter().map(RecordingRecord::Bus);
        let facts = self.standing.records(RecordedTime(i64::MAX));
        let facts = facts.filter(|record| matches!(record, RecordingRecord::Fact { .. }));
        let records: Vec<RecordingRecord<'static>> = buses.chain(gaps).chain(facts).collect();
        for record in records {
            self.count(&record);
            if let Err(error) = self.output.write(&record, None, &self.standing) {
                self.disk = DiskState::after(error);
                return None;
            }
        }
        Some(RecordingNotice::Room(lost))
    }

    /// Returns the amounts recorded so far.
    pub fn tally(&self) -> RecordingTally {
        let mut losses = self.tally.losses;
        if let DiskState::Full(full) = &self.disk {
            losses.messages += full.lost.values().sum::<u64>();
        }
        let (written, files) = (self.output.written(), self.output.files());
        RecordingTally { losses, written, files, ..self.tally.clone() }
    }

    /// Returns the error after which nothing more can be written, if any.
    pub const fn broken(&self) -> Option<&io::Error> {
        match &self.disk {
            DiskState::Broken(error) => Some(error),
            DiskState::Free | DiskState::Full(_) => None,
        }
    }

    /// Completes the files of the recording.
    ///
    /// # Errors
    ///
    /// If the end of the recording cannot be written, or if the disk is full.
    pub fn finish(mut self) -> Result<RecordingTally, RecordingWriteError> {
        self.try_again(Duration::MAX);
        if let DiskState::Full(full) = &mut self.disk {
            // The file can also be read without its end.
            let _ = self.output.end_on_full_disk(full);
        }
        let tally = self.tally();
        match self.disk {
            DiskState::Broken(error) => {
                Err(RecordingWriteError::Write { error, unfinished: self.output.leave() })
            }
            DiskState::Full(_) => {
                Err(RecordingWriteError::Full { tally, unfinished: self.output.leave() })
            }
            DiskState::Free => {
                let unfinished = self.output.unfinished();
                let finished = self.output.finish(&self.standing);
                let (written, files) =
                    finished.map_err(|error| RecordingWriteError::Write { error, unfinished })?;
                Ok(RecordingTally { written, files, ..tally })
            }
        }
    }

    /// Removes the files of a recording that did not start.
    pub fn discard(self) {
        if let Some(output) = self.output.into_file() {
            output.remove();
        }
    }
}

/// Returns true if a record is about the recording itself. Such records are written regardless of
/// the size.
const fn is_about_the_recording(record: &RecordingRecord<'_>) -> bool {
    match record {
        RecordingRecord::Origin(_)
        | RecordingRecord::Bus(_)
        | RecordingRecord::Gap(_)
        | RecordingRecord::Damage(_) => true,
        RecordingRecord::Fact { fact, .. } => {
            matches!(fact, Fact::Ended { .. } | Fact::Recorder { .. } | Fact::Totals(_))
        }
        RecordingRecord::Message(_) => false,
    }
}

/// The interval at which a full disk is checked for space.
const TRY_AGAIN: Duration = Duration::from_millis(500);
