//! Activation: services that are started when a peer needs them ("Message Bus Starting Services").
//!
//! ```text
//!   StartServiceByName, a call or a signal to a name without an owner
//!      │   the call waits, the message is held
//!      ▼
//!   a start ──name owned──▶ calls are answered, messages are routed, in the order of arrival
//!      ├──failed, or the manager reports a failure──▶ an error for each waiter
//!      └──timeout──▶ TimedOut for each waiter, and the start is abandoned
//! ```
//!
//! The bus does not know how a service is started: [`Effect::Start`] requests it, and
//! [`Input::StartFailed`](crate::Input::StartFailed) reports a failure. A start has succeeded when
//! its name has an owner, no matter which connection that is.

mod manager;
mod starts;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};

use serde::{Deserialize, Serialize};
use wire::Message;
use wire::message::{Builder, Flags, MessageType};

use crate::access::AccessQuery;
use crate::accounting::{Incident, IncidentKind, IncidentReason};
use crate::routing::{NoOwner, Router};
use crate::types::{
    ActivationMethod, Amount, Body, CallId, Configuration, Effect, Effects, Fds, Forward, HeldFds,
    LimitHit, LimitName, LogEvent, PeerId, PeerSnapshot, RefusalReason, StartFailure, StartId,
    StartProblem, Time,
};
use manager::ManagerRequest;
use starts::{HeldMessage, Start, StartWaiter, Starts};

/// The services that are being started, and the environment that they get.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Activation {
    starts: Starts,
    environment: BTreeMap<String, String>,
}

/// The result of StartServiceByName, with the number in its reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StartReply {
    /// The service was started by this call.
    Success = 1,
    /// The name already has an owner.
    AlreadyRunning = 2,
}

/// Methods that start services.
impl Activation {
    /// Handles a message to a name without an owner: if there is a service for the name, it is
    /// started and the message is held. Otherwise the sender gets an error.
    pub(crate) fn send_to_absent(
        &mut self,
        NoOwner { forward, name }: NoOwner<'_>,
        router: &mut Router,
        fx: &mut Effects,
    ) {
        let start = self.start_for_message(&forward, name.as_str(), router, fx);
        // Monitors see the request to the service manager before the message that causes it.
        router.copy_to_monitors(&forward, None, fx);
        match start {
            Ok((start, fds)) => self.hold(start, fds, &forward, router),
            Err(error) => {
                router.tracing.record(&forward, None, None, &router.registry, fx);
                router.refuse(forward.from, forward.message, &error, fx);
            }
        }
    }

    /// Starts a service for a message. Also returns the id of the descriptors of the message, if
    /// any.
    fn start_for_message(
        &mut self,
        forward: &Forward<'_>,
        name: &str,
        router: &mut Router,
        fx: &mut Effects,
    ) -> Result<(StartId, Option<HeldFds>), RefusalReason> {
        if forward.message.flags().contains(Flags::NO_AUTO_START) {
            return Err(RefusalReason::NotStarted { name: name.into() });
        }
        router.check_start_filter(forward.from, forward.message, name)?;
        let method = activation_method(name, &router.config)?;
        check_before_start(forward, router, fx)?;
        self.check_room(forward.from, name, router)?;
        // A start can fail immediately, before the next effect is applied. The failure releases the
        // descriptors, so they must be held by then.
        let fds = (forward.message.unix_fds() > 0).then(|| self.starts.name_fds());
        fx.extend(fds.map(Effect::HoldFds));
        Ok((self.start(name, method, forward.from, router, fx), fds))
    }

    /// Starts the service of a name without an owner, for StartServiceByName. If the caller wants a
    /// reply, its call waits.
    pub(crate) fn start_for_call(
        &mut self,
        from: PeerId,
        name: &str,
        call: Option<CallId>,
        router: &mut Router,
        fx: &mut Effects,
    ) -> Result<(), RefusalReason> {
        let method = activation_method(name, &router.config)?;
        self.check_room(from, name, router)?;
        let start = self.start(name, method, from, router, fx);
        if let Some(call) = call {
            self.starts.wait(start, StartWaiter::Call(call));
        }
        Ok(())
    }

    pub(crate) fn held_messages_with_fds(&self) -> usize {
        self.starts.messages_with_fds()
    }

