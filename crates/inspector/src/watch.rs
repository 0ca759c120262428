//! Watches the signals of an object, of an object manager, or of the bus.

use std::time::Duration;

use client::{IntoName, ReceivedMessage, Subscription, SubscriptionError};
use serde::Serialize;
use sys::clock;
use wire::names::{BusName, InterfaceName, MemberName, ObjectPath};

use crate::call::{descriptor, values};
use crate::requests::check_len;
use crate::{Descriptor, Inspector, InspectorFailure, TypedValue};

/// A subscription to signals, which ends when it is dropped.
#[derive(Debug)]
#[must_use = "a watch that is dropped has ended"]
pub struct ObjectWatch {
    subscription: Subscription,
}

/// An event of a watch.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "SignalEvent"))]
#[serde(rename_all = "kebab-case")]
pub enum SignalEvent {
    /// A signal that matches arrived.
    Signal(WatchedSignal),
    /// The queue was full, and signals were dropped.
    Lost {
        /// The number of dropped signals.
        count: u64,
    },
}

/// A signal that arrived.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "WatchedSignal"))]
pub struct WatchedSignal {
    /// When the signal was received, in microseconds since 1970. Nanoseconds would exceed the
    /// precision of numbers in JavaScript.
    pub at_us: u64,
    /// The unique name of the sender.
    pub sender: String,
    /// The path of the object.
    pub path: String,
    /// The interface of the signal.
    pub interface: String,
    /// The name of the signal.
    pub member: String,
    /// The arguments, or why they could not be decoded.
    #[serde(flatten)]
    pub body: SignalBody,
    /// The file descriptors of the signal, in order of their indexes. They are already closed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub descriptors: Vec<Descriptor>,
}

/// The arguments of a signal, if they could be decoded.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SignalBody {
    /// The arguments of the signal.
    Arguments(Vec<TypedValue>),
    /// Why the arguments could not be decoded.
    Failure(InspectorFailure),
}

impl Inspector {
    /// Watches the signals of an object from now on. If `service` is a well-known name, the watch
    /// follows its current owner. No service is started.
    ///
    /// # Errors
    ///
    /// If a name is invalid, or the bus rejects the match rule.
    pub fn watch(&self, service: &str, path: &str) -> Result<ObjectWatch, InspectorFailure> {
        let path: ObjectPath<'_> = path.into_name()?;
        self.subscribe(service, &format!("path='{path}'"))
    }

    /// Watches which objects a service adds and removes from now on: the signals `InterfacesAdded`
    /// and `InterfacesRemoved` of all its object managers.
    ///
    /// # Errors
    ///
    /// Like [`watch`](Self::watch).
    pub fn watch_objects(&self, service: &str) -> Result<ObjectWatch, InspectorFailure> {
        self.subscribe(service, "interface='org.freedesktop.DBus.ObjectManager'")
    }

    /// Watches the signals of the bus itself from now on: changes of owners and of activatable
    /// names.
    ///
    /// # Errors
    ///
    /// Like [`watch`](Self::watch).
    pub fn watch_names(&self) -> Result<ObjectWatch, InspectorFailure> {
        self.watch("org.freedesktop.DBus", "/org/freedesktop/DBus")
    }

    /// Watches the owner of one name from now on.
    ///
    /// # Errors
    ///
    /// Like [`watch`](Self::watch).
    pub fn watch_name(&self, name: &str) -> Result<ObjectWatch, InspectorFailure> {
        let name: BusName<'_> = name.into_name()?;
        let terms = format!(
            "path='/org/freedesktop/DBus',interface='org.freedesktop.DBus',\
             member='NameOwnerChanged',arg0='{name}'"
        );
        self.subscribe("org.freedesktop.DBus", &terms)
    }

    /// Watches one signal of an object from now on. Without `service`, any sender matches.
    ///
    /// # Errors
    ///
    /// Like [`watch`](Self::watch).
    pub fn watch_signal(
        &self,
        service: Option<&str>,
        path: &str,
        interface: &str,
        member: &str,
    ) -> Result<ObjectWatch, InspectorFailure> {
        let path: ObjectPath<'_> = path.into_name()?;
        let interface: InterfaceName<'_> = interface.into_name()?;
        let member: MemberName<'_> = member.into_name()?;
        let terms = format!("path='{path}',interface='{interface}',member='{member}'");
        match service {
            Some(service) => self.subscribe(service, &terms),
            None => self.subscribe_to(&format!("type='signal',{terms}")),
        }
    }

    /// Returns when the bus has added the rule: a later request cannot return a state older than
    /// the first signal.
    fn subscribe(&self, sender: &str, terms: &str) -> Result<ObjectWatch, InspectorFailure> {
        let sender: BusName<'_> = sender.into_name()?;
        self.subscribe_to(&format!("type='signal',sender='{sender}',{terms}"))
    }

    fn subscribe_to(&self, rule: &str) -> Result<ObjectWatch, InspectorFailure> {
        let subscription = self.connection.subscribe(rule);
        Ok(ObjectWatch { subscription: subscription.map_err(InspectorFailure::Unwatchable)? })
    }
}

impl ObjectWatch {
    /// Waits for the next event for at most `timeout`, or without a limit. Returns `None` if the
    /// timeout passed.
    ///
    /// # Errors
    ///
    /// If the connection has ended.
    pub fn next(&self, timeout: Option<Duration>) -> Result<Option<SignalEvent>, InspectorFailure> {
        event(self.subscription.next(timeout))
    }

    /// Returns the next event if it has already arrived. This is for programs that wait in
    /// [`process`](client::Connection::process) or in their own event loop.
    ///
    /// # Errors
    ///
    /// Like [`next`](Self::next).
    pub fn poll(&self) -> Result<Option<SignalEvent>, InspectorFailure> {
        event(self.subscription.poll())
    }
}

fn event(
    found: Result<Option<ReceivedMessage>, SubscriptionError>,
) -> Result<Option<SignalEvent>, InspectorFailure> {
    match found {
        Ok(Some(signal)) => Ok(Some(SignalEvent::Signal(WatchedSignal::read(&signal)))),
        // The connection of an inspector ends with the bus, so it does not connect again.
        Ok(None) | Err(SubscriptionError::Reconnected) => Ok(None),
        Err(SubscriptionError::Lost { count }) => Ok(Some(SignalEvent::Lost { count })),
        Err(SubscriptionError::Disconnected(ended)) => Err(InspectorFailure::Disconnected(ended)),
    }
}

impl WatchedSignal {
    fn read(signal: &ReceivedMessage) -> Self {
        let text = |field: Option<&str>| field.unwrap_or_default().to_owned();
        Self {
            at_us: u64::try_from(clock::realtime().as_micros()).unwrap_or(u64::MAX),
            sender: text(signal.sender()),
            path: text(signal.path()),
            interface: text(signal.interface()),
            member: text(signal.member()),
            body: SignalBody::read(signal).unwrap_or_else(SignalBody::Failure),
            descriptors: signal.descriptors().iter().map(descriptor).collect(),
        }
    }
}

impl SignalBody {
    fn read(signal: &ReceivedMessage) -> Result<Self, InspectorFailure> {
        check_len(signal)?;
        Ok(Self::Arguments(values(signal)?))
    }
}
