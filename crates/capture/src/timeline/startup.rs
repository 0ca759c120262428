//! The starts of services.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::Duration;

use wire::message::MessageType;

use super::path::{Activity, AnsweredCalls, CriticalPathStep};
use crate::activation::CLOCK_OF_PROCESSES;
use crate::model::{Capture, CapturedMessage, CapturedMessageId, RecordedPeerId, TextId};
use crate::record::{BusId, Fact, RecordedTime};
use crate::table::{Cell, Column, ColumnUnit, DataTable};

/// A service that started during the recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StartUp {
    /// The connection of the service.
    pub peer: RecordedPeerId,
    /// The first well-known name that it owned.
    pub name: TextId,
    /// The known milestones of the start, in chronological order; never empty.
    pub milestones: Vec<Milestone>,
    /// The critical path from the connection to the first reply, or to the name if there is no
    /// reply.
    pub path: Vec<CriticalPathStep>,
}

/// A point in time in the start of a service.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Milestone {
    /// The time of the milestone.
    pub at: RecordedTime,
    /// The kind of the milestone.
    pub kind: MilestoneKind,
    /// The message that shows it, if any.
    pub message: Option<CapturedMessageId>,
}

worded_enum! {
    /// The kind of a milestone.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    pub enum MilestoneKind {
        /// A program requested the name while it had no owner.
        Asked = "name requested",
        /// The process of the service was started.
        Started = "process started",
        /// The service connected to the bus.
        Connected = "connected",
        /// The service acquired its name.
        Owned = "name acquired",
        /// The service replied for the first time to a call that had waited for it.
        Replied = "first reply",
    }
}

impl StartUp {
    /// The time from the first known milestone to the last.
    pub fn length(&self) -> Duration {
        let ends = self.milestones.first().zip(self.milestones.last());
        ends.and_then(|(first, last)| last.at.since(first.at)).unwrap_or_default()
    }

    /// Formats the milestones and the longest `steps_max` steps of the path, in chronological
    /// order. Times are counted from the first milestone.
    pub fn table(&self, capture: &Capture, steps_max: usize) -> DataTable {
        let mut table = DataTable::new([
            Column::number("after", ColumnUnit::Time),
            Column::text("what"),
            Column::number("took", ColumnUnit::Time),
            Column::number("number", ColumnUnit::Count),
        ]);
        let milestones = self.milestones.iter().map(|one| (one.at, 0, 0, one.row(capture)));
        let steps = self.longest(steps_max);
        let steps = steps.map(|step| (step.from, 1, step.depth, row(capture, step)));
        let mut rows: Vec<_> = milestones.chain(steps).collect();
        rows.sort_by_key(|&(at, after_milestone, depth, _)| (at, after_milestone, depth));
        let start = self.milestones.first().map_or(RecordedTime(0), |first| first.at);
        for (at, _, _, [what, took, number]) in rows {
            table.push([Cell::Time(at.since(start).unwrap_or_default()), what, took, number]);
        }
        table
    }

    fn longest(&self, count: usize) -> impl Iterator<Item = &CriticalPathStep> {
        let mut lengths: Vec<_> = self.path.iter().map(|step| step.to.0 - step.from.0).collect();
        lengths.sort_unstable_by_key(|&length| Reverse(length));
        let least = lengths.get(count.saturating_sub(1)).copied().unwrap_or_default();
        self.path.iter().filter(move |step| step.to.0 - step.from.0 >= least)
    }

    fn reached(
        &mut self,
        kind: MilestoneKind,
        at: RecordedTime,
        message: Option<CapturedMessageId>,
    ) {
        let known = self.milestones.iter_mut().find(|one| one.kind == kind);
        let new = Milestone { at, kind, message };
        match known {
            Some(known) if at < known.at => *known = new,
            Some(_) => {}
            None => self.milestones.push(new),
        }
    }

    /// Moves a process that was started for a call after the call. The kernel rounds the start time
    /// down.
    fn order_process(&mut self) {
        let Some(asked) = self.when(MilestoneKind::Asked) else { return };
        let started = self.milestones.iter_mut().find(|one| one.kind == MilestoneKind::Started);
        let is_rounded =
            |at: RecordedTime| asked.since(at).is_some_and(|early| early <= CLOCK_OF_PROCESSES);
        if let Some(started) = started.filter(|started| is_rounded(started.at)) {
            started.at = asked;
        }
    }

    fn when(&self, kind: MilestoneKind) -> Option<RecordedTime> {
        self.milestones.iter().find(|one| one.kind == kind).map(|one| one.at)
    }
}

impl Milestone {
    fn row(&self, capture: &Capture) -> [Cell; 3] {
        let message = self.message.map(|id| capture.message(id));
        let by = message.filter(|_| self.kind == MilestoneKind::Asked).and_then(|call| call.from());
        let what = match by {
            Some(peer) => format!("{} requests the name", capture.program_label(peer)),
            None => self.kind.as_str().to_owned(),
        };
        let number = self.message.map_or(Cell::Absent, |id| Cell::Count(id.number()));
        [Cell::Text(what), Cell::Absent, number]
    }
}

fn row(capture: &Capture, step: &CriticalPathStep) -> [Cell; 3] {
    let indent = "  ".repeat(1 + usize::from(step.depth));
    let (what, number) = match step.what {
        Activity::Works(peer) => (format!("{} works", capture.program_label(peer)), Cell::Absent),
        Activity::Waits(id) => {
            let call = capture.message(id);
            let (member, of) = (call.full_member(), call.awaited_label());
            (format!("waits for {member} of {of}"), Cell::Count(id.number()))
        }
    };
    let took = step.to.since(step.from).unwrap_or_default();
    [Cell::Text(indent + &what), Cell::Time(took), number]
}