    /// Checks the limits on waiters, and on the held messages of one connection.
    fn check_room(&self, from: PeerId, name: &str, router: &Router) -> Result<(), RefusalReason> {
        let (max, waiting) =
            (router.config.limits.max_pending_service_starts, self.starts.waiting() as u64);
        if waiting >= max {
            return Err(RefusalReason::TooManyStarts { name: name.into(), max, used: waiting });
        }
        let held = self.starts.held_of(from);
        let limits = router.limits_of(from);
        let (bytes, fds) = (limits.max_incoming_bytes, limits.max_incoming_unix_fds);
        if held.bytes > bytes || held.fds > fds {
            let (limit, max, used) = match held.bytes > bytes {
                true => (LimitName::IncomingBytes, bytes, held.bytes),
                false => (LimitName::IncomingFds, fds, held.fds),
            };
            let hit = LimitHit { limit, max, used };
            return Err(RefusalReason::TooMuchHeld { hit, max_bytes: bytes, max_fds: fds });
        }
        Ok(())
    }

    /// Starts a service, unless it is being started already.
    fn start(
        &mut self,
        name: &str,
        method: ActivationMethod,
        requester: PeerId,
        router: &mut Router,
        fx: &mut Effects,
    ) -> StartId {
        if let Some(start) = self.starts.find(name) {
            return start;
        }
        let timeout = router.config.limits.service_start_timeout;
        let start = self.starts.begin(name, method.clone(), router.now, timeout);
        fx.log(LogEvent::Starting { name: name.into(), method: method.clone(), requester });
        match method {
            ActivationMethod::Process => fx.push(Effect::Start { start, name: name.into() }),
            ActivationMethod::Unit(unit) => {
                self.ask_manager(ManagerRequest::StartUnit(unit), requester, router, fx);
            }
            ActivationMethod::ByItself => {}
        }
        start
    }

    /// Holds a message until its recipient connects.
    fn hold(
        &mut self,
        start: StartId,
        fds: Option<HeldFds>,
        forward: &Forward<'_>,
        router: &Router,
    ) {
        let message = forward.message;
        let count = u64::from(message.unix_fds());
        let bytes = message.bytes();
        let held = HeldMessage {
            from: forward.from,
            bytes: bytes.into(),
            fds,
            amount: Amount { messages: 1, bytes: bytes.len() as u64, fds: count },
            counted: router.accounting.current(),
            since: router.now,
        };
        self.starts.wait(start, StartWaiter::Message(held));
    }
}

/// Methods that end starts.
impl Activation {
    /// Handles that a name has an owner: all its waiters are answered or delivered.
    pub(crate) fn service_arrived(
        &mut self,
        name: &str,
        owner: PeerId,
        router: &mut Router,
        fx: &mut Effects,
    ) {
        let Some(start) = self.starts.find(name).and_then(|id| self.starts.take(id)) else {
            return;
        };
        fx.log(LogEvent::Started { name: start.name });
        for waiter in start.waiting {
            match waiter {
                StartWaiter::Call(call) => answer_start(call, router, fx),
                StartWaiter::Message(held) => deliver_held(&held, owner, router, fx),
                StartWaiter::Request(request) => manager::send_held(owner, &request, router, fx),
            }
        }
    }

    /// Handles that a start has failed. Does nothing if the start has already ended.
    pub(crate) fn start_failed(
        &mut self,
        id: StartId,
        failure: StartFailure,
        router: &mut Router,
        fx: &mut Effects,
    ) {
        if let Some(start) = self.starts.take(id) {
            give_up(start, StartProblem::Process(failure), router, fx);
        }
    }

    /// Ends the starts whose timeout has expired.
    pub(crate) fn end_late_starts(&mut self, router: &mut Router, fx: &mut Effects) {
        while let Some(start) = self.starts.pop_expired(router.now) {
            fx.push(Effect::Abandon { start: start.id });
            let waited = start.timeout.unwrap_or_default();
            give_up(start, StartProblem::Timeout { waited }, router, fx);
        }
    }

    /// Drops all waiters of a connection that left the bus or became a monitor.
    pub(crate) fn forget(&mut self, peer: PeerId, router: &mut Router, fx: &mut Effects) {
        for waiter in self.starts.take_of(peer) {
            if let StartWaiter::Message(held) = waiter {
                record_held(&held, router, fx);
                release_fds(&held, fx);
            }
        }
    }

    /// The time at which the next start times out.
    pub(crate) fn next_deadline(&self) -> Option<Time> {
        self.starts.next_deadline()
    }

    /// The variables that services get in addition to the environment of the daemon.
    pub(crate) fn environment(&self) -> impl Iterator<Item = (&str, &str)> {
        self.environment.iter().map(|(name, value)| (&**name, &**value))
    }

