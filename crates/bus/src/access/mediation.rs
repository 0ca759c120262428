//! What the security modules of the kernel have to say, besides the rules of the configuration.
//!
//! A module knows labels of processes and has rules of its own, which the bus never sees. Here is
//! what is asked, and when; how a module is asked is for the daemon to know, which gives the bus a
//! [`Mediator`]. On a bus without one nothing is asked.
//!
//! The rules of the configuration are asked after it: both have to agree. What the bus itself says is
//! not mediated.

use core::fmt;

use wire::Message;

use super::AccessQuery;
pub use crate::policy::ReplyClass;
use crate::registry::Registry;
pub use crate::types::MediatorKind;
use crate::types::{ForeignError, Objection, Services};
use crate::well_known::DRIVER_NAME;

/// Asks the security modules. Labels that are `None` are not known.
pub trait Mediator: fmt::Debug {
    /// The modules that are asked.
    fn modules(&self) -> &[MediatorKind];

    /// Whether a connection may own a name.
    fn on_owning(&mut self, claim: &Claim<'_>) -> Opinion;

    /// Whether a connection with this label may see what is addressed to others.
    fn on_eavesdropping(&mut self, label: Option<&[u8]>) -> Opinion;

    /// Whether a message may pass.
    fn on_message(&mut self, transit: &Transit<'_>) -> Opinion;
}

/// What the modules say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Opinion {
    /// It may be.
    Allows,
    /// It may be, and this module wants it told.
    AllowsAudited(MediatorKind),
    /// It may not be.
    Denies(MediatorKind),
    /// This module did not answer, so it may not be.
    Silent {
        /// Which.
        module: MediatorKind,
        /// What went wrong.
        error: ForeignError,
    },
}

/// A connection that wants to own a name.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'q> {
    /// The label of the connection.
    pub label: Option<&'q [u8]>,
    /// The name.
    pub name: &'q str,
    /// The SELinux context that the configuration gives the name.
    pub context: Option<&'q str>,
}

/// A message on its way to one recipient.
#[derive(Clone, Copy, Debug)]
pub struct Transit<'q> {
    /// The message.
    pub message: &'q Message<'q>,
    /// The unique name of its sender, if it has one yet.
    pub sender: Option<&'q str>,
    /// The label of its sender.
    pub label: Option<&'q [u8]>,
    /// Who is to get it.
    pub to: MediatedRecipient<'q>,
    /// Whether it is a reply.
    pub reply: ReplyClass,
}

/// Who is to get a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MediatedRecipient<'q> {
    /// The bus itself.
    Bus,
    /// A connection with this label.
    Peer(Option<&'q [u8]>),
    /// A service that is yet to be started, and the label that its file says it will have.
    Service(Option<&'q str>),
}

impl Opinion {
    /// The objection, if the modules deny. If a module wants an audit record, it is passed to
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

/// The recipient of a message, as modules see it.
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
