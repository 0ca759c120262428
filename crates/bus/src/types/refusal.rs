//! Reasons why the bus refuses a message, a call or a name: values with the data that their texts
//! need. `refusal_text` writes the texts.

use alloc::boxed::Box;

use wire::body::ReadError;
use wire::match_rule::MatchRuleError;

use super::{
    ContainerRefusal, DeliveryDescription, ErrorKind, ForeignError, KernelShortage, LaneRefusal,
    LimitHit, LimitName, MediatorKind, PeerId, ProcessDescription, WithheldBy,
};

/// The reason of a refusal. Each reason has an error name on the wire and a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RefusalReason {
    /// The policy or a security module denies the delivery of a message.
    AccessDenied(Box<DeniedDelivery>),
    /// The rules of a container hide the recipient from the sender.
    Hidden(Box<HiddenRecipient>),
    /// The queue of the recipient does not have room for the message.
    QueueFull(Box<FullQueue>),
    /// The recipient did not negotiate passing of file descriptors.
    FdsNotAgreed,
    /// The caller has another pending call with the same serial.
    SerialInUse,
    /// The caller has too many pending calls.
    TooManyPendingReplies {
        /// The value of the limit.
        max: u64,
    },
    /// The message is not a call, a reply or a signal.
    UnknownMessageType,
    /// The message became too long when the name of its sender was added.
    MessageTooLong,
    /// The reply of the bus would be too long.
    ReplyTooLong,
    /// The file descriptors of the message could not be received.
    FdsLost,
    /// The callee disconnected without a reply.
    CalleeDisconnected,
    /// The callee did not reply in time.
    ReplyTimedOut,
    /// The kernel did not accept the message for the socket of the recipient.
    Undelivered(KernelShortage),
    /// The sender has not called Hello.
    NotRegistered,

    /// The name does not have an owner, and the message does not start a service.
    NotStarted {
        /// The name without an owner.
        name: Box<str>,
    },
    /// No service file provides the name.
    NotActivatable {
        /// The name that cannot be started.
        name: Box<str>,
    },
    /// Too many services are being started.
    TooManyStarts {
        /// The name of the service that is not started.
        name: Box<str>,
        /// The value of the limit.
        max: u64,
        /// Number of waiting calls and messages.
        used: u64,
    },
    /// Too many messages of the sender are held for services.
    TooMuchHeld {
        /// The limit that was hit.
        hit: LimitHit,
        /// The limit on bytes.
        max_bytes: u64,
        /// The limit on file descriptors.
        max_fds: u64,
    },

    /// The connection has already called Hello.
    AlreadyRegistered,
    /// Too many connections have called Hello.
    TooManyConnections {
        /// The value of the limit.
        max: u64,
        /// The present number of connections.
        used: u64,
    },
    /// Too many connections of one user have called Hello.
    TooManyConnectionsOfUser {
        /// The user of the connections.
        uid: u32,
        /// The value of the limit.
        max: u64,
        /// The present number of connections.
        used: u64,
    },

    /// The arguments of a call cannot be read.
    InvalidArguments(ReadError),
    /// The signature of a call differs from the signature of the method.
    WrongSignature {
        /// The method that was called.
        method: &'static str,
        /// The signature of the call.
        received: Box<str>,
        /// The signature of the method.
        expected: Box<str>,
    },
    /// The method is available at the path of the bus only.
    WrongPath {
        /// The method that was called.
        method: &'static str,
    },
    /// The bus does not have the interface of the call.
    InterfaceNotUnderstood {
        /// The member that was called.
        member: Box<str>,
    },
    /// The bus does not have the method of the call.
    MethodNotUnderstood {
        /// The member that was called.
        member: Box<str>,
    },
    /// The peer interface of a connection to the bus does not have the method of a call without a
    /// destination.
    PeerMethodUnknown {
        /// The interface in the header.
        interface: Option<Box<str>>,
        /// The member in the header.
        member: Box<str>,
        /// The signature of the arguments.
        signature: Box<str>,
    },
    /// The method is not for connections in containers.
    CallerContained {
        /// The method that was called.
        method: &'static str,
        /// The name of the caller.
        caller: Box<str>,
        /// The process of the caller.
        process: Box<ProcessDescription>,
    },
    /// The method is for root and the user of the bus.
    NotPrivileged {
        /// The method that was called.
        method: &'static str,
        /// The name of the caller.
        caller: Box<str>,
        /// The process of the caller.
        process: Box<ProcessDescription>,
    },

    /// The bus does not have the interface, so it has no properties in it.
    PropertyInterfaceUnknown {
        /// The interface that is unknown.
        interface: Box<str>,
    },
    /// The interface does not have the property.
    PropertyUnknown {
        /// The interface of the property.
        interface: Box<str>,
        /// The property that is unknown.
        property: Box<str>,
    },
    /// The property cannot be set.
    PropertyReadOnly {
        /// The interface of the property.
        interface: Box<str>,
        /// The property that cannot be set.
        property: Box<str>,
    },

    /// The name that a call asks about does not have an owner.
    NoSuchName {
        /// The fact that the call asks for.
        fact: ConnectionFact,
        /// The name without an owner.
        name: Box<str>,
    },
    /// A fact about a connection is unknown.
    FactUnknown {
        /// The fact that the call asks for.
        fact: ConnectionFact,
        /// The name of the connection.
        name: Box<str>,
    },
    /// The machine does not have an id.
    NoMachineId,
    /// GetConnectionStats for the bus itself, which is not a connection.
    NoStatisticsOfBus,
    /// All match rules together do not fit in a message.
    MatchRulesTooLong,
    /// Too many calls of ReloadConfig of this connection are waiting.
    TooManyReloads {
        /// The value of the limit.
        max: usize,
    },
    /// The configuration could not be read again.
    ReloadFailed(ForeignError),
    /// Too many calls of Reexecute of this connection are waiting.
    TooManyReplacements {
        /// The value of the limit.
        max: usize,
    },
    /// No other program could replace the daemon.
    ReplacementFailed(ForeignError),
    /// The environment of services cannot be changed on a system bus.
    EnvironmentFixed,

    /// The connection may not own the name.
    OwningDenied {
        /// The name of the connection.
        owner: Box<str>,
        /// The name that it may not own.
        name: Box<str>,
        /// The rules that deny it.
        by: OwningDeniedBy,
    },
    /// RequestName or ReleaseName with the unique name of a connection.
    NameIsUnique {
        /// The method that was called.
        method: NameMethod,
        /// The unique name in the call.
        name: Box<str>,
    },
    /// RequestName with the name of the bus.
    BusNameRequested {
        /// The name of the caller.
        caller: Box<str>,
    },
    /// ReleaseName with the name of the bus.
    BusNameReleased,
    /// RequestName or ReleaseName with a text that is not a name.
    NameInvalid {
        /// The method that was called.
        method: NameMethod,
        /// The text that is not a name.
        name: Box<str>,
    },
    /// The connection has too many names.
    TooManyNames {
        /// The name of the connection.
        owner: Box<str>,
        /// The value of the limit.
        max: u64,
        /// The number of its names.
        used: u64,
    },

    /// The connection has too many match rules.
    TooManyMatchRules {
        /// The name of the connection.
        owner: Box<str>,
        /// The value of the limit.
        max: u64,
        /// The number of its rules.
        used: u64,
    },
    /// The text of a match rule is too long.
    MatchRuleTooLong {
        /// Its length in bytes.
        len: usize,
    },
    /// A text is not a match rule.
    MatchRuleInvalid(MatchRuleError),
    /// The connection does not have the match rule.
    MatchRuleNotFound,
    /// BecomeMonitor was called with flags.
    MonitorFlags,
    /// A security module does not allow the connection to see messages to others.
    EavesdroppingDenied {
        /// The name of the connection.
        name: Box<str>,
        /// The objection of the security module.
        objection: Objection,
    },

    /// A call about containers is refused.
    Container(Box<ContainerRefusal>),
    /// A call about lanes is refused.
    Lane(Box<LaneRefusal>),

    /// The options of a trace contain an unknown option.
    TraceOptionUnknown {
        /// The name of the unknown option.
        option: Box<str>,
    },
    /// A rule of a trace is not a string.
    TraceRuleNotString,
    /// The connection already has a trace.
    TraceExists,
    /// The connection does not have a trace.
    NoTrace,
    /// A trace needs a file descriptor, and the connection did not negotiate passing of
    /// descriptors.
    TraceFdsNotAgreed,
    /// There are too many traces, or they use too much memory.
    TooManyTraces(LimitHit),
    /// The ring of a trace could not be opened.
    RingNotOpened(ForeignError),
}

