//! Emitting a signal.

use client::IntoName;
use serde::{Deserialize, Serialize};
use wire::message::Builder;
use wire::names::{BusName, InterfaceName, MemberName, ObjectPath};

use crate::json::{Json, read_arguments};
use crate::{CallPayload, Inspector, InspectorFailure};

/// A signal of an object, and to whom it goes. The bus puts our own name under it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SignalName {
    /// The object that it is said to come from.
    pub path: String,
    /// Its interface.
    pub interface: String,
    /// The signal.
    pub signal: String,
    /// To whom it goes; without that to everybody who wants it.
    #[serde(default)]
    pub destination: Option<String>,
}

/// A signal to be emitted.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Emission {
    /// The signal.
    #[serde(flatten)]
    pub signal: SignalName,
    /// The types of the arguments.
    #[serde(default)]
    pub signature: String,
    /// The arguments ([`json`](crate::json)).
    #[serde(default)]
    pub arguments: Vec<Json>,
}

impl Inspector {
    /// Emits a signal, and returns when it is on its way to the bus.
    ///
    /// # Errors
    ///
    /// If it was not sent: names or arguments are none, or the connection has ended.
    pub fn emit(&self, emission: &Emission) -> Result<(), InspectorFailure> {
        let arguments = read_arguments(&emission.signature, &emission.arguments)?;
        self.broadcast(&emission.signal, arguments.into())
    }

    /// Emits a signal with values, and returns when it is on its way to the bus.
    ///
    /// # Errors
    ///
    /// If it was not sent: names are none, or the connection has ended.
    pub fn broadcast(
        &self,
        signal: &SignalName,
        load: CallPayload,
    ) -> Result<(), InspectorFailure> {
        let path: ObjectPath<'_> = signal.path.as_str().into_name()?;
        let interface: InterfaceName<'_> = signal.interface.as_str().into_name()?;
        let member: MemberName<'_> = signal.signal.as_str().into_name()?;
        let mut message = Builder::signal(path, interface, member);
        if let Some(destination) = &signal.destination {
            let destination: BusName<'_> = destination.as_str().into_name()?;
            message = message.destination(destination);
        }
        self.post(&message, load, self.patience.answer)
    }
}
