//! The methods of the bus, and how calls of them are filtered.

use sandbox::AccessLevel;
use wire::Message;
use wire::match_rule::MatchArgument;

/// How the filter handles the call of a method of the bus.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DriverCall {
    /// The call is forwarded.
    Forwarded,
    /// The call is refused.
    Refused,
    /// The first argument is a match rule, which must not eavesdrop.
    MatchRule,
    /// Hidden names are removed from the reply.
    NameList,
    /// The first argument is a name, to which the client needs this level of access.
    Name(AccessLevel),
    /// The first argument is a name. A hidden name has the reply of a name without an owner.
    NameOwner,
    /// Like [`NameOwner`](Self::NameOwner), but the reply is a boolean.
    NameHasOwner,
}

impl DriverCall {
    /// Returns how calls of a method are handled; `None` for a method that the filter does not
    /// know, which is refused.
    pub(super) fn of(member: &str) -> Option<Self> {
        Some(match member {
            "Hello" | "RemoveMatch" | "GetId" => Self::Forwarded,
            "UpdateActivationEnvironment" | "BecomeMonitor" => Self::Refused,
            "AddMatch" => Self::MatchRule,
            "ListNames" | "ListActivatableNames" => Self::NameList,
            "RequestName" | "ReleaseName" | "ListQueuedOwners" => Self::Name(AccessLevel::Own),
            "StartServiceByName" => Self::Name(AccessLevel::Talk),
            "GetConnectionUnixProcessID"
            | "GetConnectionCredentials"
            | "GetAdtAuditSessionData"
            | "GetConnectionSELinuxSecurityContext"
            | "GetConnectionUnixUser" => Self::Name(AccessLevel::See),
            "GetNameOwner" => Self::NameOwner,
            "NameHasOwner" => Self::NameHasOwner,
            _ => return None,
        })
    }
}

/// Returns the first argument of a message if it is a string.
pub(super) fn first_string<'a>(message: &Message<'a>) -> Option<&'a str> {
    match message.args().next() {
        Some(MatchArgument::String(text)) => Some(text),
        _ => None,
    }
}

/// Returns true if a match rule has, or may have, the key `eavesdrop`.
///
/// The filter does not parse the rule, because its parser could differ from the parser of the bus:
/// it refuses the word with an equals sign anywhere, even in a value.
pub(super) fn may_eavesdrop(rule: &str) -> bool {
    rule.split("eavesdrop")
        .skip(1)
        .any(|rest| rest.trim_start_matches([' ', '\t', '\n', '\r']).starts_with('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eavesdropping_is_found_in_every_form() {
        for rule in [
            "eavesdrop=true",
            "type='signal',eavesdrop='true'",
            "eavesdrop =true",
            "eavesdrop \t\r\n='false'",
            "arg0='eavesdrop='",
            "eavesdropeavesdrop=x",
        ] {
            assert!(may_eavesdrop(rule), "{rule:?}");
        }
        for rule in ["", "type='signal'", "arg0='eavesdrop'", "member='eavesdropped='", "eavesdrop"]
        {
            assert!(!may_eavesdrop(rule), "{rule:?}");
        }
    }
}
