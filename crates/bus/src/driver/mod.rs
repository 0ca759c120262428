//! The bus as an object: `org.freedesktop.DBus` at `/org/freedesktop/DBus`
//! ("Message Bus Specification", "Message Bus Messages").
//!
//! [`table`] lists the interfaces, with a function for each method; introspection is made from the
//! same table, so it cannot say anything else than what is there.

mod connections;
mod introspect;
mod monitoring;
mod name_methods;
mod properties;
mod statistics;
mod stats;
mod table;
mod tracing;

use alloc::format;
use alloc::string::String;

pub use introspect::introspection_xml;
use table::{INTERFACES, Method, PathRule, Privilege};
pub use tracing::{RING_BYTES_MAX, RING_BYTES_MIN, RingContents, RingWish};
use wire::Message;
use wire::body::{DecodeArgs, EncodeArgs};
use wire::message::{Builder, MessageType};
use wire::names::ObjectPath;

use crate::bus::Bus;
use crate::effects::{Effects, Fds};
use crate::error::{BusError, ErrorKind};
use crate::input::PeerId;
use crate::own::reply_too_long;
use crate::peers::DRIVER_NAME;
use crate::policy::who;
use crate::route::{Forward, unknown_type};

/// The object that the bus is.
pub(crate) const DRIVER_PATH: ObjectPath<'static> = ObjectPath::literal("/org/freedesktop/DBus");

/// The one method for connections that have no name yet.
const HELLO: &str = "Hello";

/// A call of a method of the bus.
pub(crate) struct Call<'m> {
    pub(crate) from: PeerId,
    pub(crate) message: &'m Message<'m>,
}

impl<'m> Call<'m> {
    /// The arguments. The signature was compared with the table already, so only names that are
    /// decoded as such can be wrong.
    fn args<T: DecodeArgs<'m>>(&self) -> Result<T, BusError> {
        self.message.read().map_err(|error| ErrorKind::InvalidArgs.because(format!("{error}")))
    }
}