/// A message that the policy or a security module denies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeniedDelivery {
    /// The rules that deny it.
    pub denial: AccessDenial,
    /// The message, its sender and its recipient.
    pub delivery: DeliveryDescription,
}

/// The rules that deny a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AccessDenial {
    /// The policy rules of the sender, of which this many match.
    SendRules(usize),
    /// The policy rules of the recipient, of which this many match.
    ReceiveRules(usize),
    /// A security module of the kernel.
    Module(Objection),
    /// The filter of a container.
    Container,
}

impl AccessDenial {
    /// The rules that withhold the message, if its sender does not get an error.
    pub(crate) const fn withheld_by(&self) -> WithheldBy {
        let module = match self {
            Self::SendRules(_) => return WithheldBy::SendPolicy,
            Self::ReceiveRules(_) => return WithheldBy::ReceivePolicy,
            Self::Container => return WithheldBy::Container,
            Self::Module(Objection::Denied(module) | Objection::Silent { module, .. }) => *module,
        };
        match module {
            MediatorKind::AppArmor => WithheldBy::AppArmor,
            MediatorKind::Selinux => WithheldBy::Selinux,
        }
    }
}

/// The objection of a security module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Objection {
    /// The policy of the module denies it.
    Denied(MediatorKind),
    /// The module did not answer, so it is denied.
    Silent {
        /// The security module that was asked.
        module: MediatorKind,
        /// The error of the request.
        error: ForeignError,
    },
}

