//! Emitting a signal.

use client::IntoName;
use serde::{Deserialize, Serialize};
use wire::message::Builder;
use wire::names::{BusName, InterfaceName, MemberName, ObjectPath};

use crate::json::{Json, read_arguments};
use crate::{Failure, Inspector};

/// A signal to be emitted. The bus puts our own name under it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Emission {
    /// The object that it is said to come from.
    pub path: String,
    /// Its interface.
    pub interface: String,
    /// The signal.
    pub signal: String,
    /// To whom it goes; without that to everybody who wants it.
    #[serde(default)]
    pub destination: Option<String>,
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
    pub fn emit(&self, emission: &Emission) -> Result<(), Failure> {
        let path: ObjectPath<'_> = emission.path.as_str().into_name()?;
        let interface: InterfaceName<'_> = emission.interface.as_str().into_name()?;
        let signal: MemberName<'_> = emission.signal.as_str().into_name()?;
        let mut message = Builder::signal(path, interface, signal);
        if let Some(destination) = &emission.destination {
            let destination: BusName<'_> = destination.as_str().into_name()?;
            message = message.destination(destination);
        }
        let arguments = read_arguments(&emission.signature, &emission.arguments)?;
        self.post(&message, &arguments, self.patience.answer)
    }
}
