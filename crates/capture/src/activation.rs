//! Activation: services that a bus starts because a call needs them, and the outcome.
//!
//! - [`CapturedMessage::wanted_name`]: the name whose owner a call needs.
//! - [`CapturedMessage::waited_for_start`]: a service that started while the call waited.
//! - [`failed_starts`]: services that failed to start, each with the service that caused the
//!   failure: a service may fail only because another service that it needs has failed.

use std::borrow::Cow;
use std::collections::HashMap;
use std::time::Duration;

use foldhash::fast::RandomState;
use serde::Serialize;
use wire::message::{Flags, MessageType};

use crate::model::{CallOutcome, Capture, CapturedMessage, MessageBuffer, RecordedPeerId, TextId};
use crate::record::{BusId, Fact, RecordedTime};

/// A successful start of a service that a call waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ServiceStart {
    /// The connection of the service.
    pub service: RecordedPeerId,
    /// The time when the waiting call was sent.
    pub called: RecordedTime,
    /// The time when the service connected; if unknown, the time when it acquired the name.
    pub connected: RecordedTime,
    /// The time when the service acquired the name.
    pub owned: RecordedTime,
}

impl ServiceStart {
    /// Returns the time from the call until the service connected.
    pub fn until_connected(&self) -> Duration {
        self.connected.since(self.called).unwrap_or_default()
    }
}

impl<'c> CapturedMessage<'c> {
    /// Returns the well-known name whose owner this call needs: its destination, or the service
    /// that it asks the bus to start. `None` if the recording does not show the name.
    pub fn wanted_name(&self) -> Option<Cow<'c, str>> {
        if self.kind() != MessageType::MethodCall {
            return None;
        }
        if self.destination_id() == self.capture().driver() {
            return self.started_name().map(Cow::Owned);
        }
        let name = self.destination();
        (!name.is_empty() && !name.starts_with(':')).then_some(Cow::Borrowed(name))
    }

    /// The name argument of StartServiceByName.
    fn started_name(&self) -> Option<String> {
        if self.member() != START {
            return None;
        }
        let mut buffer = MessageBuffer::default();
        let message = self.capture().read_message(self.id(), &mut buffer).ok()??;
        message.read::<(&str, u32)>().ok().map(|(name, _)| name.to_owned())
    }

    /// The wanted name as a text of the capture; `None` if only the body of this call contains it.
    pub(crate) fn wanted_text(&self) -> Option<TextId> {
        match self.destination_id() == self.capture().driver() {
            true => self.capture().strings().find(&self.started_name()?),
            false => Some(self.destination_id()),
        }
    }

    /// Returns the service that started while this call waited for it. `None` if the name had an
    /// owner when the call was sent, or got none before the call ended.
    pub fn waited_for_start(&self) -> Option<ServiceStart> {
        let called = self.at();
        let directory = self.capture().directory();
        let all = directory.ownerships(self.bus(), self.wanted_text()?);
        let next = all.iter().find(|it| it.since.is_some_and(|at| called < at))?;
        let was_owned = all.iter().any(|one| {
            one.since.is_none_or(|since| since <= called)
                && one.until.is_none_or(|until| until > called)
        });
        let owned = next.since.filter(|_| !was_owned)?;
        if owned > called.after(self.waited()?) {
            return None;
        }
        let connected = directory.peer(next.owner).arrived.unwrap_or(owned).min(owned);
        Some(ServiceStart { service: next.owner, called, connected, owned })
    }

    /// Returns a label for what the caller waits for: the service that it asks the bus to start, or
    /// the recipient of the call.
    pub fn awaited_label(&self) -> Cow<'c, str> {
        match self.started_name() {
            Some(name) => Cow::Owned(name),
            None => Cow::Borrowed(self.capture().addressee_label(self)),
        }
    }
}

worded_enum! {
    /// The reasons why a service did not start.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum ServiceStartFailure {
        /// The program of the service exited.
        Exited = "its program exited",
        /// A signal killed the program of the service.
        Crashed = "its program was killed by a signal",
        /// The program of the service cannot be executed.
        NotExecuted = "its program cannot be executed",
        /// The service file is invalid.
        InvalidFile = "its service file is invalid",
        /// The systemd unit failed or is unknown.
        Unit = "its unit failed",
        /// The service did not acquire its name within the time limit of the bus.
        TimedOut = "it did not acquire its name in time",
        /// The service did not acquire its name before the caller disconnected or the recording
        /// ended. The bus has no time limit, or a longer one.
        NotAcquired = "it did not acquire its name while the caller waited",
        /// The bus reported another reason.
        Other = "the bus could not start it",
    }
}

