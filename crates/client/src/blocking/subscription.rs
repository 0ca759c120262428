//! Subscriptions to signals, and their errors.

use std::os::fd::OwnedFd;
use std::time::Duration;

use wire::match_rule::{MatchRule, MatchRuleError};
use wire::message::MessageType;
use wire::names::{InterfaceName, MemberName, ObjectPath};

use super::call::{StartedCall, call_deadline};
use super::connection::Connection;
use super::error::CallError;
use crate::core::{CalledMethod, Core, Ended, SignalDelivery, SubscriptionId};
use crate::driver;
use crate::link::{LinkState, ReceivedMessage, WaitTarget};
use crate::name::{IntoName, InvalidName};

impl Connection {
    /// Subscribes to the signals that a match rule selects.
    ///
    /// The rule is added at the bus if no other subscription has the same one, and removed when the
    /// last of them is dropped. If the rule selects its sender by a well-known name, only signals
    /// of the current owner of that name are selected.
    ///
    /// ```no_run
    /// use diligence_client::Connection;
    ///
    /// let bus = Connection::session()?;
    /// let changes = bus.subscribe("type='signal',member='NameOwnerChanged'")?;
    /// while let Some(signal) = changes.next(None)? {
    ///     let (name, old, new): (&str, &str, &str) = signal.read()?;
    ///     println!("{name}: {old} -> {new}");
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SubscribeError::Rule`] if the text is malformed; [`SubscribeError::NotSignals`] if the
    /// rule is for another type of message; [`SubscribeError::Call`] if the bus refused the rule,
    /// did not reply in time, or closed the connection.
    pub fn subscribe(&self, rule: impl IntoRule) -> Result<Subscription, SubscribeError> {
        self.start_subscription(rule)?.wait()
    }

    /// Starts a subscription without waiting for the bus to confirm its rule. The rule leaves in
    /// one write with the next message, and takes effect before it.
    ///
    /// So a program misses no signal of an object that a call creates or starts, although it learns
    /// the path of the object only from the reply:
    ///
    /// ```no_run
    /// use diligence_client::Connection;
    ///
    /// let bus = Connection::session()?;
    /// let printer = bus.proxy("org.example.Printer", "/org/example/Printer", "org.example.Printer")?;
    /// let finished = bus.start_subscription(
    ///     "type='signal',sender='org.example.Printer',interface='org.example.Job',member='Finished'",
    /// )?;
    /// let reply = printer.call("Print", &("a page",))?;
    /// let (job,): (&str,) = reply.read()?;
    /// let finished = finished.wait()?;
    /// while let Some(signal) = finished.next(None)? {
    ///     if signal.path() == Some(job) {
    ///         break;
    ///     }
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`subscribe`](Self::subscribe), except that [`StartedSubscription::wait`] reports a
    /// refusal of the bus.
    pub fn start_subscription(
        &self,
        rule: impl IntoRule,
    ) -> Result<StartedSubscription, SubscribeError> {
        let rule = rule.into_rule()?;
        if rule.message_type().is_some_and(|kind| kind != MessageType::Signal) {
            return Err(SubscribeError::NotSignals);
        }
        let deadline = call_deadline(self.call_timeout());
        let subscribed = self.core(|core| core.subscribe(rule, deadline));
        let (id, confirmation) = subscribed.map_err(CallError::from)?;
        // From here on, dropping `subscription` unsubscribes.
        let subscription = Subscription { connection: self.clone(), id };
        let add_match = || CalledMethod::of(&driver::method(driver::ADD_MATCH));
        let confirmation =
            confirmation.map(|call| StartedCall::new(self.clone(), call, add_match()));
        Ok(StartedSubscription { subscription, confirmation })
    }

    /// Subscribes to one signal of one object path, from any sender.
    ///
    /// # Errors
    ///
    /// [`SubscribeError::Name`] if one of the names is malformed; otherwise as for
    /// [`subscribe`](Self::subscribe).
    pub fn subscribe_to<'a>(
        &self,
        path: impl IntoName<ObjectPath<'a>>,
        interface: impl IntoName<InterfaceName<'a>>,
        member: impl IntoName<MemberName<'a>>,
    ) -> Result<Subscription, SubscribeError> {
        self.subscribe(signal_rule(path, interface, member)?.as_str())
    }
}

/// The match rule for one signal of one object path.
pub(crate) fn signal_rule<'a>(
    path: impl IntoName<ObjectPath<'a>>,
    interface: impl IntoName<InterfaceName<'a>>,
    member: impl IntoName<MemberName<'a>>,
) -> Result<String, InvalidName> {
    let (path, interface) = (path.into_name()?, interface.into_name()?);
    let member = member.into_name()?;
    Ok(format!("type='signal',path='{path}',interface='{interface}',member='{member}'"))
}

/// A subscription whose rule the bus may not have confirmed yet. It selects signals already.
/// Dropping it unsubscribes.
#[derive(Debug)]
#[must_use = "a subscription that is dropped has ended"]
pub struct StartedSubscription {
    subscription: Subscription,
    /// `None` if the bus had the rule already.
    confirmation: Option<StartedCall>,
}

