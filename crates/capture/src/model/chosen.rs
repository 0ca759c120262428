//! The messages of a capture that are saved, and the facts that are saved with them.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;
use wire::message::MessageType;

use super::row::Health;
use super::unpaired::{UnpairedReplyKind, unpaired_replies};
use super::{Capture, CapturedMessage, CapturedMessageId, RecordedPeerId, TextId};
use crate::bodies::Bodies;
use crate::record::{BusId, Excerpt, Fact, RecordingRecord, TimeSpan};
use crate::text::units::{counted, grouped};

/// The messages of a capture that are saved. A call is always saved with its reply and a reply with
/// its call, so that readers do not mistake a message that was left out for one that was never
/// sent.
#[derive(Clone, Debug)]
pub struct MessageSelection {
    /// One flag for each message of the capture: true if it is selected.
    messages: Vec<bool>,
    matching: u64,
    count: u64,
    query: String,
    scope: SelectionScope,
}

/// The connections, names and processes of the selected messages.
#[derive(Clone, Debug, Default)]
struct SelectionScope {
    peers: HashSet<RecordedPeerId, RandomState>,
    /// Well-known names that are destinations, or that these connections have owned.
    names: HashSet<(BusId, TextId), RandomState>,
    /// The processes of these connections and of the buses.
    pids: HashSet<u32, RandomState>,
    /// The time from the first to the last message, including the copies that the bus wrote.
    span: TimeSpan,
}

impl MessageSelection {
    /// Selects all messages of a capture.
    pub fn all(capture: &Capture) -> Self {
        let count = capture.len() as u64;
        Self {
            messages: vec![true; capture.len()],
            matching: count,
            count,
            query: String::new(),
            scope: SelectionScope::default(),
        }
    }

    /// Selects the messages that `selects` accepts, and the calls and replies that belong to them.
    /// `query` describes the selection to readers of the file.
    pub fn find<'c>(
        capture: &'c Capture,
        query: &str,
        mut selects: impl FnMut(&CapturedMessage<'c>) -> bool,
    ) -> Self {
        let mut messages: Vec<_> = capture.messages().map(|message| selects(&message)).collect();
        let matching = count(&messages);
        add_partners(capture, &mut messages);
        let chosen = capture.messages().filter(|message| messages[message.id().index()]);
        let scope = SelectionScope::find(capture, chosen);
        Self { count: count(&messages), messages, matching, query: query.to_owned(), scope }
    }

    /// Returns the number of selected messages.
    pub const fn len(&self) -> u64 {
        self.count
    }

    /// Returns true if no message is selected.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the number of messages that are selected only because their call or reply is.
    pub const fn partners(&self) -> u64 {
        self.count - self.matching
    }

    /// Returns true if a message is selected.
    pub fn has(&self, id: CapturedMessageId) -> bool {
        self.messages[id.index()]
    }

    fn is_all(&self) -> bool {
        self.count == self.messages.len() as u64
    }

    /// The comment that other programs show for the file; `None` if it holds all messages.
    pub(super) fn remark(&self, bodies: Bodies) -> Option<String> {
        if self.is_all() {
            return None;
        }
        let all = counted(self.messages.len() as u64, "message", "messages");
        let remark = format!("excerpt: {} of {all}", grouped(self.count));
        Some(match bodies {
            Bodies::Redacted => remark,
            _ if self.query.is_empty() => remark,
            _ => format!("{remark}, selected by {}", self.query),
        })
    }

    /// The facts that mark the file as an excerpt, for each bus whose messages are incomplete.
    pub(super) fn excerpts(
        &self,
        capture: &Capture,
    ) -> impl Iterator<Item = RecordingRecord<'static>> {
        let mut buses: HashMap<BusId, Excerpt, RandomState> = HashMap::default();
        for (row, is_chosen) in capture.rows.iter().zip(&self.messages) {
            let excerpt = buses.entry(row.bus).or_default();
            excerpt.of += 1;
            if *is_chosen {
                excerpt.messages += 1;
                continue;
            }
            excerpt.cut_signals += u64::from(capture.may_hide_departure(row));
            if row.health == Health::HeaderCut && row.is_unpairable() {
                match row.kind {
                    MessageType::MethodCall => excerpt.cut_calls += 1,
                    kind => excerpt.cut_replies += u64::from(kind.is_reply()),
                }
            }
        }
        let mut buses: Vec<_> = buses.into_iter().filter(|(_, it)| it.messages < it.of).collect();
        buses.sort_unstable_by_key(|(bus, _)| *bus);
        let facts = buses.into_iter().map(|(bus, excerpt)| {
            let fact = Fact::Excerpt(Excerpt { query: self.query.clone(), ..excerpt });
            RecordingRecord::Fact { at: capture.end_of(bus), bus, fact }
        });
        facts.collect::<Vec<_>>().into_iter()
    }

    /// Returns true if a record is relevant to the selected messages.
    pub(super) fn keeps(&self, capture: &Capture, record: &RecordingRecord<'_>) -> bool {
        match record {
            RecordingRecord::Fact { bus, fact, .. } if !self.is_all() => {
                self.scope.concerns(capture, *bus, fact)
            }
            _ => true,
        }
    }
}