/// A message for a queue that does not have room for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FullQueue {
    /// Whether the queue has room for other users.
    pub room: QueueRoom,
    /// The connection whose queue it is.
    pub recipient: PeerId,
    /// The limit of the queue.
    pub hit: LimitHit,
    /// The message, its sender and its recipient.
    pub delivery: DeliveryDescription,
}

/// The room that is left in a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueRoom {
    /// The queue is full.
    None,
    /// The user of the sender has used its share; the rest is for other users.
    ForOtherUsers,
}

/// The facts about the owner of a name that methods of the bus return.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConnectionFact {
    /// The user of its process (`GetConnectionUnixUser`).
    User,
    /// The id of its process (`GetConnectionUnixProcessID`).
    Process,
    /// All credentials of its process (`GetConnectionCredentials`).
    Credentials,
    /// The container that it is in (`GetConnectionInstance`).
    Container,
    /// Its audit session (`GetAdtAuditSessionData`).
    AuditSession,
    /// Its SELinux context (`GetConnectionSELinuxSecurityContext`).
    SecurityContext,
    /// Its lane to the caller (`org.diligence.Lanes1`).
    Lane,
    /// The counters of the connection (`GetConnectionStats`).
    Statistics,
    /// Its unique name (`GetNameOwner`).
    Owner,
    /// The unique names of all connections in the queue for the name.
    Owners,
}

/// The rules that do not allow a connection to own a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OwningDeniedBy {
    /// The policy of the configuration.
    Policy,
    /// A security module of the kernel.
    Module(Objection),
    /// The filter of the container of the connection.
    Container,
}

/// A recipient that the rules of a container hide from the sender of a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HiddenRecipient {
    /// The error for a name without an owner. The sender cannot distinguish it from this refusal.
    pub answer: RefusalReason,
    /// The message, its sender and its recipient, for the log.
    pub delivery: DeliveryDescription,
}

/// A method about a name of the caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NameMethod {
    /// RequestName, to own a name.
    Request,
    /// ReleaseName, to give up a name.
    Release,
}

impl From<LaneRefusal> for RefusalReason {
    fn from(refusal: LaneRefusal) -> Self {
        Self::Lane(Box::new(refusal))
    }
}

impl From<ContainerRefusal> for RefusalReason {
    fn from(refusal: ContainerRefusal) -> Self {
        Self::Container(Box::new(refusal))
    }
}

