//! What is drawn of messages and start-ups.

use wire::message::MessageType;

use super::driver;
use crate::model::{Capture, Message, MessageId, PeerId};
use crate::record::Time;
use crate::timeline::{Phase, Processors, StartUp, Way, processes};

/// Something that one connection does for a while.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Span {
    pub(super) from: Time,
    pub(super) to: Time,
    pub(super) peer: PeerId,
    pub(super) role: Role,
    pub(super) message: Option<MessageId>,
}

impl Span {
    /// Whether it has no length, so that it can stand on a track together with spans.
    pub(super) fn is_point(&self) -> bool {
        self.from >= self.to
    }
}

/// What a connection does in a span.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Role {
    /// It comes up.
    Starts,
    /// Its process has a processor.
    Runs,
    /// It waits for the answer to its call.
    Calls,
    /// It has a call of another, until it answers.
    Serves,
    /// The bus finds out who gets a message.
    Routes,
    /// The bus passes a message on.
    Sends,
    /// A signal; a point.
    Emits,
    /// It waits for an answer that is not in the recording.
    NeverAnswered,
}

#[derive(Debug, Default)]
pub(super) struct Spans {
    all: Vec<Span>,
}

impl Spans {
    pub(super) fn add(&mut self, message: &Message<'_>, processors: &Processors) {
        self.add_bus(message);
        match (message.kind(), message.partner()) {
            (MessageType::MethodCall, Some(reply)) => self.add_call(message, &reply, processors),
            (MessageType::MethodCall, None) if message.expects_reply() => {
                self.add_unanswered(message);
            }
            (MessageType::Signal | MessageType::MethodCall, _) => {
                self.add_point(message, Role::Emits);
            }
            _ => {}
        }
    }

    pub(super) fn add_start_up(&mut self, start_up: &StartUp) {
        let ends = start_up.milestones.first().zip(start_up.milestones.last());
        if let Some((first, last)) = ends {
            let (from, to) = (first.at, last.at);
            let role = Role::Starts;
            self.all.push(Span { from, to, peer: start_up.peer, role, message: None });
        }
    }

    /// When the processes of connections had a processor, on the track of the first connection of each.
    pub(super) fn add_processors(&mut self, capture: &Capture, processors: &Processors) {
        let peers = processes(capture);
        for (pid, from, to) in processors.spans() {
            if let Some(&peer) = peers.get(&pid) {
                self.all.push(Span { from, to, peer, role: Role::Runs, message: None });
            }
        }
    }

    /// In the order of time; of spans that begin together the longer first.
    pub(super) fn sorted(mut self) -> Vec<Span> {
        self.all.sort_by_key(|span| (span.from, std::cmp::Reverse(span.to)));
        self.all
    }

    fn add_call(&mut self, call: &Message<'_>, reply: &Message<'_>, processors: &Processors) {
        let Some(duration) = call.duration() else { return self.add_unanswered(call) };
        let way = Way::of(call, processors);
        let message = Some(call.id());
        let delivered = way.map_or(call.at(), |way| call.at().after(way.delivered()));
        let returned = call.at().after(duration);
        if let Some(peer) = call.from() {
            self.all.push(Span { from: call.at(), to: returned, peer, role: Role::Calls, message });
        }
        if let Some(peer) = reply.from() {
            let to = way.map_or(reply.at(), |way| delivered.after(way.time(Phase::Service)));
            self.all.push(Span { from: delivered.min(to), to, peer, role: Role::Serves, message });
        }
    }

    /// It lasts until the caller left, or the recording ended.
    fn add_unanswered(&mut self, call: &Message<'_>) {
        let Some(peer) = call.from() else { return };
        let to = call.at().after(call.waited().unwrap_or_default());
        let (role, message) = (Role::NeverAnswered, Some(call.id()));
        self.all.push(Span { from: call.at(), to, peer, role, message });
    }

    fn add_point(&mut self, message: &Message<'_>, role: Role) {
        if let Some(peer) = message.from() {
            let at = message.at();
            self.all.push(Span { from: at, to: at, peer, role, message: Some(message.id()) });
        }
    }

    /// What the bus has stamped of a message.
    fn add_bus(&mut self, message: &Message<'_>) {
        let Some((routed, copies)) = message.routed_after().zip(message.deliveries()) else {
            return;
        };
        let Some(peer) = driver(message.capture(), message.bus()) else { return };
        let (from, routed) = (message.at(), message.at().after(routed));
        let message_id = Some(message.id());
        self.all.push(Span { from, to: routed, peer, role: Role::Routes, message: message_id });
        let sent = copies.iter().filter_map(|copy| copy.written_after).max();
        if let Some(sent) = sent.map(|sent| from.after(sent)).filter(|sent| *sent > routed) {
            let role = Role::Sends;
            self.all.push(Span { from: routed, to: sent, peer, role, message: message_id });
        }
    }
}
