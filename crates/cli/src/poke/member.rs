//! Parsing of words that name a member of an object, and its description from introspection.
//!
//! All spellings are accepted: `INTERFACE MEMBER` (busctl), `INTERFACE.MEMBER` (gdbus and
//! dbus-send), and `MEMBER` (qdbus). If a word can be read in two ways, the interfaces of the
//! object decide.

use std::time::Duration;

use capture::text::nearest::nearest;
use capture::text::visible::printable;
use inspector::introspection::{Argument, Interface, Introspection, Method};
use inspector::{CallSettings, Inspector, InspectorFailure, InspectorTimeouts, TreeOptions};
use notation::guess::is_like_signature;
use sys::clock::monotonic;
use wire::names::MemberName;

use super::error::PokeError;

/// A member that is named on the command line, and the words after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NamedMember<'w> {
    /// The interface, if it was given.
    pub interface: Option<&'w str>,
    /// The name of the member.
    pub member: &'w str,
    /// The words after the member.
    pub rest: &'w [String],
}

/// Splits words into a member and the rest; `None` if there are no words. `is_interface` returns
/// true for the interfaces of the object.
pub(crate) fn split(
    words: &[String],
    is_interface: impl Fn(&str) -> bool,
) -> Option<NamedMember<'_>> {
    let (first, rest) = words.split_first()?;
    let Some((interface, member)) = first.rsplit_once('.') else {
        return Some(NamedMember { interface: None, member: first, rest });
    };
    let apart = rest.split_first().filter(|(word, _)| MemberName::new(word).is_ok());
    // INTERFACE.METHOD SIGNATURE, a mixture of the forms of gdbus and busctl.
    let is_joined =
        |behind: &str| is_like_signature(behind) && member.starts_with(char::is_uppercase);
    Some(match apart {
        Some((behind, rest))
            if is_interface(first) || !is_interface(interface) && !is_joined(behind) =>
        {
            let member = behind;
            NamedMember { interface: Some(first), member, rest }
        }
        _ => NamedMember { interface: Some(interface), member, rest },
    })
}

/// Returns true if `name` is the interface in the full name `full` of a member.
pub(crate) fn is_interface_of(full: &str, name: &str) -> bool {
    full.rsplit_once('.').is_some_and(|(interface, _)| interface == name)
}

/// Puts the values of options in front of the words, as positional arguments. If an option is
/// missing, the next word takes its place.
pub(crate) fn with_options_in_front<const COUNT: usize>(
    options: [&Option<String>; COUNT],
    words: &[String],
) -> Vec<String> {
    let mut words = words.iter().cloned();
    let front: Vec<_> =
        options.into_iter().filter_map(|one| one.clone().or_else(|| words.next())).collect();
    front.into_iter().chain(words).collect()
}

/// An object, with the result of its introspection.
#[derive(Debug)]
pub(crate) struct TargetObject<'a> {
    /// The name of the service.
    pub service: &'a str,
    /// The path of the object.
    pub path: &'a str,
    /// The introspection data; empty if it is not available.
    pub introspection: Introspection,
    /// The error of the introspection.
    pub introspection_error: Option<InspectorFailure>,
    /// The monotonic time at which the whole operation times out.
    deadline: Duration,
    /// The timeout of the whole operation.
    timeout: Duration,
}

/// The kinds of members that the user can name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CallableKind {
    /// A method, which can be called.
    Method,
    /// A property, which can be read and set.
    Property,
}

/// The description of a member, as far as introspection contains it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct DescribedMember {
    /// The interface; `None` if it was not given and the object does not describe the member.
    pub interface: Option<String>,
    /// The accepted types: one signature for each overload.
    pub signatures: Vec<String>,
    /// The results of a method, with their names and types.
    pub results: Vec<Argument>,
}

