//! The signals of one object, or those that tell who comes and goes, as they come.

use std::time::Duration;

use client::{IntoName, ReceivedMessage, Subscription, SubscriptionError};
use serde::Serialize;
use sys::clock;
use wire::names::{BusName, InterfaceName, MemberName, ObjectPath};

use crate::asking::check_len;
use crate::call::{descriptor, values};
use crate::{Descriptor, Inspector, InspectorFailure, TypedValue};

/// Signals of a kind. It ends when it is dropped.
#[derive(Debug)]
#[must_use = "a watch that is dropped has ended"]
pub struct ObjectWatch {
    subscription: Subscription,
}

/// What a watch hears.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Heard {
    /// A signal.
    Signal(HeardSignal),
    /// More signals came than are kept, and some were dropped.
    Lost {
        /// How many.
        count: u64,
    },
}

/// A signal that came.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeardSignal {
    /// When it was taken, in microseconds since 1970: more digits would not survive in JSON.
    pub at_us: u64,
    /// The unique name of its sender.
    pub sender: String,
    /// The object.
    pub path: String,
    /// The interface.
    pub interface: String,
    /// The signal.
    pub member: String,
    /// What it carries.
    #[serde(flatten)]
    pub carried: Carried,
    /// The descriptors that came along, in the order of their places. They are closed again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub descriptors: Vec<Descriptor>,
}

/// What a signal carries.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Carried {
    /// Its arguments.
    Arguments(Vec<TypedValue>),
    /// Nothing that is read, and why.
    Failure(InspectorFailure),
}

impl Inspector {
    /// Watches the signals of an object from now on. If the service has a well-known name, it is
    /// whoever owns that at the time. Nothing is started for it.
    ///
    /// # Errors
    ///
    /// If a name is none, or the bus does not take the match rule.
    pub fn watch(&self, service: &str, path: &str) -> Result<ObjectWatch, InspectorFailure> {
        let path: ObjectPath<'_> = path.into_name()?;
        self.subscribe(service, &format!("path='{path}'"))
    }

    /// Watches from now on which objects a service adds and removes: `InterfacesAdded` and
    /// `InterfacesRemoved`, of whichever of its objects manages the others.
    ///
    /// # Errors
    ///
    /// As of [`watch`](Self::watch).
    pub fn watch_objects(&self, service: &str) -> Result<ObjectWatch, InspectorFailure> {
        self.subscribe(service, "interface='org.freedesktop.DBus.ObjectManager'")
    }

    /// Watches from now on which names get another owner, or none, and which become activatable:
    /// the signals of the bus itself.
    ///
    /// # Errors
    ///
    /// As of [`watch`](Self::watch).
    pub fn watch_names(&self) -> Result<ObjectWatch, InspectorFailure> {
        self.watch("org.freedesktop.DBus", "/org/freedesktop/DBus")
    }

    /// Watches from now on who owns a name.
    ///
    /// # Errors
    ///
    /// As of [`watch`](Self::watch).
    pub fn watch_name(&self, name: &str) -> Result<ObjectWatch, InspectorFailure> {
        let name: BusName<'_> = name.into_name()?;
        let of = format!(
            "path='/org/freedesktop/DBus',interface='org.freedesktop.DBus',\
             member='NameOwnerChanged',arg0='{name}'"
        );
        self.subscribe("org.freedesktop.DBus", &of)
    }

    /// Watches from now on one signal of an object, of anybody's if no service is told.
    ///
    /// # Errors
    ///
    /// As of [`watch`](Self::watch).
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
        let of = format!("path='{path}',interface='{interface}',member='{member}'");
        match service {
            Some(service) => self.subscribe(service, &of),
            None => self.subscribe_to(&format!("type='signal',{of}")),
        }
    }

    /// Returns when the bus has the rule, so what is asked afterwards is not older than what is heard.
    fn subscribe(&self, sender: &str, of: &str) -> Result<ObjectWatch, InspectorFailure> {
        let sender: BusName<'_> = sender.into_name()?;
        self.subscribe_to(&format!("type='signal',sender='{sender}',{of}"))
    }

    fn subscribe_to(&self, rule: &str) -> Result<ObjectWatch, InspectorFailure> {
        let subscription = self.connection.subscribe(rule);
        Ok(ObjectWatch { subscription: subscription.map_err(InspectorFailure::Unwatchable)? })
    }
}

impl ObjectWatch {
    /// Waits for the next signal, for at most `timeout`, or for ever; `None` when none came.
    ///
    /// # Errors
    ///
    /// If the connection has ended.
    pub fn next(&self, timeout: Option<Duration>) -> Result<Option<Heard>, InspectorFailure> {
        heard(self.subscription.next(timeout))
    }

    /// The next signal, if it is there already. This is for programs that wait in
    /// [`process`](client::Connection::process) or in a loop of their own.
    ///
    /// # Errors
    ///
    /// As of [`next`](Self::next).
    pub fn poll(&self) -> Result<Option<Heard>, InspectorFailure> {
        heard(self.subscription.poll())
    }
}

fn heard(
    found: Result<Option<ReceivedMessage>, SubscriptionError>,
) -> Result<Option<Heard>, InspectorFailure> {
    match found {
        Ok(Some(signal)) => Ok(Some(Heard::Signal(HeardSignal::read(&signal)))),
        Ok(None) => Ok(None),
        Err(SubscriptionError::Lost { count }) => Ok(Some(Heard::Lost { count })),
        Err(SubscriptionError::Disconnected(ended)) => Err(InspectorFailure::Disconnected(ended)),
    }
}

impl HeardSignal {
    fn read(signal: &ReceivedMessage) -> Self {
        let text = |field: Option<&str>| field.unwrap_or_default().to_owned();
        Self {
            at_us: u64::try_from(clock::realtime().as_micros()).unwrap_or(u64::MAX),
            sender: text(signal.sender()),
            path: text(signal.path()),
            interface: text(signal.interface()),
            member: text(signal.member()),
            carried: Carried::read(signal).unwrap_or_else(Carried::Failure),
            descriptors: signal.descriptors().iter().map(descriptor).collect(),
        }
    }
}

impl Carried {
    fn read(signal: &ReceivedMessage) -> Result<Self, InspectorFailure> {
        check_len(signal)?;
        Ok(Self::Arguments(values(signal)?))
    }
}
