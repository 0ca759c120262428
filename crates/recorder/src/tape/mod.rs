//! Writing, so that nothing is lost silently.

mod chunks;
mod error;
mod file;
mod ring;
mod trigger;

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use capture::bodies::{Bodies, Reducer};
use capture::losses::Losses;
use capture::query::Query;
use capture::record::{Bus, BusId, Fact, Gap, GapCause, Origin, RawMessage, Record, Time};
use wire::Message;

pub use error::{TapeError, Unfinished};
use file::{OutputFile, Plain};
use ring::Ring;
use trigger::{FILES_MAX, Trigger};

use crate::standing::Standing;

/// Where a recording goes.
#[derive(Debug)]
pub enum Destination {
    /// Into something that is open already.
    Open(File),
    /// Into a file. If there is one already, the recording takes its place when it is complete.
    File(PathBuf),
    /// Into a file and the one before it, each of at most so many bytes: the last part of the
    /// recording is always there. Recordings of these names are replaced as with [`File`](Self::File).
    Ring {
        /// The file; the one before it has `.1` at its end.
        path: PathBuf,
        /// Bytes in each.
        size: u64,
    },
    /// Into memory, and into a file when a message is met that was waited for.
    Trigger {
        /// The file; those after the first have a number in their names, and replace nothing.
        path: PathBuf,
        /// Bytes that are kept in memory.
        size: u64,
        /// What is waited for.
        query: Query,
    },
}

/// A recording that is being written.
///
/// When the disk is full, messages are counted instead, and the recording goes on behind the gap
/// once there is room again.
#[derive(Debug)]
pub struct Tape {
    reducer: Reducer,
    standing: Standing,
    output: Output,
    room: Room,
    /// Bytes that the file may have.
    max: Option<u64>,
    /// Whether the file has no room for another message.
    is_complete: bool,
    tally: Tally,
    /// Connections of the recorder.
    own: Vec<(BusId, String)>,
}

#[derive(Debug)]
enum Output {
    Plain(Plain),
    Ring(Ring),
    Trigger(Box<Trigger>),
}

/// Whether anything can be written.
#[derive(Debug)]
enum Room {
    Free,
    Full(Full),
    /// It will not get better.
    Broken(io::Error),
}

/// What was not written since the disk is full.
#[derive(Debug)]
struct Full {
    since: Time,
    lost: BTreeMap<BusId, u64>,
    /// What was missing besides, one of each bus and cause.
    gaps: Vec<Gap>,
    buses: Vec<Bus>,
    /// Why the recording of each bus has ended.
    ends: Vec<Record<'static>>,
    /// When it is tried again, by the monotonic clock.
    next: Duration,
}

/// What has been recorded so far.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Messages that came, without those of the recorder.
    pub messages: u64,
    /// Bytes in them.
    pub bytes: u64,
    /// Messages from and to the recorder, which are in the file, too.
    pub of_recorder: u64,
    /// What is missing.
    pub losses: Losses,
    /// Bytes written to files.
    pub written: u64,
    /// The files there are now.
    pub files: Vec<PathBuf>,
}

/// Something that whoever records wants to be told at once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TapeNotice {
    /// The disk is full.
    Full,
    /// There is room again; so many messages were not written.
    Room(u64),
    /// A message was met that was waited for, and this file written.
    Triggered(PathBuf),
    /// The same, and there will be no more files.
    LastTriggered(PathBuf),
}

impl Tape {
    /// Begins to write.
    pub fn open(
        destination: Destination,
        bodies: Bodies,
        origin: Origin,
    ) -> Result<Self, TapeError> {
        let output = match destination {
            Destination::Open(file) => Output::Plain(Plain::new(file, &origin)?),
            Destination::File(path) => Output::Plain(Plain::create(path, &origin)?),
            Destination::Ring { path, size } => Output::Ring(Ring::create(path, size, &origin)?),
            Destination::Trigger { path, size, query } => {
                Output::Trigger(Box::new(Trigger::new(path, size, query, &origin)?))
            }
        };
        Ok(Self {
            reducer: Reducer::new(bodies),
            standing: Standing::new(origin),
            output,
            room: Room::Free,
            max: None,
            is_complete: false,
            tally: Tally::default(),
            own: Vec::new(),
        })
    }

