//! Completions for interfaces, members and arguments of objects.

use std::collections::BTreeMap;

use inspector::Inspector;
use inspector::introspection::Interface;
use wire::names::{InterfaceName, MemberName};

use super::grammar::booleans;
use super::meaning::{CompletedMemberKind, CompletedObject, Spelling};
use super::names::running;
use super::offers::{Offer, Offers};
use crate::poke::member::{form, is_standard, listed, split};

/// Returns the interfaces of an object.
pub(super) fn interfaces(inspector: &Inspector, object: &CompletedObject) -> Vec<Offer> {
    let known = interfaces_of(inspector, object);
    let names = known.iter().map(|interface| interface.name.as_str());
    names.map(|name| Offer::whole(name, "")).collect()
}

/// Returns the completions after `words`, which follow the object on the command line.
pub(super) fn offers(
    inspector: &Inspector,
    object: &CompletedObject,
    (kind, spelling): (CompletedMemberKind, Spelling),
    words: &[String],
    written: &str,
) -> Vec<Offer> {
    let known = interfaces_of(inspector, object);
    let has = |name: &str| known.iter().any(|one| one.name == name) || is_standard(name);
    match words {
        [] => first_words(&known, kind, spelling, written),
        [interface] if has(interface) => members(&known, kind)
            .filter(|one| one.interface.name == *interface)
            .map(bare_offer)
            .collect(),
        words => {
            let Some(named) = split(words, has) else { return Vec::new() };
            let is_meant = |one: &CompletedMember<'_>| {
                named.interface.is_none_or(|name| one.interface.name == name)
            };
            if kind == CompletedMemberKind::Readable {
                let is_new = |one: &CompletedMember<'_>| !words.iter().any(|word| word == one.name);
                return members(&known, kind)
                    .filter(is_meant)
                    .filter(is_new)
                    .map(bare_offer)
                    .collect();
            }
            let mut members = members(&known, kind).filter(is_meant);
            let member = members.find(|one| one.name == named.member);
            member.map(|member| arguments(&member, named.rest)).unwrap_or_default()
        }
    }
}

/// Returns interfaces and members, in each accepted spelling.
fn first_words(
    known: &[Interface],
    kind: CompletedMemberKind,
    spelling: Spelling,
    written: &str,
) -> Vec<Offer> {
    let is_full = |one: &CompletedMember<'_>| {
        spelling == Spelling::OneWord
            || written.strip_prefix(&one.interface.name).is_some_and(|rest| rest.starts_with('.'))
    };
    let full = members(known, kind).filter(is_full);
    let mut offers: Vec<_> = full.map(|one| Offer::whole(one.full_name(), one.about())).collect();
    if spelling == Spelling::OneWord {
        return offers;
    }
    let with_members = |one: &&Interface| members(std::slice::from_ref(one), kind).next().is_some();
    let interfaces = known.iter().filter(with_members);
    offers.extend(interfaces.map(|one| Offer::whole(one.name.as_str(), "interface")));
    if spelling == Spelling::Any {
        offers.extend(members_without_interface(known, kind, written));
    }
    offers
}

/// Returns members that are unique without their interface. Members of standard interfaces are
/// offered only after their first letter is typed.
fn members_without_interface(
    known: &[Interface],
    kind: CompletedMemberKind,
    written: &str,
) -> impl Iterator<Item = Offer> {
    let mut counts = BTreeMap::<_, usize>::new();
    members(known, kind).for_each(|one| *counts.entry(one.name).or_default() += 1);
    let is_wanted =
        move |one: &CompletedMember<'_>| !written.is_empty() || !is_standard(&one.interface.name);
    members(known, kind).filter(move |one| counts[one.name] == 1).filter(is_wanted).map(bare_offer)
}

