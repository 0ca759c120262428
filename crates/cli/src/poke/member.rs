//! Which member of an object words name, and what the object tells of it.
//!
//! All spellings are understood: `INTERFACE MEMBER` as busctl has it, `INTERFACE.MEMBER` as gdbus and
//! dbus-send, `MEMBER` as qdbus. What the object has decides where two of them are possible.

use std::time::Duration;

use capture::text::nearest::nearest;
use capture::text::visible::printable;
use inspector::introspection::{Argument, Interface, Introspection, Method};
use inspector::{CallSettings, Inspector, InspectorFailure, InspectorTimeouts, TreeOptions};
use notation::guess::is_like_signature;
use sys::clock::monotonic;
use wire::names::MemberName;

use super::error::PokeError;

/// Words, taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NamedMember<'w> {
    /// The interface, if it was told.
    pub interface: Option<&'w str>,
    /// The member.
    pub member: &'w str,
    /// What stands behind.
    pub rest: &'w [String],
}

/// Takes words apart; `None` if there are none. `is_interface` knows those of the object.
pub(crate) fn split(
    words: &[String],
    is_interface: impl Fn(&str) -> bool,
) -> Option<NamedMember<'_>> {
    let (first, rest) = words.split_first()?;
    let Some((interface, member)) = first.rsplit_once('.') else {
        return Some(NamedMember { interface: None, member: first, rest });
    };
    let apart = rest.split_first().filter(|(word, _)| MemberName::new(word).is_ok());
    // INTERFACE.METHOD SIGNATURE, as those write it who come from gdbus and busctl.
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

/// Whether a name is the interface of a member whose full name is told.
pub(crate) fn is_interface_of(full: &str, name: &str) -> bool {
    full.rsplit_once('.').is_some_and(|(interface, _)| interface == name)
}

/// The words, with those in front that other tools have as options; what is no option is a word.
pub(crate) fn in_front<const COUNT: usize>(
    options: [&Option<String>; COUNT],
    words: &[String],
) -> Vec<String> {
    let mut words = words.iter().cloned();
    let front: Vec<_> =
        options.into_iter().filter_map(|one| one.clone().or_else(|| words.next())).collect();
    front.into_iter().chain(words).collect()
}

/// An object that is asked for a member.
#[derive(Debug)]
pub(crate) struct AskedObject<'a> {
    /// Its service.
    pub service: &'a str,
    /// Its path.
    pub path: &'a str,
    /// What it tells; empty if it tells nothing.
    pub told: Introspection,
    /// Why it tells nothing.
    pub untold: Option<InspectorFailure>,
    /// Until when everything has to be done.
    deadline: Duration,
    /// How long all may take.
    timeout: Duration,
}

/// The kinds of members.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CallableKind {
    /// What can be called.
    Method,
    /// What can be read or set.
    Property,
}

/// A member, as far as the object tells of it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct DescribedMember {
    /// Its interface; `None` if it was not told, and the object does not tell of the member.
    pub interface: Option<String>,
    /// The types that it takes: one signature for each form of it.
    pub signatures: Vec<String>,
    /// What its results are called.
    pub results: Vec<Argument>,
}

impl<'a> AskedObject<'a> {
    /// Asks an object. One that does not tell what it has may still be called; one that is not
    /// there cannot.
    pub(crate) fn ask(
        inspector: &Inspector,
        service: &'a str,
        path: &'a str,
        manner: &CallSettings,
    ) -> Result<Self, PokeError> {
        let mut object = Self::unasked(service, path, manner.timeout());
        // What it is asked for wants its time, too.
        let half = CallSettings { timeout_ms: (manner.timeout_ms / 2).max(1), ..manner.clone() };
        match inspector.introspection(service, path, &half) {
            Ok(told) => object.told = told,
            Err(failure) if is_hopeless(&failure) => {
                return Err(object.failed(failure, inspector, ""));
            }
            Err(failure) => object.untold = Some(failure),
        }
        Ok(object)
    }

    /// One that was not asked yet.
    pub(crate) fn unasked(service: &'a str, path: &'a str, timeout: Duration) -> Self {
        let deadline = monotonic() + timeout;
        Self { service, path, told: empty(), untold: None, deadline, timeout }
    }

