//! Errors of `<allow>` and `<deny>` elements.

use std::fmt;

use bus::policy::{FD_COUNT_MAX, Right};

/// Why an `<allow>` or `<deny>` is invalid.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RuleError {
    /// It has no attribute that defines its subject.
    Empty,
    /// It combines two of owning, connecting and messages.
    SeveralRights,
    /// It combines sending and receiving.
    SendAndReceive,
    /// It names an error together with an interface or a member, which errors do not have.
    ErrorWithMember(Right),
    /// It names a member without an interface or a path.
    MemberAlone,
    /// It has both `send_destination` and `send_destination_prefix`.
    TwoDestinations,
    /// It is about broadcasts, but names this recipient.
    BroadcastTo(String),
    /// A `true`/`false` attribute has another value.
    NotBoolean {
        /// The name of the attribute.
        attribute: &'static str,
        /// The value of the attribute.
        value: String,
    },
    /// `send_type` or `receive_type` has an unknown message type.
    MessageType(String),
    /// `min_fds` or `max_fds` is not a number in range.
    FdCount {
        /// The name of the attribute.
        attribute: &'static str,
        /// The value of the attribute.
        value: String,
    },
    /// It controls connecting, but is in a policy for one user.
    ConnectPerUser,
    /// It controls connecting, but is in a policy for one group.
    ConnectPerGroup,
}

impl RuleError {
    /// Writes the error of an element with this name.
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
