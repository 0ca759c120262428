//! The time that a message spent inside the bus, by phase, as the bus measured it.

use std::ops::Range;
use std::time::Duration;

use wire::message::MessageType;

use crate::model::CapturedMessage;
use crate::record::{Routing, Stages};

worded_enum! {
    /// A phase of the time that a message spends inside the bus. The variants are in the order of
    /// time, but [`Match`](Self::Match) is a part of [`Dispatch`](Self::Dispatch).
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    pub enum BusPhase {
        /// The bus holds the message until a service that is being started owns the name.
        Start = "start",
        /// The bus reads the bytes from the socket of the sender.
        Receive = "receive",
        /// The bus routes other messages that it read together with this one.
        Wait = "wait",
        /// The bus finds the recipients: the whole routing, if the bus did not measure its stages.
        Route = "route",
        /// The bus finds the recipients and checks limits and policy, without
        /// [`Match`](Self::Match).
        Dispatch = "dispatch",
        /// The bus searches its match rules for recipients. Only messages without a destination
        /// have this phase.
        Match = "match",
        /// The bus queues and writes the copies, until the last one is written.
        Send = "send",
    }
}

/// The time that a message spent inside the bus: from its receipt until the last copy was written,
/// divided into phases. The phases add up to the total.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BusTime {
    /// The time until a service that the bus started owned the name.
    started: Duration,
    stages: Option<MeasuredStages>,
    routed: Duration,
    /// The time until all copies were written; `None` if the recording ended earlier.
    written: Option<Duration>,
}

/// The stages of routing in chronological order. All times are counted from the receipt of the
/// message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct MeasuredStages {
    read: Duration,
    begun: Duration,
    /// The start and the end of the search in the match rules.
    matching: Option<(Duration, Duration)>,
}

impl BusTime {
    /// Returns the times of a message; `None` if the bus did not record it.
    pub fn of(message: &CapturedMessage<'_>) -> Option<Self> {
        let Routing { after: routed, stages } = message.routing()?;
        let mut copies = message.deliveries()?.iter();
        let written = copies.try_fold(routed, |last, copy| Some(last.max(copy.written_after?)));
        let stages = stages.and_then(|stages| MeasuredStages::parse(stages, routed));
        let started = match stages {
            Some(_) => Duration::ZERO,
            None => held_for_start(message).min(routed),
        };
        Some(Self { started, stages, routed, written })
    }

    /// Returns true if the bus measured the stages of routing. Otherwise only [`BusPhase::Route`]
    /// is known.
    pub const fn is_measured(&self) -> bool {
        self.stages.is_some()
    }

    /// The time from the receipt of the message until the bus knew its recipients, before it queued
    /// a copy.
    pub const fn routed(&self) -> Duration {
        self.routed
    }

    /// The time from the receipt of the message until the last copy was written; `None` if the
    /// recording ended earlier.
    pub const fn total(&self) -> Option<Duration> {
        self.written
    }

    /// The known phases, in the order of [`BusPhase::ALL`].
    pub fn phases(&self) -> impl Iterator<Item = (BusPhase, Duration)> {
        BusPhase::ALL.into_iter().filter_map(|phase| Some((phase, self.time(phase)?)))
    }

    /// The duration of a phase; `None` if it is unknown, or if the message does not have the phase.
    pub fn time(&self, phase: BusPhase) -> Option<Duration> {
        let span = self.span(phase)?;
        let inside = match phase {
            BusPhase::Dispatch => self.time(BusPhase::Match).unwrap_or_default(),
            _ => Duration::ZERO,
        };
        Some((span.end - span.start).saturating_sub(inside))
    }

    /// The start and the end of a phase, counted from the receipt of the message.
    /// [`BusPhase::Match`] is inside of [`BusPhase::Dispatch`].
    pub fn span(&self, phase: BusPhase) -> Option<Range<Duration>> {
        let (stages, routed) = (self.stages.as_ref(), self.routed);
        match phase {
            BusPhase::Start => (!self.started.is_zero()).then_some(Duration::ZERO..self.started),
            BusPhase::Receive => stages.map(|stages| Duration::ZERO..stages.read),
            BusPhase::Wait => stages.map(|stages| stages.read..stages.begun),
            BusPhase::Route => stages.is_none().then_some(self.started..routed),
            BusPhase::Dispatch => stages.map(|stages| stages.begun..routed),
            BusPhase::Match => stages?.matching.map(|(from, until)| from..until),
            BusPhase::Send => self.written.map(|written| routed..written),
        }
    }
}

impl MeasuredStages {
    /// Converts the stages of a message that was routed after `routed`. Two readings of the clock
    /// may be out of order by some nanoseconds, and a file may contain anything, so each stage is
    /// moved to start at or after the previous one. `None` if [`Stages`] cannot represent the time
    /// of a stage.
    fn parse(stages: Stages, routed: Duration) -> Option<Self> {
        let begun = stages.begun_after().min(routed);
        if stages.begun_after() >= Stages::LATEST {
            return None;
        }
        let matching = stages.matching().map(|(after, took)| {
            let from = after.clamp(begun, routed);
            (from, (from + took).min(routed))
        });
        Some(Self { read: stages.read_after().min(begun), begun, matching })
    }
}

/// The time that the bus held a call for a service that was being started.
pub(super) fn held_for_start(message: &CapturedMessage<'_>) -> Duration {
    if message.kind() != MessageType::MethodCall {
        return Duration::ZERO;
    }
    let directory = message.capture().directory();
    let (bus, name, at) = (message.bus(), message.destination_id(), message.at());
    if directory.resolve(bus, name, at).is_some() {
        return Duration::ZERO;
    }
    let owners = directory.ownerships(bus, name).iter();
    let owned = owners.filter_map(|one| one.since?.since(at)).next();
    owned.unwrap_or_default()
}
