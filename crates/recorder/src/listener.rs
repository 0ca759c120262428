//! One bus: listened to, asked, and found again when it has closed the connections.

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
use crate::place::BusPlace;
use crate::punctuality::{Probing, Punctuality};
use crate::source::{self, Drained, MessageSource};
use crate::statistics::BusStatistics;
use crate::wanted::RecordingOptions;

/// One bus.
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
    /// The bus has closed the connections.
    Away(Away),
    Over,
}

#[derive(Debug)]
struct ConnectedBus {
    source: Box<dyn MessageSource>,
    census: BusCensus,
    /// `None` if the times of messages are those of the bus.
    punctuality: Option<Punctuality>,
}

/// Since when, and when it is tried again, by the monotonic clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Away {
    since: Duration,
    next: Duration,
    pause: Duration,
}

/// Something that whoever records wants to be told at once.
#[derive(Debug)]
pub enum Notice {
    /// The bus did not let us become a monitor, so only what can be overheard is there.
    Overhearing(BusPlace, CallError),
    /// The bus has closed the connections; messages are missing from here on.
    Lost(BusPlace, Ended),
    /// The bus can be listened to again.
    Found(BusPlace),
    /// The bus did not come back.
    Gone(BusPlace),
}

/// Why a bus cannot be recorded.
#[derive(Debug, thiserror::Error)]
pub enum BusListenError {
    /// Connecting failed.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The bus does not show its messages.
    #[error("it does not show its messages: {0}")]
    Refused(CallError),
    /// The bus rejected the match rule for NameOwnerChanged.
    #[error("it does not tell who comes and goes: {0}")]
    Changes(#[from] SubscribeError),
    /// Waiting for the connection failed.
    #[error(transparent)]
    System(#[from] std::io::Error),
}

impl BusListener {
    /// Connects to a bus, which gets this number if there is none of before.
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

    /// Connects, and tells of the bus if it is not the one of before.
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
            each.notices.push(Notice::Overhearing(self.place.clone(), error));
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

    /// Measures how late copies are read, if the messages are copies. The probes come from the connection
    /// `asking`; an eavesdropper gets no copies of calls to the bus.
    fn punctuality(&self, source: &dyn MessageSource, asking: &str) -> Option<Punctuality> {
        let probing = match source.method() {
            CaptureMethod::Trace => return None,
            CaptureMethod::Monitor if self.wanted.filters.is_empty() => {
                Probing::By(asking.to_owned())
            }
            _ => Probing::Impossible,
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

    /// Lets a poller know what is readable when there is something to take.
    pub(crate) fn watch(&self, poller: &Poller, token: u64) -> std::io::Result<()> {
        let ListenerState::Live(live) = &self.state else { return Ok(()) };
        if let Some(descriptor) = live.source.descriptor() {
            poller.add(descriptor, token, Interest::Read)?;
        }
        poller.add(live.census.connection().as_fd(), token, Interest::Read)
    }

    /// Its number in the recording.
    pub(crate) const fn bus(&self) -> BusId {
        self.bus
    }

    /// Whether nothing more will come.
    pub(crate) const fn is_over(&self) -> bool {
        matches!(self.state, ListenerState::Over)
    }

    /// Whether all questions of the start have been answered.
    pub(crate) fn is_settled(&self) -> bool {
        !matches!(&self.state, ListenerState::Live(live) if !live.census.is_settled())
    }

    /// How long there is nothing to do here unless something is readable.
    pub(crate) fn patience(&self, now: Duration) -> Option<Duration> {
        match &self.state {
            ListenerState::Live(live) => live.source.descriptor().is_none().then_some(LOOK_AGAIN),
            ListenerState::Away(away) => Some(away.next.saturating_sub(now)),
            ListenerState::Over => None,
        }
    }

    /// Takes what has come. Says whether it is connected anew, so that it must be watched.
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
            ListenerState::Away(away) => {
                let away = *away;
                self.look_for(away, next_bus, each)
            }
            ListenerState::Over => ListenerProgress::Share(Drained::Empty),
        }
    }

    /// Asks a bus of ours about itself and its connections.
    pub(crate) fn ask_statistics(&mut self) {
        if let ListenerState::Live(live) = &mut self.state
            && live.source.method() == CaptureMethod::Trace
        {
            live.census.ask_statistics();
        }
    }

    /// What the bus told of itself and its connections last.
    pub(crate) fn statistics(&self) -> Option<&BusStatistics> {
        let ListenerState::Live(live) = &self.state else { return None };
        live.census.statistics()
    }

    /// The recording is about to end: asks for what the bus has counted until then.
    pub(crate) fn ask_totals(&mut self) {
        if let ListenerState::Live(live) = &mut self.state
            && live.source.method() == CaptureMethod::Trace
        {
            live.census.ask_totals();
        }
    }

    /// Nothing more will be taken: gives what was still waiting for more.
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
        self.state = ListenerState::Away(Away { since, next: since + pause, pause });
        ListenerProgress::Share(Drained::Empty)
    }

    fn look_for(
        &mut self,
        away: Away,
        next_bus: BusId,
        each: &mut RecordReceiver<'_>,
    ) -> ListenerProgress {
        let now = sys::clock::monotonic();
        if now < away.next {
            return ListenerProgress::Share(Drained::Empty);
        }
        if self.connect(next_bus, each).is_ok() {
            each.notices.push(Notice::Found(self.place.clone()));
            return ListenerProgress::Connected;
        }
        if now - away.since >= SEARCH_MAX {
            each.notices.push(Notice::Gone(self.place.clone()));
            self.state = ListenerState::Over;
        } else {
            let pause = away.pause * 2;
            self.state = ListenerState::Away(Away { next: now + pause, pause, ..away });
        }
        ListenerProgress::Share(Drained::Empty)
    }
}

impl ConnectedBus {
    fn take(&mut self, bus: BusId, each: &mut RecordReceiver<'_>) -> Result<Drained, Ended> {
        let clock = each.clock;
        // Messages first: what the bus says in them holds from then on, not from when it was asked.
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

/// What came of taking.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ListenerProgress {
    /// A share of what had come.
    Share(Drained),
    /// New connections, which must be watched.
    Connected,
}

/// Where what is heard goes.
pub(crate) struct RecordReceiver<'e> {
    pub(crate) clock: RecordingClock,
    /// Until when it was going to be looked at the buses, by the monotonic clock; `None` if nobody has said.
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
            Self::Overhearing(place, error) => write!(
                f,
                "{place} does not let us be a monitor ({error}): \
                 only what can be overheard is recorded"
            ),
            Self::Lost(place, ended) => {
                write!(f, "{place} is lost ({ended}): messages are missing from here on")
            }
            Self::Found(place) => write!(f, "{place} is there again"),
            Self::Gone(place) => write!(f, "{place} did not come back"),
        }
    }
}

/// How often a source is looked at that does not say when there is something.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// The first pause before a bus that is lost is tried again; each one is twice the one before.
const PAUSE_FIRST: Duration = Duration::from_millis(50);

/// How long a bus that is lost is looked for.
const SEARCH_MAX: Duration = Duration::from_secs(5);