impl<'a> TargetObject<'a> {
    /// Introspects an object. If introspection fails, the object may still be called, unless the
    /// error shows that the service does not exist or cannot start.
    pub(crate) fn introspect(
        inspector: &Inspector,
        service: &'a str,
        path: &'a str,
        settings: &CallSettings,
    ) -> Result<Self, PokeError> {
        let mut object = Self::new(service, path, settings.timeout());
        // Half of the time is left for the call itself.
        let half =
            CallSettings { timeout_ms: (settings.timeout_ms / 2).max(1), ..settings.clone() };
        match inspector.introspection(service, path, &half) {
            Ok(introspection) => object.introspection = introspection,
            Err(failure) if is_fatal_for_calls(&failure) => {
                return Err(object.failed(failure, inspector, ""));
            }
            Err(failure) => object.introspection_error = Some(failure),
        }
        Ok(object)
    }

    /// Returns an object that is not introspected yet.
    pub(crate) fn new(service: &'a str, path: &'a str, timeout: Duration) -> Self {
        let deadline = monotonic() + timeout;
        Self { service, path, introspection: empty(), introspection_error: None, deadline, timeout }
    }

    /// The options of the next call, with the remaining time as its timeout.
    pub(crate) fn with_remaining_time(&self, settings: &CallSettings) -> CallSettings {
        let left = self.deadline.saturating_sub(monotonic());
        let timeout_ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX).max(1);
        CallSettings { timeout_ms, ..settings.clone() }
    }

    /// Returns the object, or the error if its introspection failed.
    pub(crate) fn introspected(self, inspector: &Inspector) -> Result<Self, PokeError> {
        match &self.introspection_error {
            None => Ok(self),
            Some(failure) => Err(self.failed(failure.clone(), inspector, "")),
        }
    }

    /// Returns true if the object has this interface.
    pub(crate) fn has(&self, interface: &str) -> bool {
        self.introspection.interface(interface).is_some() || is_standard(interface)
    }

    /// Returns the error for an object that does not exist or has no interfaces. It explains why a
    /// member is unknown better than an error about the member.
    pub(crate) fn missing_error(&self, inspector: &Inspector) -> Option<PokeError> {
        match &self.introspection_error {
            Some(failure) if is_unknown_object(failure) => {
                Some(self.failed(failure.clone(), inspector, ""))
            }
            None if self.introspection.interfaces.is_empty() => {
                let nearest = near(self.path, paths(inspector, self.service));
                let (service, path) = (self.service.to_owned(), self.path.to_owned());
                Some(PokeError::NoInterfaces { service, path, nearest })
            }
            _ => None,
        }
    }

    /// Finds the description of a member.
    ///
    /// Fails if several interfaces have the member and none was named.
    pub(crate) fn find(
        &self,
        kind: CallableKind,
        named: NamedMember<'_>,
    ) -> Result<DescribedMember, PokeError> {
        let mut found: Vec<_> = self
            .introspection
            .interfaces
            .iter()
            .filter(|one| named.interface.is_none_or(|name| one.name == name))
            .filter_map(|one| described(kind, one, named.member))
            .collect();
        if found.len() > 1 {
            let full = |one: DescribedMember| {
                format!("{}.{}", one.interface.unwrap_or_default(), named.member)
            };
            let full_names = found.into_iter().map(full).collect();
            return Err(PokeError::Several { member: named.member.to_owned(), full_names });
        }
        Ok(found.pop().unwrap_or_else(|| standard_member(named)))
    }

    /// Returns the error for a property that no interface of the object has.
    pub(crate) fn no_property(&self, member: &str) -> PokeError {
        let nearest = near(member, self.members(false));
        PokeError::NoProperty { member: member.to_owned(), nearest }
    }

    /// Returns the error of a failed request, with similar names as suggestions. `member` may
    /// include its interface.
    pub(crate) fn failed(
        &self,
        failure: InspectorFailure,
        inspector: &Inspector,
        member: &str,
    ) -> PokeError {
        let failure = match failure {
            // Report the timeout of the whole operation, which includes the introspection.
            InspectorFailure::Silent { .. } => InspectorFailure::Silent { after: self.timeout },
            other => other,
        };
        let name = failure.error_name().and_then(|name| name.strip_prefix(ERRORS));
        let nearest = match name {
            Some("ServiceUnknown" | "NameHasNoOwner") => near(self.service, names(inspector)),
            Some("UnknownObject") => near(self.path, paths(inspector, self.service)),
            Some(_) if self.introspection == empty() => {
                near(self.path, paths(inspector, self.service))
            }
            Some("UnknownMethod" | "UnknownInterface" | "UnknownProperty" | "InvalidArgs") => {
                near(member, self.members(member.contains('.')))
            }
            None if matches!(failure, InspectorFailure::Undescribed { .. }) => {
                near(member, self.members(member.contains('.')))
            }
            _ => Vec::new(),
        };
        PokeError::Failed { failure, nearest }
    }

    /// The names of all methods and properties, with or without their interfaces.
    fn members(&self, are_full: bool) -> impl Iterator<Item = String> {
        self.introspection.interfaces.iter().flat_map(move |one| {
            let methods = one.methods.iter().map(|method| &method.name);
            let properties = one.properties.iter().map(|property| &property.name);
            let full = move |name: &String| match are_full {
                true => format!("{}.{name}", one.name),
                false => name.clone(),
            };
            methods.chain(properties).map(full)
        })
    }
}