    /// The manner with the time that is left.
    pub(crate) fn in_time(&self, manner: &CallSettings) -> CallSettings {
        let left = self.deadline.saturating_sub(monotonic());
        let timeout_ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX).max(1);
        CallSettings { timeout_ms, ..manner.clone() }
    }

    /// The same, if it tells what it has.
    pub(crate) fn telling(self, inspector: &Inspector) -> Result<Self, PokeError> {
        match &self.untold {
            None => Ok(self),
            Some(failure) => Err(self.failed(failure.clone(), inspector, "")),
        }
    }

    /// Whether the object has this interface.
    pub(crate) fn has(&self, interface: &str) -> bool {
        self.told.interface(interface).is_some() || is_standard(interface)
    }

    /// That the object is not there, or has nothing, if that is known. It is why a member of it is not
    /// known.
    pub(crate) fn missing(&self, inspector: &Inspector) -> Option<PokeError> {
        match &self.untold {
            Some(failure) if is_unknown_object(failure) => {
                Some(self.failed(failure.clone(), inspector, ""))
            }
            None if self.told.interfaces.is_empty() => {
                let nearest = near(self.path, paths(inspector, self.service));
                let (service, path) = (self.service.to_owned(), self.path.to_owned());
                Some(PokeError::NoInterfaces { service, path, nearest })
            }
            _ => None,
        }
    }

    /// What is known of a member.
    pub(crate) fn find(
        &self,
        kind: CallableKind,
        named: NamedMember<'_>,
    ) -> Result<DescribedMember, PokeError> {
        let mut found: Vec<_> = self
            .told
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
        Ok(found.pop().unwrap_or_else(|| standard(named)))
    }

    /// That there is no property of this name, whatever its interface.
    pub(crate) fn no_property(&self, member: &str) -> PokeError {
        let nearest = near(member, self.members(false));
        PokeError::NoProperty { member: member.to_owned(), nearest }
    }

    /// What failed, and what may have been meant instead of `member`, which can have its interface
    /// in front.
    pub(crate) fn failed(
        &self,
        failure: InspectorFailure,
        inspector: &Inspector,
        member: &str,
    ) -> PokeError {
        let failure = match failure {
            // The time in which the object was asked is a part of it.
            InspectorFailure::Silent { .. } => InspectorFailure::Silent { after: self.timeout },
            other => other,
        };
        let name = failure.error_name().and_then(|name| name.strip_prefix(ERRORS));
        let nearest = match name {
            Some("ServiceUnknown" | "NameHasNoOwner") => near(self.service, names(inspector)),
            Some("UnknownObject") => near(self.path, paths(inspector, self.service)),
            Some(_) if self.told == empty() => near(self.path, paths(inspector, self.service)),
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

    /// All methods and properties, with their interfaces in front or without.
    fn members(&self, are_full: bool) -> impl Iterator<Item = String> {
        self.told.interfaces.iter().flat_map(move |one| {
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

/// What everybody has, though not everybody tells of it.
fn standard(named: NamedMember<'_>) -> DescribedMember {
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

/// Whether an object was not found.
pub(crate) fn is_unknown_object(failure: &InspectorFailure) -> bool {
    failure.error_name() == Some(UNKNOWN_OBJECT)
}

/// Whether a call would fail by the same.
fn is_hopeless(failure: &InspectorFailure) -> bool {
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
    let patience = InspectorTimeouts { reply: SUGGESTING, total: SUGGESTING };
    let options = TreeOptions { timeouts: patience, nodes: PATHS_MAX, ..TreeOptions::default() };
    let tree = inspector.tree(service, &options).ok();
    let nodes = tree.into_iter().flat_map(|tree| tree.nodes);
    let has_something = |told: &inspector::NodeContent| matches!(told, inspector::NodeContent::Interfaces(names) if !names.is_empty());
    nodes.filter(move |node| has_something(&node.content)).map(|node| node.path)
}

/// Whether every object has this interface.
pub(crate) fn is_standard(interface: &str) -> bool {
    STANDARD.iter().any(|(name, ..)| *name == interface)
}

/// `s name, u number`
pub(crate) fn listed(arguments: &[Argument]) -> String {
    let one = |argument: &Argument| {
        let name = argument.name.as_deref().unwrap_or_default();
        printable(format!("{} {name}", argument.types).trim_end()).into_owned()
    };
    arguments.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// `(s name) -> (u number)`
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

/// Interfaces of the specification, their methods, and the types that these take.
const STANDARD: [(&str, &str, &str); 6] = [
    ("org.freedesktop.DBus.Peer", "Ping", ""),
    ("org.freedesktop.DBus.Peer", "GetMachineId", ""),
    ("org.freedesktop.DBus.Introspectable", "Introspect", ""),
    ("org.freedesktop.DBus.Properties", "Get", "ss"),
    ("org.freedesktop.DBus.Properties", "Set", "ssv"),
    ("org.freedesktop.DBus.Properties", "GetAll", "s"),
];

/// What failed has taken its time already.
const SUGGESTING: Duration = Duration::from_secs(1);

/// Those of these names that are most like what was given; none if that is one of them.
fn near(given: &str, names: impl Iterator<Item = String>) -> Vec<String> {
    let names: Vec<_> = names.take(NAMES_MAX).collect();
    if names.iter().any(|name| name == given) {
        return Vec::new();
    }
    nearest(given, names.iter().map(String::as_str)).into_iter().map(str::to_owned).collect()
}

/// More than that nobody's service has.
const NAMES_MAX: usize = 10_000;

/// Objects among which the nearest is looked for.
const PATHS_MAX: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_spellings_name_the_same() {
        let is_interface = |name: &str| name == "a.b.I";
        for (words, interface, member, rest) in [
            (&["a.b.I", "M", "s", "x"][..], Some("a.b.I"), "M", 2),
            (&["a.b.I.M", "text"], Some("a.b.I"), "M", 1),
            (&["a.b.I.M"], Some("a.b.I"), "M", 0),
            (&["M", "text"], None, "M", 1),
            // Of what the object does not tell, busctl's form is the likelier one.
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
