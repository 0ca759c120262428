//! Texts of refusals. Programs parse many of them, so they match dbus-daemon byte for byte.

use core::fmt::{self, Display, Formatter, Write};

use wire::match_rule::MATCH_RULE_LEN_MAX;

use super::refusal::{
    AccessDenial, ConnectionFact, DeniedDelivery, FullQueue, NameMethod, Objection, OwningDeniedBy,
    QueueRoom, RefusalReason,
};
use super::{DeliveryDescription, FittedText, MediatorKind};
use crate::well_known::{DRIVER_NAME, DRIVER_PATH};

impl Display for RefusalReason {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.write(&mut FittedText::new(f))
    }
}

/// The text of a refusal for the log. It differs from the text of the error if the sender may not
/// learn the reason.
#[derive(Clone, Copy, Debug)]
pub struct LoggedReason<'r>(&'r RefusalReason);

impl Display for LoggedReason<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            RefusalReason::Hidden(hidden) => {
                let path = PathOf(&hidden.delivery);
                write!(
                    FittedText::new(f),
                    "The rules of a container hide the recipient; {path}{}",
                    hidden.delivery
                )
            }
            reason => write!(f, "{reason}"),
        }
    }
}

/// The object path of a message, in front of its description. The texts of dbus-daemon do not have
/// it, but the rules of containers depend on it.
struct PathOf<'d>(&'d DeliveryDescription);

impl Display for PathOf<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.path.as_ref().map_or(Ok(()), |path| write!(f, "path=\"{path}\" "))
    }
}

