//! Services that are started when somebody wants them ("Message Bus Starting Services").
//!
//! ```text
//!   StartServiceByName, a call or a signal to a name that nobody owns
//!      │   who asks waits, a message is held
//!      ▼
//!   a start ──name owned──▶ callers are answered, messages are routed, in the order they came
//!      ├──failed, or the manager says so──▶ an error to each who waits
//!      └──no time left──▶ TimedOut to each who waits, and the start is abandoned
//! ```
//!
//! How a service is started is no matter of the bus: [`Effect::Start`] asks for it, and
//! [`Input::StartFailed`](crate::Input::StartFailed) says that it went wrong. That it went well is
//! seen by its name having an owner, whoever that is.

mod failure;
mod manager;
mod services;
mod starts;

use alloc::format;
use alloc::string::String;

use wire::Message;
use wire::message::{Builder, Flags, MessageType};
use wire::names::{BusName, ErrorName};

use crate::bus::Bus;
use crate::effects::{Body, Cause, Effect, Effects, Event, Fds};
use crate::error::{BusError, ErrorKind};
use crate::input::{Amount, Asker, PeerId};
use crate::reached::LimitName;
use crate::route::{Forward, not_activatable, unknown_type};

pub use failure::{HelperFailure, StartFailure};
use manager::Order;
pub use services::{Road, Service, ServiceManager, Services};
pub(crate) use starts::Held;
pub use starts::StartId;
pub(crate) use starts::Starts;
use starts::{Start, Waiting};

/// What StartServiceByName answers; the numbers are those of its reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Started {
    Now = 1,
    AlreadyRunning = 2,
}

/// What those who wait for a service are told when it does not come.
struct Failed<'a> {
    error: ErrorName<'a>,
    text: &'a str,
    cause: Cause,
}

impl Bus {
    /// Handles a message for a name that nobody owns: if there is a service for it, that is started
    /// and the message waits.
    pub(crate) fn send_to_absent(
        &mut self,
        forward: &Forward<'_>,
        name: BusName<'_>,
        fx: &mut Effects,
    ) -> Result<(), BusError> {
        let start = self.start_by(forward, name, fx);
        // Monitors see what the service manager is asked for before what it is asked for.
        self.copy_to_monitors(forward, None, fx);
        if start.is_err() {
            self.trace(forward, None, fx);
        }
        self.hold(start?, forward, fx);
        Ok(())
    }

    /// Starts the service that a message is for.
    fn start_by(
        &mut self,
        forward: &Forward<'_>,
        name: BusName<'_>,
        fx: &mut Effects,
    ) -> Result<StartId, BusError> {
        if forward.message.flags().contains(Flags::NO_AUTO_START) {
            let text = format!("Name \"{name}\" does not exist");
            return Err(ErrorKind::NameHasNoOwner.because(text));
        }
        let road = self.road_to(name.as_str())?;
        self.check_before_start(forward, fx)?;
        self.check_room_to_wait(forward.from, name.as_str())?;
        Ok(self.start(name.as_str(), road, forward.from, fx))
    }

    /// Starts the service of a name that nobody owns. Who asks for that waits for it, if it wants
    /// an answer.
    pub(crate) fn start_for(
        &mut self,
        from: PeerId,
        name: &str,
        asker: Option<Asker>,
        fx: &mut Effects,
    ) -> Result<(), BusError> {
        let road = self.road_to(name)?;
        self.check_room_to_wait(from, name)?;
        let start = self.start(name, road, from, fx);
        if let Some(asker) = asker {
            self.starts.wait(start, Waiting::Caller(asker));
        }
        Ok(())
    }

    /// Whether there is a service for a name.
    pub(crate) fn check_startable(&self, name: &str) -> Result<(), BusError> {
        self.road_to(name).map(drop)
    }

    fn road_to(&self, name: &str) -> Result<Road, BusError> {
        self.config.services.road(name).ok_or_else(|| not_activatable(name))
    }