/// Adds messages without which a selected one would be misunderstood: the message that an error of
/// the bus is about, the call of a late reply, and the reply of each call.
fn add_partners(capture: &Capture, messages: &mut [bool]) {
    let loose = unpaired_replies(capture);
    for one in &loose {
        if let UnpairedReplyKind::Undelivered { message } = one.kind {
            messages[message.index()] |= messages[one.reply.index()];
        }
    }
    for one in &loose {
        if let UnpairedReplyKind::Late { call } = one.kind {
            messages[call.index()] |= messages[one.reply.index()];
        }
    }
    for message in capture.messages() {
        if let Some(partner) = message.partner() {
            messages[message.id().index()] |= messages[partner.id().index()];
            messages[partner.id().index()] |= messages[message.id().index()];
        }
    }
}

impl SelectionScope {
    fn find<'c>(capture: &'c Capture, messages: impl Iterator<Item = CapturedMessage<'c>>) -> Self {
        let mut found = Self::default();
        let mut copies = HashSet::<(BusId, u64), RandomState>::default();
        for message in messages {
            let destination = message.destination();
            if !destination.is_empty() && !destination.starts_with(':') {
                found.names.insert((message.bus(), message.destination_id()));
            }
            found.peers.extend([message.from(), message.to()].into_iter().flatten());
            let deliveries = message.deliveries().unwrap_or_default();
            copies.extend(deliveries.iter().map(|copy| (message.bus(), copy.recipient)));
            let written = deliveries.iter().filter_map(|copy| copy.written_after).max();
            found.span.add(message.at());
            found.span.add(message.at().after(written.unwrap_or_default()));
        }
        let recipients = copies.iter().map(|&(bus, number)| capture.peer_numbered(bus, number));
        found.peers.extend(recipients.flatten());
        found.names.extend(found.peers.iter().flat_map(|&id| {
            let peer = capture.directory.peer(id);
            peer.names.iter().map(|&name| (peer.bus, name))
        }));
        let processes = found.peers.iter().map(|&id| capture.directory.peer(id).process.as_ref());
        found.pids.extend(processes.filter_map(|process| process?.pid));
        found.pids.extend(capture.facts.iter().filter_map(|(_, _, fact)| match fact {
            Fact::Bus { process } => process.pid,
            _ => None,
        }));
        found
    }

    /// Returns true if a fact concerns a selected message, or the recording or bus as a whole.
    fn concerns(&self, capture: &Capture, bus: BusId, fact: &Fact) -> bool {
        let has = |name: &str| self.has_name(capture, bus, name);
        match fact {
            Fact::Peer { unique, .. } | Fact::Left { unique, .. } | Fact::Rule { unique, .. } => {
                has(unique)
            }
            Fact::Owner { name, .. }
            | Fact::OwnerChanged { name, .. }
            | Fact::Activatable { name }
            | Fact::Introspection { name, .. }
            | Fact::Starting { name, .. }
            | Fact::Started { name, .. } => has(name),
            Fact::Dropped { recipient, .. } => recipient.as_deref().is_none_or(has),
            Fact::Ran(ran) => {
                self.pids.contains(&ran.pid) && self.span.overlaps(ran.from, ran.until)
            }
            Fact::Unwatched { pid, .. } => self.pids.contains(pid),
            // The counters include messages that are not selected.
            Fact::Totals(_) => false,
            Fact::Bus { .. }
            | Fact::Recorder { .. }
            | Fact::Replaced { .. }
            | Fact::Late(_)
            | Fact::Ended { .. }
            | Fact::Excerpt(_) => true,
        }
    }

    fn has_name(&self, capture: &Capture, bus: BusId, name: &str) -> bool {
        let Some(text) = capture.strings().find(name) else { return false };
        let peer = capture.directory.by_unique(bus, text);
        peer.is_some_and(|peer| self.peers.contains(&peer)) || self.names.contains(&(bus, text))
    }
}

fn count(messages: &[bool]) -> u64 {
    messages.iter().filter(|is_chosen| **is_chosen).count() as u64
}
