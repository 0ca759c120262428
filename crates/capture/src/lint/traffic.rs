//! The traffic that rules check, and the parties in it.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

use foldhash::fast::RandomState;
use wire::message::MessageType;

use super::finding::FindingParty;
use super::observers;
use crate::model::{
    CallOutcome, Capture, CapturedMessage, Health, MessageBuffer, RecordedPeerId, TextId,
};
use crate::record::{BusId, CaptureMethod, RecordedClock, RecordedProcess, RecordedTime, TimeSpan};

/// The messages of a recording that rules check. Instruments are left out, because their traffic is
/// a result of the recording.
pub(super) struct CheckedTraffic<'c> {
    pub(super) capture: &'c Capture,
    pub(super) calls: Vec<CapturedMessage<'c>>,
    pub(super) signals: Vec<CapturedMessage<'c>>,
    /// The time from the first message of each bus to the last.
    spans: HashMap<BusId, TimeSpan, RandomState>,
    observers: HashSet<RecordedPeerId, RandomState>,
    /// Buses with messages whose headers are cut. These messages are not checked.
    buses_with_cut_headers: HashSet<BusId, RandomState>,
    /// Buses with `NameOwnerChanged` signals whose bodies are cut.
    hides_owners: HashSet<BusId, RandomState>,
}

thread_local! {
    /// The buffer for messages that are decoded. Rules run in several threads.
    static BUFFER: RefCell<MessageBuffer> = RefCell::default();
}

/// The sender or the recipient of a message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum TrafficParty {
    /// A connection in the recording.
    Peer(RecordedPeerId),
    /// A name without a known owner.
    Name(BusId, TextId),
}

impl<'c> CheckedTraffic<'c> {
    pub(super) fn new(capture: &'c Capture) -> Self {
        let mut traffic = Self {
            capture,
            calls: Vec::new(),
            signals: Vec::new(),
            spans: HashMap::default(),
            observers: observers::find(capture),
            buses_with_cut_headers: HashSet::default(),
            hides_owners: HashSet::default(),
        };
        capture.messages().for_each(|message| traffic.sort_in(message));
        traffic
    }

    fn sort_in(&mut self, message: CapturedMessage<'c>) {
        if self.has_no_clock(message.bus()) {
            return;
        }
        self.spans.entry(message.bus()).or_default().add(message.at());
        if message.health() == Health::HeaderCut {
            self.buses_with_cut_headers.insert(message.bus());
            return;
        }
        if message.health() == Health::BodyCut && message.member() == "NameOwnerChanged" {
            self.hides_owners.insert(message.bus());
        }
        let list = match message.kind() {
            MessageType::MethodCall => &mut self.calls,
            MessageType::Signal => &mut self.signals,
            _ => return,
        };
        if !message.from().is_some_and(|peer| self.observers.contains(&peer)) {
            list.push(message);
        }
    }

    /// Returns the messages that rules may check: with a whole header and a time, and not sent by
    /// an instrument.
    pub(super) fn messages(&self) -> impl Iterator<Item = CapturedMessage<'c>> + '_ {
        self.capture.messages().filter(|message| self.may_be_judged(message))
    }

    /// Returns true if a message has a whole header and a time, and was not sent by an instrument.
    pub(super) fn may_be_judged(&self, message: &CapturedMessage<'_>) -> bool {
        message.health() != Health::HeaderCut
            && !self.has_no_clock(message.bus())
            && !message.from().is_some_and(|peer| self.is_observer(peer))
    }

    /// Returns true if the messages of a bus have no times. Then no rule except L50 checks them.
    pub(super) fn has_no_clock(&self, bus: BusId) -> bool {
        let bus = self.capture.buses().get(usize::from(bus.0));
        bus.is_some_and(|bus| bus.clock == RecordedClock::Absent)
    }

    /// Returns true if messages of a bus have cut headers. Then a missing message may be one of
    /// them.
    pub(super) fn lacks_headers(&self, bus: BusId) -> bool {
        self.buses_with_cut_headers.contains(&bus)
    }

    /// Returns true if the recording does not show reliably when names got owners and when
    /// connections closed.
    pub(super) fn hides_owners(&self, bus: BusId) -> bool {
        self.buses_with_cut_headers.contains(&bus) || self.hides_owners.contains(&bus)
    }

    /// Returns true if the recording would show a reply to this call.
    pub(super) fn shows_replies(&self, call: &CapturedMessage<'_>) -> bool {
        if self.lacks_headers(call.bus()) {
            return false;
        }
        let Some(bus) = self.capture.buses().get(usize::from(call.bus().0)) else { return true };
        let hides_driver = bus.method == CaptureMethod::Eavesdrop && call.is_driver_traffic();
        bus.filters.is_empty() && bus.content.is_of_wire() && !hides_driver
    }

