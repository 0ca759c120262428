//! Error replies of the bus, with the names that dbus-daemon uses.

use core::fmt::{self, Write};

use wire::names::ErrorName;

/// The errors that the bus sends.
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
    NotContainer,
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
    /// The error name on the wire.
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
            Self::NotContainer => "org.freedesktop.DBus.Error.NotContainer",
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

    /// The last element of the error name.
    pub(crate) fn word(self) -> &'static str {
        let name = self.name().as_str();
        name.rsplit('.').next().unwrap_or(name)
    }
}

/// Writes the text of an error so that it fits into a message. Texts may quote data of a caller or
/// of a file, so zero bytes are removed, and a long text is truncated.
pub(crate) struct FittedText<'w, 'f> {
    out: &'w mut fmt::Formatter<'f>,
    /// Bytes that still fit; `None` after the text was truncated.
    room: Option<usize>,
}

impl<'w, 'f> FittedText<'w, 'f> {
    pub(crate) const fn new(out: &'w mut fmt::Formatter<'f>) -> Self {
        Self { out, room: Some(ERROR_TEXT_LEN_MAX) }
    }
}

impl Write for FittedText<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let Some(room) = self.room else { return Ok(()) };
        let fitting = &text[..boundary_before(text, room)];
        fitting.split('\0').try_for_each(|part| self.out.write_str(part))?;
        self.room = room.checked_sub(text.len());
        if self.room.is_none() { self.out.write_char('…') } else { Ok(()) }
    }
}

/// The last character boundary that is not after byte `limit`.
fn boundary_before(text: &str, limit: usize) -> usize {
    (0..=limit.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or_default()
}

/// Maximum length of an error text, in bytes: longer than any name or match rule that it may quote.
const ERROR_TEXT_LEN_MAX: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::borrow::ToOwned;
    use alloc::string::{String, ToString};

    /// A text that is written in these parts.
    struct TextParts<'t>(&'t [&'t str]);

    impl fmt::Display for TextParts<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            let mut fitted = FittedText::new(f);
            self.0.iter().try_for_each(|part| fitted.write_str(part))
        }
    }

    #[test]
    fn texts_are_made_to_fit_in_a_message() {
        let text = |text: &str| -> String {
            let whole = TextParts(&[text]).to_string();
            let (start, end) = text.split_at(boundary_before(text, text.len() / 2));
            assert_eq!(TextParts(&[start, "", end]).to_string(), whole, "in parts");
            whole
        };
        assert_eq!(text("short"), "short");
        assert_eq!(text("a\0b\0"), "ab");
        let exact = "x".repeat(ERROR_TEXT_LEN_MAX);
        assert_eq!(text(&exact), exact);
        assert_eq!(text(&(exact.clone() + "x")), exact + "…");
        // A character that does not fit completely is left out.
        let wide = text(&"ä".repeat(ERROR_TEXT_LEN_MAX));
        assert_eq!(wide.chars().count(), ERROR_TEXT_LEN_MAX / 2 + 1);
        let odd = text(&("x".to_owned() + &"ä".repeat(ERROR_TEXT_LEN_MAX)));
        assert_eq!(odd.len(), ERROR_TEXT_LEN_MAX - 1 + "…".len());
    }
}