    /// Whether a message is one that a service may be started for. What it may do beyond that, its
    /// recipient being unknown yet, is judged when it is delivered.
    fn check_before_start(
        &mut self,
        forward: &Forward<'_>,
        fx: &mut Effects,
    ) -> Result<(), BusError> {
        match forward.message.message_type() {
            MessageType::Unknown(_) => Err(unknown_type()),
            _ => self.check_policy_to_nobody(forward.from, forward.message, fx),
        }
    }

    /// The limits on what waits: how many, and how much of one connection.
    fn check_room_to_wait(&self, from: PeerId, name: &str) -> Result<(), BusError> {
        let max = self.config.limits.max_pending_service_starts;
        if self.starts.waiting() as u64 >= max {
            return Err(ErrorKind::LimitsExceeded.because(format!(
                "The maximum number of pending activations has been reached, activation of {name} \
                 failed (max_pending_service_starts={max})"
            ))
            .at_limit(LimitName::PendingServiceStarts, max, self.starts.waiting() as u64));
        }
        let held = self.peers[from].held;
        let limits = self.limits_of(from);
        let (bytes, fds) = (limits.max_incoming_bytes, limits.max_incoming_unix_fds);
        if held.bytes > bytes || held.fds > fds {
            let (limit, max, used) = match held.bytes > bytes {
                true => (LimitName::IncomingBytes, bytes, held.bytes),
                false => (LimitName::IncomingFds, fds, held.fds),
            };
            return Err(ErrorKind::LimitsExceeded
                .because(format!(
                    "Too much of this connection waits for services to start \
                 (max_incoming_bytes={bytes}, max_incoming_unix_fds={fds})"
                ))
                .at_limit(limit, max, used));
        }
        Ok(())
    }

    /// Starts a service, unless it is being started already.
    fn start(&mut self, name: &str, road: Road, asker: PeerId, fx: &mut Effects) -> StartId {
        if let Some(start) = self.starts.find(name) {
            return start;
        }
        let timeout = self.config.limits.service_start_timeout;
        let start = self.starts.begin(name, road.clone(), self.now, timeout);
        let event = Event::Starting { name: name.into(), road: road.clone(), asker };
        fx.log(event);
        match road {
            Road::Process => fx.push(Effect::Start { start, name: name.into() }),
            Road::Unit(unit) => self.tell_manager(Order::Start(unit), asker, fx),
            Road::ByItself => {}
        }
        start
    }

    /// Keeps a message until its recipient is there.
    fn hold(&mut self, start: StartId, forward: &Forward<'_>, fx: &mut Effects) {
        let message = forward.message;
        let count = u64::from(message.unix_fds());
        let fds = (count > 0).then(|| self.starts.name_fds());
        if let Some(fds) = fds {
            fx.push(Effect::HoldFds(fds));
        }
        let bytes = message.bytes();
        let amount = Amount { messages: 1, bytes: bytes.len() as u64, fds: count };
        self.peers[forward.from].held.add(amount);
        let counted = self.counted;
        let since = self.now;
        let held = Held { from: forward.from, bytes: bytes.into(), fds, amount, counted, since };
        self.starts.wait(start, Waiting::Message(held));
    }

    /// Takes a message that was kept off the account of its sender, and its descriptors with it.
    fn release(&mut self, held: &Held, fx: &mut Effects) {
        if let Some(peer) = self.peers.get_mut(held.from) {
            peer.held.subtract(held.amount);
        }
        if let Some(fds) = held.fds {
            fx.push(Effect::ReleaseFds(fds));
        }
    }

