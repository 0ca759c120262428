//! A call of a method of the bus, and what every method may use.

use alloc::boxed::Box;

use wire::Message;
use wire::body::{DecodeArgs, EncodeArgs};
use wire::message::Builder;

use crate::access::describe_process;
use crate::activation::Activation;
use crate::reloads::Reloads;
use crate::routing::{Router, reply_too_long};
use crate::types::{CallId, Effects, Fds, Forward, PeerId, RefusalReason};

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
    pub(super) fn args<T: DecodeArgs<'m>>(&self) -> Result<T, RefusalReason> {
        self.message.read().map_err(RefusalReason::InvalidArguments)
    }
}

/// The components that methods of the bus use.
pub(crate) struct Driver<'b> {
    pub(crate) router: &'b mut Router,
    pub(crate) activation: &'b mut Activation,
    pub(crate) reloads: &'b mut Reloads,
}

/// A function that carries out a method.
pub(super) type Handler = fn(&mut Driver<'_>, &Call<'_>, &mut Effects) -> Result<(), RefusalReason>;

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
    pub(super) fn check_privileged(
        &self,
        call: &Call<'_>,
        method: &'static str,
    ) -> Result<(), RefusalReason> {
        if self.router.is_privileged(call.from) {
            return Ok(());
        }
        let peer = &self.router.registry[call.from];
        Err(RefusalReason::NotPrivileged {
            method,
            caller: peer.name().as_str().into(),
            process: Box::new(describe_process(peer)),
        })
    }

    /// Answers a call, if it wants an answer.
    pub(super) fn reply(
        &mut self,
        call: &Call<'_>,
        args: &impl EncodeArgs,
        fx: &mut Effects,
    ) -> Result<(), RefusalReason> {
        if !call.message.expects_reply() {
            return Ok(());
        }
        let builder = Builder::method_return(call.message.serial());
        self.router.send_own(call.from, builder, args, Fds::None, fx).map_err(reply_too_long)
    }
}