impl ServiceStartFailure {
    /// Returns true if the service was still starting when the caller or the bus gave up.
    const fn is_pending(self) -> bool {
        matches!(self, Self::TimedOut | Self::NotAcquired)
    }

    /// The reason that an error of the bus states, for a call that needed a service.
    fn of_error(call: &CapturedMessage<'_>, error: &CapturedMessage<'_>) -> Option<Self> {
        let name = error.member();
        if let Some(cause) = name.strip_prefix(SPAWN) {
            return Some(match cause {
                "ChildExited" => Self::Exited,
                "ChildSignaled" => Self::Crashed,
                "ExecFailed" | "ForkFailed" => Self::NotExecuted,
                "FileInvalid" | "ConfigInvalid" | "ServiceNotValid" | "PermissionsInvalid" => {
                    Self::InvalidFile
                }
                _ => Self::Other,
            });
        }
        if name.starts_with(SYSTEMD) {
            return Some(Self::Unit);
        }
        let is_by_name = call.destination_id() != call.capture().driver();
        match name.strip_prefix(ERRORS)? {
            "TimedOut" | "Timeout" => Some(Self::TimedOut),
            // dbus-daemon sends this only if the caller forbids a start; dbus-broker also if a
            // start failed.
            "NameHasNoOwner" if is_by_name && !call.flags().contains(Flags::NO_AUTO_START) => {
                Some(Self::Unit)
            }
            "ServiceUnknown" if words(error).is_some_and(|words| words.starts_with(BROKER)) => {
                Some(Self::Unit)
            }
            _ => None,
        }
    }
}

/// A service that failed to start.
#[derive(Clone, Debug)]
pub struct FailedStart<'c> {
    /// The bus that tried to start the service.
    pub bus: BusId,
    /// The name that the service did not acquire.
    pub name: String,
    /// The reason for the failure.
    pub failure: ServiceStartFailure,
    /// The error message of the bus, if known.
    pub words: Option<String>,
    /// The calls that waited for this start, in order; at least one.
    pub calls: Vec<CapturedMessage<'c>>,
    /// The time when the first waiting call was sent.
    pub from: RecordedTime,
    /// The time when the start had failed.
    pub until: RecordedTime,
    /// The delay after which the service acquired the name nevertheless.
    pub late_by: Option<Duration>,
    /// The other service that caused the failure, if any. The recording does not show which
    /// connection belongs to a service that did not acquire its name, so this is `None` unless only
    /// one connection can belong to it.
    pub dependency: Option<FailedDependency>,
}

/// The other service that caused a failed start. If that service depended on yet another one, this
/// is the last service of the chain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FailedDependency {
    /// The service was waiting for this one when it failed, or exited after this one had failed.
    Service(String),
    /// The service exited after the bus had reported that this name has no owner and is not
    /// activatable.
    Absent(String),
    /// The service and this one waited for each other, possibly through others.
    Cycle(String),
}

impl FailedDependency {
    /// Returns the name of the other service.
    pub fn name(&self) -> &str {
        match self {
            Self::Service(name) | Self::Absent(name) | Self::Cycle(name) => name,
        }
    }
}

impl FailedStart<'_> {
    /// Returns a description of the failure.
    pub fn why(&self) -> String {
        let cause = self.failure.as_str();
        let why =
            self.words.as_ref().map_or_else(|| cause.to_owned(), |it| format!("{cause}: {it}"));
        match &self.dependency {
            Some(FailedDependency::Absent(name)) => format!("{why}; {name} does not exist"),
            Some(FailedDependency::Cycle(name)) => {
                format!("{why}; it and {name} wait for each other")
            }
            Some(FailedDependency::Service(_)) | None => why,
        }
    }

    /// Returns the name of the service that caused the failure. If services wait for each other,
    /// this is the one that was called first.
    pub fn blamed(&self) -> &str {
        match &self.dependency {
            Some(FailedDependency::Service(name) | FailedDependency::Absent(name)) => name,
            Some(FailedDependency::Cycle(_)) | None => &self.name,
        }
    }
}

