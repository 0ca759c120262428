//! The errors that a bus answers with, under the names of the reference.

use alloc::string::String;

use wire::names::ErrorName;

/// Why the bus refuses something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ErrorKind {
    AccessDenied,
    AdtAuditDataUnknown,
    Failed,
    InvalidArgs,
    LimitsExceeded,
    MatchRuleInvalid,
    MatchRuleNotFound,
    NameHasNoOwner,
    NoReply,
    NotSupported,
    PropertyReadOnly,
    SELinuxSecurityContextUnknown,
    ServiceUnknown,
    UnixProcessIdUnknown,
    UnknownInterface,
    UnknownMethod,
    UnknownProperty,
}

impl ErrorKind {
    /// The name on the wire.
    pub(crate) const fn name(self) -> ErrorName<'static> {
        ErrorName::literal(match self {
            Self::AccessDenied => "org.freedesktop.DBus.Error.AccessDenied",
            Self::AdtAuditDataUnknown => "org.freedesktop.DBus.Error.AdtAuditDataUnknown",
            Self::Failed => "org.freedesktop.DBus.Error.Failed",
            Self::InvalidArgs => "org.freedesktop.DBus.Error.InvalidArgs",
            Self::LimitsExceeded => "org.freedesktop.DBus.Error.LimitsExceeded",
            Self::MatchRuleInvalid => "org.freedesktop.DBus.Error.MatchRuleInvalid",
            Self::MatchRuleNotFound => "org.freedesktop.DBus.Error.MatchRuleNotFound",
            Self::NameHasNoOwner => "org.freedesktop.DBus.Error.NameHasNoOwner",
            Self::NoReply => "org.freedesktop.DBus.Error.NoReply",
            Self::NotSupported => "org.freedesktop.DBus.Error.NotSupported",
            Self::PropertyReadOnly => "org.freedesktop.DBus.Error.PropertyReadOnly",
            Self::SELinuxSecurityContextUnknown => {
                "org.freedesktop.DBus.Error.SELinuxSecurityContextUnknown"
            }
            Self::ServiceUnknown => "org.freedesktop.DBus.Error.ServiceUnknown",
            Self::UnixProcessIdUnknown => "org.freedesktop.DBus.Error.UnixProcessIdUnknown",
            Self::UnknownInterface => "org.freedesktop.DBus.Error.UnknownInterface",
            Self::UnknownMethod => "org.freedesktop.DBus.Error.UnknownMethod",
            Self::UnknownProperty => "org.freedesktop.DBus.Error.UnknownProperty",
        })
    }

    /// This error with what to tell the caller.
    pub(crate) fn because(self, text: impl Into<String>) -> BusError {
        BusError { kind: self, text: text.into() }
    }
}

/// An error, and the sentence that goes with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct BusError {
    pub(crate) kind: ErrorKind,
    pub(crate) text: String,
}
