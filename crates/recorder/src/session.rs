//! A recording while it is made: buses on one side, files on the other.

use std::fmt;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use capture::record::{EndCause, Fact, RecordingRecord};
use sys::clock;

use crate::listener::{BusListenError, Notice};
use crate::place::BusPlace;
use crate::scheduler::{Scheduler, SchedulerNotice, Watching};
use crate::source::Drained;
use crate::tape::{RecordingTally, Tape, TapeError, TapeNotice};
use crate::wanted::{Beside, RecordingOptions};
use crate::watch::{BusWatch, shorter};

/// A recording while it is made.
///
/// It is readable when there is something to do; otherwise [`turn`](Self::turn) says when there
/// will be.
#[derive(Debug)]
pub struct RecordingSession {
    watch: BusWatch,
    scheduler: Option<Scheduler>,
    tape: Tape,
    limits: SessionLimits,
    told: Vec<SessionNotice>,
    started: Duration,
    /// When what was recorded is in the file next.
    flush_at: Duration,
    /// What this process had used before.
    used_before: Duration,
    late: ReadingLateness,
}

/// Messages whose times are too late, because the recorder was stopped or had no processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReadingLateness {
    /// How many.
    pub messages: u64,
    /// How late at most.
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

/// When a recording ends by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SessionLimits {
    /// Before its file is larger than so many bytes.
    pub bytes: Option<u64>,
    /// After so long.
    pub time: Option<Duration>,
}

/// What comes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SessionTurn {
    /// There is more to do at once.
    More,
    /// There is nothing to do for so long, unless it becomes readable.
    Rest(Duration),
    /// The recording is to end.
    Over(EndCause),
}

/// Something to be told at once.
#[derive(Debug)]
pub enum SessionNotice {
    /// Of a bus.
    Bus(Notice),
    /// Of a file.
    File(TapeNotice),
    /// Of processes.
    Scheduler(SchedulerNotice),
}

/// What was recorded, and what that has cost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SessionReport {
    /// What was recorded.
    pub tally: RecordingTally,
    /// How long.
    pub span: Duration,
    /// Why it ended.
    pub cause: EndCause,
    /// How long the recorder had a processor.
    pub used: Duration,
    /// Which messages were read late.
    pub late: ReadingLateness,
    /// Of how many processes it was recorded when they had a processor, if that was asked for.
    pub watching: Option<Watching>,
}

/// Why a recording did not start.
#[derive(Debug, thiserror::Error)]
pub enum SessionStartError {
    /// A bus cannot be recorded.
    #[error("cannot record {0}: {1}")]
    Bus(BusPlace, BusListenError),
    /// The file cannot be written.
    #[error(transparent)]
    File(#[from] TapeError),
}

impl RecordingSession {
    /// Begins to record. `open` creates the files, once all buses are connected: a bus that cannot be
    /// recorded leaves no file behind.
    pub fn start(
        places: &[BusPlace],
        wanted: &RecordingOptions,
        open: impl FnOnce() -> Result<Tape, TapeError>,
        limits: SessionLimits,
    ) -> Result<Self, SessionStartError> {
        let used_before = clock::used();
        let mut first = Vec::new();
        let watch = BusWatch::open_for(places, wanted, &mut |record| first.extend(owned(&record)));
        let watch = watch.map_err(|(place, error)| SessionStartError::Bus(place, error))?;
        let mut tape = open()?.limited(limits.bytes);
        let mut scheduler = match wanted.beside {
            Beside::Nothing => None,
            Beside::Switches => Some(Scheduler::new(watch.clock())),
        };
        let mut told = Vec::new();
        for record in first {
            let unwatched = scheduler.as_mut().and_then(|scheduler| scheduler.learn(&record));
            put(&mut tape, Some(record), &mut told);
            put(&mut tape, unwatched, &mut told);
        }
        let started = clock::monotonic();
        let late = ReadingLateness::default();
        let flush_at = started;
        Ok(Self { watch, scheduler, tape, limits, told, started, flush_at, used_before, late })
    }

    /// Removes the files, because the recording is not wanted after all.
    pub fn discard(self) {
        self.tape.discard();
    }