fn described(kind: CallableKind, interface: &Interface, member: &str) -> Option<DescribedMember> {
    let (signatures, results): (Vec<_>, _) = match kind {
        CallableKind::Method => {
            let forms = interface.methods.iter().filter(|method| method.name == member);
            let results = forms.clone().next().map(|method| method.results.clone());
            (forms.map(|method| method.signature()).collect(), results.unwrap_or_default())
        }
        CallableKind::Property => {
            let types = interface.property(member).map(|property| property.types.clone());
            (types.into_iter().collect(), Vec::new())
        }
    };
    let interface = Some(interface.name.clone());
    (!signatures.is_empty()).then_some(DescribedMember { interface, signatures, results })
}

/// Describes a member of a standard interface, which objects often leave out of their introspection
/// data.
fn standard_member(named: NamedMember<'_>) -> DescribedMember {
    let is_meant = |(interface, member, _): &&(&str, &str, &str)| {
        named.interface == Some(*interface) && named.member == *member
    };
    let signatures = STANDARD.iter().filter(is_meant).map(|(.., types)| (*types).to_owned());
    DescribedMember {
        interface: named.interface.map(str::to_owned),
        signatures: signatures.collect(),
        results: Vec::new(),
    }
}

/// Returns true if an error says that the object does not exist.
pub(crate) fn is_unknown_object(failure: &InspectorFailure) -> bool {
    failure.error_name() == Some(UNKNOWN_OBJECT)
}

/// Returns true if a call would fail with the same error.
fn is_fatal_for_calls(failure: &InspectorFailure) -> bool {
    let name = failure.error_name().and_then(|name| name.strip_prefix(ERRORS));
    match name {
        Some(name) => {
            matches!(name, "ServiceUnknown" | "NameHasNoOwner") || name.starts_with("Spawn.")
        }
        None => matches!(failure, InspectorFailure::Name(_) | InspectorFailure::Disconnected(_)),
    }
}

fn names(inspector: &Inspector) -> impl Iterator<Item = String> + use<> {
    let names = inspector.names().unwrap_or_default().into_iter().map(|name| name.name);
    names.filter(|name| !name.starts_with(':'))
}

fn paths(inspector: &Inspector, service: &str) -> impl Iterator<Item = String> + use<> {
    let timeouts = InspectorTimeouts { reply: SUGGESTIONS_TIMEOUT, total: SUGGESTIONS_TIMEOUT };
    let options = TreeOptions { timeouts, nodes: PATHS_MAX, ..TreeOptions::default() };
    let tree = inspector.tree(service, &options).ok();
    let nodes = tree.into_iter().flat_map(|tree| tree.nodes);
    let has_something = |content: &inspector::NodeContent| matches!(content, inspector::NodeContent::Interfaces(names) if !names.is_empty());
    nodes.filter(move |node| has_something(&node.content)).map(|node| node.path)
}