impl StartedSubscription {
    /// Waits until the bus has confirmed the rule.
    ///
    /// # Errors
    ///
    /// [`SubscribeError::Call`] if the bus refused the rule, did not reply in time, or closed the
    /// connection.
    pub fn wait(self) -> Result<Subscription, SubscribeError> {
        if let Some(call) = self.confirmation {
            call.wait()?;
        }
        Ok(self.subscription)
    }

    pub(crate) fn into_parts(self) -> (Subscription, Option<StartedCall>) {
        (self.subscription, self.confirmation)
    }
}

/// A subscription: a queue of the signals that a match rule selects. Dropping it unsubscribes.
#[derive(Debug)]
#[must_use = "a subscription that is dropped has ended"]
pub struct Subscription {
    connection: Connection,
    id: SubscriptionId,
}

impl Subscription {
    /// Waits for the next signal, for at most `timeout`, or forever; `None` if none arrived.
    ///
    /// # Errors
    ///
    /// [`SubscriptionError::Lost`] if the program read too slowly and signals were dropped; the
    /// next call returns the first signal after them. [`SubscriptionError::Reconnected`] if the bus
    /// went away and the connection was restored; the next call returns the first signal after
    /// that. [`SubscriptionError::Disconnected`] if the connection ended.
    pub fn next(
        &self,
        timeout: Option<Duration>,
    ) -> Result<Option<ReceivedMessage>, SubscriptionError> {
        let poll = |state: &mut LinkState| state.core.poll_signal(self.id);
        match self.connection.wait_until(WaitTarget::Signal, timeout, poll) {
            Ok(found) => found.map(delivered).transpose(),
            Err(ended) => Err(SubscriptionError::Disconnected(ended)),
        }
    }

    /// Takes the next signal from the locked core.
    pub(crate) fn take(
        &self,
        core: &mut Core<OwnedFd>,
    ) -> Option<Result<ReceivedMessage, SubscriptionError>> {
        core.poll_signal(self.id).map(delivered)
    }

    /// The next signal, if it has been received; this does not read from the socket. For programs
    /// that wait in [`process`](Connection::process) or in their own event loop.
    ///
    /// # Errors
    ///
    /// As for [`next`](Self::next).
    pub fn poll(&self) -> Result<Option<ReceivedMessage>, SubscriptionError> {
        let (found, ended) = self.connection.core(|core| (core.poll_signal(self.id), core.ended()));
        match (found, ended) {
            (Some(found), _) => delivered(found).map(Some),
            (None, Some(ended)) => Err(SubscriptionError::Disconnected(ended)),
            (None, None) => Ok(None),
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.connection.core(|core| core.unsubscribe(self.id));
    }
}

/// The reason why a subscription has no next signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SubscriptionError {
    /// The queue was full, and the signals that would come next were dropped. The subscription
    /// continues after them.
    #[error("{count} signals were dropped because the subscription's queue was full")]
    Lost {
        /// Number of dropped signals.
        count: u64,
    },
    /// The bus went away, and the connection was [restored](crate::Reconnect). Signals may have
    /// been missed, so read again what they are about. The subscription continues.
    #[error("signals may have been missed, because the bus went away and came back")]
    Reconnected,
    /// The connection ended, and all earlier signals were taken.
    #[error(transparent)]
    Disconnected(Ended),
}

/// A value accepted where a match rule is expected: its text, or the rule itself.
pub trait IntoRule {
    /// Parses the text as a match rule.
    ///
    /// # Errors
    ///
    /// If the text is not a valid match rule.
    fn into_rule(self) -> Result<MatchRule, MatchRuleError>;
}

impl IntoRule for MatchRule {
    fn into_rule(self) -> Result<MatchRule, MatchRuleError> {
        Ok(self)
    }
}

impl IntoRule for &MatchRule {
    fn into_rule(self) -> Result<MatchRule, MatchRuleError> {
        Ok(self.clone())
    }
}

impl IntoRule for &str {
    fn into_rule(self) -> Result<MatchRule, MatchRuleError> {
        self.parse()
    }
}

/// The reason why a subscription could not be made.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubscribeError {
    /// The text is not a valid match rule.
    #[error("the match rule is invalid: {0}")]
    Rule(MatchRuleError),
    /// A text is not a valid name of its kind.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// The rule selects messages other than signals, which only monitors receive.
    #[error("only signals can be subscribed to")]
    NotSignals,
    /// The call of `AddMatch` failed.
    #[error("adding the match rule failed: {0}")]
    Call(CallError),
}

impl From<MatchRuleError> for SubscribeError {
    fn from(error: MatchRuleError) -> Self {
        Self::Rule(error)
    }
}

impl From<CallError> for SubscribeError {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

fn delivered(delivery: SignalDelivery<OwnedFd>) -> Result<ReceivedMessage, SubscriptionError> {
    match delivery {
        SignalDelivery::Signal(signal) => Ok(signal),
        SignalDelivery::Lost { count } => Err(SubscriptionError::Lost { count }),
        SignalDelivery::Reconnected => Err(SubscriptionError::Reconnected),
    }
}
