//! What a connection had at a bus that went away, and restores when it is connected again.
//!
//! ```text
//!   Settled ──interrupt──> Interrupted ──resume──> Restoring ──last reply──> Settled, with a report
//! ```
//!
//! Nothing that was in flight is repeated: pending calls fail, and queued bytes and calls by peers
//! are dropped. Messages that are queued during the interruption are sent after the restored names
//! and rules.

use std::collections::{BTreeMap, VecDeque};
use std::mem;

use wire::message::{Builder, Flags, Message};

use super::calls::{ReplyTarget, RestoredItem};
use super::outgoing::OutgoingQueue;
use super::owners::WatchedOwners;
use super::{
    Core, Ended, Established, Incoming, MessageBody, MessageDisposition, RECEIVER_TAKEN, SendError,
};
use crate::driver;

/// A report on a connection that was restored after the bus went away.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reconnection {
    /// The reason why the earlier connection ended.
    pub reason: Ended,
    /// The unique name on the new connection.
    pub unique_name: String,
    /// Well-known names that the connection owned or waited for, and does not own now: another
    /// connection owns them, or the bus refused them.
    pub lost_names: Vec<String>,
    /// Match rules that the bus refused. Their subscriptions get no more signals.
    pub refused_rules: Vec<String>,
}

/// The names that a connection requested, and the stage of their restoration.
#[derive(Debug, Default)]
pub(super) struct Restoration {
    /// The flags of `RequestName`, by the requested names.
    names: BTreeMap<Box<str>, u32>,
    stage: RestorationStage,
    reports: VecDeque<Reconnection>,
}

#[derive(Debug, Default)]
enum RestorationStage {
    #[default]
    Settled,
    Interrupted(LostState),
    /// The calls that restore the state wait for this number of replies.
    Restoring {
        replies: usize,
        report: Reconnection,
    },
}

/// What the bus knew about a connection when it went away.
#[derive(Debug)]
struct LostState {
    reason: Ended,
    names: Vec<(Box<str>, u32)>,
    rules: Vec<Box<str>>,
    watched: Vec<Box<str>>,
}

impl Restoration {
    /// Forgets a name if the signal is its `NameLost`, and the connection does not wait for it.
    pub(super) fn observe(&mut self, signal: &Message<'_>) {
        let from_bus = signal.sender() == Some(driver::NAME.into());
        if self.names.is_empty() || !from_bus || signal.member() != Some(driver::NAME_LOST) {
            return;
        }
        if let Ok((name,)) = signal.read::<(&str,)>()
            && self.names.get(name).is_some_and(|flags| flags & DO_NOT_QUEUE != 0)
        {
            self.names.remove(name);
        }
    }

    /// True once the last reply of a restoration has arrived; then a report was added.
    #[inline]
    pub(super) fn settle(&mut self) -> bool {
        matches!(self.stage, RestorationStage::Restoring { replies: 0, .. }) && self.add_report()
    }

    fn add_report(&mut self) -> bool {
        let stage = mem::take(&mut self.stage);
        let RestorationStage::Restoring { report, .. } = stage else { return false };
        if self.reports.len() >= REPORTS_MAX {
            self.reports.pop_front();
        }
        self.reports.push_back(report);
        true
    }
}

/// Restoring a connection after the bus went away.
impl<D> Core<D> {
    /// Remembers a name that the connection owns or waits for, to request it again.
    pub fn remember_name(&mut self, name: &str, flags: u32) {
        self.restoration.names.insert(name.into(), flags);
    }

    /// Forgets a name that was released.
    pub fn forget_name(&mut self, name: &str) {
        self.restoration.names.remove(name);
    }

    /// Takes the oldest report on a restored connection.
    pub fn poll_reconnection(&mut self) -> Option<Reconnection> {
        self.restoration.reports.pop_front()
    }

    /// Interrupts the connection because the bus went away: pending calls fail, and calls by peers
    /// are dropped. Messages can be queued. [`resume`](Self::resume) continues.
    ///
    /// # Panics
    ///
    /// While the receiver is [taken](Self::take_receiver): its bytes would be taken for bytes
    /// of the next connection.
    pub fn interrupt(&mut self, reason: Ended) {
        assert!(self.has_receiver(), "{RECEIVER_TAKEN}");
        self.calls.end(reason);
        self.requests.clear();
        self.lanes.interrupt();
        self.outgoing = OutgoingQueue::new();
        let names = &self.restoration.names;
        let lost = LostState {
            reason,
            names: names.iter().map(|(name, flags)| (name.clone(), *flags)).collect(),
            rules: self.rules.texts().map(Into::into).collect(),
            watched: self.owners.forget_all(),
        };
        self.restoration.stage = RestorationStage::Interrupted(lost);
        self.epoch += 1;
    }

