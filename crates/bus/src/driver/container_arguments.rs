//! The named arguments of AddServer.

use alloc::collections::BTreeMap;
use alloc::string::ToString;
use alloc::vec::Vec;

use sandbox::{AccessLevel, MessagePattern, NameSelector, PathPattern, SandboxRule, SandboxRules};
use wire::body::Value;
use wire::names::WellKnownName;

use crate::containers::{
    ContainerRules, DescriptorRules, OutgoingBroadcasts, Representation, UniqueNames,
};
use crate::types::{ContainerDescriptors, ContainerRefusal};

/// The named arguments that AddServer accepts, in alphabetical order.
pub(super) const SUPPORTED_ARGUMENTS: &[&str] =
    &[ALLOW, REPRESENTED, LIFETIME, RULES, UNIQUE_NAMES, SOCKET];

/// Reads the rules of a container from the named arguments. Without rules, a container has no
/// filter.
pub(super) fn read_rules(
    arguments: &BTreeMap<&str, Value>,
) -> Result<Option<ContainerRules>, ContainerRefusal> {
    if let Some(&name) = arguments.keys().find(|name| !SUPPORTED_ARGUMENTS.contains(name)) {
        return Err(ContainerRefusal::UnknownArgument { name: name.into() });
    }
    let rules = match (arguments.get(ALLOW), arguments.get(RULES)) {
        (None, None) => None,
        (Some(value), None) => Some(allowed(value)?),
        (None, Some(value)) => Some(ContainerRules { names: texts(value)?, ..Default::default() }),
        (Some(_), Some(_)) => return Err(ContainerRefusal::TwoKindsOfRules),
    };
    match (rules, arguments.get(UNIQUE_NAMES)) {
        (rules, None | Some(Value::Boolean(false))) => Ok(rules),
        (Some(rules), Some(Value::Boolean(true))) => {
            Ok(Some(ContainerRules { unique_names: UniqueNames::All, ..rules }))
        }
        (None, Some(Value::Boolean(true))) => Err(ContainerRefusal::NoRules),
        (_, Some(_)) => Err(wrong_type(UNIQUE_NAMES, "b")),
    }
}

/// Reads the descriptors of a container from the named arguments of a message that has this number
/// of descriptors.
pub(super) fn read_descriptors(
    arguments: &BTreeMap<&str, Value>,
    count: u32,
) -> Result<ContainerDescriptors, ContainerRefusal> {
    let index = |name| match arguments.get(name) {
        None => Ok(None),
        Some(Value::UnixFd(index)) if *index < count => Ok(Some(*index)),
        Some(_) => Err(wrong_type(name, "h")),
    };
    Ok(ContainerDescriptors { socket: index(SOCKET)?, lifetime: index(LIFETIME)? })
}

/// Reads which process represents the connections of a container from the named arguments.
pub(super) fn read_representation(
    arguments: &BTreeMap<&str, Value>,
) -> Result<Representation, ContainerRefusal> {
    match arguments.get(REPRESENTED) {
        None | Some(Value::Boolean(false)) => Ok(Representation::Itself),
        Some(Value::Boolean(true)) => Ok(Representation::Creator),
        Some(_) => Err(wrong_type(REPRESENTED, "b")),
    }
}

/// Reads rules in the language of xdg-dbus-proxy.
fn texts(value: &Value) -> Result<SandboxRules, ContainerRefusal> {
    let Value::Array { element, items } = value else { return Err(wrong_type(RULES, "as")) };
    if element.as_str() != "s" {
        return Err(wrong_type(RULES, "as"));
    }
    parse_rules(items.iter().filter_map(|item| match item {
        Value::String(text) => Some(&**text),
        _ => None,
    }))
}

/// Parses rules in the language of xdg-dbus-proxy.
pub(super) fn parse_rules<'t>(
    texts: impl IntoIterator<Item = &'t str>,
) -> Result<SandboxRules, ContainerRefusal> {
    let texts: Vec<&str> = texts.into_iter().collect();
    check_amount(texts.len(), texts.iter().map(|text| text.len()).sum())?;
    let parse = |(index, text): (usize, &str)| {
        let rule = SandboxRule::parse(text).and_then(|rule| rule.check().map(|()| rule));
        rule.map_err(|error| invalid_rule(index, text, error))
    };
    texts.into_iter().enumerate().map(parse).collect()
}

fn invalid_rule(index: usize, text: &str, error: impl ToString) -> ContainerRefusal {
    ContainerRefusal::InvalidRule {
        number: index + 1,
        text: text.into(),
        reason: error.to_string(),
    }
}