impl RefusalReason {
    /// The name of the error on the wire.
    pub(crate) const fn kind(&self) -> ErrorKind {
        match self {
            Self::AccessDenied(_)
            | Self::SerialInUse
            | Self::UnknownMessageType
            | Self::NotRegistered
            | Self::WrongPath { .. }
            | Self::CallerContained { .. }
            | Self::NotPrivileged { .. }
            | Self::EnvironmentFixed
            | Self::OwningDenied { .. }
            | Self::EavesdroppingDenied { .. } => ErrorKind::AccessDenied,
            Self::QueueFull(_)
            | Self::TooManyPendingReplies { .. }
            | Self::MessageTooLong
            | Self::ReplyTooLong
            | Self::FdsLost
            | Self::Undelivered(_)
            | Self::TooManyStarts { .. }
            | Self::TooMuchHeld { .. }
            | Self::TooManyConnections { .. }
            | Self::TooManyConnectionsOfUser { .. }
            | Self::MatchRulesTooLong
            | Self::TooManyReloads { .. }
            | Self::TooManyReplacements { .. }
            | Self::TooManyNames { .. }
            | Self::TooManyMatchRules { .. }
            | Self::MatchRuleTooLong { .. }
            | Self::TooManyTraces(_) => ErrorKind::LimitsExceeded,
            Self::Container(refusal) => refusal.kind(),
            Self::Lane(refusal) => refusal.kind(),
            Self::FdsNotAgreed | Self::TraceFdsNotAgreed => ErrorKind::NotSupported,
            Self::CalleeDisconnected | Self::ReplyTimedOut => ErrorKind::NoReply,
            Self::NotStarted { .. } | Self::NoSuchName { .. } => ErrorKind::NameHasNoOwner,
            Self::NotActivatable { .. } => ErrorKind::ServiceUnknown,
            Self::Hidden(hidden) => hidden.answer.kind(),
            Self::InvalidArguments(_)
            | Self::WrongSignature { .. }
            | Self::NoStatisticsOfBus
            | Self::NameIsUnique { .. }
            | Self::BusNameRequested { .. }
            | Self::BusNameReleased
            | Self::NameInvalid { .. }
            | Self::MonitorFlags
            | Self::TraceOptionUnknown { .. }
            | Self::TraceRuleNotString => ErrorKind::InvalidArgs,
            Self::InterfaceNotUnderstood { .. } | Self::PropertyInterfaceUnknown { .. } => {
                ErrorKind::UnknownInterface
            }
            Self::MethodNotUnderstood { .. } | Self::PeerMethodUnknown { .. } => {
                ErrorKind::UnknownMethod
            }
            Self::PropertyUnknown { .. } => ErrorKind::UnknownProperty,
            Self::PropertyReadOnly { .. } => ErrorKind::PropertyReadOnly,
            Self::FactUnknown { fact, .. } => match fact {
                ConnectionFact::Process => ErrorKind::UnixProcessIdUnknown,
                ConnectionFact::AuditSession => ErrorKind::AdtAuditDataUnknown,
                ConnectionFact::SecurityContext => ErrorKind::SELinuxSecurityContextUnknown,
                _ => ErrorKind::Failed,
            },
            Self::MatchRuleInvalid(_) => ErrorKind::MatchRuleInvalid,
            Self::MatchRuleNotFound => ErrorKind::MatchRuleNotFound,
            Self::AlreadyRegistered
            | Self::NoMachineId
            | Self::ReloadFailed(_)
            | Self::ReplacementFailed(_)
            | Self::TraceExists
            | Self::NoTrace
            | Self::RingNotOpened(_) => ErrorKind::Failed,
        }
    }

    /// True if the filter of a container is the reason.
    pub(crate) fn is_by_container(&self) -> bool {
        matches!(self, Self::AccessDenied(denied) if denied.denial == AccessDenial::Container)
    }

    /// True if an administrator needs to see each refusal of this kind. Other errors are normal in
    /// the life of a program, so they are only counted.
    pub(crate) fn is_reported(&self) -> bool {
        match self {
            Self::Hidden(_) => true,
            Self::Lane(refusal) if matches!(**refusal, LaneRefusal::NotOpened(_)) => true,
            _ => matches!(self.kind(), ErrorKind::LimitsExceeded | ErrorKind::AccessDenied),
        }
    }

    /// The limit that was hit, if a limit is the reason.
    #[must_use]
    pub fn limit_hit(&self) -> Option<LimitHit> {
        let (limit, max, used) = match self {
            Self::QueueFull(full) => return Some(full.hit),
            Self::Container(refusal) => return refusal.limit_hit(),
            Self::Lane(refusal) => return refusal.limit_hit(),
            Self::TooMuchHeld { hit, .. } | Self::TooManyTraces(hit) => return Some(*hit),
            Self::TooManyPendingReplies { max } => (LimitName::RepliesPerConnection, *max, *max),
            Self::TooManyStarts { max, used, .. } => (LimitName::PendingServiceStarts, *max, *used),
            Self::TooManyConnections { max, used } => {
                (LimitName::CompletedConnections, *max, *used)
            }
            Self::TooManyConnectionsOfUser { max, used, .. } => {
                (LimitName::ConnectionsPerUser, *max, *used)
            }
            Self::TooManyNames { max, used, .. } => (LimitName::NamesPerConnection, *max, *used),
            Self::TooManyMatchRules { max, used, .. } => {
                (LimitName::MatchRulesPerConnection, *max, *used)
            }
            _ => return None,
        };
        Some(LimitHit { limit, max, used })
    }

    /// The connection that uses the largest part of the limit, if it is not the connection that
    /// gets the error.
    #[must_use]
    pub fn blamed(&self) -> Option<PeerId> {
        match self {
            Self::QueueFull(full) => Some(full.recipient),
            _ => None,
        }
    }

    /// The reason in one word: the name of the limit, or of the error.
    #[must_use]
    pub fn cause(&self) -> &'static str {
        match self {
            Self::Hidden(_) => WithheldBy::Container.word(),
            _ => self.limit_hit().map_or_else(|| self.kind().word(), |hit| hit.limit.as_str()),
        }
    }
}
