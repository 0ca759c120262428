//! A recording in progress, from buses to files.

use std::fmt;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use capture::record::{EndCause, Fact, RecordingRecord};
use sys::clock;

use crate::listener::{BusListenError, Notice};
use crate::options::{ProcessorRecording, RecordingOptions};
use crate::place::BusPlace;
use crate::scheduler::{FollowedProcesses, Scheduler, SchedulerNotice};
use crate::source::SourceState;
use crate::watch::{BusWatch, shorter};
use crate::writer::{RecordingNotice, RecordingTally, RecordingWriteError, RecordingWriter};

/// A recording in progress.
///
/// Its file descriptor is readable when there is something to do; otherwise [`turn`](Self::turn)
/// returns when there will be.
#[derive(Debug)]
pub struct RecordingSession {
    watch: BusWatch,
    scheduler: Option<Scheduler>,
    writer: RecordingWriter,
    limits: SessionLimits,
    notices: Vec<SessionNotice>,
    started: Duration,
    /// The time when buffered data is next written to the file.
    flush_at: Duration,
    /// The processor time that this process had used before the recording.
    used_before: Duration,
    late: ReadingLateness,
}

/// Messages whose times are too late, because the recorder was stopped or had no processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReadingLateness {
    /// The number of these messages.
    pub messages: u64,
    /// The maximum delay of a message.
    pub by: Duration,
}

impl ReadingLateness {
    fn learn(&mut self, record: &RecordingRecord<'_>) {
        if let RecordingRecord::Fact { fact: Fact::Late(late), .. } = record {
            self.messages += late.messages;
            self.by = self.by.max(late.by());
        }
    }
}

/// Limits at which a recording ends by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SessionLimits {
    /// The maximum size of the file in bytes.
    pub bytes: Option<u64>,
    /// The maximum duration of the recording.
    pub time: Option<Duration>,
}

/// The next action of the caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SessionTurn {
    /// Call [`turn`](RecordingSession::turn) again immediately, as there is more to do.
    More,
    /// Wait until the session is readable, for at most this time.
    Rest(Duration),
    /// End the recording, for this reason.
    Over(EndCause),
}

/// An event that the user should see immediately.
#[derive(Debug)]
pub enum SessionNotice {
    /// An event of a bus.
    Bus(Notice),
    /// An event of a file.
    File(RecordingNotice),
    /// An event about processes.
    Scheduler(SchedulerNotice),
}

/// The result of a recording, and its costs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SessionReport {
    /// The amounts that were recorded.
    pub tally: RecordingTally,
    /// The duration of the recording.
    pub span: Duration,
    /// The reason why the recording ended.
    pub cause: EndCause,
    /// The processor time that the recorder used.
    pub used: Duration,
    /// The messages that were read late.
    pub late: ReadingLateness,
    /// The numbers of processes whose processor use was recorded, if that was requested.
    pub watching: Option<FollowedProcesses>,
}

/// The reasons why a recording did not start.
#[derive(Debug, thiserror::Error)]
pub enum SessionStartError {
    /// A bus cannot be recorded.
    #[error("cannot record {0}: {1}")]
    Bus(BusPlace, BusListenError),
    /// The file cannot be written.
    #[error(transparent)]
    File(#[from] RecordingWriteError),
}

impl RecordingSession {
    /// Starts to record. `open` creates the files after all buses are connected, so a bus that
    /// cannot be recorded leaves no file behind.
    ///
    /// # Errors
    ///
    /// If a bus cannot be recorded, or if the files cannot be created.
    pub fn start(
        places: &[BusPlace],
        wanted: &RecordingOptions,
        open: impl FnOnce() -> Result<RecordingWriter, RecordingWriteError>,
        limits: SessionLimits,
    ) -> Result<Self, SessionStartError> {
        let used_before = clock::used();
        let mut first = Vec::new();
        let watch = BusWatch::open_for(places, wanted, &mut |record| first.extend(owned(&record)));
        let watch = watch.map_err(|(place, error)| SessionStartError::Bus(place, error))?;
        let mut writer = open()?.limited(limits.bytes);
        let mut scheduler = match wanted.processors {
            ProcessorRecording::Off => None,
            ProcessorRecording::Switches => Some(Scheduler::new(watch.clock())),
        };
        let mut notices = Vec::new();
        for record in first {
            let unwatched = scheduler.as_mut().and_then(|scheduler| scheduler.learn(&record));
            put(&mut writer, Some(record), &mut notices);
            put(&mut writer, unwatched, &mut notices);
        }
        let started = clock::monotonic();
        let late = ReadingLateness::default();
        let flush_at = started;
        Ok(Self { watch, scheduler, writer, limits, notices, started, flush_at, used_before, late })
    }

    /// Removes the files of a recording that is not needed after all.
    pub fn discard(self) {
        self.writer.discard();
    }