impl RefusalReason {
    /// The text for the log.
    #[must_use]
    pub const fn logged(&self) -> LoggedReason<'_> {
        LoggedReason(self)
    }

    fn write(&self, f: &mut impl Write) -> fmt::Result {
        match self {
            Self::AccessDenied(denied) => write!(f, "{denied}"),
            Self::Hidden(hidden) => hidden.answer.write(f),
            Self::QueueFull(full) => write!(f, "{full}"),
            Self::FdsNotAgreed => f.write_str(
                "Tried to send message with Unix file descriptors to a client that doesn't support that.",
            ),
            Self::SerialInUse => f.write_str(
                "Message has the same reply serial as a currently-outstanding existing method call",
            ),
            Self::TooManyPendingReplies { .. } => f.write_str(
                "The maximum number of pending replies per connection has been reached",
            ),
            Self::UnknownMessageType => {
                f.write_str("Message bus will not accept messages of unknown type\n")
            }
            Self::MessageTooLong => f.write_str(
                "The message exceeds the maximum length when SENDER is added",
            ),
            Self::ReplyTooLong => f.write_str("The reply would exceed the maximum length of a message"),
            Self::FdsLost => f.write_str(
                "The file descriptors of the message could not be received: the \
                 bus has reached its limit of open files, or the share of this user",
            ),
            Self::CalleeDisconnected => {
                f.write_str("Message recipient disconnected from message bus without replying")
            }
            Self::ReplyTimedOut => {
                f.write_str("Message did not receive a reply (timeout by message bus)")
            }
            Self::Undelivered(shortage) => {
                write!(f, "A message could not be delivered: {}", shortage.as_str())
            }
            Self::NotRegistered => f.write_str(
                "Client tried to send a message other than Hello without being registered",
            ),
            Self::NotStarted { name } => write!(f, "Name \"{name}\" does not exist"),
            Self::NotActivatable { name } => {
                write!(f, "The name {name} was not provided by any .service files")
            }
            Self::TooManyStarts { name, max, .. } => write!(
                f,
                "The maximum number of pending activations has been reached, activation of {name} \
                 failed (max_pending_service_starts={max})"
            ),
            Self::TooMuchHeld { max_bytes, max_fds, .. } => write!(
                f,
                "Too many bytes or descriptors of this connection are held for services that are starting \
                 (max_incoming_bytes={max_bytes}, max_incoming_unix_fds={max_fds})"
            ),
            Self::AlreadyRegistered => f.write_str("Already handled an Hello message"),
            Self::TooManyConnections { max, .. } => write!(
                f,
                "The maximum number of active connections has been reached \
                 (max_completed_connections={max})"
            ),
            Self::TooManyConnectionsOfUser { uid, max, .. } => write!(
                f,
                "The maximum number of active connections for UID {uid} has been reached \
                 (max_connections_per_user={max})"
            ),
            Self::InvalidArguments(error) => write!(f, "{error}"),
            Self::WrongSignature { method, received, expected } => {
                writeln!(f, "Call to {method} has wrong args ({received}, expected {expected})")
            }
            Self::WrongPath { method } => write!(
                f,
                "Method '{method}' is only available at the canonical object path '{DRIVER_PATH}'"
            ),
            Self::InterfaceNotUnderstood { member } | Self::MethodNotUnderstood { member } => {
                write!(f, "{DRIVER_NAME} does not understand message {member}")
            }
            Self::PeerMethodUnknown { interface, member, signature } => {
                let interface = interface.as_deref().unwrap_or("(null)");
                writeln!(
                    f,
                    "Method \"{member}\" with signature \"{signature}\" on interface \
                     \"{interface}\" doesn't exist"
                )
            }
            Self::CallerContained { method, caller, process } => write!(
                f,
                "rejected attempt to call {method} by connection {caller} ({process}) in container"
            ),
            Self::Container(refusal) => write!(f, "{refusal}"),
            Self::Lane(refusal) => write!(f, "{refusal}"),
            Self::NotPrivileged { method, caller, process } => {
                write!(
                    f,
                    "rejected attempt to call {method} by connection {caller} ({process}) with "
                )?;
                match process.uid {
                    Some(uid) => write!(f, "uid {uid}"),
                    None => f.write_str("unknown uid"),
                }
            }
            Self::PropertyInterfaceUnknown { interface } => {
                write!(f, "Interface \"{interface}\" not found")
            }
            Self::PropertyUnknown { interface, property } => {
                write!(f, "Property \"{interface}.{property}\" not found")
            }
            Self::PropertyReadOnly { interface, property } => {
                write!(f, "Property '{interface}.{property}' cannot be set")
            }
            Self::NoSuchName { fact, name } => {
                write!(f, "Could not get {fact} of name '{name}': no such name")
            }
            Self::FactUnknown { fact, name } => {
                write!(f, "Could not determine {fact} for '{name}'")
            }
            Self::NoMachineId => {
                f.write_str("The machine has no id: /etc/machine-id is missing")
            }
            Self::NoStatisticsOfBus => write!(
                f,
                "GetConnectionStats is not meaningful for the message bus \"{DRIVER_NAME}\" itself"
            ),
            Self::MatchRulesTooLong => f.write_str("The match rules do not fit in a message"),
            Self::TooManyReloads { max } => write!(
                f,
                "This connection has {max} calls of ReloadConfig that wait, which is the \
                 maximum"
            ),
            Self::TooManyReplacements { max } => write!(
                f,
                "This connection has {max} calls of Reexecute that wait, which is the maximum"
            ),
            Self::ReplacementFailed(error) => write!(f, "Cannot replace the bus: {error}"),
            Self::ReloadFailed(error) | Self::RingNotOpened(error) => write!(f, "{error}"),
            Self::EnvironmentFixed => {
                f.write_str("Cannot change activation environment on a system bus.")
            }
            Self::OwningDenied { owner, name, by } => {
                write!(f, "Connection \"{owner}\" is not allowed to own the service \"{name}\" ")?;
                match by {
                    OwningDeniedBy::Policy => {
                        f.write_str("due to security policies in the configuration file")
                    }
                    OwningDeniedBy::Module(objection) => write!(f, "{objection}"),
                    OwningDeniedBy::Container => f.write_str("due to the rules of its container"),
                }
            }
            Self::NameIsUnique { method, name } => {
                let verb = match method {
                    NameMethod::Request => "acquire",
                    NameMethod::Release => "release",
                };
                write!(f, "Cannot {verb} a service starting with ':' such as \"{name}\"")
            }
            // There is no blank before "because" in dbus-daemon's text either.
            Self::BusNameRequested { caller } => write!(
                f,
                "Connection \"{caller}\" is not allowed to own the service \"{DRIVER_NAME}\"\
                 because it is reserved for D-Bus' use only"
            ),
            Self::BusNameReleased => {
                write!(f, "Cannot release the {DRIVER_NAME} service because it is owned by the bus")
            }
            Self::NameInvalid { method, name } => {
                let given = match method {
                    NameMethod::Request => "Requested",
                    NameMethod::Release => "Given",
                };
                write!(f, "{given} bus name \"{name}\" is not valid")
            }
            Self::TooManyNames { owner, max, .. } => write!(
                f,
                "Connection \"{owner}\" is not allowed to own more services \
                 (increase limits in configuration file if required; \
                 max_names_per_connection={max})"
            ),
            Self::TooManyMatchRules { owner, max, .. } => write!(
                f,
                "Connection \"{owner}\" is not allowed to add more match rules \
                 (increase limits in configuration file if required; \
                 max_match_rules_per_connection={max})"
            ),
            Self::MatchRuleTooLong { len } => {
                write!(f, "Match rule text is {len} bytes, maximum is {MATCH_RULE_LEN_MAX}")
            }
            Self::MatchRuleInvalid(error) => write!(f, "{error}"),
            Self::MatchRuleNotFound => {
                f.write_str("The given match rule wasn't found and can't be removed")
            }
            Self::MonitorFlags => f.write_str("BecomeMonitor does not support any flags yet"),
            Self::EavesdroppingDenied { name, objection } => {
                write!(f, "Connection \"{name}\" is not allowed to eavesdrop {objection}")
            }
            Self::TraceOptionUnknown { option } => write!(
                f,
                "Unknown trace option or type: '{option}'; expected Rules (as), Size (t), \
                 Kept (u) and Programs (b)"
            ),
            Self::TraceRuleNotString => f.write_str("A match rule of the trace is not a string"),
            Self::TraceExists => f.write_str("This connection has a trace already"),
            Self::NoTrace => f.write_str("This connection has no trace"),
            Self::TraceFdsNotAgreed => f.write_str(
                "A trace is a file descriptor, but this connection did not negotiate descriptors",
            ),
            Self::TooManyTraces(hit) => {
                let limit = hit.limit.as_str();
                write!(f, "There are too many traces already ({limit}={})", hit.max)
            }
        }
    }
}

