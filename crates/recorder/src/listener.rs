//! Captures one bus, queries it, and reconnects if the connection is lost.

use std::os::fd::AsFd;
use std::time::Duration;

use capture::record::{
    BusId, CaptureMethod, Fact, GapCause, RecordedBus, RecordingGap, RecordingRecord,
};
use client::{CallError, ConnectError, Ended, SubscribeError};
use sys::poll::{Interest, Poller};
use wire::guid::Guid;

use crate::census::BusCensus;
use crate::clock::RecordingClock;
use crate::options::RecordingOptions;
use crate::place::BusPlace;
use crate::punctuality::{ProbeMethod, Punctuality};
use crate::source::{self, MessageSource, SourceState};
use crate::statistics::BusStatistics;

/// The capture of one bus.
#[derive(Debug)]
pub(crate) struct BusListener {
    place: BusPlace,
    wanted: RecordingOptions,
    bus: BusId,
    guid: Option<Guid>,
    state: ListenerState,
}

#[derive(Debug)]
enum ListenerState {
    Live(Box<ConnectedBus>),
    /// The connections to the bus are lost.
    Lost(LostConnection),
    Over,
}

#[derive(Debug)]
struct ConnectedBus {
    source: Box<dyn MessageSource>,
    census: BusCensus,
    /// Measures late reading; `None` if the bus itself provides the times of messages.
    punctuality: Option<Punctuality>,
}

/// The time when the connections were lost, and the time of the next attempt, by the monotonic
/// clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct LostConnection {
    since: Duration,
    next: Duration,
    pause: Duration,
}

/// An event that the user should see immediately.
#[derive(Debug)]
pub enum Notice {
    /// The bus rejected BecomeMonitor, so messages are captured by eavesdropping.
    Eavesdropping(BusPlace, CallError),
    /// The connections to the bus were lost; messages are missing from then on.
    Lost(BusPlace, Ended),
    /// The bus is captured again.
    Found(BusPlace),
    /// The bus could not be reached again.
    Gone(BusPlace),
}

