//! A call of a method of the bus, and what every method may use.

use alloc::format;
use alloc::string::String;

use wire::Message;
use wire::body::{DecodeArgs, EncodeArgs};
use wire::message::Builder;

use crate::access::describe_process;
use crate::activation::Activation;
use crate::reloads::Reloads;
use crate::routing::{Router, reply_too_long};
use crate::types::{BusError, CallId, Effects, ErrorKind, Fds, Forward, PeerId};

/// A call of a method of the bus.
pub(crate) struct Call<'m> {
    pub(crate) from: PeerId,
    pub(crate) message: &'m Message<'m>,
}

impl<'m> Call<'m> {
    /// What identifies the call, if it is answered later.
    pub(super) const fn id(&self) -> CallId {
        CallId { peer: self.from, serial: self.message.serial() }
    }

    /// The arguments. The signature was compared with the table already, so only names that are
    /// decoded as such can be wrong.
    pub(super) fn args<T: DecodeArgs<'m>>(&self) -> Result<T, BusError> {
        self.message.read().map_err(|error| ErrorKind::InvalidArgs.because(format!("{error}")))
    }
}

/// The components that methods of the bus use.
pub(crate) struct Driver<'b> {
    pub(crate) router: &'b mut Router,
    pub(crate) activation: &'b mut Activation,
    pub(crate) reloads: &'b mut Reloads,
}

/// A function that carries out a method.
pub(super) type Handler = fn(&mut Driver<'_>, &Call<'_>, &mut Effects) -> Result<(), BusError>;

impl Driver<'_> {
    /// Shows a call to monitors and traces, if there are any.
    pub(super) fn show_call<'m>(
        &mut self,
        from: PeerId,
        message: &'m Message<'m>,
        fx: &mut Effects,
    ) -> Option<Forward<'m>> {
        if !self.router.is_watched() && !self.router.matching.has_eavesdroppers() {
            return None;
        }
        let forward = self.router.forward(from, message, fx);
        self.router.show_monitors(&forward, None, fx);
        Some(forward)
    }

    /// Some methods are for root and the user of the bus.
    pub(super) fn check_privileged(&self, call: &Call<'_>, method: &str) -> Result<(), BusError> {
        if self.router.is_privileged(call.from) {
            return Ok(());
        }
        let peer = &self.router.registry[call.from];
        let uid = match peer.user {
            Some(uid) => format!("uid {uid}"),
            None => String::from("unknown uid"),
        };
        let (name, process) = (peer.name(), describe_process(peer));
        Err(ErrorKind::AccessDenied.because(format!(
            "rejected attempt to call {method} by connection {name} ({process}) with {uid}"
        )))
    }

    /// Answers a call, if it wants an answer.
    pub(super) fn reply(
        &mut self,
        call: &Call<'_>,
        args: &impl EncodeArgs,
        fx: &mut Effects,
    ) -> Result<(), BusError> {
        if !call.message.expects_reply() {
            return Ok(());
        }
        let builder = Builder::method_return(call.message.serial());
        self.router.send_own(call.from, builder, args, Fds::None, fx).map_err(reply_too_long)
    }
}

/// The answer about a name that nobody owns.
pub(super) fn no_such_name(what: &str, name: &str) -> BusError {
    let text: String = format!("Could not get {what} of name '{name}': no such name");
    ErrorKind::NameHasNoOwner.because(text)
}