    /// Has a single file be no larger than `max` bytes. What is known at the start and how the recording
    /// ended is written in any case.
    #[must_use]
    pub fn limited(mut self, max: Option<u64>) -> Self {
        self.max = max.map(|max| max.saturating_sub(END_LEN));
        self
    }

    /// Whether there was a message for which the file has no room. Nothing that comes after it is
    /// recorded.
    pub const fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Takes what has been heard next. Says if that changes something.
    pub fn put(&mut self, record: Record<'_>) -> Option<TapeNotice> {
        let is_limited = !is_about_the_recording(&record);
        if is_limited && self.is_complete {
            return None;
        }
        let before = self.tally.clone();
        self.count(&record);
        self.output.look(&record);
        let reduced = self.reducer.reduce(record)?;
        self.standing.learn(&reduced);
        match &mut self.room {
            Room::Free => {
                let max = self.max.filter(|_| is_limited);
                let error = match self.output.write(&reduced, max, &self.standing) {
                    Ok(Fit::Written) => return None,
                    Ok(Fit::TooLarge) => {
                        self.is_complete = true;
                        self.tally = before;
                        return None;
                    }
                    Err(error) => error,
                };
                self.room = Room::after(error);
                let Room::Full(full) = &mut self.room else { return None };
                full.miss(&reduced);
                Some(TapeNotice::Full)
            }
            Room::Full(full) => {
                full.miss(&reduced);
                None
            }
            Room::Broken(_) => None,
        }
    }

    fn count(&mut self, record: &Record<'_>) {
        self.tally.losses.learn(record);
        match record {
            Record::Fact { bus, fact: Fact::Recorder { unique }, .. } => {
                self.own.push((*bus, unique.clone()));
            }
            Record::Message(raw) if self.is_own(raw) => self.tally.of_recorder += 1,
            Record::Message(raw) => {
                self.tally.messages += 1;
                self.tally.bytes += u64::from(raw.len);
            }
            _ => {}
        }
    }

    /// Whether a message is from or to a connection of the recorder.
    fn is_own(&self, raw: &RawMessage<'_>) -> bool {
        let Ok(message) = Message::parse(raw.bytes) else { return false };
        let ends = [
            message.sender().map(|name| name.as_str()),
            message.destination().map(|name| name.as_str()),
        ];
        let is_end = |unique: &str| ends.contains(&Some(unique));
        self.own.iter().any(|(bus, unique)| *bus == raw.bus && is_end(unique))
    }

    /// Sees to it that all that was put is in the file; to be called from time to time. If the disk
    /// was full, tries whether there is room.
    pub fn flush(&mut self, now: Duration) -> Option<TapeNotice> {
        match &mut self.room {
            Room::Free => match self.output.flush(now, &self.standing) {
                Ok(notice) => notice,
                Err(error) => {
                    self.room = Room::after(error);
                    matches!(self.room, Room::Full(_)).then_some(TapeNotice::Full)
                }
            },
            Room::Full(full) if full.next <= now => self.try_again(now),
            Room::Full(_) | Room::Broken(_) => None,
        }
    }

    fn try_again(&mut self, now: Duration) -> Option<TapeNotice> {
        let Room::Full(full) = &mut self.room else { return None };
        full.next = now.saturating_add(TRY_AGAIN);
        self.output.flush(now, &self.standing).ok()?;
        let Room::Full(full) = std::mem::replace(&mut self.room, Room::Free) else { return None };
        let lost = full.lost.values().sum();
        let gaps: Vec<_> = full.gaps().collect();
        let buses = full.buses.into_iter().map(Record::Bus);
        let facts = self.standing.records(Time(i64::MAX));
        let facts = facts.filter(|record| matches!(record, Record::Fact { .. }));
        let records: Vec<Record<'static>> = buses.chain(gaps).chain(facts).collect();
        for record in records {
            self.count(&record);
            if let Err(error) = self.output.write(&record, None, &self.standing) {
                self.room = Room::after(error);
                return None;
            }
        }
        Some(TapeNotice::Room(lost))
    }