    /// Takes what has come, a share of it.
    pub fn turn(&mut self) -> SessionTurn {
        let drained = self.take(|watch, each| watch.take(each));
        self.told.extend(self.watch.notices().into_iter().map(SessionNotice::Bus));
        let now = clock::monotonic();
        if let Some(scheduler) = &mut self.scheduler {
            let Self { tape, told, .. } = self;
            scheduler.take(now, &mut |record| put(tape, Some(record), told));
            told.extend(scheduler.notices().into_iter().map(SessionNotice::Scheduler));
        }
        if now >= self.flush_at {
            self.told.extend(self.tape.flush(now).map(SessionNotice::File));
            self.flush_at = now + FLUSH_EVERY;
        }
        let turn = match (self.end(now), drained) {
            (Some(end), _) => SessionTurn::Over(end),
            (None, Drained::More) => SessionTurn::More,
            (None, Drained::Empty) => SessionTurn::Rest(self.rest(now)),
        };
        self.watch
            .promise(now + if let SessionTurn::Rest(rest) = turn { rest } else { Duration::ZERO });
        turn
    }

    /// Has the watch give what it has, and writes it.
    fn take<T>(&mut self, take: impl FnOnce(&mut BusWatch, RecordConsumer<'_>) -> T) -> T {
        let Self { watch, scheduler, tape, told, late, .. } = self;
        take(watch, &mut |record| {
            late.learn(&record);
            let unwatched = scheduler.as_mut().and_then(|scheduler| scheduler.learn(&record));
            put(tape, Some(record), told);
            put(tape, unwatched, told);
        })
    }

    fn end(&self, now: Duration) -> Option<EndCause> {
        let is_large = || self.tape.is_complete();
        let is_late = || self.limits.time.is_some_and(|max| now - self.started >= max);
        match () {
            () if self.tape.broken().is_some() => Some(EndCause::Broken),
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
        shorter(end, self.watch.patience()).map_or(flush, |rest| rest.min(flush))
    }

    /// What should be told at once.
    pub fn told(&mut self) -> Vec<SessionNotice> {
        std::mem::take(&mut self.told)
    }

    /// What has been recorded so far.
    pub fn tally(&self) -> RecordingTally {
        self.tape.tally()
    }

    /// How long it has been recording.
    pub fn span(&self) -> Duration {
        clock::monotonic().saturating_sub(self.started)
    }

    /// Ends the recording, which says why.
    pub fn finish(mut self, cause: EndCause) -> Result<SessionReport, TapeError> {
        let span = self.span();
        self.take(|watch, each| watch.finish(each));
        let Self { watch, scheduler, tape, told, .. } = &mut self;
        if let Some(scheduler) = scheduler {
            scheduler.take_all(&mut |record| put(tape, Some(record), told));
        }
        let at = watch.clock().now();
        for bus in watch.buses() {
            tape.put(RecordingRecord::Fact { at, bus, fact: Fact::Ended { cause } });
        }
        let watching = self.scheduler.as_ref().map(Scheduler::watching);
        let tally = self.tape.finish()?;
        let used = clock::used().saturating_sub(self.used_before);
        Ok(SessionReport { tally, span, cause, used, late: self.late, watching })
    }
}

fn put(tape: &mut Tape, record: Option<RecordingRecord<'_>>, told: &mut Vec<SessionNotice>) {
    told.extend(record.and_then(|record| tape.put(record)).map(SessionNotice::File));
}

/// A copy of a record that is given when a bus is connected.
fn owned(record: &RecordingRecord<'_>) -> Option<RecordingRecord<'static>> {
    match record {
        RecordingRecord::Bus(bus) => Some(RecordingRecord::Bus(bus.clone())),
        RecordingRecord::Fact { at, bus, fact } => {
            Some(RecordingRecord::Fact { at: *at, bus: *bus, fact: fact.clone() })
        }
        // Messages are taken later.
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

/// Who gets records.
type RecordConsumer<'e> = &'e mut dyn FnMut(RecordingRecord<'_>);

/// How long what was recorded may be in memory alone.
const FLUSH_EVERY: Duration = Duration::from_millis(200);
