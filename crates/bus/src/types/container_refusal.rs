//! Reasons why the bus refuses a call about containers.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use super::{ErrorKind, ForeignError, LimitHit, LimitName, ProcessDescription};

/// The reason of a refusal that only calls about containers can have. dbus-daemon has the same
/// texts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ContainerRefusal {
    /// The type of the container is not an interface name.
    InvalidType,
    /// A named argument is unknown.
    UnknownArgument {
        /// The name of the argument.
        name: Box<str>,
    },
    /// A named argument has another type than it should have.
    WrongArgumentType {
        /// The name of the argument.
        argument: &'static str,
        /// The signature that it should have.
        expected: &'static str,
    },
    /// The rules are given twice, in two languages.
    TwoKindsOfRules,
    /// An argument changes a filter, and the container has none.
    NoRules,
    /// Only the user of the bus, and root, may pass a listening socket: a process that has it, too,
    /// could make the bus wait.
    SocketOfOtherUser,
    /// The container has too many rules, or their texts are too long.
    TooManyRules {
        /// The maximum number of rules.
        rules: usize,
        /// The maximum length of all texts, in bytes.
        bytes: usize,
    },
    /// A rule is invalid.
    InvalidRule {
        /// The position in the list of rules, beginning with 1.
        number: usize,
        /// The rule, or the name that it is about.
        text: Box<str>,
        /// The reason, as the end of a sentence.
        reason: String,
    },
    /// A rule of `Allow` has flags that are unknown.
    UnknownAllowFlags {
        /// The bits of the unknown flags.
        flags: u32,
    },
    /// The metadata contains a file descriptor, which the bus cannot keep.
    DescriptorInMetadata,
    /// The names and the metadata of the container are too long.
    MetadataTooLong {
        /// The unique name of the caller.
        caller: Box<str>,
        /// The process of the caller.
        process: ProcessDescription,
        /// The value of the limit.
        max: u64,
        /// The length in bytes.
        used: u64,
    },
    /// Too many containers exist.
    TooMany {
        /// The unique name of the caller.
        caller: Box<str>,
        /// The process of the caller.
        process: ProcessDescription,
        /// The value of the limit.
        max: u64,
        /// The number of containers.
        used: u64,
    },
    /// The user has too many containers.
    TooManyOfUser {
        /// The unique name of the caller.
        caller: Box<str>,
        /// The process of the caller.
        process: ProcessDescription,
        /// The user of the caller.
        uid: u32,
        /// The value of the limit.
        max: u64,
        /// The number of containers of the user.
        used: u64,
    },
    /// All ids of containers have been used.
    NoIdsLeft,
    /// The user of the caller is unknown, because it is on a network.
    UnknownUser,
    /// The socket of the container could not be opened, or a passed descriptor cannot be used.
    NotOpened(ForeignError),
    /// No container has this object path.
    NoSuchContainer {
        /// The object path in the call.
        path: Box<str>,
    },
    /// The container belongs to another user.
    OfOtherUser {
        /// The user of the caller.
        uid: u32,
        /// The user who created the container.
        owner: u32,
    },
    /// The connection is not in a container.
    NotContained {
        /// The name of the connection.
        name: Box<str>,
    },
    /// The bus itself is not in a container.
    BusNotContained,
}

impl ContainerRefusal {
    /// The name of the error on the wire.
    pub(super) const fn kind(&self) -> ErrorKind {
        match self {
            Self::InvalidType
            | Self::UnknownArgument { .. }
            | Self::WrongArgumentType { .. }
            | Self::TwoKindsOfRules
            | Self::NoRules
            | Self::InvalidRule { .. }
            | Self::UnknownAllowFlags { .. }
            | Self::DescriptorInMetadata => ErrorKind::InvalidArgs,
            Self::MetadataTooLong { .. }
            | Self::TooManyRules { .. }
            | Self::TooMany { .. }
            | Self::TooManyOfUser { .. }
            | Self::NoIdsLeft => ErrorKind::LimitsExceeded,
            Self::UnknownUser | Self::NotOpened(_) => ErrorKind::Failed,
            Self::NoSuchContainer { .. } | Self::NotContained { .. } | Self::BusNotContained => {
                ErrorKind::NotContainer
            }
            Self::OfOtherUser { .. } | Self::SocketOfOtherUser => ErrorKind::AccessDenied,
        }
    }

    /// The limit that was hit, if a limit is the reason.
    pub(super) const fn limit_hit(&self) -> Option<LimitHit> {
        let (limit, max, used) = match *self {
            Self::MetadataTooLong { max, used, .. } => {
                (LimitName::ContainerMetadataBytes, max, used)
            }
            Self::TooMany { max, used, .. } => (LimitName::Containers, max, used),
            Self::TooManyOfUser { max, used, .. } => (LimitName::ContainersPerUser, max, used),
            _ => return None,
        };
        Some(LimitHit { limit, max, used })
    }
}

impl fmt::Display for ContainerRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidType => f.write_str(
                "The container type identifier must have the syntax of an interface name",
            ),
            Self::UnknownArgument { name } => {
                write!(f, "Named parameter {name} is not understood")
            }
            Self::WrongArgumentType { argument, expected } => {
                write!(f, "Named parameter \"{argument}\" should be of type {expected}")
            }
            Self::TwoKindsOfRules => {
                f.write_str("A container cannot have both Allow and org.diligence.Rules")
            }
            Self::SocketOfOtherUser => {
                f.write_str("Only root and the user of the bus can pass a socket for a container")
            }
            Self::TooManyRules { rules, bytes } => {
                write!(f, "A container can have at most {rules} rules with {bytes} bytes")
            }
            Self::NoRules => f.write_str("The container has no rules"),
            Self::InvalidRule { number, text, reason } => {
                write!(f, "Rule {number} of the container, \"{text}\", is invalid: {reason}")
            }
            Self::UnknownAllowFlags { flags } => {
                write!(f, "A rule of Allow has unknown flags: {flags:#x}")
            }
            Self::DescriptorInMetadata => {
                f.write_str("The metadata of a container cannot contain a file descriptor")
            }
            Self::MetadataTooLong { caller, process, max, used } => write!(
                f,
                "Connection \"{caller}\" ({process}) is not allowed to set {used} bytes of \
                 container metadata (max_container_metadata_bytes={max})"
            ),
            Self::TooMany { caller, process, max, .. } => write!(
                f,
                "Connection \"{caller}\" ({process}) is not allowed to create more container \
                 servers (max_containers={max})"
            ),
            Self::TooManyOfUser { caller, process, uid, max, .. } => write!(
                f,
                "Connection \"{caller}\" ({process}) is not allowed to create more container \
                 servers for uid {uid} (max_containers_per_user={max})"
            ),
            Self::NoIdsLeft => {
                f.write_str("Too many containers created during the lifetime of this bus")
            }
            Self::UnknownUser => f.write_str("Unable to determine user ID of caller"),
            Self::NotOpened(error) => {
                write!(f, "The container could not be created: {error}")
            }
            Self::NoSuchContainer { path } => {
                write!(f, "There is no container with path '{path}'")
            }
            Self::OfOtherUser { uid, owner } => {
                write!(f, "User {uid} cannot stop a container server started by user {owner}")
            }
            Self::NotContained { name } => {
                write!(f, "Connection '{name}' is not in a container")
            }
            Self::BusNotContained => f.write_str("The message bus is not in a container"),
        }
    }
}
