//! What an administrator should know.

use alloc::boxed::Box;
use core::fmt;

use super::{
    ActivationMethod, DeliveryDescription, KernelShortage, LimitHit, MediatorKind, PeerId,
    RefusalReason, StartId, StartProblem,
};

/// What keeps a message from somebody without anybody being told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WithheldBy {
    /// Its sender may not send it there.
    SendPolicy,
    /// Its recipient may not receive it.
    ReceivePolicy,
    /// AppArmor does not let it pass.
    AppArmor,
    /// SELinux does not let it pass.
    Selinux,
}

impl WithheldBy {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::SendPolicy, Self::ReceivePolicy, Self::AppArmor, Self::Selinux];

    /// It in one word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::SendPolicy => "send-policy",
            Self::ReceivePolicy => "receive-policy",
            Self::AppArmor => "apparmor",
            Self::Selinux => "selinux",
        }
    }
}

/// What the administrator should know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LogEvent {
    /// A connection has become a monitor and sees everything from now on.
    BecameMonitor {
        /// The connection.
        peer: PeerId,
    },
    /// A connection has got the ring of a trace and sees everything that goes there.
    Traces {
        /// The connection.
        peer: PeerId,
    },
    /// A connection does not keep up: signals, copies and what the bus says to it are lost from now
    /// on. Reported once until it has caught up.
    LosingSignals {
        /// Who does not read.
        peer: PeerId,
        /// Whose message was the first to be lost; `None` for the bus itself.
        sender: Option<PeerId>,
        /// The limit of what may wait for it, and how much does.
        reached: LimitHit,
    },
    /// The kernel did not take a message; it was dropped.
    Undelivered {
        /// The connection that did not get it.
        peer: PeerId,
        /// The connection that sent it; `None` for the bus itself.
        sender: Option<PeerId>,
        /// What the kernel lacks.
        shortage: KernelShortage,
    },
    /// A connection that lost messages has caught up.
    CaughtUp {
        /// Who reads again.
        peer: PeerId,
        /// Messages that it has lost.
        lost: u64,
    },
    /// A service is being started.
    Starting {
        /// Its name.
        name: Box<str>,
        /// Whom it comes from.
        method: ActivationMethod,
        /// Who wants it.
        asker: PeerId,
    },
    /// A service that was being started has its name.
    Started {
        /// Its name.
        name: Box<str>,
    },
    /// A service did not start; those who waited for it were told.
    StartFailed {
        /// Which start.
        start: StartId,
        /// Its name.
        name: Box<str>,
        /// What went wrong.
        problem: StartProblem,
    },
    /// A message was refused because of a limit or a lack of rights, and its sender was told.
    Refused {
        /// The sender.
        peer: PeerId,
        /// The reason, which the sender got as an error.
        reason: RefusalReason,
    },
    /// The policy has kept a message from a connection, and nobody was told: it was a copy of a
    /// broadcast or of what is for others, or the bus itself has sent it. Reported once for each
    /// connection.
    Withheld {
        /// Whose message; `None` for the bus itself.
        sender: Option<PeerId>,
        /// Who did not get it.
        peer: PeerId,
        /// What withheld it.
        by: WithheldBy,
        /// The error that its sender would have got.
        reason: RefusalReason,
    },
    /// Something was allowed by a rule that asks for a log record.
    Allowed {
        /// The connection that was allowed to do it.
        peer: PeerId,
        /// What was allowed, and by which rule.
        permission: LoggedPermission,
    },
}

/// Something that was allowed, and that a rule wants to be logged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LoggedPermission {
    /// A policy rule that is only logged would have denied a message.
    Unenforced {
        /// How many policy rules match.
        rules: usize,
        /// The message and its ends.
        delivery: Box<DeliveryDescription>,
    },
    /// A security module audits a message.
    Delivery {
        /// The module.
        module: MediatorKind,
        /// The message and its ends.
        delivery: Box<DeliveryDescription>,
    },
    /// A security module audits that a connection owns a name.
    Owning {
        /// The module.
        module: MediatorKind,
        /// The name of the connection.
        owner: Box<str>,
        /// The name that it owns.
        name: Box<str>,
    },
    /// A security module audits that a connection sees messages to others.
    Eavesdropping {
        /// The module.
        module: MediatorKind,
        /// The name of the connection.
        name: Box<str>,
    },
}

impl fmt::Display for LoggedPermission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unenforced { rules, delivery } => {
                write!(f, "Would reject message, {rules} matched rules; {delivery}")
            }
            Self::Delivery { module, delivery } => {
                write!(f, "{} audits this message; {delivery}", module.name())
            }
            Self::Owning { module, owner, name } => {
                write!(f, "{} audits {owner} to own {name}", module.name())
            }
            Self::Eavesdropping { module, name } => {
                write!(f, "{} audits {name} to eavesdrop", module.name())
            }
        }
    }
}
