//! Access control by the security modules of the kernel (SELinux, AppArmor), in addition to the
//! rules of the configuration.
//!
//! A module knows the labels of processes and has rules of its own, which the bus does not see.
//! This module defines the questions; the daemon answers them with a [`Mediator`]. A bus without a
//! mediator asks no questions.
//!
//! The modules are asked before the rules of the configuration, and both must allow an action.
//! Messages of the bus itself are not mediated.

use core::fmt;

use wire::Message;

use super::AccessQuery;
pub use crate::policy::ReplyClass;
use crate::registry::Registry;
pub use crate::types::MediatorKind;
use crate::types::{ForeignError, Objection, Services};
use crate::well_known::DRIVER_NAME;

/// Asks the security modules. A label that is `None` is unknown.
pub trait Mediator: fmt::Debug {
    /// The security modules that this mediator asks.
    fn modules(&self) -> &[MediatorKind];

    /// Decides whether a connection may own a name.
    fn on_owning(&mut self, claim: &Claim<'_>) -> MediatorDecision;

    /// Decides whether a connection with this label may see messages that are addressed to others.
    fn on_eavesdropping(&mut self, label: Option<&[u8]>) -> MediatorDecision;

    /// Decides whether a message may be sent to a recipient.
    fn on_message(&mut self, transit: &Transit<'_>) -> MediatorDecision;
}

/// The decision of the security modules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MediatorDecision {
    /// All modules allow the action.
    Allows,
    /// All modules allow the action, and this module requests a log record.
    AllowsAudited(MediatorKind),
    /// This module denies the action.
    Denies(MediatorKind),
    /// This module did not answer, so the action is denied.
    Silent {
        /// The module that did not answer.
        module: MediatorKind,
        /// The error of the request.
        error: ForeignError,
    },
}

/// A request of a connection to own a name.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'q> {
    /// The security label of the connection.
    pub label: Option<&'q [u8]>,
    /// The requested well-known name.
    pub name: &'q str,
    /// The SELinux context that the configuration gives the name.
    pub context: Option<&'q str>,
}

/// A message on its way to one recipient, as the security modules see it.
#[derive(Clone, Copy, Debug)]
pub struct Transit<'q> {
    /// The message to decide about.
    pub message: &'q Message<'q>,
    /// The unique name of the sender, if it already has one.
    pub sender: Option<&'q str>,
    /// The security label of the sender.
    pub label: Option<&'q [u8]>,
    /// The recipient of the message.
    pub to: MediatedRecipient<'q>,
    /// Whether the message is a reply, and to which call.
    pub reply: ReplyClass,
}

/// The recipient of a mediated message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MediatedRecipient<'q> {
    /// The recipient is the bus itself.
    Bus,
    /// The recipient is a connection with this label.
    Peer(Option<&'q [u8]>),
    /// The recipient is a service that is not running yet. Its service file states the label it
    /// will have.
    Service(Option<&'q str>),
}

impl MediatorDecision {
    /// Returns an error if the modules deny. If a module requests a log record, it is passed to
    /// `audit`.
    pub(super) fn check(self, audit: impl FnOnce(MediatorKind)) -> Result<(), Objection> {
        match self {
            Self::Allows => Ok(()),
            Self::AllowsAudited(module) => {
                audit(module);
                Ok(())
            }
            Self::Denies(module) => Err(Objection::Denied(module)),
            Self::Silent { module, error } => Err(Objection::Silent { module, error }),
        }
    }
}

/// Returns the recipient of a message, as security modules see it.
pub(super) fn recipient<'q>(
    query: &AccessQuery<'q>,
    registry: &'q Registry,
    services: &'q Services,
) -> MediatedRecipient<'q> {
    match (query.to, query.message.destination()) {
        (Some(to), _) => MediatedRecipient::Peer(registry[to].security_label()),
        (None, Some(name)) if name != DRIVER_NAME.as_str() => {
            MediatedRecipient::Service(services.assumed_label(name.as_str()))
        }
        (None, _) => MediatedRecipient::Bus,
    }
}