    /// What has been recorded so far.
    pub fn tally(&self) -> Tally {
        let mut losses = self.tally.losses;
        if let Room::Full(full) = &self.room {
            losses.messages += full.lost.values().sum::<u64>();
        }
        let (written, files) = (self.output.written(), self.output.files());
        Tally { losses, written, files, ..self.tally.clone() }
    }

    /// Why nothing can be written any more.
    pub const fn broken(&self) -> Option<&io::Error> {
        match &self.room {
            Room::Broken(error) => Some(error),
            Room::Free | Room::Full(_) => None,
        }
    }

    /// Ends the recording.
    pub fn finish(mut self) -> Result<Tally, TapeError> {
        self.try_again(Duration::MAX);
        if let Room::Full(full) = &mut self.room {
            // The file can be read without its end, too.
            let _ = self.output.end_without_room(full);
        }
        let tally = self.tally();
        match self.room {
            Room::Broken(error) => Err(TapeError::Write { error, unfinished: self.output.leave() }),
            Room::Full(_) => Err(TapeError::Full { tally, unfinished: self.output.leave() }),
            Room::Free => {
                let unfinished = self.output.unfinished();
                let finished = self.output.finish(&self.standing);
                let (written, files) =
                    finished.map_err(|error| TapeError::Write { error, unfinished })?;
                Ok(Tally { written, files, ..tally })
            }
        }
    }

    /// Removes what was written, because the recording did not begin after all.
    pub fn discard(self) {
        if let Some(output) = self.output.into_file() {
            output.remove();
        }
    }
}

/// Whether a record says something about the recording itself, which is written whatever its size is.
const fn is_about_the_recording(record: &Record<'_>) -> bool {
    match record {
        Record::Origin(_) | Record::Bus(_) | Record::Gap(_) | Record::Damage(_) => true,
        Record::Fact { fact, .. } => {
            matches!(fact, Fact::Ended { .. } | Fact::Recorder { .. } | Fact::Totals(_))
        }
        Record::Message(_) => false,
    }
}

/// What became of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fit {
    Written,
    /// With it the file would be larger than it may be.
    TooLarge,
}

impl Output {
    /// Looks at what has come, before what is not to be kept of it is gone: somebody may wait for a
    /// message that says something.
    fn look(&mut self, record: &Record<'_>) {
        if let Self::Trigger(trigger) = self {
            trigger.look(record);
        }
    }

    /// Writes a record. `max` are the bytes that a single file may have.
    fn write(
        &mut self,
        record: &Record<'_>,
        max: Option<u64>,
        standing: &Standing,
    ) -> io::Result<Fit> {
        match (self, max) {
            (Self::Plain(plain), Some(max)) => return plain.write_within(record, max),
            (Self::Plain(plain), None) => plain.write(record)?,
            (Self::Ring(ring), _) => ring.write(record, standing)?,
            (Self::Trigger(trigger), _) => trigger.write(record)?,
        }
        Ok(Fit::Written)
    }

    fn flush(&mut self, now: Duration, standing: &Standing) -> io::Result<Option<TapeNotice>> {
        match self {
            Self::Plain(plain) => plain.flush().map(|()| None),
            Self::Ring(ring) => ring.flush().map(|()| None),
            Self::Trigger(trigger) => {
                let written = trigger.flush(now, standing)?;
                let notice = match trigger.files().len() {
                    ..FILES_MAX => TapeNotice::Triggered,
                    _ => TapeNotice::LastTriggered,
                };
                Ok(written.map(notice))
            }
        }
    }

    fn written(&self) -> u64 {
        match self {
            Self::Plain(plain) => plain.written(),
            Self::Ring(ring) => ring.written(),
            Self::Trigger(trigger) => trigger.written(),
        }
    }

