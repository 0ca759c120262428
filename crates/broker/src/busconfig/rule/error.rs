//! Every way in which an `<allow>` or `<deny>` can be wrong.

use std::fmt;

use bus::policy::{FD_COUNT_MAX, Right};

/// What is wrong with an `<allow>` or `<deny>`.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RuleError {
    /// It has no attribute that says what it is about.
    Empty,
    /// It is about two of owning, connecting and messages.
    SeveralRights,
    /// It is about sending and about receiving.
    SendAndReceive,
    /// It names an error, and also an interface or a member, which errors do not have.
    ErrorWithMember(Right),
    /// It names a member without an interface or a path.
    MemberAlone,
    /// It has both `send_destination` and `send_destination_prefix`.
    TwoDestinations,
    /// It is about signals to nobody in particular, and names this recipient.
    BroadcastTo(String),
    /// An attribute that takes `true` and `false` has another value.
    NotBoolean {
        /// The attribute.
        attribute: &'static str,
        /// Its value.
        value: String,
    },
    /// `send_type` or `receive_type` with a type that is not known.
    MessageType(String),
    /// `min_fds` or `max_fds` with something else than a number in range.
    FdCount {
        /// The attribute.
        attribute: &'static str,
        /// Its value.
        value: String,
    },
    /// It says who may connect, in a policy for one user.
    ConnectPerUser,
    /// It says who may connect, in a policy for one group.
    ConnectPerGroup,
}

impl RuleError {
    /// The error in words, of an element of this name.
    pub(crate) fn fmt_on(&self, element: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "Element <{element}> must have one or more attributes"),
            Self::SeveralRights => write!(
                f,
                "Invalid combination of attributes on element <{element}>: own, own_prefix, user, \
                 group and the message-related attributes cannot be combined"
            ),
            Self::SendAndReceive => write!(
                f,
                "Invalid combination of attributes on element <{element}>: send and receive \
                 attributes cannot be combined"
            ),
            Self::ErrorWithMember(right) => {
                let side = if *right == Right::Receive { "receive" } else { "send" };
                write!(
                    f,
                    "Invalid combination of attributes on element <{element}>: {side}_error \
                     cannot be combined with {side}_member or {side}_interface"
                )
            }
            Self::MemberAlone => write!(
                f,
                "On element <{element}>, if you specify a member you must specify an interface or \
                 a path. Keep in mind that not all messages have an interface field."
            ),
            Self::TwoDestinations => write!(
                f,
                "Invalid combination of attributes on element <{element}>: send_destination \
                 cannot be combined with send_destination_prefix"
            ),
            Self::BroadcastTo(name) => write!(
                f,
                "Rule with send_broadcast=\"true\" and send_destination=\"{name}\" cannot match \
                 anything"
            ),
            Self::NotBoolean { attribute, value } => {
                write!(f, "Bad value \"{value}\" for {attribute} attribute, must be true or false")
            }
            Self::MessageType(value) => write!(
                f,
                "Bad message type \"{value}\", must be method_call, method_return, error, signal \
                 or *"
            ),
            Self::FdCount { attribute, value } => write!(
                f,
                "Bad value \"{value}\" for {attribute} attribute, must be an integer in range 0 \
                 to {FD_COUNT_MAX} inclusive"
            ),
            Self::ConnectPerUser => {
                write!(f, "<{element}> rule cannot be per-user because it has bus-global semantics")
            }
            Self::ConnectPerGroup => write!(
                f,
                "<{element}> rule cannot be per-group because it has bus-global semantics"
            ),
        }
    }
}