/// Finds the services that failed to start for the calls that `selects` accepts, in the order of
/// the first calls.
pub fn failed_starts<'c>(
    capture: &'c Capture,
    selects: impl Fn(&CapturedMessage<'c>) -> bool,
) -> Vec<FailedStart<'c>> {
    let mut search = FailedStartSearch::default();
    for call in capture.messages().filter(|message| message.expects_reply() && selects(message)) {
        search.look_at(call);
    }
    if search.failed.is_empty() {
        return Vec::new();
    }
    let chains = StartWaitChains::new(capture, &search);
    let causes: Vec<_> =
        search.failed.iter().map(|start| chains.failed_dependency(start)).collect();
    for (start, dependency) in search.failed.iter_mut().zip(causes) {
        start.dependency = dependency;
    }
    search.failed
}

/// The reason and time of the failure of a call whose service failed to start.
fn failure(call: &CapturedMessage<'_>) -> Option<(ServiceStartFailure, RecordedTime)> {
    if let Some(error) = call.partner() {
        let failure = is_of_bus(call, &error).then(|| ServiceStartFailure::of_error(call, &error));
        return Some((failure??, error.at()));
    }
    let waited = call.waited().filter(|waited| *waited >= GAVE_UP_MIN)?;
    let is_lost = matches!(call.outcome()?, CallOutcome::CallerLeft | CallOutcome::Waiting);
    (is_lost && is_known_to_be_absent(call))
        .then(|| (ServiceStartFailure::NotAcquired, call.at().after(waited)))
}

/// Returns true if the recording shows that the name had no owner when a call without a reply was
/// sent, and got none while the caller waited.
fn is_known_to_be_absent(call: &CapturedMessage<'_>) -> bool {
    let capture = call.capture();
    if call.destination_id() == capture.driver() {
        // If the service is running, the bus replies immediately.
        return call.member() == START && call.waited_for_start().is_none();
    }
    let Some(name) = call.wanted_text() else { return false };
    if call.to().is_some() {
        return false;
    }
    let is_activatable = |(_, bus, fact): &(RecordedTime, BusId, Fact)| {
        *bus == call.bus()
            && matches!(fact, Fact::Activatable { name: known } if known == call.destination())
    };
    let owners = capture.directory().ownerships(call.bus(), name);
    owners.iter().any(|one| one.since.is_some()) || capture.facts().iter().any(is_activatable)
}

/// The time when the bus reported that the name that a call needs has no owner and is not
/// activatable.
fn absence(call: &CapturedMessage<'_>) -> Option<(RecordedTime, WaitEnd)> {
    let error = call.partner().filter(|reply| is_of_bus(call, reply))?;
    // If the caller forbids a start, the bus does not check whether the name is activatable.
    let may_start = !call.flags().contains(Flags::NO_AUTO_START);
    let is_absent = error.member().strip_prefix(ERRORS) == Some("ServiceUnknown");
    (may_start && is_absent).then(|| (error.at(), WaitEnd::Absent))
}

/// Returns true if an error comes from the bus because the service that a call needs is not
/// running.
fn is_of_bus(call: &CapturedMessage<'_>, error: &CapturedMessage<'_>) -> bool {
    let driver = call.capture().driver();
    let needs_service = match call.destination_id() == driver {
        true => call.member() == START,
        false => call.to().is_none(),
    };
    needs_service && error.kind() == MessageType::Error && error.sender_id() == driver
}

/// The time when the caller of an unanswered call gave up, if it waited long.
fn silence(call: &CapturedMessage<'_>) -> Option<(RecordedTime, WaitEnd)> {
    let waited = call.waited().filter(|waited| *waited >= GAVE_UP_MIN)?;
    let is_to_bus = call.destination_id() == call.capture().driver();
    (!is_to_bus).then(|| (call.at().after(waited), WaitEnd::Silent(call.to())))
}