    /// Processes some of what was received.
    pub fn turn(&mut self) -> SessionTurn {
        let drained = self.take(|watch, each| watch.take(each));
        self.notices.extend(self.watch.notices().into_iter().map(SessionNotice::Bus));
        let now = clock::monotonic();
        if let Some(scheduler) = &mut self.scheduler {
            let Self { writer, notices, .. } = self;
            scheduler.take(now, &mut |record| put(writer, Some(record), notices));
            notices.extend(scheduler.notices().into_iter().map(SessionNotice::Scheduler));
        }
        if now >= self.flush_at {
            self.notices.extend(self.writer.flush(now).map(SessionNotice::File));
            self.flush_at = now + FLUSH_EVERY;
        }
        let turn = match (self.end(now), drained) {
            (Some(end), _) => SessionTurn::Over(end),
            (None, SourceState::More) => SessionTurn::More,
            (None, SourceState::Empty) => SessionTurn::Rest(self.rest(now)),
        };
        self.watch
            .promise(now + if let SessionTurn::Rest(rest) = turn { rest } else { Duration::ZERO });
        turn
    }

    /// Processes records of the watch and writes them.
    fn take<T>(&mut self, take: impl FnOnce(&mut BusWatch, RecordConsumer<'_>) -> T) -> T {
        let Self { watch, scheduler, writer, notices, late, .. } = self;
        take(watch, &mut |record| {
            late.learn(&record);
            let unwatched = scheduler.as_mut().and_then(|scheduler| scheduler.learn(&record));
            put(writer, Some(record), notices);
            put(writer, unwatched, notices);
        })
    }

    fn end(&self, now: Duration) -> Option<EndCause> {
        let is_large = || self.writer.is_complete();
        let is_late = || self.limits.time.is_some_and(|max| now - self.started >= max);
        match () {
            () if self.writer.broken().is_some() => Some(EndCause::Broken),
            () if self.watch.is_over() => Some(EndCause::NoBus),
            () if is_late() => Some(EndCause::Time),
            () if is_large() => Some(EndCause::Size),
            () => None,
        }
    }

    fn rest(&self, now: Duration) -> Duration {
        let end = self.limits.time.map(|max| (self.started + max).saturating_sub(now));
        let flush = self.flush_at.saturating_sub(now);
        let switches = self.scheduler.as_ref().map(|scheduler| scheduler.rest(now));
        let end = shorter(end, switches);
        shorter(end, self.watch.wait_limit()).map_or(flush, |rest| rest.min(flush))
    }

    /// Returns the events that the user should see immediately.
    pub fn notices(&mut self) -> Vec<SessionNotice> {
        std::mem::take(&mut self.notices)
    }

    /// Returns the amounts recorded so far.
    pub fn tally(&self) -> RecordingTally {
        self.writer.tally()
    }

    /// Returns the duration of the recording so far.
    pub fn span(&self) -> Duration {
        clock::monotonic().saturating_sub(self.started)
    }

    /// Ends the recording. The reason is written to the file.
    ///
    /// # Errors
    ///
    /// If the end of the recording cannot be written.
    pub fn finish(mut self, cause: EndCause) -> Result<SessionReport, RecordingWriteError> {
        let span = self.span();
        self.take(|watch, each| watch.finish(each));
        let Self { watch, scheduler, writer, notices, .. } = &mut self;
        if let Some(scheduler) = scheduler {
            scheduler.take_all(&mut |record| put(writer, Some(record), notices));
        }
        let at = watch.clock().now();
        for bus in watch.buses() {
            writer.put(RecordingRecord::Fact { at, bus, fact: Fact::Ended { cause } });
        }
        let watching = self.scheduler.as_ref().map(Scheduler::watching);
        let tally = self.writer.finish()?;
        let used = clock::used().saturating_sub(self.used_before);
        Ok(SessionReport { tally, span, cause, used, late: self.late, watching })
    }
}

fn put(
    writer: &mut RecordingWriter,
    record: Option<RecordingRecord<'_>>,
    notices: &mut Vec<SessionNotice>,
) {
    notices.extend(record.and_then(|record| writer.put(record)).map(SessionNotice::File));
}

/// A copy of a record that describes a bus when it is connected.
fn owned(record: &RecordingRecord<'_>) -> Option<RecordingRecord<'static>> {
    match record {
        RecordingRecord::Bus(bus) => Some(RecordingRecord::Bus(bus.clone())),
        RecordingRecord::Fact { at, bus, fact } => {
            Some(RecordingRecord::Fact { at: *at, bus: *bus, fact: fact.clone() })
        }
        // Messages are read later.
        RecordingRecord::Message(_)
        | RecordingRecord::Origin(_)
        | RecordingRecord::Gap(_)
        | RecordingRecord::Damage(_) => None,
    }
}

impl AsFd for RecordingSession {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.watch.as_fd()
    }
}

impl fmt::Display for SessionNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bus(notice) => notice.fmt(f),
            Self::File(notice) => notice.fmt(f),
            Self::Scheduler(notice) => notice.fmt(f),
        }
    }
}

/// The receiver of records.
type RecordConsumer<'e> = &'e mut dyn FnMut(RecordingRecord<'_>);

/// The maximum time for which recorded data is only in memory.
const FLUSH_EVERY: Duration = Duration::from_millis(200);
