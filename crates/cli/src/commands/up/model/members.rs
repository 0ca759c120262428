//! Rates of methods and signals, with their callers and recipients.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::Duration;

use capture::model::{CapturedMessage, RecordedPeerId, TextId};
use capture::record::RecordedTime;
use capture::text::visible::printable;
use wire::message::MessageType;

use super::BUS;
use super::snapshot::UsedMember;
use crate::live::{LiveTraffic, TrafficAmount, before};

/// The kind of a member.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum UsedMemberKind {
    /// A method that was called.
    Method,
    /// A signal that was emitted.
    Signal,
}

/// A method or signal of one peer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct MemberKey {
    kind: UsedMemberKind,
    interface: TextId,
    member: TextId,
    /// The callee of the method, or the sender of the signal.
    owner: MemberParty,
}

/// A connection, or the name of a destination without an owner.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum MemberParty {
    Connection(RecordedPeerId),
    Name(TextId),
}

/// The uses of a method or signal in the kept messages.
#[derive(Debug, Default)]
struct MemberUses {
    /// The number of calls or signals, and their bytes; replies add their bytes to the calls.
    all: TrafficAmount,
    /// The same amount for the time span over which rates are averaged.
    recent: TrafficAmount,
    /// The number of error replies in this time span.
    errors: u64,
    /// The callers of a method, or the recipients of an addressed signal, with their counts.
    parties: Vec<(MemberParty, u64)>,
}

/// Returns the recently used methods and signals in no particular order. Rates are averages over
/// `span`.
pub(super) fn rows(traffic: &LiveTraffic, now: RecordedTime, span: Duration) -> Vec<UsedMember> {
    let mut members: HashMap<MemberKey, MemberUses> = HashMap::new();
    let since = before(now, span);
    for message in traffic.recent(now, FORGOTTEN_AFTER) {
        if !message.is_of_recorder() {
            count(&mut members, &message, message.at() >= since);
        }
    }
    let names = MemberNames { traffic };
    members.into_iter().filter_map(|(key, uses)| names.row(key, uses, span)).collect()
}

fn count(
    members: &mut HashMap<MemberKey, MemberUses>,
    message: &CapturedMessage<'_>,
    is_recent: bool,
) {
    let len = message.len().into();
    let recent = if is_recent { len } else { 0 };
    match message.kind() {
        MessageType::MethodCall | MessageType::Signal => {
            let Some(key) = MemberKey::of(message) else { return };
            let uses = members.entry(key).or_default();
            uses.all.add(1, len);
            uses.recent.add(u64::from(is_recent), recent);
            uses.count_party(other_party(message));
        }
        MessageType::MethodReturn | MessageType::Error => {
            let key = message.partner().and_then(|call| MemberKey::of(&call));
            let Some(uses) = key.and_then(|key| members.get_mut(&key)) else { return };
            uses.all.add(0, len);
            uses.recent.add(0, recent);
            uses.errors += u64::from(is_recent && message.kind() == MessageType::Error);
        }
        MessageType::Unknown(_) => {}
    }
}

/// The caller of a method, or the recipient of an addressed signal.
fn other_party(message: &CapturedMessage<'_>) -> Option<MemberParty> {
    match message.kind() {
        MessageType::Signal if message.destination().is_empty() => None,
        MessageType::Signal => Some(recipient(message)),
        _ => message.from().map(MemberParty::Connection),
    }
}

fn recipient(message: &CapturedMessage<'_>) -> MemberParty {
    message.to().map_or(MemberParty::Name(message.destination_id()), MemberParty::Connection)
}

impl MemberKey {
    fn of(message: &CapturedMessage<'_>) -> Option<Self> {
        let (kind, owner) = match message.kind() {
            MessageType::MethodCall => (UsedMemberKind::Method, recipient(message)),
            _ => (UsedMemberKind::Signal, MemberParty::Connection(message.from()?)),
        };
        let (interface, member) = (message.interface_id(), message.member_id());
        Some(Self { kind, interface, member, owner })
    }
}

impl MemberUses {
    fn count_party(&mut self, party: Option<MemberParty>) {
        let Some(party) = party else { return };
        if let Some((_, times)) = self.parties.iter_mut().find(|(known, _)| *known == party) {
            *times += 1;
        } else if self.parties.len() < PARTIES_MAX {
            self.parties.push((party, 1));
        }
    }
}

/// Lookup of labels for peers.
struct MemberNames<'t> {
    traffic: &'t LiveTraffic,
}

impl MemberNames<'_> {
    /// Returns the row of a member; `None` if its connection has left.
    fn row(&self, key: MemberKey, mut uses: MemberUses, span: Duration) -> Option<UsedMember> {
        if !self.is_connected(key.owner) {
            return None;
        }
        uses.parties.retain(|(party, _)| self.is_connected(*party));
        uses.parties.sort_by_key(|(_, times)| Reverse(*times));
        let strings = self.traffic.capture().strings();
        let interface = strings.get(key.interface);
        Some(UsedMember {
            kind: key.kind,
            interface: (!interface.is_empty()).then(|| interface.into()),
            member: strings.get(key.member).into(),
            owner: self.label(key.owner),
            party: uses.parties.first().map(|(party, _)| self.label(*party)),
            more_parties: uses.parties.len().saturating_sub(1),
            rate: uses.recent.per(span),
            errors: TrafficAmount { messages: uses.errors, bytes: 0 }.per(span).messages,
            len: if uses.all.messages == 0 {
                0.0
            } else {
                uses.all.bytes as f64 / uses.all.messages as f64
            },
            count: uses.all.messages,
        })
    }

    fn is_connected(&self, party: MemberParty) -> bool {
        match party {
            MemberParty::Connection(id) => {
                self.traffic.capture().directory().peer(id).left.is_none()
            }
            MemberParty::Name(_) => true,
        }
    }

    fn label(&self, party: MemberParty) -> String {
        let capture = self.traffic.capture();
        let label = match party {
            MemberParty::Connection(id) => capture.label(id),
            MemberParty::Name(name) => capture.strings().get(name).into(),
        };
        if label == BUS { String::from("bus") } else { printable(&label).into_owned() }
    }
}

/// The maximum number of counted callers or recipients of a method or signal.
const PARTIES_MAX: usize = 16;

/// The time after which an unused member is no longer listed.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(60);