/// The text of an error.
fn words(error: &CapturedMessage<'_>) -> Option<String> {
    let mut buffer = MessageBuffer::default();
    let message = error.capture().read_message(error.id(), &mut buffer).ok()??;
    message.read::<(&str,)>().ok().map(|(words,)| words.to_owned())
}

/// The calls that waited for a start, collected in the order of the recording.
#[derive(Default)]
struct FailedStartSearch<'c> {
    failed: Vec<FailedStart<'c>>,
    /// The index of the last failed start of each name.
    last: HashMap<(BusId, String), usize, RandomState>,
    /// The waits of each caller.
    waits: HashMap<RecordedPeerId, Vec<StartWait>, RandomState>,
}

/// A connection that waits for a service to start.
#[derive(Clone, Debug)]
struct StartWait {
    name: String,
    from: RecordedTime,
    until: RecordedTime,
    end: WaitEnd,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum WaitEnd {
    /// The service failed to start. The value is the index of its start in `failed`.
    Failed(usize),
    /// The service has started.
    Came(RecordedPeerId),
    /// The bus reported that the name has no owner and is not activatable.
    Absent,
    /// The call got no reply for a long time. The recipient is a known connection, or possibly a
    /// service that is starting.
    Silent(Option<RecordedPeerId>),
}

impl<'c> FailedStartSearch<'c> {
    fn look_at(&mut self, call: CapturedMessage<'c>) {
        let (until, end, name) = match failure(&call) {
            Some((failure, until)) => {
                let Some(name) = call.wanted_name() else { return };
                (until, WaitEnd::Failed(self.add(call, &name, failure, until)), name)
            }
            None => {
                let start = call.waited_for_start();
                let wait = start.map(|start| (start.owned, WaitEnd::Came(start.service)));
                let wait = wait.or_else(|| absence(&call)).or_else(|| silence(&call));
                let Some((until, end)) = wait else { return };
                let Some(name) = call.wanted_name() else { return };
                (until, end, name)
            }
        };
        if let Some(caller) = call.from() {
            let wait = StartWait { name: name.into_owned(), from: call.at(), until, end };
            self.waits.entry(caller).or_default().push(wait);
        }
    }

    /// Adds a call to the failed start that it waited for, or adds a new failed start.
    fn add(
        &mut self,
        call: CapturedMessage<'c>,
        name: &str,
        failure: ServiceStartFailure,
        until: RecordedTime,
    ) -> usize {
        let key = (call.bus(), name.to_owned());
        if let Some(&last) = self.last.get(&key)
            && call.at() <= self.failed[last].until
        {
            let start = &mut self.failed[last];
            start.until = start.until.max(until);
            start.calls.push(call);
            return last;
        }
        self.last.insert(key, self.failed.len());
        let words = call.partner().and_then(|error| words(&error));
        let owners = call.capture().strings().find(name);
        let owners = owners.map(|name| call.capture().directory().ownerships(call.bus(), name));
        let later = owners.unwrap_or_default().iter().filter_map(|one| one.since?.since(until));
        self.failed.push(FailedStart {
            bus: call.bus(),
            name: name.to_owned(),
            failure,
            words,
            calls: vec![call],
            from: call.at(),
            until,
            late_by: later.min().filter(|late| failure.is_pending() && *late <= LATE_MAX),
            dependency: None,
        });
        self.failed.len() - 1
    }
}

/// A start that failed or may still be under way.
#[derive(Clone, Copy, Debug)]
struct StartAttempt<'a> {
    bus: BusId,
    name: &'a str,
    from: RecordedTime,
    until: RecordedTime,
    end: AttemptEnd,
}

/// The outcome for a service that did not acquire its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AttemptEnd {
    /// The service was still starting.
    Pending,
    /// The service exited, perhaps because another service had failed.
    GaveUp,
    /// The service crashed. A program that crashes because another one has failed has a fault of
    /// its own.
    Crashed,
}

impl<'a> StartAttempt<'a> {
    fn of(start: &'a FailedStart<'_>) -> Self {
        let end = match start.failure {
            failure if failure.is_pending() => AttemptEnd::Pending,
            ServiceStartFailure::Crashed => AttemptEnd::Crashed,
            _ => AttemptEnd::GaveUp,
        };
        let FailedStart { bus, name, from, until, .. } = start;
        Self { bus: *bus, name, from: *from, until: *until, end }
    }