    /// A name has an owner: whoever waits for it has waited enough.
    pub(crate) fn service_arrived(&mut self, name: &str, owner: PeerId, fx: &mut Effects) {
        let Some(start) = self.starts.find(name).and_then(|id| self.starts.take(id)) else {
            return;
        };
        fx.log(Event::Started { name: start.name });
        for waiting in start.waiting {
            match waiting {
                Waiting::Caller(asker) => self.send_started(asker, fx),
                Waiting::Message(held) => self.deliver_held(&held, owner, fx),
                Waiting::Order(order) => self.send_late_order(owner, &order, fx),
            }
        }
    }

    /// Answers StartServiceByName.
    fn send_started(&mut self, asker: Asker, fx: &mut Effects) {
        let builder = Builder::method_return(asker.serial);
        self.send_own(asker.peer, builder, &(Started::Now as u32,), Fds::None, fx)
            .expect("a number is short");
    }

    /// Routes a message that has waited for its recipient, as if it came now.
    fn deliver_held(&mut self, held: &Held, to: PeerId, fx: &mut Effects) {
        let message = Message::parse(&held.bytes).expect("it was valid when it came");
        let head = fx.stamp_whole(&message, &self.peers[held.from].sender);
        let fds = held.fds.map_or(Fds::None, Fds::Held);
        let forward = Forward { message: &message, from: held.from, head, body: Body::InHead, fds };
        self.trace_late(&forward, held.since, to, fx);
        let handled = core::mem::replace(&mut self.counted, held.counted);
        if let Err(error) = self.pass_on(&forward, to, fx) {
            self.refuse(held.from, &message, &error, fx);
        }
        self.counted = handled;
        self.release(held, fx);
    }

    /// A start went wrong; whether it still matters is seen here.
    pub(crate) fn start_failed(&mut self, id: StartId, failure: &StartFailure, fx: &mut Effects) {
        if let Some(start) = self.starts.take(id) {
            let BusError { kind, text, .. } = failure.error(&start.name);
            let cause = Cause::Process;
            self.give_up(start, &Failed { error: kind.name(), text: &text, cause }, fx);
        }
    }

    /// Ends the starts that have had their time.
    pub(crate) fn end_late_starts(&mut self, fx: &mut Effects) {
        while let Some(start) = self.starts.pop_expired(self.now) {
            fx.push(Effect::Abandon { start: start.id });
            let millis = start.timeout.unwrap_or_default().as_millis();
            let name = &start.name;
            let BusError { kind, text, .. } = ErrorKind::TimedOut.because(format!(
                "Failed to activate service '{name}': timed out (service_start_timeout={millis}ms)"
            ));
            let cause = Cause::Timeout;
            self.give_up(start, &Failed { error: kind.name(), text: &text, cause }, fx);
        }
    }

    /// Tells all who wait for a service that it does not come, and why.
    fn give_up(&mut self, start: Start, failed: &Failed<'_>, fx: &mut Effects) {
        let &Failed { error, text, ref cause } = failed;
        let (cause, why) = (cause.clone(), String::from(text));
        let Start { id, name, .. } = start;
        self.note_failed_start(&name, &cause, text);
        fx.log(Event::StartFailed { start: id, name, cause, why });
        for waiting in start.waiting {
            match waiting {
                Waiting::Caller(Asker { peer, serial }) => {
                    self.send_named_error(peer, serial, error, text, fx);
                }
                Waiting::Message(held) => {
                    self.trace_held(&held, fx);
                    let message = Message::parse(&held.bytes).expect("it was valid when it came");
                    self.send_named_error(held.from, message.serial(), error, text, fx);
                    self.release(&held, fx);
                }
                // Nobody waits for an answer to these.
                Waiting::Order(_) => {}
            }
        }
    }

    /// Forgets what waits on the account of a connection that takes part no more.
    pub(crate) fn drop_waiting(&mut self, peer: PeerId, fx: &mut Effects) {
        if self.starts.is_empty() {
            return;
        }
        for waiting in self.starts.take_of(peer) {
            if let Waiting::Message(held) = waiting {
                self.trace_held(&held, fx);
                self.release(&held, fx);
            }
        }
    }
}