/// Returns true if the interface is one that objects have by convention.
pub(crate) fn is_standard(interface: &str) -> bool {
    STANDARD.iter().any(|(name, ..)| *name == interface)
}

/// Formats arguments as `s name, u number`.
pub(crate) fn listed(arguments: &[Argument]) -> String {
    let one = |argument: &Argument| {
        let name = argument.name.as_deref().unwrap_or_default();
        printable(format!("{} {name}", argument.types).trim_end()).into_owned()
    };
    arguments.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Formats the arguments and results of a method as `(s name) -> (u number)`.
pub(crate) fn form(method: &Method) -> String {
    match listed(&method.results) {
        results if results.is_empty() => format!("({})", listed(&method.arguments)),
        results => format!("({}) -> ({results})", listed(&method.arguments)),
    }
}

pub(crate) const fn empty() -> Introspection {
    Introspection { interfaces: Vec::new(), children: Vec::new() }
}

const ERRORS: &str = "org.freedesktop.DBus.Error.";

const UNKNOWN_OBJECT: &str = "org.freedesktop.DBus.Error.UnknownObject";

/// Interfaces and methods of the D-Bus specification, and the types of their arguments.
const STANDARD: [(&str, &str, &str); 6] = [
    ("org.freedesktop.DBus.Peer", "Ping", ""),
    ("org.freedesktop.DBus.Peer", "GetMachineId", ""),
    ("org.freedesktop.DBus.Introspectable", "Introspect", ""),
    ("org.freedesktop.DBus.Properties", "Get", "ss"),
    ("org.freedesktop.DBus.Properties", "Set", "ssv"),
    ("org.freedesktop.DBus.Properties", "GetAll", "s"),
];

/// The timeout for collecting suggestions. It is short because the failed call already took time.
const SUGGESTIONS_TIMEOUT: Duration = Duration::from_secs(1);

/// The names most similar to the given one; empty if it is among them.
fn near(given: &str, names: impl Iterator<Item = String>) -> Vec<String> {
    let names: Vec<_> = names.take(NAMES_MAX).collect();
    if names.iter().any(|name| name == given) {
        return Vec::new();
    }
    nearest(given, names.iter().map(String::as_str)).into_iter().map(str::to_owned).collect()
}

/// The maximum number of names that are compared.
const NAMES_MAX: usize = 10_000;

/// The maximum number of objects that are searched for similar paths.
const PATHS_MAX: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_spellings_name_the_same_member() {
        let is_interface = |name: &str| name == "a.b.I";
        for (words, interface, member, rest) in [
            (&["a.b.I", "M", "s", "x"][..], Some("a.b.I"), "M", 2),
            (&["a.b.I.M", "text"], Some("a.b.I"), "M", 1),
            (&["a.b.I.M"], Some("a.b.I"), "M", 0),
            (&["M", "text"], None, "M", 1),
            // If the object does not describe the member, busctl's form is assumed.
            (&["x.y", "M", "text"], Some("x.y"), "M", 1),
            (&["x.y.M", "two words"], Some("x.y"), "M", 1),
            (&["x.y.M", "s", "text"], Some("x.y"), "M", 2),
            (&["x.y.z", "s", "text"], Some("x.y.z"), "s", 1),
        ] {
            let words: Vec<_> = words.iter().map(|&word| word.to_owned()).collect();
            let named = split(&words, is_interface).expect("there are words");
            let found = (named.interface, named.member, named.rest.len());
            assert_eq!(found, (interface, member, rest), "{words:?}");
        }
        assert_eq!(split(&[], is_interface), None);
    }
}