/// Returns the completions of an argument: the values of a boolean; otherwise empty.
fn arguments(member: &CompletedMember<'_>, before: &[String]) -> Vec<Offer> {
    let types = member.arguments();
    let signature: String = types.iter().map(|(types, _)| *types).collect();
    let is_signature = before.first().is_some_and(|first| *first == signature);
    match types.get(before.len() - usize::from(is_signature)) {
        Some(("b", name)) => match booleans(name) {
            Offers::Words(offers) => offers,
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// A member of an interface of the completed object.
struct CompletedMember<'t> {
    interface: &'t Interface,
    name: &'t str,
    place: usize,
    kind: CompletedMemberKind,
}

/// Returns the members of all interfaces. Names that are not valid are left out, because
/// introspection data is not trusted and the names are passed to a shell.
fn members(
    known: &[Interface],
    kind: CompletedMemberKind,
) -> impl Iterator<Item = CompletedMember<'_>> {
    let members = known.iter().flat_map(move |interface| {
        let names: Vec<(usize, &str)> = match kind {
            CompletedMemberKind::Method => {
                interface.methods.iter().map(|one| one.name.as_str()).enumerate().collect()
            }
            CompletedMemberKind::Signal | CompletedMemberKind::Awaited => {
                interface.signals.iter().map(|one| one.name.as_str()).enumerate().collect()
            }
            CompletedMemberKind::Readable | CompletedMemberKind::Writable => {
                let properties = interface.properties.iter().enumerate();
                let fitting = properties.filter(|(_, one)| match kind {
                    CompletedMemberKind::Writable => one.access.is_writable(),
                    _ => one.access.is_readable(),
                });
                fitting.map(|(place, one)| (place, one.name.as_str())).collect()
            }
        };
        names.into_iter().map(move |(place, name)| CompletedMember { interface, name, place, kind })
    });
    members.filter(|member| MemberName::new(member.name).is_ok())
}

impl CompletedMember<'_> {
    fn full_name(&self) -> String {
        format!("{}.{}", self.interface.name, self.name)
    }

    fn about(&self) -> String {
        match self.kind {
            CompletedMemberKind::Method => form(&self.interface.methods[self.place]),
            CompletedMemberKind::Signal | CompletedMemberKind::Awaited => {
                format!("({})", listed(&self.interface.signals[self.place].arguments))
            }
            CompletedMemberKind::Readable | CompletedMemberKind::Writable => {
                self.interface.properties[self.place].types.clone()
            }
        }
    }

    /// The types and names of its arguments.
    fn arguments(&self) -> Vec<(&str, &str)> {
        let arguments = match self.kind {
            CompletedMemberKind::Method => &self.interface.methods[self.place].arguments,
            CompletedMemberKind::Signal => &self.interface.signals[self.place].arguments,
            CompletedMemberKind::Awaited => return Vec::new(),
            CompletedMemberKind::Readable | CompletedMemberKind::Writable => {
                return vec![(&self.interface.properties[self.place].types, self.name)];
            }
        };
        let named = arguments.iter();
        named.map(|one| (one.types.as_str(), one.name.as_deref().unwrap_or_default())).collect()
    }
}

fn bare_offer(member: CompletedMember<'_>) -> Offer {
    Offer::whole(member.name, member.about())
}

/// Introspects an object and returns its interfaces. Without a service, returns the interfaces that
/// all running services have at the path.
fn interfaces_of(inspector: &Inspector, object: &CompletedObject) -> Vec<Interface> {
    let services = match &object.service {
        Some(service) => vec![service.clone()],
        None => running(inspector),
    };
    let asked: Vec<_> =
        services.iter().map(|service| (service.as_str(), object.path.as_str())).collect();
    let mut interfaces = BTreeMap::new();
    for introspection in inspector.introspections(&asked).into_iter().flatten() {
        let named = introspection.interfaces.into_iter();
        for interface in named.filter(|one| InterfaceName::new(&one.name).is_ok()) {
            interfaces.entry(interface.name.clone()).or_insert(interface);
        }
    }
    interfaces.into_values().collect()
}