    /// Returns true if a call has no reply, although the recording would show one.
    pub(super) fn is_unanswered(&self, call: &CapturedMessage<'_>) -> bool {
        call.outcome().is_some_and(CallOutcome::is_unanswered) && self.shows_replies(call)
    }

    /// The time of the last message of a bus.
    pub(super) fn end(&self, bus: BusId) -> RecordedTime {
        self.spans.get(&bus).map(TimeSpan::last).unwrap_or_default()
    }

    /// The time from the first message of a bus to the last.
    pub(super) fn recorded(&self, bus: BusId) -> Duration {
        self.spans.get(&bus).map(TimeSpan::length).unwrap_or_default()
    }

    /// The longest time for which any bus was recorded.
    pub(super) fn longest(&self) -> Duration {
        self.spans.values().map(TimeSpan::length).max().unwrap_or_default()
    }

    /// Returns true if the connection belongs to an instrument.
    pub(super) fn is_observer(&self, peer: RecordedPeerId) -> bool {
        self.observers.contains(&peer)
    }

    /// Decodes a message and passes it to `read`. Returns `None` if it cannot be decoded.
    pub(super) fn read<T>(
        &self,
        message: &CapturedMessage<'_>,
        read: impl FnOnce(&wire::Message<'_>) -> Option<T>,
    ) -> Option<T> {
        BUFFER.with_borrow_mut(|buffer| {
            let message = self.capture.read_message(message.id(), buffer).ok()??;
            read(&message)
        })
    }

    /// The leading arguments of a message that are strings or object paths.
    pub(super) fn texts(&self, message: &CapturedMessage<'_>) -> Vec<String> {
        use wire::match_rule::MatchArgument;
        let texts = self.read(message, |body| {
            let texts = body.args().map_while(|arg| match arg {
                MatchArgument::String(text) | MatchArgument::ObjectPath(text) => {
                    Some(text.to_owned())
                }
                MatchArgument::Other => None,
            });
            Some(texts.collect())
        });
        texts.unwrap_or_default()
    }

    /// The sender of a message.
    pub(super) fn sender(&self, message: &CapturedMessage<'_>) -> TrafficParty {
        message
            .from()
            .map_or(TrafficParty::Name(message.bus(), message.sender_id()), TrafficParty::Peer)
    }

    /// The recipient of a call.
    pub(super) fn callee(&self, call: &CapturedMessage<'_>) -> TrafficParty {
        call.to().map_or(TrafficParty::Name(call.bus(), call.destination_id()), TrafficParty::Peer)
    }

    /// Describes a party with everything that is known about it.
    pub(super) fn party(&self, party: TrafficParty) -> FindingParty {
        let peer = match party {
            TrafficParty::Peer(peer) => peer,
            TrafficParty::Name(_, name) => return self.named(self.capture.strings().get(name)),
        };
        let known = self.capture.directory().peer(peer);
        let process = known.process.as_ref();
        let stable = match known.names.first() {
            Some(&name) => self.capture.strings().get(name).to_owned(),
            None if known.unique == self.capture.driver() => String::from("org.freedesktop.DBus"),
            None => process.and_then(RecordedProcess::program).unwrap_or("-").to_owned(),
        };
        FindingParty {
            label: self.capture.label(peer).into_owned(),
            stable,
            process: self.capture.process_label(peer),
            unit: process.and_then(|process| process.unit.clone()),
        }
    }

    /// A party of which only a name is known, or the recording itself.
    pub(super) fn named(&self, name: &str) -> FindingParty {
        let stable = if name.starts_with(':') { "-" } else { name }.to_owned();
        FindingParty { label: name.to_owned(), stable, process: None, unit: None }
    }

    /// The display name of the sender of a message.
    pub(super) fn sender_label(&self, message: &CapturedMessage<'_>) -> String {
        self.party(self.sender(message)).label
    }

    /// The display name of the callee of a call.
    pub(super) fn callee_label(&self, call: &CapturedMessage<'_>) -> String {
        self.party(self.callee(call)).label
    }

    /// The name of the callee that is the same in every recording.
    pub(super) fn callee_stable(&self, call: &CapturedMessage<'_>) -> String {
        self.party(self.callee(call)).stable
    }

    /// The callee and the method, as the subject of a finding.
    pub(super) fn method_of(&self, call: &CapturedMessage<'_>) -> String {
        format!("{} {}", self.callee_stable(call), call.full_member())
    }
}

/// The member with only the last word of its interface, for display.
pub(super) fn short_name(message: &CapturedMessage<'_>) -> String {
    match message.interface().rsplit('.').next() {
        None | Some("") => message.member().to_owned(),
        Some(word) => format!("{word}.{}", message.member()),
    }
}

/// The standard interface for properties.
pub(super) const PROPERTIES: &str = "org.freedesktop.DBus.Properties";

/// The standard interface for introspection.
pub(super) const INTROSPECTABLE: &str = "org.freedesktop.DBus.Introspectable";