    /// Returns true if at most half of the duration of the start has passed. A service that began
    /// to wait for another one later than that was itself slow; more likely the connection belongs
    /// to another program.
    fn half_is_left_at(&self, time: RecordedTime) -> bool {
        let (passed, all) = (time.since(self.from), self.until.since(self.from));
        passed.unwrap_or_default() <= all.unwrap_or_default() / 2
    }

    /// The pending start that a connection was waiting for when another start failed.
    fn pending(failed: &FailedStart<'_>, wait: &'a StartWait) -> Self {
        let (bus, name) = (failed.bus, wait.name.as_str());
        Self { bus, name, from: wait.from, until: failed.until, end: AttemptEnd::Pending }
    }
}

/// Follows which service waited for which other one, to find the cause of a failed start.
struct StartWaitChains<'s, 'c> {
    capture: &'c Capture,
    search: &'s FailedStartSearch<'c>,
    /// The connections that waited for a start, by time of arrival.
    waiting_peers: Vec<(RecordedTime, RecordedPeerId)>,
    /// The time of the last message of each connection that waited for a start. Messages that
    /// programs send while they clean up are not counted.
    last_sent: HashMap<RecordedPeerId, RecordedTime, RandomState>,
}

impl<'s, 'c> StartWaitChains<'s, 'c> {
    fn new(capture: &'c Capture, search: &'s FailedStartSearch<'c>) -> Self {
        let arrived = |peer: RecordedPeerId| capture.directory().peer(peer).arrived;
        let waiting = search.waits.keys();
        let mut waiting_peers: Vec<_> =
            waiting.filter_map(|&peer| Some((arrived(peer)?, peer))).collect();
        waiting_peers.sort_unstable();
        let is_cleaning_up = |message: &CapturedMessage<'_>| {
            message.destination_id() == capture.driver() && CLEANING_UP.contains(&message.member())
        };
        let sent = capture.messages().filter(|message| !is_cleaning_up(message));
        let sent = sent.filter_map(|message| Some((message.from()?, message.at())));
        let last_sent = sent.filter(|(peer, _)| search.waits.contains_key(peer)).collect();
        Self { capture, search, waiting_peers, last_sent }
    }

    /// The last service in the chain of waits that made a start fail.
    fn failed_dependency(&self, start: &FailedStart<'c>) -> Option<FailedDependency> {
        let mut wait = self.blocking_wait(&StartAttempt::of(start))?;
        // Each service of a chain is called later than the one before it.
        for _ in 0..DEPTH_MAX {
            let next = match wait.end {
                WaitEnd::Failed(index) => {
                    self.blocking_wait(&StartAttempt::of(&self.search.failed[index]))
                }
                WaitEnd::Came(service) | WaitEnd::Silent(Some(service)) => {
                    self.pending(service, start.until)
                }
                WaitEnd::Silent(None) => self.blocking_wait(&StartAttempt::pending(start, wait)),
                WaitEnd::Absent => return Some(FailedDependency::Absent(wait.name.clone())),
            };
            let Some(next) = next.filter(|next| next.from > wait.from) else { break };
            if next.name == start.name {
                return Some(FailedDependency::Cycle(wait.name.clone()));
            }
            wait = next;
        }
        Some(FailedDependency::Service(wait.name.clone()))
    }

    /// The wait that made the start of a service fail.
    fn blocking_wait(&self, start: &StartAttempt<'_>) -> Option<&'s StartWait> {
        let first = self.waiting_peers.partition_point(|(arrived, _)| *arrived <= start.from);
        let came = self.waiting_peers[first..].iter().take_while(|(at, _)| *at <= start.until);
        let mut candidates = came.filter(|(_, peer)| self.may_be(*peer, start));
        let waits = |peer| match start.end {
            AttemptEnd::Pending => {
                self.pending(peer, start.until).filter(|wait| start.half_is_left_at(wait.from))
            }
            AttemptEnd::GaveUp => self.failed_before(peer, start),
            AttemptEnd::Crashed => None,
        };
        let blocking_wait = candidates.by_ref().find_map(|(_, peer)| waits(*peer))?;
        // A service that this one needs, and the services needed by that one, connect after the
        // call.
        let mut others = candidates.filter(|(_, peer)| waits(*peer).is_some());
        others.all(|(arrived, _)| *arrived > blocking_wait.from).then_some(blocking_wait)
    }

    /// Returns true if a connection may belong to a service that did not take its name.
    fn may_be(&self, peer: RecordedPeerId, start: &StartAttempt<'_>) -> bool {
        let known = self.capture.directory().peer(peer);
        let began = known.process.as_ref().and_then(|process| process.started);
        let owns = |name: &TextId| {
            let all = self.capture.directory().ownerships(start.bus, *name).iter();
            self.capture.strings().get(*name) != start.name
                && all.into_iter().any(|one| {
                    one.owner == peer && one.since.is_none_or(|since| since <= start.until)
                })
        };
        known.bus == start.bus
            && !self.calls(peer, start)
            && began.is_none_or(|began| began.after(CLOCK_OF_PROCESSES) >= start.from)
            && !known.names.iter().any(owns)
    }

    /// Returns true if a connection itself waited for this start.
    fn calls(&self, peer: RecordedPeerId, start: &StartAttempt<'_>) -> bool {
        let waits = self.search.waits.get(&peer).map_or(&[][..], Vec::as_slice);
        waits.iter().any(|wait| wait.name == start.name)
    }

    /// The start that a connection was waiting for at a given time.
    fn pending(&self, peer: RecordedPeerId, at: RecordedTime) -> Option<&'s StartWait> {
        let waits = self.search.waits.get(&peer)?;
        waits.iter().find(|wait| match wait.end {
            // Services that wait for each other fail at the same time.
            WaitEnd::Failed(_) => wait.from <= at && at <= wait.until.after(READING),
            WaitEnd::Came(_) | WaitEnd::Silent(_) => wait.from <= at && at <= wait.until,
            WaitEnd::Absent => false,
        })
    }

    /// The last wait that failed before a connection left, if the connection sent nothing
    /// afterwards and its service failed.
    fn failed_before(
        &self,
        peer: RecordedPeerId,
        start: &StartAttempt<'_>,
    ) -> Option<&'s StartWait> {
        let left = self.capture.directory().peer(peer).left?;
        let waits = self.search.waits.get(&peer)?;
        let last = waits.iter().rfind(|wait| wait.until <= left)?;
        let is_within = |from: RecordedTime, to: RecordedTime, max| {
            to.since(from).is_some_and(|span| span <= max)
        };
        let went_on = self.last_sent.get(&peer).is_some_and(|at| *at > last.until);
        (matches!(last.end, WaitEnd::Failed(_) | WaitEnd::Absent)
            && !went_on
            && is_within(last.until, left, SOON)
            && left <= start.until.after(READING)
            && is_within(left.before(READING), start.until, EXITING))
        .then_some(last)
    }
}