    /// Changes the variables that services get.
    pub(crate) fn update_environment<'v>(
        &mut self,
        changes: impl IntoIterator<Item = (&'v str, &'v str)>,
    ) {
        self.environment.extend(changes.into_iter().map(|(key, value)| (key.into(), value.into())));
    }

    /// Checks that every waiter has a live connection, and that all counters are right.
    ///
    /// # Panics
    ///
    /// Panics if an invariant is violated.
    pub(crate) fn check(&self, is_active: impl Fn(PeerId) -> bool) {
        self.starts.check(is_active);
    }
}

/// Returns the way in which the service of a name is started.
pub(crate) fn activation_method(
    name: &str,
    config: &Configuration,
) -> Result<ActivationMethod, RefusalReason> {
    let method = config.services.method(name);
    method.ok_or_else(|| RefusalReason::NotActivatable { name: name.into() })
}

/// Checks that a service may be started for a message. The recipient is unknown at this time, so
/// the policy of the recipient is checked when the message is delivered.
fn check_before_start(
    forward: &Forward<'_>,
    router: &mut Router,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    match forward.message.message_type() {
        MessageType::Unknown(_) => Err(RefusalReason::UnknownMessageType),
        _ => {
            router.check_access(&AccessQuery::without_recipient(forward.message, forward.from), fx)
        }
    }
}

/// Sends the reply to StartServiceByName.
fn answer_start(call: CallId, router: &mut Router, fx: &mut Effects) {
    let builder = Builder::method_return(call.serial);
    router
        .send_own(call.peer, builder, &(StartReply::Success as u32,), Fds::None, fx)
        .expect("a number is short");
}

/// Routes a message that was held for its recipient, with all checks.
fn deliver_held(held: &HeldMessage, to: PeerId, router: &mut Router, fx: &mut Effects) {
    let message = Message::parse(&held.bytes).expect("it was valid when it was received");
    let head = fx.stamp_whole(&message, router.registry.sender_field(held.from));
    let fds = held.fds.map_or(Fds::None, Fds::Held);
    let forward = Forward { message: &message, from: held.from, head, body: Body::InHead, fds };
    router.tracing.record(&forward, Some(to), Some(held.since), &router.registry, fx);
    let counted = router.accounting.replace_current(held.counted);
    if let Err(error) = router.pass_on(&forward, to, fx) {
        router.refuse(held.from, &message, &error, fx);
    }
    router.accounting.replace_current(counted);
    release_fds(held, fx);
}

/// Sends an error to each waiter of a service.
fn give_up(start: Start, problem: StartProblem, router: &mut Router, fx: &mut Effects) {
    let Start { id, name, .. } = start;
    let (error_name, text) = (problem.error_name(), problem.describe(&name).to_string());
    fx.log(LogEvent::StartFailed { start: id, name: name.clone(), problem: problem.clone() });
    for waiter in start.waiting {
        match waiter {
            StartWaiter::Call(CallId { peer, serial }) => {
                router.send_named_error(peer, serial, error_name, &text, fx);
            }
            StartWaiter::Message(held) => {
                record_held(&held, router, fx);
                let message =
                    Message::parse(&held.bytes).expect("it was valid when it was received");
                router.send_named_error(held.from, message.serial(), error_name, &text, fx);
                release_fds(&held, fx);
            }
            // The bus does not wait for a reply to its own requests.
            StartWaiter::Request(_) => {}
        }
    }
    note_failed_start(name, problem, router);
}

/// Adds a service that did not start to the history.
fn note_failed_start(name: Box<str>, problem: StartProblem, router: &mut Router) {
    let (kind, cause) = (IncidentKind::StartFailed, problem.word());
    router.accounting.count(kind, cause);
    let snapshot = PeerSnapshot { names: [name.clone()].into(), ..PeerSnapshot::default() };
    let reason = IncidentReason::StartFailed { name, problem };
    let incident = Incident::new(kind, cause, snapshot, reason, None, router.now);
    router.accounting.add_incident(incident);
}

/// Records a held message in traces after its start has failed.
fn record_held(held: &HeldMessage, router: &mut Router, fx: &mut Effects) {
    if !router.tracing.is_on() || router.registry.get(held.from).is_none() {
        return;
    }
    let message = Message::parse(&held.bytes).expect("it was valid when it was received");
    let head = fx.stamp_whole(&message, router.registry.sender_field(held.from));
    let (from, body, fds) = (held.from, Body::InHead, Fds::None);
    let forward = Forward { message: &message, from, head, body, fds };
    router.tracing.record(&forward, None, Some(held.since), &router.registry, fx);
}

/// Makes the daemon close the descriptors of a held message.
fn release_fds(held: &HeldMessage, fx: &mut Effects) {
    fx.extend(held.fds.map(Effect::ReleaseFds));
}
