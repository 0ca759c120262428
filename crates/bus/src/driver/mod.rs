//! The driver: the bus as the object `org.freedesktop.DBus` at `/org/freedesktop/DBus` ("Message
//! Bus Specification", "Message Bus Messages").
//!
//! [`table`] lists the interfaces, with a function for each method. Introspection data is generated
//! from the same table, so it always matches the methods.

mod call;
mod connections;
mod container_arguments;
mod containers;
mod daemon;
mod introspect;
mod lanes;
mod monitoring;
mod name_methods;
mod ownership;
mod peer_interface;
mod properties;
mod statistics;
mod stats;
mod table;
mod tracing;

use wire::Message;
use wire::message::MessageType;

use call::Call;
pub(crate) use call::Driver;
pub(crate) use connections::{CredentialSubject, details_read};
pub(crate) use containers::{container_opened, leave_containers, stop_container};
pub(crate) use daemon::replaced;
pub use introspect::introspection_xml;
pub(crate) use lanes::lane_opened;
pub(crate) use ownership::{announce_services, release_all_names};
pub(crate) use peer_interface::call_without_destination;
use table::{DriverMethod, INTERFACES, PathRule, Privilege};
pub(crate) use tracing::ring_opened;

use crate::access::{AccessQuery, deny};
use crate::types::{Effects, PeerId, RefusalReason};
use crate::well_known::DRIVER_PATH;

/// The only method for connections that do not have a name yet.
const HELLO: &str = "Hello";

impl Driver<'_> {
    /// Handles a message that is addressed to the bus.
    pub(crate) fn handle(&mut self, from: PeerId, message: &Message<'_>, fx: &mut Effects) {
        let allowed = self.check_access(from, message, fx);
        if allowed.is_ok() {
            // Like with dbus-daemon, monitors see the consequences of a signal before the signal.
            self.activation.handle_signal(from, message, self.router, fx);
        }
        let is_hello = self.is_first_hello(from, message);
        // The handler of Hello shows the call to monitors, with the new name of its sender.
        let forward = if is_hello { None } else { self.show_call(from, message, fx) };
        let outcome = allowed.and_then(|()| match message.message_type() {
            MessageType::MethodCall => self.call(&Call { from, message }, fx),
            // The bus ignores other signals, and its own calls do not expect replies.
            _ => Ok(()),
        });
        match outcome {
            Err(error) => self.router.refuse(from, message, &error, fx),
            // The first eavesdropping rule of a bus already matches the call that adds it.
            Ok(()) if self.router.matching.has_eavesdroppers() => {
                let forward = forward.unwrap_or_else(|| self.router.forward(from, message, fx));
                self.router.show_eavesdroppers(&forward, None, fx);
            }
            Ok(()) => {}
        }
    }

    /// Decides whether a message may be sent to the bus. A connection without a name has no policy;
    /// it may call Hello. Other calls of such a connection fail when the method is looked up.
    fn check_access(
        &mut self,
        from: PeerId,
        message: &Message<'_>,
        fx: &mut Effects,
    ) -> Result<(), RefusalReason> {
        let query = AccessQuery::without_recipient(message, from);
        let router = &mut *self.router;
        match message.message_type() {
            MessageType::Unknown(_) => Err(RefusalReason::UnknownMessageType),
            _ if router.registry[from].is_active() => router.check_access(&query, fx),
            MessageType::MethodCall => {
                let outcome = router.access.mediate(&query, &router.registry, &router.config, fx);
                outcome.map_err(|denial| deny(denial, &query, &router.registry))
            }
            _ => Err(RefusalReason::NotRegistered),
        }
    }

    fn is_first_hello(&self, from: PeerId, message: &Message<'_>) -> bool {
        let is_hello =
            |method: &DriverMethod| method.name == HELLO && method.takes(message.signature());
        !self.router.registry[from].is_registered()
            && message.message_type() == MessageType::MethodCall
            && find_method(message).is_ok_and(is_hello)
    }

    fn call(&mut self, call: &Call<'_>, fx: &mut Effects) -> Result<(), RefusalReason> {
        let is_active = self.router.registry[call.from].is_active();
        let method = match find_method(call.message) {
            Ok(method) if is_active || method.name == HELLO => method,
            Err(error) if is_active => return Err(error),
            _ => return Err(RefusalReason::NotRegistered),
        };
        match method.privilege {
            Privilege::Anyone => {}
            Privilege::NotContained => self.check_not_contained(call, method.name)?,
            Privilege::Privileged => self.check_privileged(call, method.name)?,
        }
        if method.path == PathRule::Canonical && call.message.path() != Some(DRIVER_PATH) {
            return Err(RefusalReason::WrongPath { method: method.name });
        }
        if !method.takes(call.message.signature()) {
            return Err(RefusalReason::WrongSignature {
                method: method.name,
                received: call.message.signature().as_str().into(),
                expected: method.signature().into(),
            });
        }
        (method.handler)(self, call, fx)
    }
}

/// Finds the method that a call is for. Without an interface it is the first method of that name.
fn find_method(message: &Message<'_>) -> Result<&'static DriverMethod, RefusalReason> {
    let member = message.member().map_or("", |name| name.as_str());
    let wanted = message.interface().map(|name| name.as_str());
    let at_driver = message.path() == Some(DRIVER_PATH);
    let mut known = wanted.is_none();
    for interface in INTERFACES {
        if wanted.is_some_and(|name| name != interface.name)
            || (interface.path == PathRule::Canonical && !at_driver)
        {
            continue;
        }
        known = true;
        if let Some(method) = interface.methods.iter().find(|method| method.name == member) {
            return Ok(method);
        }
    }
    let member = member.into();
    Err(match known {
        true => RefusalReason::MethodNotUnderstood { member },
        false => RefusalReason::InterfaceNotUnderstood { member },
    })
}
