//! Rejects names in queries that no message can have.

use super::field::TextField;
use super::pattern::Pattern;

/// The reasons why a path or member in a query is not a valid name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NameMistake {
    /// A path does not begin with a slash.
    #[error("a path begins with /; did you mean path:/{path}, or path~{path} for a part of it?")]
    PathWithoutSlash {
        /// The path without a leading slash.
        path: String,
    },
    /// A path ends with a slash.
    #[error(
        "a path does not end with /; did you mean path:{path}, or path:{path}/* for the objects \
         below it?"
    )]
    PathEndsWithSlash {
        /// The path without the slash.
        path: String,
    },
    /// A member contains its interface.
    #[error(
        "a member has no dot; did you mean interface:{interface}{}?",
        match member.as_str() {
            "" | "*" => String::new(),
            member => format!(" member:{member}"),
        }
    )]
    MemberWithInterface {
        /// The part before the last dot.
        interface: String,
        /// The part after the last dot.
        member: String,
    },
}

/// Adapts a pattern to the names of a field, or reports why it cannot match. Names of interfaces
/// and errors contain a dot, so a pattern without one matches their last part:
/// `error:UnknownMethod`.
pub(super) fn fitted(field: TextField, pattern: Pattern) -> Result<Pattern, NameMistake> {
    match field {
        TextField::Path => check_path(&pattern).map(|()| pattern),
        TextField::Member => check_member(&pattern).map(|()| pattern),
        TextField::Error | TextField::Interface => Ok(match pattern {
            Pattern::Equal(name) if !name.contains('.') => {
                Pattern::Glob(vec![Box::from(""), format!(".{name}").into()])
            }
            pattern => pattern,
        }),
        _ => Ok(pattern),
    }
}

fn check_path(pattern: &Pattern) -> Result<(), NameMistake> {
    let (start, end) = match pattern {
        Pattern::Equal(path) => (&**path, &**path),
        Pattern::Glob(parts) => match parts.as_slice() {
            [first, .., last] => (&**first, &**last),
            _ => return Ok(()),
        },
        Pattern::Contains(_) | Pattern::Regex(_) => return Ok(()),
    };
    let path = pattern.to_string();
    let is_glob = matches!(pattern, Pattern::Glob(_));
    let is_open = is_glob && start.is_empty();
    if !is_open && !start.starts_with('/') {
        return Err(NameMistake::PathWithoutSlash { path });
    }
    match path.strip_suffix('/') {
        Some(rest) if !rest.is_empty() && end.ends_with('/') => {
            Err(NameMistake::PathEndsWithSlash { path: rest.to_owned() })
        }
        _ => Ok(()),
    }
}

fn check_member(pattern: &Pattern) -> Result<(), NameMistake> {
    if !matches!(pattern, Pattern::Equal(_) | Pattern::Glob(_)) {
        return Ok(());
    }
    match pattern.to_string().rsplit_once('.') {
        Some((interface, member)) => Err(NameMistake::MemberWithInterface {
            interface: interface.to_owned(),
            member: member.to_owned(),
        }),
        None => Ok(()),
    }
}
