//! What the security modules of the kernel have to say, besides the rules of the configuration.
//!
//! A module knows labels of processes and has rules of its own, which the bus never sees. Here is
//! what is asked, and when; how a module is asked is for the daemon to know, which gives the bus a
//! [`Mediator`]. On a bus without one nothing is asked.
//!
//! The rules of the configuration are asked after it: both have to agree. What the bus itself says is
//! not mediated.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::fmt;

use wire::Message;

use crate::activation::Services;
use crate::bus::Bus;
use crate::effects::{Barrier, Effects, Event};
use crate::error::{BusError, ErrorKind};
use crate::input::PeerId;
use crate::peers::{DRIVER_NAME, Peers};
use crate::policy::Passage;
pub use crate::policy::Reply;

/// Asks the security modules. Labels that are `None` are not known.
pub trait Mediator: fmt::Debug {
    /// The modules that are asked.
    fn modules(&self) -> &[Module];

    /// Whether a connection may own a name.
    fn on_owning(&mut self, claim: &Claim<'_>) -> Opinion;

    /// Whether a connection with this label may see what is addressed to others.
    fn on_eavesdropping(&mut self, label: Option<&[u8]>) -> Opinion;

    /// Whether a message may pass.
    fn on_message(&mut self, transit: &Transit<'_>) -> Opinion;
}

/// A security module.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Module {
    /// AppArmor.
    AppArmor,
    /// SELinux.
    Selinux,
}

impl Module {
    /// Its name, which is that of the bus's feature too.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AppArmor => "AppArmor",
            Self::Selinux => "SELinux",
        }
    }
}

/// What the modules say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Opinion {
    /// It may be.
    Allows,
    /// It may be, and this module wants it told.
    AllowsAudited(Module),
    /// It may not be.
    Denies(Module),
    /// This module did not answer, so it may not be.
    Silent {
        /// Which.
        module: Module,
        /// What went wrong.
        error: Box<str>,
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
    pub to: Recipient<'q>,
    /// Whether it is a reply.
    pub reply: Reply,
}

/// Who is to get a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recipient<'q> {
    /// The bus itself.
    Bus,
    /// A connection with this label.
    Peer(Option<&'q [u8]>),
    /// A service that is yet to be started, and the label that its file says it will have.
    Service(Option<&'q str>),
}

/// Why something may not be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Objection {
    Denied(Module),
    Silent { module: Module, error: Box<str> },
}

impl Bus {
    /// Whether anybody could be refused a message: by the rules, or by a security module.
    #[inline]
    pub(crate) const fn restricts(&self) -> bool {
        self.restricts
    }

    /// Whether a module has a say on this bus.
    pub(crate) fn asks(&self, module: Module) -> bool {
        self.mediator.as_ref().is_some_and(|mediator| mediator.modules().contains(&module))
    }

    /// Whether the modules let a message pass.
    pub(crate) fn mediate(
        &mut self,
        passage: &Passage<'_>,
        fx: &mut Effects,
    ) -> Result<(), Objection> {
        let Self { mediator, peers, config, .. } = self;
        let (Some(mediator), Some(from)) = (mediator, passage.from) else { return Ok(()) };
        let to = recipient(passage, peers, &config.services);
        let Passage { message, reply, .. } = *passage;
        let (sender, label) = (peers[from].unique_name(), peers[from].security_label());
        let opinion = mediator.on_message(&Transit { message, sender, label, to, reply });
        self.heed(opinion, from, fx, |bus| bus.describe("this message", passage))
    }

    /// Whether the modules let a connection own a name.
    pub(crate) fn mediate_owning(
        &mut self,
        owner: PeerId,
        name: &str,
        fx: &mut Effects,
    ) -> Result<(), BusError> {
        let Some(mediator) = &mut self.mediator else { return Ok(()) };
        let context = self.config.security_contexts.get(name).map(|context| &**context);
        let label = self.peers[owner].security_label();
        let opinion = mediator.on_owning(&Claim { label, name, context });
        let claim = |bus: &Self| format!("{} to own {name}", bus.peers[owner].name());
        self.heed(opinion, owner, fx, claim)
            .map_err(|objection| self.explain_claim(&objection, owner, name))
    }

    /// Whether the modules let a connection see what is addressed to others.
    pub(crate) fn mediate_eavesdropping(
        &mut self,
        peer: PeerId,
        fx: &mut Effects,
    ) -> Result<(), BusError> {
        let Some(mediator) = &mut self.mediator else { return Ok(()) };
        let opinion = mediator.on_eavesdropping(self.peers[peer].security_label());
        let claim = |bus: &Self| format!("{} to eavesdrop", bus.peers[peer].name());
        self.heed(opinion, peer, fx, claim).map_err(|objection| {
            let (name, why) = (self.peers[peer].name(), objection.because());
            let text = format!("Connection \"{name}\" is not allowed to eavesdrop {why}");
            ErrorKind::AccessDenied.because(text)
        })
    }

    /// Takes note of an opinion.
    fn heed(
        &self,
        opinion: Opinion,
        peer: PeerId,
        fx: &mut Effects,
        what: impl FnOnce(&Self) -> String,
    ) -> Result<(), Objection> {
        match opinion {
            Opinion::Allows => Ok(()),
            Opinion::AllowsAudited(module) => {
                let what = format!("{} audits {}", module.name(), what(self));
                fx.log(Event::Allowed { peer, what });
                Ok(())
            }
            Opinion::Denies(module) => Err(Objection::Denied(module)),
            Opinion::Silent { module, error } => Err(Objection::Silent { module, error }),
        }
    }

    fn explain_claim(&self, objection: &Objection, owner: PeerId, name: &str) -> BusError {
        let (owner, why) = (self.peers[owner].name(), objection.because());
        ErrorKind::AccessDenied.because(format!(
            "Connection \"{owner}\" is not allowed to own the service \"{name}\" {why}"
        ))
    }
}

fn recipient<'q>(passage: &Passage<'q>, peers: &'q Peers, services: &'q Services) -> Recipient<'q> {
    match (passage.to, passage.message.destination()) {
        (Some(to), _) => Recipient::Peer(peers[to].security_label()),
        (None, Some(name)) if name != DRIVER_NAME.as_str() => {
            Recipient::Service(services.assumed_label(name.as_str()))
        }
        (None, _) => Recipient::Bus,
    }
}

impl Objection {
    pub(crate) const fn barrier(&self) -> Barrier {
        match self {
            Self::Denied(Module::AppArmor) | Self::Silent { module: Module::AppArmor, .. } => {
                Barrier::AppArmor
            }
            Self::Denied(Module::Selinux) | Self::Silent { module: Module::Selinux, .. } => {
                Barrier::Selinux
            }
        }
    }

    fn because(&self) -> String {
        match self {
            Self::Denied(module) => format!("due to {} policy", module.name()),
            Self::Silent { module, error } => {
                format!("since {} could not be asked: {error}", module.name())
            }
        }
    }

    /// The reference counts rules where there are none to count, of one module only.
    pub(crate) fn about_message(&self) -> String {
        const WHAT: &str = "prevents this sender from sending this message to this recipient";
        match self {
            Self::Denied(Module::AppArmor) => format!("An AppArmor policy {WHAT}"),
            Self::Denied(Module::Selinux) => format!("An SELinux policy {WHAT}, 0 matched rules"),
            Self::Silent { module, error } => {
                format!("That {} could not be asked ({error}) {WHAT}", module.name())
            }
        }
    }
}