    fn files(&self) -> Vec<PathBuf> {
        match self {
            Self::Plain(plain) => {
                plain.output().map(|output| output.target().to_owned()).into_iter().collect()
            }
            Self::Ring(ring) => ring.files(),
            Self::Trigger(trigger) => trigger.files().to_vec(),
        }
    }

    /// The single file, or the youngest one of a ring.
    fn into_file(self) -> Option<OutputFile> {
        match self {
            Self::Plain(plain) => plain.into_output(),
            Self::Ring(ring) => Some(ring.into_output()),
            Self::Trigger(_) => None,
        }
    }

    /// Ends a file on a full disk: the last messages make room for how many are missing and why the
    /// recording ended.
    fn end_without_room(&mut self, full: &mut Full) -> io::Result<()> {
        let writer = match self {
            Self::Plain(plain) => plain.own_writer(),
            Self::Ring(ring) => Some(ring.writer()),
            Self::Trigger(_) => None,
        };
        let Some(writer) = writer else { return Ok(()) };
        let taken_back = writer.make_room(END_LEN)?;
        let taken_back = (0..).map(BusId).zip(taken_back).filter(|(_, count)| *count > 0);
        taken_back.for_each(|(bus, count)| *full.lost.entry(bus).or_default() += count);
        for record in full.gaps().chain(full.ends.iter().cloned()) {
            writer.write(&record)?;
        }
        writer.end()
    }

    /// Where the recording is until it is finished.
    fn unfinished(&self) -> Option<Unfinished> {
        match self {
            Self::Plain(plain) => plain.output()?.unfinished(),
            Self::Ring(ring) => ring.output().unfinished(),
            Self::Trigger(_) => None,
        }
    }

    /// Leaves the recording where it is.
    fn leave(self) -> Option<Unfinished> {
        self.into_file()?.leave()
    }

    /// Ends the files; returns how many bytes and which files there are.
    fn finish(self, standing: &Standing) -> io::Result<(u64, Vec<PathBuf>)> {
        let files = self.files();
        match self {
            Self::Plain(plain) => Ok((plain.finish()?, files)),
            Self::Ring(ring) => Ok((ring.finish()?, files)),
            Self::Trigger(trigger) => trigger.finish(standing),
        }
    }
}

impl Room {
    fn after(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => Self::Full(Full {
                since: Time::default(),
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

impl Full {
    fn miss(&mut self, record: &Record<'_>) {
        match record {
            Record::Message(raw) => {
                if self.lost.is_empty() {
                    self.since = raw.at;
                }
                *self.lost.entry(raw.bus).or_default() += 1;
            }
            Record::Bus(bus) => self.buses.push(bus.clone()),
            Record::Gap(gap) => self.miss_more(gap),
            Record::Fact { at, bus, fact: Fact::Ended { cause } } => {
                if self.lost.is_empty() {
                    self.since = *at;
                }
                let fact = Fact::Ended { cause: *cause };
                self.ends.push(Record::Fact { at: *at, bus: *bus, fact });
            }
            _ => {}
        }
    }

    fn miss_more(&mut self, gap: &Gap) {
        let is_same = |known: &&mut Gap| (known.bus, known.cause) == (gap.bus, gap.cause);
        match self.gaps.iter_mut().find(is_same) {
            Some(known) => known.lost = known.lost.zip(gap.lost).map(|(a, b)| a + b),
            None => self.gaps.push(gap.clone()),
        }
    }

    fn gaps(&self) -> impl Iterator<Item = Record<'static>> {
        let at = Some(self.since);
        let unwritten = self.lost.iter().map(move |(&bus, &lost)| {
            let cause = GapCause::DiskFull;
            Gap { at, bus, cause, lost: Some(lost) }
        });
        unwritten.chain(self.gaps.iter().cloned()).map(Record::Gap)
    }
}

/// Bytes that are kept free for how the recording ended: a fact and an interface statistics block for
/// each of some buses.
const END_LEN: u64 = 1024;

/// How often it is tried whether a full disk has room again.
const TRY_AGAIN: Duration = Duration::from_millis(500);