/// Returns the services that connected and acquired a name during the recording, the slowest first.
pub fn start_ups(capture: &Capture) -> Vec<StartUp> {
    let mut search = StartUpSearch::new(capture);
    if search.found.is_empty() {
        return Vec::new();
    }
    for message in capture.messages() {
        search.look_at(&message);
    }
    for (at, bus, fact) in capture.facts() {
        if let Fact::Starting { name, .. } = fact {
            search.asked(*bus, capture.strings().find(name), *at, None);
        }
    }
    search.finish()
}

/// Collects the milestones of starts.
struct StartUpSearch<'c> {
    capture: &'c Capture,
    found: Vec<StartUp>,
    /// For each connection, the index of its start.
    by_peer: Vec<Option<usize>>,
    /// For each name, the times when it was acquired, with the index of the start.
    by_name: HashMap<(BusId, TextId), Vec<(RecordedTime, usize)>>,
}

impl<'c> StartUpSearch<'c> {
    fn new(capture: &'c Capture) -> Self {
        let by_peer = vec![None; capture.directory().peers().count()];
        let mut search = Self { capture, found: Vec::new(), by_peer, by_name: HashMap::new() };
        for (bus, name, ownerships) in capture.directory().names() {
            for ownership in ownerships {
                if let Some(since) = ownership.since {
                    search.owned(bus, name, ownership.owner, since);
                }
            }
        }
        search
    }

    /// Records that a connection acquired a name.
    fn owned(&mut self, bus: BusId, name: TextId, owner: RecordedPeerId, since: RecordedTime) {
        let peer = self.capture.directory().peer(owner);
        let Some(arrived) = peer.arrived.filter(|arrived| *arrived <= since) else { return };
        let index = *self.by_peer[owner.index()].get_or_insert(self.found.len());
        if index == self.found.len() {
            let mut new = StartUp { peer: owner, name, milestones: Vec::new(), path: Vec::new() };
            new.reached(MilestoneKind::Connected, arrived, None);
            let started = peer.process.as_ref().and_then(|process| process.started);
            if let Some(started) = started.filter(|started| is_soon_after(*started, arrived)) {
                new.reached(MilestoneKind::Started, started, None);
            }
            self.found.push(new);
        }
        let start_up = &mut self.found[index];
        if start_up.when(MilestoneKind::Owned).is_none_or(|known| since < known) {
            start_up.name = name;
            start_up.reached(MilestoneKind::Owned, since, None);
        }
        self.by_name.entry((bus, name)).or_default().push((since, index));
    }

    fn look_at(&mut self, message: &CapturedMessage<'_>) {
        match message.kind() {
            MessageType::MethodCall => self.look_at_call(message),
            kind if kind.is_reply() => self.look_at_reply(message),
            _ => {}
        }
    }

    fn look_at_call(&mut self, call: &CapturedMessage<'_>) {
        self.asked(call.bus(), call.wanted_text(), call.at(), Some(call.id()));
    }

    /// Records a request for a name, which begins a start if the name has no owner.
    fn asked(
        &mut self,
        bus: BusId,
        name: Option<TextId>,
        at: RecordedTime,
        message: Option<CapturedMessageId>,
    ) {
        let Some(name) = name else { return };
        let Some(owners) = self.by_name.get(&(bus, name)) else { return };
        let next = owners.iter().filter(|(since, _)| at <= *since).min();
        let Some(&(_, index)) = next else { return };
        let has_owner = self.capture.directory().resolve(bus, name, at);
        if has_owner.is_none_or(|owner| owner == self.found[index].peer) {
            self.found[index].reached(MilestoneKind::Asked, at, message);
        }
    }

    /// Records a reply. The first reply belongs to the start if a caller was already waiting for
    /// the service; otherwise it shows when the service was first called.
    fn look_at_reply(&mut self, reply: &CapturedMessage<'_>) {
        let Some(index) = reply.from().and_then(|peer| self.by_peer[peer.index()]) else { return };
        let Some(call) = reply.partner() else { return };
        let start_up = &mut self.found[index];
        let owned = start_up.when(MilestoneKind::Owned);
        if owned.is_some_and(|owned| call.at() <= owned && owned <= reply.at()) {
            start_up.reached(MilestoneKind::Replied, reply.at(), Some(reply.id()));
        }
    }

    fn finish(mut self) -> Vec<StartUp> {
        let answered = AnsweredCalls::new(self.capture);
        for start_up in &mut self.found {
            start_up.order_process();
            start_up.milestones.sort_by_key(|one| (one.at, one.kind));
            let connected = start_up.when(MilestoneKind::Connected);
            let end = start_up.milestones.last().map(|last| last.at);
            if let Some((from, to)) = connected.zip(end) {
                start_up.path = answered.path(start_up.peer, from, to);
            }
        }
        self.found.sort_by_key(|start_up| (Reverse(start_up.length()), start_up.peer));
        self.found
    }
}

/// Returns true if a process connected soon after it was started. A process that was started long
/// before did something else first.
fn is_soon_after(started: RecordedTime, arrived: RecordedTime) -> bool {
    arrived.since(started).is_some_and(|span| span <= PROCESS_TO_BUS_MAX)
}

const PROCESS_TO_BUS_MAX: Duration = Duration::from_secs(120);
