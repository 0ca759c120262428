//! Events that the daemon logs for the administrator.

use alloc::boxed::Box;
use core::fmt;

use super::{
    ActivationMethod, DeliveryDescription, KernelShortage, LaneRefusal, LimitHit, MediatorKind,
    PeerId, RefusalReason, StartId, StartProblem,
};

/// The rules that withheld a message from a recipient. The sender does not get an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WithheldBy {
    /// The policy does not allow its sender to send it to this recipient.
    SendPolicy,
    /// The policy does not allow its recipient to receive it.
    ReceivePolicy,
    /// AppArmor denies the message.
    AppArmor,
    /// SELinux denies the message.
    Selinux,
    /// The filter of a container hides the message.
    Container,
}

impl WithheldBy {
    /// All values, in order of declaration.
    pub const ALL: [Self; 5] =
        [Self::SendPolicy, Self::ReceivePolicy, Self::AppArmor, Self::Selinux, Self::Container];

    /// The value in one word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::SendPolicy => "send-policy",
            Self::ReceivePolicy => "receive-policy",
            Self::AppArmor => "apparmor",
            Self::Selinux => "selinux",
            Self::Container => "container",
        }
    }
}

/// An event that an administrator needs to know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LogEvent {
    /// A connection has become a monitor: it gets a copy of each message that matches its rules.
    BecameMonitor {
        /// The connection that is the new monitor.
        peer: PeerId,
    },
    /// A connection has got the ring of a trace and can read all its records.
    Traces {
        /// The connection that reads the trace.
        peer: PeerId,
    },
    /// Lanes were ended, because a change forbids them.
    LanesEnded {
        /// The number of lanes.
        count: u64,
        /// What forbids the first of them.
        reason: LaneRefusal,
    },
    /// The queue of a connection is full: signals, copies and messages of the bus to it are being
    /// dropped. It is reported once until the connection has caught up.
    LosingSignals {
        /// The connection that does not read.
        peer: PeerId,
        /// The sender of the first dropped message; `None` for the bus itself.
        sender: Option<PeerId>,
        /// The limit of its queue, and the amount in the queue.
        reached: LimitHit,
    },
    /// The kernel did not accept a message, which was dropped.
    Undelivered {
        /// The recipient that did not get the message.
        peer: PeerId,
        /// The sender of the message; `None` for the bus itself.
        sender: Option<PeerId>,
        /// The resource that the kernel lacks.
        shortage: KernelShortage,
    },
    /// A connection for which messages were dropped has caught up.
    CaughtUp {
        /// The connection that reads again.
        peer: PeerId,
        /// Number of messages that were dropped.
        lost: u64,
    },
    /// A service is being started.
    Starting {
        /// The well-known name of the service.
        name: Box<str>,
        /// The program or the unit that is started.
        method: ActivationMethod,
        /// The connection that requested the service.
        requester: PeerId,
    },
    /// A service that was being started now owns its name.
    Started {
        /// The well-known name of the service.
        name: Box<str>,
    },
    /// A service did not start. Its waiters got an error.
    StartFailed {
        /// The id of the start.
        start: StartId,
        /// The well-known name of the service.
        name: Box<str>,
        /// The reason of the failure.
        problem: StartProblem,
    },
    /// A message was refused because of a limit or a denied permission, and its sender got an
    /// error.
    Refused {
        /// The sender of the message.
        peer: PeerId,
        /// The reason, which the sender got as an error.
        reason: RefusalReason,
    },
    /// The policy withheld a message from a connection, and no sender got an error: it was a copy
    /// of a broadcast, a copy for an eavesdropper, or a message of the bus itself. It is reported
    /// once for each connection.
    Withheld {
        /// The sender of the message; `None` for the bus itself.
        sender: Option<PeerId>,
        /// The connection that did not get the message.
        peer: PeerId,
        /// The rules that withheld it.
        by: WithheldBy,
        /// The error that the sender of an addressed message would get.
        reason: RefusalReason,
    },
    /// An action was allowed by a rule that requests a log record.
    Allowed {
        /// The connection that was allowed to act.
        peer: PeerId,
        /// The allowed action and the rule.
        permission: LoggedPermission,
    },
}

/// An allowed action for which a rule requests a log record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LoggedPermission {
    /// A policy rule that is only logged would have denied a message.
    Unenforced {
        /// Number of policy rules that match.
        rules: usize,
        /// The message, its sender and its recipient.
        delivery: Box<DeliveryDescription>,
    },
    /// A security module audits a message.
    Delivery {
        /// The security module that requests the record.
        module: MediatorKind,
        /// The message, its sender and its recipient.
        delivery: Box<DeliveryDescription>,
    },
    /// A security module audits that a connection owns a name.
    Owning {
        /// The security module that requests the record.
        module: MediatorKind,
        /// The name of the connection.
        owner: Box<str>,
        /// The name that it owns.
        name: Box<str>,
    },
    /// A security module audits that a connection sees messages to others.
    Eavesdropping {
        /// The security module that requests the record.
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