/// The reasons why a bus cannot be recorded.
#[derive(Debug, thiserror::Error)]
pub enum BusListenError {
    /// Connecting to the bus failed.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The bus rejected both BecomeMonitor and eavesdropping.
    #[error("it allows neither monitoring nor eavesdropping: {0}")]
    Refused(CallError),
    /// The bus rejected the match rule for NameOwnerChanged.
    #[error("it rejected the subscription to NameOwnerChanged: {0}")]
    Changes(#[from] SubscribeError),
    /// Waiting for the connection failed.
    #[error(transparent)]
    System(#[from] std::io::Error),
}

impl BusListener {
    /// Connects to a bus, which gets the id `bus`.
    pub(crate) fn open(
        place: BusPlace,
        wanted: RecordingOptions,
        bus: BusId,
        each: &mut RecordReceiver<'_>,
    ) -> Result<Self, BusListenError> {
        let state = ListenerState::Over;
        let mut listener = Self { place, wanted, bus, guid: None, state };
        listener.connect(bus, each)?;
        Ok(listener)
    }

    /// Connects, and describes the bus unless it is the same as before.
    fn connect(
        &mut self,
        next_bus: BusId,
        each: &mut RecordReceiver<'_>,
    ) -> Result<(), BusListenError> {
        let listening = self.place.connect()?;
        let asking = self.place.connect()?;
        let own = [&listening, &asking].map(|connection| connection.unique_name().to_string());
        let guid = listening.server_guid();
        let is_same = self.guid.is_some() && self.guid == guid;
        let bus = if is_same { self.bus } else { next_bus };
        let mut census = BusCensus::open(asking, bus, self.wanted.objects)?;
        let found = source::find(listening, bus, &self.wanted, each.clock)
            .map_err(BusListenError::Refused)?;
        if let Some(error) = found.refused {
            each.notices.push(Notice::Eavesdropping(self.place.clone(), error));
        }
        if !is_same {
            each.give(RecordingRecord::Bus(self.description(found.source.as_ref())));
        }
        let punctuality = self.punctuality(found.source.as_ref(), &own[1]);
        for unique in own {
            each.give(RecordingRecord::Fact {
                at: each.clock.now(),
                bus,
                fact: Fact::Recorder { unique },
            });
        }
        if found.source.method() == CaptureMethod::Trace {
            census.ask_totals();
        }
        (self.bus, self.guid) = (bus, guid);
        self.state = ListenerState::Live(Box::new(ConnectedBus {
            source: found.source,
            census,
            punctuality,
        }));
        Ok(())
    }

    /// Measures how late copies are read, if the messages are copies. Probes are sent by the
    /// connection `asking`. An eavesdropper gets no copies of calls to the bus, so it has no
    /// probes.
    fn punctuality(&self, source: &dyn MessageSource, asking: &str) -> Option<Punctuality> {
        let probing = match source.method() {
            CaptureMethod::Trace => return None,
            CaptureMethod::Monitor if self.wanted.filters.is_empty() => {
                ProbeMethod::By(asking.to_owned())
            }
            _ => ProbeMethod::Impossible,
        };
        Some(Punctuality::new(probing, sys::clock::monotonic()))
    }

    fn description(&self, source: &dyn MessageSource) -> RecordedBus {
        RecordedBus {
            name: self.place.name().to_owned(),
            address: self.place.address(),
            method: source.method(),
            filters: self.wanted.filters.clone(),
            ..RecordedBus::default()
        }
    }

    /// Registers the connections with a poller, which reports when there is something to read.
    pub(crate) fn watch(&self, poller: &Poller, token: u64) -> std::io::Result<()> {
        let ListenerState::Live(live) = &self.state else { return Ok(()) };
        if let Some(descriptor) = live.source.descriptor() {
            poller.add(descriptor, token, Interest::Read)?;
        }
        poller.add(live.census.connection().as_fd(), token, Interest::Read)
    }

    /// The id of the bus in the recording.
    pub(crate) const fn bus(&self) -> BusId {
        self.bus
    }

    /// Returns true if capturing the bus has ended.
    pub(crate) const fn is_over(&self) -> bool {
        matches!(self.state, ListenerState::Over)
    }

    /// Returns true if all initial queries have been answered.
    pub(crate) fn is_settled(&self) -> bool {
        !matches!(&self.state, ListenerState::Live(live) if !live.census.is_settled())
    }

    /// The time until something needs to be done, unless something is readable earlier.
    pub(crate) fn wait_limit(&self, now: Duration) -> Option<Duration> {
        match &self.state {
            ListenerState::Live(live) => live.source.descriptor().is_none().then_some(LOOK_AGAIN),
            ListenerState::Lost(lost) => Some(lost.next.saturating_sub(now)),
            ListenerState::Over => None,
        }
    }

    /// Processes what was received. The result states whether there are new connections to watch.
    pub(crate) fn take(
        &mut self,
        next_bus: BusId,
        each: &mut RecordReceiver<'_>,
    ) -> ListenerProgress {
        match &mut self.state {
            ListenerState::Live(live) => match live.take(self.bus, each) {
                Ok(drained) => ListenerProgress::Share(drained),
                Err(ended) => self.lose(ended, each),
            },
            ListenerState::Lost(lost) => {
                let lost = *lost;
                self.look_for(lost, next_bus, each)
            }
            ListenerState::Over => ListenerProgress::Share(SourceState::Empty),
        }
    }

    /// Queries a Diligence bus about itself and its connections.
    pub(crate) fn ask_statistics(&mut self) {
        if let ListenerState::Live(live) = &mut self.state
            && live.source.method() == CaptureMethod::Trace
        {
            live.census.ask_statistics();
        }
    }

    /// The last statistics of the bus and its connections.
    pub(crate) fn statistics(&self) -> Option<&BusStatistics> {
        let ListenerState::Live(live) = &self.state else { return None };
        live.census.statistics()
    }

    /// Queries the counters of the bus before the recording ends.
    pub(crate) fn ask_totals(&mut self) {
        if let ListenerState::Live(live) = &mut self.state
            && live.source.method() == CaptureMethod::Trace
        {
            live.census.ask_totals();
        }
    }

    /// Ends the capture and passes on all waiting records.
    pub(crate) fn finish(&mut self, each: &mut RecordReceiver<'_>) {
        if let ListenerState::Live(live) = &mut self.state {
            live.source.finish(&mut |record| each.give(record));
            let (now, clock) = (sys::clock::monotonic(), each.clock);
            let late = live.punctuality.as_mut().and_then(|it| it.finish(now, clock));
            each.learn(self.bus, late);
        }
    }

    fn lose(&mut self, ended: Ended, each: &mut RecordReceiver<'_>) -> ListenerProgress {
        let at = Some(each.clock.now());
        each.give(RecordingRecord::Gap(RecordingGap {
            at,
            bus: self.bus,
            cause: GapCause::Disconnected,
            lost: None,
        }));
        each.notices.push(Notice::Lost(self.place.clone(), ended));
        let since = sys::clock::monotonic();
        let pause = PAUSE_FIRST;
        self.state = ListenerState::Lost(LostConnection { since, next: since + pause, pause });
        ListenerProgress::Share(SourceState::Empty)
    }

    fn look_for(
        &mut self,
        lost: LostConnection,
        next_bus: BusId,
        each: &mut RecordReceiver<'_>,
    ) -> ListenerProgress {
        let now = sys::clock::monotonic();
        if now < lost.next {
            return ListenerProgress::Share(SourceState::Empty);
        }
        if self.connect(next_bus, each).is_ok() {
            each.notices.push(Notice::Found(self.place.clone()));
            return ListenerProgress::Connected;
        }
        if now - lost.since >= SEARCH_MAX {
            each.notices.push(Notice::Gone(self.place.clone()));
            self.state = ListenerState::Over;
        } else {
            let pause = lost.pause * 2;
            self.state = ListenerState::Lost(LostConnection { next: now + pause, pause, ..lost });
        }
        ListenerProgress::Share(SourceState::Empty)
    }
}

impl ConnectedBus {
    fn take(&mut self, bus: BusId, each: &mut RecordReceiver<'_>) -> Result<SourceState, Ended> {
        let clock = each.clock;
        // Messages come first: their facts hold from their time on, not from the time of a query.
        let Self { source, census, punctuality } = self;
        let mut punctuality = punctuality.as_mut().zip(each.due);
        if let Some((punctuality, due)) = &mut punctuality {
            punctuality.begin(sys::clock::monotonic(), *due);
        }
        let drained = source.take(clock, &mut |record| {
            if let (Some((punctuality, _)), RecordingRecord::Message(raw)) =
                (&mut punctuality, &record)
            {
                punctuality.see(raw, clock.monotonic(raw.at));
            }
            census.see(&record);
            each.give(record);
        })?;
        if let Some((punctuality, _)) = &mut punctuality {
            let now = sys::clock::monotonic();
            each.learn(bus, punctuality.end(now, drained, clock));
            if punctuality.wants_probe(now) {
                census.send_probe();
            }
        }
        census.take(clock, &mut |record| each.give(record))?;
        Ok(drained)
    }
}

/// The result of processing what was received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ListenerProgress {
    /// Some of what was received was processed.
    Share(SourceState),
    /// There are new connections to watch.
    Connected,
}

/// The receiver of records and notices.
pub(crate) struct RecordReceiver<'e> {
    pub(crate) clock: RecordingClock,
    /// The time of the monotonic clock by which the buses were due to be read; `None` if unknown.
    pub(crate) due: Option<Duration>,
    pub(crate) records: &'e mut dyn FnMut(RecordingRecord<'_>),
    pub(crate) notices: &'e mut Vec<Notice>,
}

impl RecordReceiver<'_> {
    fn give(&mut self, record: RecordingRecord<'_>) {
        (self.records)(record);
    }

    fn learn(&mut self, bus: BusId, fact: Option<Fact>) {
        if let Some(fact) = fact {
            self.give(RecordingRecord::Fact { at: self.clock.now(), bus, fact });
        }
    }
}

impl std::fmt::Display for Notice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Eavesdropping(place, error) => write!(
                f,
                "{place} rejected the monitor ({error}): recording by eavesdropping, which misses some messages"
            ),
            Self::Lost(place, ended) => {
                write!(f, "lost {place} ({ended}): messages are missing from here on")
            }
            Self::Found(place) => write!(f, "reconnected to {place}"),
            Self::Gone(place) => write!(f, "gave up reconnecting to {place}"),
        }
    }
}

/// The interval of checking a source that cannot signal new messages.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// The pause before the first attempt to reconnect. Each further pause is twice as long.
const PAUSE_FIRST: Duration = Duration::from_millis(50);

/// The time for which reconnecting to a bus is attempted.
const SEARCH_MAX: Duration = Duration::from_secs(5);
