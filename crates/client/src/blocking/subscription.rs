//! Signals that the program asked for.

use std::time::Duration;

use wire::match_rule::{MatchRule, MatchRuleError};
use wire::message::MessageType;
use wire::names::{InterfaceName, MemberName, ObjectPath};

use super::call::outcome;
use super::connection::Connection;
use super::error::CallError;
use super::link::{ReceivedMessage, deadline};
use crate::core::{Core, Ended, SignalDelivery, SubscriptionId};
use crate::name::{IntoName, InvalidName};

impl Connection {
    /// Asks for the signals that a match rule selects.
    ///
    /// The bus is given the rule if no other subscription has the same; it is taken back when the
    /// last of them is dropped. A rule may name its sender by a well-known name: only signals of
    /// the one who owns it then are selected.
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
        let rule = rule.into_rule()?;
        if rule.message_type().is_some_and(|kind| kind != MessageType::Signal) {
            return Err(SubscribeError::NotSignals);
        }
        let deadline = deadline(self.shared.call_timeout.get());
        let subscribed = self.core(|core| core.subscribe(rule, deadline));
        let (id, confirmation) = subscribed.map_err(CallError::from)?;
        // From here on the end of the subscription is its being dropped.
        let subscription = Subscription { connection: self.clone(), id };
        if let Some(call) = confirmation {
            outcome(self.wait_for_reply(call))?;
        }
        Ok(subscription)
    }

    /// Asks for one signal of one object, whoever sends it.
    pub fn subscribe_to<'a>(
        &self,
        path: impl IntoName<ObjectPath<'a>>,
        interface: impl IntoName<InterfaceName<'a>>,
        member: impl IntoName<MemberName<'a>>,
    ) -> Result<Subscription, SubscribeError> {
        let (path, interface) = (path.into_name()?, interface.into_name()?);
        let member = member.into_name()?;
        let rule = format!("type='signal',path='{path}',interface='{interface}',member='{member}'");
        self.subscribe(rule.as_str())
    }
}

/// Signals that a rule selects, kept until they are asked for; it ends when it is dropped.
#[derive(Debug)]
#[must_use = "a subscription that is dropped has ended"]
pub struct Subscription {
    connection: Connection,
    id: SubscriptionId,
}

impl Subscription {
    /// Waits for the next signal, for at most `timeout`, or forever; `None` if there was none.
    ///
    /// # Errors
    ///
    /// [`SubscriptionError::Lost`] if the program read too slowly and signals were dropped; the
    /// next call returns the first signal after them. [`SubscriptionError::Disconnected`] if the
    /// connection ended.
    pub fn next(
        &self,
        timeout: Option<Duration>,
    ) -> Result<Option<ReceivedMessage>, SubscriptionError> {
        let poll = |core: &mut Core<_>| core.poll_signal(self.id);
        match self.connection.wait_until(timeout, poll) {
            Ok(found) => found.map(delivered).transpose(),
            Err(ended) => Err(SubscriptionError::Disconnected(ended)),
        }
    }

    /// The next signal, if it is there already; the socket is not looked at. This is for programs
    /// that wait in [`process`](Connection::process) or in a loop of their own.
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

/// Why there is no next signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SubscriptionError {
    /// More signals came than are kept, and those that would come next were dropped. The
    /// subscription goes on behind them.
    #[error("{count} signals were dropped, since they were not taken fast enough")]
    Lost {
        /// How many were dropped.
        count: u64,
    },
    /// The connection ended, and all that came before was taken.
    #[error(transparent)]
    Disconnected(Ended),
}

/// What can be given where a match rule is asked for: its text, or the rule itself.
pub trait IntoRule {
    /// Checks the text.
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

/// Why a subscription did not begin.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubscribeError {
    /// The text is no match rule.
    #[error("the match rule is invalid: {0}")]
    Rule(MatchRuleError),
    /// A text is not the name that it should be.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// The rule is for messages that are no signals, which only monitors get.
    #[error("only signals can be subscribed to")]
    NotSignals,
    /// The bus did not take the rule.
    #[error("the bus did not take the match rule: {0}")]
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

fn delivered(
    delivery: SignalDelivery<std::os::fd::OwnedFd>,
) -> Result<ReceivedMessage, SubscriptionError> {
    match delivery {
        SignalDelivery::Signal(signal) => Ok(signal),
        SignalDelivery::Lost { count } => Err(SubscriptionError::Lost { count }),
    }
}