/// What a method does.
type Handler = fn(&mut Bus, &Call<'_>, &mut Effects) -> Result<(), BusError>;

impl Bus {
    /// Handles a message that is addressed to the bus.
    pub(crate) fn handle_driver_message(
        &mut self,
        from: PeerId,
        message: &Message<'_>,
        fx: &mut Effects,
    ) {
        let allowed = self.check_to_bus(from, message, fx);
        if allowed.is_ok() {
            // As with the reference, monitors see what comes of it first.
            self.hear(from, message, fx);
        }
        let is_hello = self.is_first_hello(from, message);
        // The handler of Hello shows it to monitors, with the name that it gives.
        let forward = if is_hello { None } else { self.show_driver_call(from, message, fx) };
        let outcome = allowed.and_then(|()| match message.message_type() {
            MessageType::MethodCall => self.call_driver(&Call { from, message }, fx),
            // Nothing else that the bus could want to hear comes as a signal or reply.
            _ => Ok(()),
        });
        match outcome {
            Err(error) => self.refuse(from, message, &error, fx),
            // With the call that adds it, the first rule of all already sees something.
            Ok(()) if !self.eavesdropping_rules.is_empty() => {
                let forward = forward.unwrap_or_else(|| self.forward(from, message, fx));
                self.show_eavesdroppers(&forward, None, fx);
            }
            Ok(()) => {}
        }
    }

    /// Whether a message may go to the bus. Who has said no Hello has no rules: it may say that, and
    /// other calls are told so where the method is looked for.
    fn check_to_bus(
        &mut self,
        from: PeerId,
        message: &Message<'_>,
        fx: &mut Effects,
    ) -> Result<(), BusError> {
        match message.message_type() {
            MessageType::Unknown(_) => Err(unknown_type()),
            _ if self.peers[from].is_active() => self.check_policy_to_nobody(from, message, fx),
            MessageType::MethodCall => self.check_greeting(from, message, fx),
            _ => Err(not_registered()),
        }
    }

    fn is_first_hello(&self, from: PeerId, message: &Message<'_>) -> bool {
        let is_hello = |method: &Method| method.name == HELLO && method.takes(message.signature());
        !self.peers[from].is_complete()
            && message.message_type() == MessageType::MethodCall
            && find_method(message).is_ok_and(is_hello)
    }

    /// Shows a call to monitors, if there is anybody to see it.
    fn show_driver_call<'m>(
        &mut self,
        from: PeerId,
        message: &'m Message<'m>,
        fx: &mut Effects,
    ) -> Option<Forward<'m>> {
        if !self.is_watched() && self.eavesdropping_rules.is_empty() {
            return None;
        }
        let forward = self.forward(from, message, fx);
        self.show_monitors(&forward, None, fx);
        Some(forward)
    }

    fn call_driver(&mut self, call: &Call<'_>, fx: &mut Effects) -> Result<(), BusError> {
        let is_active = self.peers[call.from].is_active();
        let method = match find_method(call.message) {
            Ok(method) if is_active || method.name == HELLO => method,
            Err(error) if is_active => return Err(error),
            _ => return Err(not_registered()),
        };
        if method.privilege == Privilege::Privileged {
            self.check_privileged(call, method.name)?;
        }
        if method.path == PathRule::Canonical && call.message.path() != Some(DRIVER_PATH) {
            return Err(ErrorKind::AccessDenied.because(format!(
                "Method '{}' is only available at the canonical object path '{DRIVER_PATH}'",
                method.name
            )));
        }
        if !method.takes(call.message.signature()) {
            return Err(ErrorKind::InvalidArgs.because(format!(
                "Call to {} has wrong args ({}, expected {})\n",
                method.name,
                call.message.signature(),
                method.signature(),
            )));
        }
        (method.handler)(self, call, fx)
    }

    /// Some methods are for the superuser and the bus's own user.
    fn check_privileged(&self, call: &Call<'_>, method: &str) -> Result<(), BusError> {
        if self.is_privileged(call.from) {
            return Ok(());
        }
        let peer = &self.peers[call.from];
        let uid = match peer.uid {
            Some(uid) => format!("uid {uid}"),
            None => String::from("unknown uid"),
        };
        let (name, who) = (peer.name(), who(peer));
        Err(ErrorKind::AccessDenied.because(format!(
            "rejected attempt to call {method} by connection {name} ({who}) with {uid}"
        )))
    }

    /// Whether a connection is one of the superuser or of the bus's own user.
    pub(crate) fn is_privileged(&self, peer: PeerId) -> bool {
        self.peers[peer].uid.is_some_and(|uid| uid == 0 || uid == self.identity.uid)
    }

    /// Answers a call, if it wants an answer.
    fn reply(
        &mut self,
        call: &Call<'_>,
        args: &impl EncodeArgs,
        fx: &mut Effects,
    ) -> Result<(), BusError> {
        if !call.message.expects_reply() {
            return Ok(());
        }
        let builder = Builder::method_return(call.message.serial());
        self.send_own(call.from, builder, args, Fds::None, fx).map_err(reply_too_long)
    }
}

fn not_registered() -> BusError {
    ErrorKind::AccessDenied
        .because("Client tried to send a message other than Hello without being registered")
}

/// Finds the method that a call is for. Without an interface it is the first of that name.
fn find_method(message: &Message<'_>) -> Result<&'static Method, BusError> {
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
    let kind = if known { ErrorKind::UnknownMethod } else { ErrorKind::UnknownInterface };
    Err(kind.because(format!("{DRIVER_NAME} does not understand message {member}")))
}

/// The answer about a name that nobody owns.
fn no_such_name(what: &str, name: &str) -> BusError {
    let text: String = format!("Could not get {what} of name '{name}': no such name");
    ErrorKind::NameHasNoOwner.because(text)
}