/// Reads the rules of the argument `Allow`. They grant only what their flags say, so without rules
/// nothing outside is visible.
fn allowed(value: &Value) -> Result<ContainerRules, ContainerRefusal> {
    let wrong = || wrong_type(ALLOW, ALLOW_TYPE);
    let Value::Array { element, items } = value else { return Err(wrong()) };
    if element.as_str() != "(usos)" {
        return Err(wrong());
    }
    let len = |item: &Value| match item {
        Value::Struct(fields) => fields.iter().map(text_len).sum(),
        _ => 0,
    };
    check_amount(items.len(), items.iter().map(len).sum::<usize>())?;
    let (mut names, mut sent, mut received) =
        <(SandboxRules, SandboxRules, SandboxRules)>::default();
    for (index, item) in items.iter().enumerate() {
        let Value::Struct(fields) = item else { return Err(wrong()) };
        let [
            Value::Uint32(flags),
            Value::String(name),
            Value::ObjectPath(path),
            Value::String(method),
        ] = &fields[..]
        else {
            return Err(wrong());
        };
        let flags = *flags;
        if flags & !ALL_FLAGS != 0 {
            return Err(ContainerRefusal::UnknownAllowFlags { flags: flags & !ALL_FLAGS });
        }
        let valid = WellKnownName::new(name);
        let valid = valid.map_err(|error| invalid_rule(index, name, error))?;
        let selector = match flags & NAME_SUBTREE {
            0 => NameSelector::exact(valid),
            _ => NameSelector::subtree(valid),
        };
        let level = |level| SandboxRule::Level { names: selector.clone(), level };
        names.extend((flags & SEE != 0).then(|| level(AccessLevel::See)));
        names.extend((flags & OWN != 0).then(|| level(AccessLevel::Own)));
        if flags & TALK != 0 {
            let messages = messages(method, path.as_str(), flags);
            messages.check().map_err(|error| invalid_rule(index, name, error))?;
            names.push(SandboxRule::Call { names: selector.clone(), messages });
        }
        sent.extend((flags & SEND_DESCRIPTORS != 0).then(|| level(AccessLevel::See)));
        received.extend((flags & RECEIVE_DESCRIPTORS != 0).then(|| level(AccessLevel::See)));
    }
    Ok(ContainerRules {
        names,
        unique_names: UniqueNames::Visible,
        broadcasts: OutgoingBroadcasts::ToPermitted,
        descriptors: DescriptorRules::Selected { sent, received },
    })
}

/// The messages of a rule: the interface, or interface and member, and the path.
fn messages(method: &str, path: &str, flags: u32) -> MessagePattern {
    let path = match flags & PATH_SUBTREE {
        0 => Some(PathPattern::Exact(path.into())),
        _ if path == "/" => None,
        _ => Some(PathPattern::Subtree(path.into())),
    };
    MessagePattern { path, ..MessagePattern::parse(method) }
}

/// Checks the limits on rules. Rights are computed from all rules of a container, while everybody
/// else waits.
fn check_amount(rules: usize, bytes: usize) -> Result<(), ContainerRefusal> {
    match rules > RULES_MAX || bytes > RULE_BYTES_MAX {
        true => Err(ContainerRefusal::TooManyRules { rules: RULES_MAX, bytes: RULE_BYTES_MAX }),
        false => Ok(()),
    }
}

fn text_len(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::ObjectPath(path) => path.as_str().len(),
        _ => 0,
    }
}

fn wrong_type(argument: &'static str, expected: &'static str) -> ContainerRefusal {
    ContainerRefusal::WrongArgumentType { argument, expected }
}

/// Maximum number of rules of a container, and the maximum length of all their texts. Sandboxes have
/// a few dozen rules.
const RULES_MAX: usize = 1024;
const RULE_BYTES_MAX: usize = 64 << 10;

/// Rules as in the filter branch of dbus-daemon.
const ALLOW: &str = "Allow";
const ALLOW_TYPE: &str = "a(usos)";

/// Rules in the language of xdg-dbus-proxy.
const RULES: &str = "org.diligence.Rules";

/// Whether NameOwnerChanged is about the unique names of all connections.
const UNIQUE_NAMES: &str = "org.diligence.SeeUniqueNames";

/// Whether the process of the creator represents the connections.
const REPRESENTED: &str = "org.diligence.CreatorCredentials";

/// A listening socket, instead of a new one.
const SOCKET: &str = "org.diligence.Socket";

/// A pipe that is closed when the container shall stop.
const LIFETIME: &str = "org.diligence.Lifetime";

// The flags of a rule in the argument `Allow`.

const SEE: u32 = 1;
const TALK: u32 = 2;
const OWN: u32 = 4;
const NAME_SUBTREE: u32 = 8;
const PATH_SUBTREE: u32 = 16;
const SEND_DESCRIPTORS: u32 = 32;
const RECEIVE_DESCRIPTORS: u32 = 64;
const ALL_FLAGS: u32 = 127;
