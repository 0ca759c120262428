//! A call of a method of the bus, and the helpers that all methods share.

use alloc::boxed::Box;

use wire::Message;
use wire::body::{DecodeArgs, EncodeArgs};
use wire::message::Builder;

use crate::access::describe_process;
use crate::activation::Activation;
use crate::reloads::Reloads;
use crate::replacements::Replacements;
use crate::routing::{Router, reply_too_long};
use crate::types::{CallId, Effects, Fds, Forward, PeerId, RefusalReason};

/// A call of a method of the bus.
pub(crate) struct Call<'m> {
    pub(crate) from: PeerId,
    pub(crate) message: &'m Message<'m>,
}

impl<'m> Call<'m> {
    /// Identifies the call, so that it can be answered later.
    pub(super) const fn id(&self) -> CallId {
        CallId { peer: self.from, serial: self.message.serial() }
    }

    /// Decodes the arguments. The signature was already compared with the table, so the only
    /// possible error is an invalid name.
    pub(super) fn args<T: DecodeArgs<'m>>(&self) -> Result<T, RefusalReason> {
        self.message.read().map_err(RefusalReason::InvalidArguments)
    }
}

/// The components that methods of the bus use.
pub(crate) struct Driver<'b> {
    pub(crate) router: &'b mut Router,
    pub(crate) activation: &'b mut Activation,
    pub(crate) reloads: &'b mut Reloads,
    pub(crate) replacements: &'b mut Replacements,
}

/// A function that implements a method.
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

    /// Checks that the caller is not in a container, as some methods require.
    pub(super) fn check_not_contained(
        &self,
        call: &Call<'_>,
        method: &'static str,
    ) -> Result<(), RefusalReason> {
        match self.router.registry[call.from].container {
            None => Ok(()),
            Some(_) => Err(self.contained_caller(call, method)),
        }
    }

    /// The error for a caller in a container that may not call this method.
    pub(super) fn contained_caller(&self, call: &Call<'_>, method: &'static str) -> RefusalReason {
        let peer = &self.router.registry[call.from];
        RefusalReason::CallerContained {
            method,
            caller: peer.name().as_str().into(),
            process: Box::new(describe_process(peer)),
        }
    }

    /// Checks that the caller is root or the user of the bus and is not in a container, as some
    /// methods require.
    pub(super) fn check_privileged(
        &self,
        call: &Call<'_>,
        method: &'static str,
    ) -> Result<(), RefusalReason> {
        self.check_not_contained(call, method)?;
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

    /// Answers a call if its sender expects a reply.
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
