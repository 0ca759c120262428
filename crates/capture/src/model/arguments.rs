//! The names of arguments, from the introspection data of objects.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use wire::message::MessageType;

use super::{Capture, CapturedMessage, RecordedPeerId, TextId};
use crate::introspection::{Argument, Interface, Introspection};
use crate::record::{BusId, RecordedTime};

/// The descriptions of members. Several services may describe the same member.
#[derive(Debug, Default)]
pub(super) struct DescribedMembers {
    known: HashMap<DescribedMemberKey, Vec<MemberDescription>, RandomState>,
}

/// A member of an interface on a bus.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct DescribedMemberKey {
    bus: BusId,
    interface: TextId,
    member: TextId,
    part: ArgumentSource,
}

/// The message that carries the arguments.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum ArgumentSource {
    Call,
    Return,
    Signal,
}

/// The description of a member by one service.
#[derive(Clone, PartialEq, Eq, Debug)]
struct MemberDescription {
    /// The name under which the service was introspected.
    service: TextId,
    /// The time when the service was introspected.
    at: RecordedTime,
    arguments: Vec<Argument>,
}

impl Capture {
    /// Adds the introspection data of an object.
    pub(super) fn learn_introspection(
        &mut self,
        at: RecordedTime,
        bus: BusId,
        name: &str,
        xml: &str,
    ) {
        let Ok(found) = Introspection::parse(xml) else { return };
        let service = self.intern(name);
        for interface in found.interfaces {
            self.learn_interface(at, bus, service, interface);
        }
    }

    fn learn_interface(&mut self, at: RecordedTime, bus: BusId, service: TextId, found: Interface) {
        let interface = self.intern(&found.name);
        let methods = found.methods.into_iter().flat_map(|method| {
            let call = (ArgumentSource::Call, method.name.clone(), method.arguments);
            [call, (ArgumentSource::Return, method.name, method.results)]
        });
        let signals = found.signals.into_iter();
        let signals = signals.map(|signal| (ArgumentSource::Signal, signal.name, signal.arguments));
        for (part, member, arguments) in methods.chain(signals) {
            // Without names there is nothing to show.
            if arguments.iter().any(|argument| argument.name.is_some()) {
                let key = DescribedMemberKey { bus, interface, member: self.intern(&member), part };
                self.members.add(key, MemberDescription { service, at, arguments });
            }
        }
    }
}

impl DescribedMembers {
    /// Adds a description, unless the service gave an equal one for another object.
    fn add(&mut self, key: DescribedMemberKey, described: MemberDescription) {
        let all = self.known.entry(key).or_default();
        let is_same = |known: &MemberDescription| {
            known.service == described.service && known.arguments == described.arguments
        };
        if !all.iter().any(is_same) && all.len() < DESCRIPTIONS_MAX {
            all.push(described);
        }
    }
}

impl<'c> CapturedMessage<'c> {
    /// Returns the names of the arguments, in order, if the recording has introspection data for
    /// them. Individual arguments may have no name. The description of the service itself is
    /// preferred to the description of another service with the same interface. A description is
    /// used only if its types match this message.
    pub fn argument_names(&self) -> Option<impl ExactSizeIterator<Item = Option<&'c str>>> {
        let known = &self.capture().members.known;
        if known.is_empty() {
            return None;
        }
        let (key, service) = self.described_by()?;
        let all = known.get(&key)?;
        let mut fitting = all.iter().filter(|described| has_types(described, self.signature()));
        let is_own = |described: &MemberDescription| {
            let directory = self.capture().directory();
            let name = directory.resolve(key.bus, described.service, described.at);
            name.is_some() && name == service
        };
        let own = fitting.clone().find(|described| is_own(described));
        let best = own.or_else(|| fitting.next())?;
        Some(best.arguments.iter().map(|argument| argument.name.as_deref()))
    }

    /// The key of the description of its arguments, and the connection whose description is
    /// preferred.
    fn described_by(&self) -> Option<(DescribedMemberKey, Option<RecordedPeerId>)> {
        let (part, named, service) = match self.kind() {
            MessageType::MethodCall => (ArgumentSource::Call, *self, self.to()),
            MessageType::MethodReturn => (ArgumentSource::Return, self.partner()?, self.from()),
            MessageType::Signal => (ArgumentSource::Signal, *self, self.from()),
            MessageType::Error | MessageType::Unknown(_) => return None,
        };
        let (interface, member) = (named.interface_id(), named.member_id());
        Some((DescribedMemberKey { bus: self.bus(), interface, member, part }, service))
    }
}

fn has_types(described: &MemberDescription, types: &str) -> bool {
    let mut rest = types;
    let fits = described.arguments.iter().all(|argument| {
        rest.strip_prefix(argument.types.as_str()).is_some_and(|left| {
            rest = left;
            true
        })
    });
    fits && rest.is_empty()
}

/// The maximum number of descriptions kept for a member, for different services or versions.
const DESCRIPTIONS_MAX: usize = 16;
