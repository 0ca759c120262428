//! Captures several buses at once.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use capture::record::{BusId, RecordingRecord};
use sys::poll::{Events, Poller};

use crate::clock::RecordingClock;
use crate::listener::{BusListenError, BusListener, ListenerProgress, Notice, RecordReceiver};
use crate::options::RecordingOptions;
use crate::place::BusPlace;
use crate::source::SourceState;
use crate::statistics::BusStatistics;

/// The capture of several buses, on one clock.
///
/// Its file descriptor is readable when there is something to [process](Self::take). If it does not
/// become readable, check again after its [wait limit](Self::wait_limit).
#[derive(Debug)]
pub struct BusWatch {
    poller: Poller,
    clock: RecordingClock,
    listeners: Vec<BusListener>,
    next_bus: BusId,
    notices: Vec<Notice>,
    /// The time of the monotonic clock by which the buses were due to be read.
    due: Option<Duration>,
}

impl BusWatch {
    /// Starts to capture for live display. The initial facts about the buses are passed to `each`.
    /// If there are `filters`, only messages that match one of these rules are captured.
    ///
    /// # Errors
    ///
    /// If a bus cannot be captured.
    pub fn open(
        places: &[BusPlace],
        filters: &[String],
        each: &mut dyn FnMut(RecordingRecord<'_>),
    ) -> Result<Self, (BusPlace, BusListenError)> {
        Self::open_for(places, &RecordingOptions::live(filters), each)
    }

    /// Starts to capture with these options.
    ///
    /// # Errors
    ///
    /// If a bus cannot be captured.
    pub fn open_for(
        places: &[BusPlace],
        wanted: &RecordingOptions,
        each: &mut dyn FnMut(RecordingRecord<'_>),
    ) -> Result<Self, (BusPlace, BusListenError)> {
        let poller = Poller::new().map_err(|error| (places[0].clone(), error.into()))?;
        let mut watch = Self {
            poller,
            clock: RecordingClock::start(),
            listeners: Vec::new(),
            next_bus: BusId(0),
            notices: Vec::new(),
            due: None,
        };
        for place in places {
            watch.add(place, wanted, each).map_err(|error| (place.clone(), error))?;
        }
        Ok(watch)
    }

    fn add(
        &mut self,
        place: &BusPlace,
        wanted: &RecordingOptions,
        each: &mut dyn FnMut(RecordingRecord<'_>),
    ) -> Result<(), BusListenError> {
        let mut each = RecordReceiver {
            clock: self.clock,
            due: None,
            records: each,
            notices: &mut self.notices,
        };
        let wanted = wanted.clone();
        let listener = BusListener::open(place.clone(), wanted, self.next_bus, &mut each)?;
        listener.watch(&self.poller, self.listeners.len() as u64)?;
        self.listeners.push(listener);
        self.next_bus.0 += 1;
        Ok(())
    }

    /// Returns the ids of the present buses. A restarted bus has a new id.
    pub fn buses(&self) -> impl Iterator<Item = BusId> {
        self.listeners.iter().map(BusListener::bus)
    }

    /// Returns the clock of all records.
    pub const fn clock(&self) -> RecordingClock {
        self.clock
    }

    /// Declares that received messages will be [processed](Self::take) by this time of the
    /// monotonic clock. If they are processed later, a fact reports that messages waited.
    pub const fn promise(&mut self, due: Duration) {
        self.due = Some(due);
    }

    /// Processes a limited number of messages of each bus, without waiting.
    pub fn take(&mut self, records: &mut dyn FnMut(RecordingRecord<'_>)) -> SourceState {
        let mut all = SourceState::Empty;
        for (index, listener) in self.listeners.iter_mut().enumerate() {
            let mut each = RecordReceiver {
                clock: self.clock,
                due: self.due,
                records,
                notices: &mut self.notices,
            };
            match listener.take(self.next_bus, &mut each) {
                ListenerProgress::Share(SourceState::Empty) => {}
                ListenerProgress::Share(SourceState::More) => all = SourceState::More,
                ListenerProgress::Connected => {
                    // A bus that cannot be watched is checked when its wait limit is over.
                    let _ = listener.watch(&self.poller, index as u64);
                    if listener.bus() == self.next_bus {
                        self.next_bus.0 += 1;
                    }
                    all = SourceState::More;
                }
            }
        }
        all
    }

    /// Queries Diligence buses about themselves and their connections. The replies are processed by
    /// [`take`](Self::take).
    pub fn ask_statistics(&mut self) {
        self.listeners.iter_mut().for_each(BusListener::ask_statistics);
    }

    /// Returns the last statistics of the first bus that provides any.
    pub fn statistics(&self) -> Option<&BusStatistics> {
        self.listeners.iter().find_map(BusListener::statistics)
    }

    /// Processes what was received, and waits briefly for pending replies about the latest
    /// connections.
    pub fn finish(&mut self, records: &mut dyn FnMut(RecordingRecord<'_>)) {
        let now = sys::clock::monotonic;
        let (deadline, answered) = (now() + BACKLOG_MAX, now() + LAST_MOMENT);
        self.listeners.iter_mut().for_each(BusListener::ask_totals);
        loop {
            // A connection that floods the bus may never stop.
            while self.take(records) == SourceState::More && now() < deadline {}
            let left = answered.saturating_sub(now());
            if left.is_zero() || self.is_settled() || self.wait(Some(left)).is_err() {
                break;
            }
        }
        for listener in &mut self.listeners {
            let mut each = RecordReceiver {
                clock: self.clock,
                due: self.due,
                records,
                notices: &mut self.notices,
            };
            listener.finish(&mut each);
        }
    }

    /// Waits until there may be something to process, for at most `timeout`.
    ///
    /// # Errors
    ///
    /// If polling fails.
    pub fn wait(&self, timeout: Option<Duration>) -> std::io::Result<()> {
        let timeout = shorter(timeout, self.wait_limit());
        self.poller.wait(&mut Events::with_capacity(1), timeout)
    }

    /// Returns the time until something needs to be done, unless the watch becomes readable
    /// earlier; `None` if there is no limit.
    pub fn wait_limit(&self) -> Option<Duration> {
        let now = sys::clock::monotonic();
        self.listeners.iter().filter_map(|listener| listener.wait_limit(now)).min()
    }

    /// Returns the events that the user should see immediately.
    pub fn notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    /// Returns true if no bus is left to capture.
    pub fn is_over(&self) -> bool {
        self.listeners.iter().all(BusListener::is_over)
    }

    /// Returns true if all initial queries have been answered.
    pub fn is_settled(&self) -> bool {
        self.listeners.iter().all(BusListener::is_settled)
    }
}

impl AsFd for BusWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.poller.as_fd()
    }
}

/// Returns the shorter of two times to wait, where `None` means no limit.
pub fn shorter(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// The maximum time for processing the backlog at the end, if new messages keep coming.
const BACKLOG_MAX: Duration = Duration::from_secs(5);

/// The maximum time for waiting for replies at the end.
const LAST_MOMENT: Duration = Duration::from_millis(200);