    /// Continues an [interrupted](Self::interrupt) connection with a new one. The calls that
    /// restore rules and names are queued before the messages that were queued meanwhile.
    pub fn resume(&mut self, established: Established<D>) {
        let Established { core, unique_name, .. } = established;
        self.lanes.resume(core.lanes, unique_name.clone());
        let stage = mem::take(&mut self.restoration.stage);
        let RestorationStage::Interrupted(lost) = stage else { return };
        self.receiver = core.receiver;
        self.config.fds = core.config.fds;
        let later = mem::replace(&mut self.outgoing, OutgoingQueue::new());
        let replies = lost.rules.len() + lost.names.len();
        self.restore(&lost);
        self.lanes.count_messages(&later.bytes);
        self.outgoing.append(later);
        self.subscriptions.mark_reconnection();
        let report = Reconnection {
            reason: lost.reason,
            unique_name: unique_name.map(|name| name.to_string()).unwrap_or_default(),
            lost_names: Vec::new(),
            refused_rules: Vec::new(),
        };
        self.restoration.stage = RestorationStage::Restoring { replies, report };
    }

    /// Queues the calls that restore rules, owners and names, in the order in which a program makes
    /// them: names last, so that no signal to them is missed.
    fn restore(&mut self, lost: &LostState) {
        for rule in &lost.rules {
            let add = driver::method(driver::ADD_MATCH);
            self.restoring_call(&add, &(&**rule,), RestoredItem::Rule(rule.clone()));
        }
        for name in &lost.watched {
            // A connection that was just established has not ended.
            let _ = self.ask_owner(name);
        }
        for (name, flags) in &lost.names {
            let request = driver::method(driver::REQUEST_NAME);
            self.restoring_call(&request, &(&**name, *flags), RestoredItem::Name(name.clone()));
        }
    }

    fn restoring_call(
        &mut self,
        method: &Builder<'_>,
        arguments: &impl MessageBody,
        item: RestoredItem,
    ) {
        // The message is small, and a connection that was just established has not ended.
        if let Ok(serial) = self.send(method, arguments, Vec::new()) {
            self.calls.add(serial, None, ReplyTarget::Restored(item));
        }
    }

    /// Records the outcome of a call that restores something.
    pub(super) fn file_restored(
        &mut self,
        item: RestoredItem,
        reply: &Incoming<D>,
    ) -> MessageDisposition {
        let RestorationStage::Restoring { replies, report } = &mut self.restoration.stage else {
            return MessageDisposition::Ignored;
        };
        *replies -= 1;
        let is_refused = reply.remote_error().is_some();
        match item {
            RestoredItem::Rule(rule) if is_refused => report.refused_rules.push(rule.into()),
            RestoredItem::Rule(_) => {}
            RestoredItem::Name(name) => {
                let code = reply.read::<(u32,)>().map_or(NOT_OWNER, |(code,)| code);
                let code = if is_refused { NOT_OWNER } else { code };
                if code == NOT_OWNER {
                    self.restoration.names.remove(&name);
                }
                if code != PRIMARY_OWNER && code != ALREADY_OWNER {
                    report.lost_names.push(name.into());
                }
            }
        }
        MessageDisposition::Ignored
    }

    /// Queues the question who owns a watched name.
    pub(super) fn ask_owner(&mut self, name: &str) -> Result<(), SendError> {
        let ask = driver::method(driver::GET_NAME_OWNER).flags(Flags::NO_AUTO_START);
        let serial = self.send(&ask, &(name,), Vec::new())?;
        self.calls.add(serial, None, ReplyTarget::Owners(name.into()));
        Ok(())
    }
}

impl WatchedOwners {
    /// Forgets all owners, and returns the watched names.
    fn forget_all(&mut self) -> Vec<Box<str>> {
        let names: Vec<Box<str>> = self.names().map(Into::into).collect();
        names.iter().for_each(|name| self.set(name, None));
        names
    }
}

/// Maximum number of reports that wait to be taken; the oldest are dropped.
const REPORTS_MAX: usize = 16;

/// The flag of `RequestName` without which a connection waits for the name.
const DO_NOT_QUEUE: u32 = 4;

// Replies of `RequestName`.
const PRIMARY_OWNER: u32 = 1;
const NOT_OWNER: u32 = 3;
const ALREADY_OWNER: u32 = 4;