impl Display for DeniedDelivery {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        const WHAT: &str = "prevents this sender from sending this message to this recipient";
        match &self.denial {
            AccessDenial::SendRules(count) => {
                write!(f, "Rejected send message, {count} matched rules")?;
            }
            AccessDenial::ReceiveRules(count) => {
                write!(f, "Rejected receive message, {count} matched rules")?;
            }
            // dbus-daemon reports a number of rules for one of the modules only.
            AccessDenial::Module(Objection::Denied(MediatorKind::AppArmor)) => {
                write!(f, "An AppArmor policy {WHAT}")?;
            }
            AccessDenial::Module(Objection::Denied(MediatorKind::Selinux)) => {
                write!(f, "An SELinux policy {WHAT}, 0 matched rules")?;
            }
            AccessDenial::Container => {
                let path = PathOf(&self.delivery);
                return write!(
                    f,
                    "The rules of a container do not allow this message; {path}{}",
                    self.delivery
                );
            }
            AccessDenial::Module(Objection::Silent { module, error }) => {
                write!(
                    f,
                    "{} could not be queried ({error}), so this sender may not send this message to this recipient",
                    module.name()
                )?;
            }
        }
        write!(f, "; {}", self.delivery)
    }
}

impl Display for FullQueue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let what = match self.room {
            QueueRoom::None => "destination has a full message queue",
            QueueRoom::ForOtherUsers => {
                "the user of the sender has used its share of the message queue of the destination"
            }
        };
        write!(f, "Rejected: {what}, 0 matched rules; {}", self.delivery)
    }
}

/// Writes the objection as the end of a sentence about the denied action.
impl Display for Objection {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied(module) => write!(f, "due to {} policy", module.name()),
            Self::Silent { module, error } => {
                write!(f, "since {} could not be queried: {error}", module.name())
            }
        }
    }
}

impl Display for ConnectionFact {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User => "UID",
            Self::Process => "PID",
            Self::Credentials => "credentials",
            Self::Container => "container instance",
            Self::AuditSession => "audit session data",
            Self::SecurityContext => "security context",
            Self::Statistics => "statistics",
            Self::Owner => "owner",
            Self::Owners => "owners",
            Self::Lane => "lane",
        })
    }
}
