//! Emits signals from the inspector's connection.

use client::IntoName;
use serde::{Deserialize, Serialize};
use wire::message::Builder;
use wire::names::{BusName, InterfaceName, MemberName, ObjectPath};

use crate::json::{Json, read_arguments};
use crate::{CallPayload, Inspector, InspectorFailure};

/// A signal, with its object and recipient. The bus sets the sender to the inspector's unique name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SignalName {
    /// The path of the object that emits the signal.
    pub path: String,
    /// The interface of the signal.
    pub interface: String,
    /// The name of the signal.
    pub signal: String,
    /// The bus name of the recipient. Without one, the signal is a broadcast.
    #[serde(default)]
    pub destination: Option<String>,
}

/// A signal with its arguments in JSON.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Emission {
    /// The signal to emit.
    #[serde(flatten)]
    pub signal: SignalName,
    /// The signature of the arguments.
    #[serde(default)]
    pub signature: String,
    /// The arguments in JSON ([`json`](crate::json)).
    #[serde(default)]
    pub arguments: Vec<Json>,
}

impl Inspector {
    /// Emits a signal, and returns when the bus's socket has accepted it.
    ///
    /// # Errors
    ///
    /// If the signal was not sent: a name is invalid, an argument does not match the signature, the
    /// bus did not read in time, or the connection ended.
    pub fn emit(&self, emission: &Emission) -> Result<(), InspectorFailure> {
        let arguments = read_arguments(&emission.signature, &emission.arguments)?;
        self.broadcast(&emission.signal, arguments.into())
    }

    /// Emits a signal whose arguments are D-Bus values, and returns when the bus's socket has
    /// accepted it.
    ///
    /// # Errors
    ///
    /// If the signal was not sent: a name is invalid, the bus did not read in time, or the
    /// connection ended.
    pub fn broadcast(
        &self,
        signal: &SignalName,
        payload: CallPayload,
    ) -> Result<(), InspectorFailure> {
        let path: ObjectPath<'_> = signal.path.as_str().into_name()?;
        let interface: InterfaceName<'_> = signal.interface.as_str().into_name()?;
        let member: MemberName<'_> = signal.signal.as_str().into_name()?;
        let mut message = Builder::signal(path, interface, member);
        if let Some(destination) = &signal.destination {
            let destination: BusName<'_> = destination.as_str().into_name()?;
            message = message.destination(destination);
        }
        self.post(&message, payload, self.timeouts.reply)
    }
}
