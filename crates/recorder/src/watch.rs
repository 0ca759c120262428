//! Several buses, listened to at once.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use capture::record::{BusId, RecordingRecord};
use sys::poll::{Events, Poller};

use crate::clock::RecordingClock;
use crate::listener::{BusListenError, BusListener, ListenerProgress, Notice, RecordReceiver};
use crate::place::BusPlace;
use crate::source::Drained;
use crate::statistics::BusStatistics;
use crate::wanted::RecordingOptions;

/// Buses that are listened to, on one clock.
///
/// It is readable when there is something to [take](Self::take); where nothing is readable, look
/// again after its [patience](Self::patience).
#[derive(Debug)]
pub struct BusWatch {
    poller: Poller,
    clock: RecordingClock,
    listeners: Vec<BusListener>,
    next_bus: BusId,
    notices: Vec<Notice>,
    /// Until when it was going to be looked at the buses again.
    due: Option<Duration>,
}

impl BusWatch {
    /// Begins to listen, for who looks at messages while they come. What is known of the buses at
    /// the start is given to `each`; only messages that match one of `filters` will be, or all if
    /// there are none.
    pub fn open(
        places: &[BusPlace],
        filters: &[String],
        each: &mut dyn FnMut(RecordingRecord<'_>),
    ) -> Result<Self, (BusPlace, BusListenError)> {
        Self::open_for(places, &RecordingOptions::live(filters), each)
    }

    /// Begins to listen, for whoever wants this.
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

    /// The buses as they are now; one that was started anew is another one.
    pub fn buses(&self) -> impl Iterator<Item = BusId> {
        self.listeners.iter().map(BusListener::bus)
    }

    /// The clock of all records.
    pub const fn clock(&self) -> RecordingClock {
        self.clock
    }

    /// Says that what comes is going to be [taken](Self::take) until this moment of the monotonic clock, at
    /// the latest. If it is taken later, messages have waited, and a fact says so.
    pub const fn promise(&mut self, due: Duration) {
        self.due = Some(due);
    }

    /// Takes what has come, a share of each bus, without waiting.
    pub fn take(&mut self, records: &mut dyn FnMut(RecordingRecord<'_>)) -> Drained {
        let mut all = Drained::Empty;
        for (index, listener) in self.listeners.iter_mut().enumerate() {
            let mut each = RecordReceiver {
                clock: self.clock,
                due: self.due,
                records,
                notices: &mut self.notices,
            };
            match listener.take(self.next_bus, &mut each) {
                ListenerProgress::Share(Drained::Empty) => {}
                ListenerProgress::Share(Drained::More) => all = Drained::More,
                ListenerProgress::Connected => {
                    // A bus that cannot be watched is looked at when its patience ends.
                    let _ = listener.watch(&self.poller, index as u64);
                    if listener.bus() == self.next_bus {
                        self.next_bus.0 += 1;
                    }
                    all = Drained::More;
                }
            }
        }
        all
    }

    /// Asks buses of ours about themselves and their connections. The answers come with what is
    /// [taken](Self::take).
    pub fn ask_statistics(&mut self) {
        self.listeners.iter_mut().for_each(BusListener::ask_statistics);
    }

    /// What the first of these buses told of itself and its connections last; `None` if it told nothing.
    pub fn statistics(&self) -> Option<&BusStatistics> {
        self.listeners.iter().find_map(BusListener::statistics)
    }

    /// Takes what has come, and waits a moment for what is on its way: answers about who came last.
    pub fn finish(&mut self, records: &mut dyn FnMut(RecordingRecord<'_>)) {
        let now = sys::clock::monotonic;
        let (deadline, answered) = (now() + BACKLOG_MAX, now() + LAST_MOMENT);
        self.listeners.iter_mut().for_each(BusListener::ask_totals);
        loop {
            // Who floods the bus may do so for ever.
            while self.take(records) == Drained::More && now() < deadline {}
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

    /// Waits until there may be something to take, for at most `timeout`.
    pub fn wait(&self, timeout: Option<Duration>) -> std::io::Result<()> {
        let timeout = shorter(timeout, self.patience());
        self.poller.wait(&mut Events::with_capacity(1), timeout)
    }

    /// How long nothing needs to be done unless something is readable.
    pub fn patience(&self) -> Option<Duration> {
        let now = sys::clock::monotonic();
        self.listeners.iter().filter_map(|listener| listener.patience(now)).min()
    }

    /// What has happened that should be told at once.
    pub fn notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    /// Whether no bus is left to listen to.
    pub fn is_over(&self) -> bool {
        self.listeners.iter().all(BusListener::is_over)
    }

    /// Whether all who were there at the start have been asked about.
    pub fn is_settled(&self) -> bool {
        self.listeners.iter().all(BusListener::is_settled)
    }
}

impl AsFd for BusWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.poller.as_fd()
    }
}

/// The shorter of two times to wait, of which `None` is for ever.
pub fn shorter(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// How long what has come is taken at the end, where more comes all the time.
const BACKLOG_MAX: Duration = Duration::from_secs(5);

/// How long answers are waited for at the end.
const LAST_MOMENT: Duration = Duration::from_millis(200);