const START: &str = "StartServiceByName";
/// Methods of the bus that libraries call when they close a connection.
const CLEANING_UP: [&str; 2] = ["RemoveMatch", "ReleaseName"];
const ERRORS: &str = "org.freedesktop.DBus.Error.";
const SPAWN: &str = "org.freedesktop.DBus.Error.Spawn.";
const SYSTEMD: &str = "org.freedesktop.systemd1.";

/// The start of dbus-broker's error text for a failed start.
const BROKER: &str = "Could not activate";

/// A call without a reply is considered to have waited for a service if it waited this long. A
/// program that does not want the reply may leave immediately.
const GAVE_UP_MIN: Duration = Duration::from_secs(1);

/// A name that is taken within this time after its start timed out was taken by that start.
const LATE_MAX: Duration = Duration::from_secs(60);

/// The time within which a program leaves the bus if it fails because another one did.
const SOON: Duration = Duration::from_secs(2);

/// The time from when a program leaves the bus until the bus notices that it exited.
const EXITING: Duration = Duration::from_secs(1);

/// A recorder may read two related events in either order, at most this far apart.
const READING: Duration = Duration::from_millis(100);

/// The kernel reports the start of a process in units of 10 ms, by a different clock than the
/// recorder.
pub(crate) const CLOCK_OF_PROCESSES: Duration = Duration::from_millis(100);

/// The maximum number of services in a chain of waits.
const DEPTH_MAX: usize = 16;
