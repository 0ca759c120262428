//! The errors that a bus answers with, under the names of the reference.

use alloc::string::String;

use wire::names::ErrorName;

use super::{LimitHit, LimitName, PeerId};

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
    NoMemory,
    NoReply,
    NotSupported,
    PropertyReadOnly,
    SELinuxSecurityContextUnknown,
    ServiceUnknown,
    SpawnChildExited,
    SpawnChildSignaled,
    SpawnConfigInvalid,
    SpawnExecFailed,
    SpawnFailedToSetup,
    SpawnFileInvalid,
    SpawnForkFailed,
    SpawnPermissionsInvalid,
    SpawnServiceNotFound,
    SpawnServiceNotValid,
    TimedOut,
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
            Self::NoMemory => "org.freedesktop.DBus.Error.NoMemory",
            Self::NoReply => "org.freedesktop.DBus.Error.NoReply",
            Self::NotSupported => "org.freedesktop.DBus.Error.NotSupported",
            Self::PropertyReadOnly => "org.freedesktop.DBus.Error.PropertyReadOnly",
            Self::SELinuxSecurityContextUnknown => {
                "org.freedesktop.DBus.Error.SELinuxSecurityContextUnknown"
            }
            Self::ServiceUnknown => "org.freedesktop.DBus.Error.ServiceUnknown",
            Self::SpawnChildExited => "org.freedesktop.DBus.Error.Spawn.ChildExited",
            Self::SpawnChildSignaled => "org.freedesktop.DBus.Error.Spawn.ChildSignaled",
            Self::SpawnConfigInvalid => "org.freedesktop.DBus.Error.Spawn.ConfigInvalid",
            Self::SpawnExecFailed => "org.freedesktop.DBus.Error.Spawn.ExecFailed",
            Self::SpawnFailedToSetup => "org.freedesktop.DBus.Error.Spawn.FailedToSetup",
            Self::SpawnFileInvalid => "org.freedesktop.DBus.Error.Spawn.FileInvalid",
            Self::SpawnForkFailed => "org.freedesktop.DBus.Error.Spawn.ForkFailed",
            Self::SpawnPermissionsInvalid => "org.freedesktop.DBus.Error.Spawn.PermissionsInvalid",
            Self::SpawnServiceNotFound => "org.freedesktop.DBus.Error.Spawn.ServiceNotFound",
            Self::SpawnServiceNotValid => "org.freedesktop.DBus.Error.Spawn.ServiceNotValid",
            Self::TimedOut => "org.freedesktop.DBus.Error.TimedOut",
            Self::UnixProcessIdUnknown => "org.freedesktop.DBus.Error.UnixProcessIdUnknown",
            Self::UnknownInterface => "org.freedesktop.DBus.Error.UnknownInterface",
            Self::UnknownMethod => "org.freedesktop.DBus.Error.UnknownMethod",
            Self::UnknownProperty => "org.freedesktop.DBus.Error.UnknownProperty",
        })
    }

    /// The last word of the name on the wire.
    pub(crate) fn word(self) -> &'static str {
        let name = self.name().as_str();
        name.rsplit('.').next().unwrap_or(name)
    }

    /// This error with what to tell the caller.
    ///
    /// Texts may quote what a caller sent or a file holds, so they are made to fit in a message.
    pub(crate) fn because(self, text: impl Into<String>) -> BusError {
        let mut text = text.into();
        if text.len() > ERROR_TEXT_LEN_MAX {
            let end =
                text.char_indices().map(|(at, _)| at).take_while(|at| *at <= ERROR_TEXT_LEN_MAX);
            text.truncate(end.last().unwrap_or_default());
            text.push('…');
            text.shrink_to_fit();
        }
        if text.contains('\0') {
            text.retain(|character| character != '\0');
        }
        BusError { kind: self, text, reached: None, blamed: None }
    }
}

/// An error, and the sentence that goes with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct BusError {
    pub(crate) kind: ErrorKind,
    pub(crate) text: String,
    /// The limit that was reached, if that is why.
    pub(crate) reached: Option<LimitHit>,
    /// Who uses so much of it, if that is not who is told.
    pub(crate) blamed: Option<PeerId>,
}

impl BusError {
    /// The same error, with the limit that was reached.
    pub(crate) fn at_limit(self, limit: LimitName, max: u64, used: u64) -> Self {
        Self { reached: Some(LimitHit { limit, max, used }), ..self }
    }

    /// The same error, which is the fault of somebody else than who is told.
    pub(crate) fn blaming(self, peer: PeerId) -> Self {
        Self { blamed: Some(peer), ..self }
    }

    /// Why, in one word: the name of the limit, or of the error.
    pub(crate) fn cause(&self) -> &'static str {
        self.reached.map_or_else(|| self.kind.word(), |reached| reached.limit.as_str())
    }
}

/// Bytes in the text of an error: more than any name or match rule that it may quote.
const ERROR_TEXT_LEN_MAX: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::borrow::ToOwned;

    #[test]
    fn texts_are_made_to_fit_in_a_message() {
        let text = |text: &str| ErrorKind::Failed.because(text).text;
        assert_eq!(text("short"), "short");
        assert_eq!(text("a\0b\0"), "ab");
        let exact = "x".repeat(ERROR_TEXT_LEN_MAX);
        assert_eq!(text(&exact), exact);
        assert_eq!(text(&(exact.clone() + "x")), exact + "…");
        // A character that the limit would cut in two goes as a whole.
        let wide = text(&"ä".repeat(ERROR_TEXT_LEN_MAX));
        assert_eq!(wide.chars().count(), ERROR_TEXT_LEN_MAX / 2 + 1);
        let odd = text(&("x".to_owned() + &"ä".repeat(ERROR_TEXT_LEN_MAX)));
        assert_eq!(odd.len(), ERROR_TEXT_LEN_MAX - 1 + "…".len());
    }
}
