//! One connection, as the bus sees it.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::rc::Rc;
use core::mem;

use wire::message::SenderField;
use wire::names::BusName;

use super::names::{NameId, Ticket};
use crate::accounting::{PeerStatistics, Queue};
use crate::policy::{ClientPolicy, MessageClass, PeerAttributes};
use crate::types::{
    BusLimits, ConnectionCredentials, DescriptorPassing, PeerId, PeerSnapshot, Process, Time,
};

/// A connection.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) id: PeerId,
    pub(crate) credentials: ConnectionCredentials,
    /// The user that it authenticated as; before that, the user that the kernel named.
    pub(crate) user: Option<u32>,
    /// Whether descriptors may be passed over it.
    pub(crate) fds: DescriptorPassing,
    /// When it connected.
    pub(crate) since: Time,
    stage: PeerStage,
    /// What waits to be read by it.
    pub(crate) queue: Queue,
    /// Calls of it that may wait for their replies at the same time.
    pub(crate) max_replies: u64,
    pub(crate) statistics: PeerStatistics,
    /// What the policy asks besides the user, if it asks.
    attributes: Option<Box<PeerAttributes>>,
    /// What its process is called, if it was looked up.
    pub(crate) process: Option<Box<Process>>,
}

/// How far a connection has come.
///
/// ```text
///   Handshake ──authenticated──▶ Unregistered ──Hello──▶ Active ──BecomeMonitor──▶ Monitor
///                                                          └──disconnected──▶ Closing
/// ```
#[derive(Debug)]
enum PeerStage {
    /// It authenticates.
    Handshake(Waiting),
    /// It is authenticated. It may call Hello and nothing else.
    Unregistered(Waiting),
    /// It has a unique name and takes part.
    Active(Registration),
    /// It sees every message and sends none. It keeps its unique name, which nobody can use.
    Monitor(Registration),
    /// It has ended, and still has names while the others are informed.
    Closing(Registration),
}

/// A connection that has not called Hello yet.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// Since when, unless the time limit is over already.
    since: Option<Time>,
}

/// What a connection gets when it calls Hello.
#[derive(Debug)]
pub(crate) struct Registration {
    /// The number in its unique name: 7 for `:1.7`.
    number: u64,
    /// Its unique name, as the header field that is put on its messages.
    sender: SenderField,
    /// The rules about what it may do.
    policy: Rc<ClientPolicy>,
    /// Names that it owns or waits for, in the order in which it requested them.
    names: BTreeMap<Ticket, NameId>,
    /// The most names that it ever had, its unique name included.
    peak_names: usize,
}

impl Registration {
    fn new(number: u64, policy: Rc<ClientPolicy>) -> Self {
        let name = format!(":1.{number}");
        let sender = SenderField::new(BusName::new(&name).expect("a valid name"));
        Self { number, sender, policy, names: BTreeMap::new(), peak_names: 1 }
    }

    pub(super) const fn names(&self) -> &BTreeMap<Ticket, NameId> {
        &self.names
    }
}

/// Connecting, and the changes of stage.
impl Peer {
    pub(super) fn new(
        id: PeerId,
        credentials: ConnectionCredentials,
        limits: &BusLimits,
        now: Time,
    ) -> Self {
        Self {
            id,
            user: credentials.uid,
            credentials,
            fds: DescriptorPassing::Refused,
            since: now,
            stage: PeerStage::Handshake(Waiting { since: Some(now) }),
            queue: Queue::new(limits),
            max_replies: limits.max_replies_per_connection,
            statistics: PeerStatistics::default(),
            attributes: None,
            process: None,
        }
    }

    pub(crate) const fn set_limits(&mut self, limits: &BusLimits) {
        self.queue.set_limits(limits);
        self.max_replies = limits.max_replies_per_connection;
    }

    /// Notes that the handshake has succeeded. Returns false if it had before.
    pub(super) fn authenticate(&mut self, user: Option<u32>, fds: DescriptorPassing) -> bool {
        let PeerStage::Handshake(waiting) = self.stage else { return false };
        (self.user, self.fds) = (user, fds);
        self.stage = PeerStage::Unregistered(waiting);
        true
    }

    pub(crate) fn set_attributes(&mut self, attributes: PeerAttributes) {
        self.attributes =
            Some(attributes).filter(|it| *it != PeerAttributes::default()).map(Box::new);
    }

    /// Ends the time in which it must call Hello. Returns when that time began.
    pub(super) const fn stop_waiting(&mut self) -> Option<Time> {
        match &mut self.stage {
            PeerStage::Handshake(waiting) | PeerStage::Unregistered(waiting) => {
                waiting.since.take()
            }
            PeerStage::Active(_) | PeerStage::Monitor(_) | PeerStage::Closing(_) => None,
        }
    }

    /// Since when it has yet to call Hello, while the time for that runs.
    pub(super) const fn waiting_since(&self) -> Option<Time> {
        match &self.stage {
            PeerStage::Handshake(waiting) | PeerStage::Unregistered(waiting) => waiting.since,
            PeerStage::Active(_) | PeerStage::Monitor(_) | PeerStage::Closing(_) => None,
        }
    }

    /// Gives it a unique name.
    pub(super) fn register(&mut self, number: u64, policy: Rc<ClientPolicy>) {
        self.stage = PeerStage::Active(Registration::new(number, policy));
    }

    /// Makes it a monitor.
    pub(super) fn become_monitor(&mut self) {
        self.replace_stage(PeerStage::Monitor);
    }

    /// Notes that it has ended.
    pub(super) fn close(&mut self) {
        self.replace_stage(PeerStage::Closing);
    }

    fn replace_stage(&mut self, next: fn(Registration) -> PeerStage) {
        let stage = mem::replace(&mut self.stage, PeerStage::Handshake(Waiting { since: None }));
        self.stage = match stage {
            PeerStage::Active(registration) => next(registration),
            other => other,
        };
    }

    pub(crate) fn set_policy(&mut self, policy: Rc<ClientPolicy>) {
        if let Some(registration) = self.registration_mut() {
            registration.policy = policy;
        }
    }
}

/// The stage, and what depends on it.
impl Peer {
    /// Whether it takes part: it has called Hello, and is neither a monitor nor gone.
    #[inline]
    pub(crate) const fn is_active(&self) -> bool {
        matches!(self.stage, PeerStage::Active(_))
    }

    #[inline]
    pub(crate) const fn is_monitor(&self) -> bool {
        matches!(self.stage, PeerStage::Monitor(_))
    }

    /// Whether it has ended, and the others are being informed.
    #[inline]
    pub(crate) const fn is_closing(&self) -> bool {
        matches!(self.stage, PeerStage::Closing(_))
    }

    /// Whether it has called Hello, whatever became of it.
    #[inline]
    pub(crate) const fn is_registered(&self) -> bool {
        self.registration().is_some()
    }

    #[inline]
    pub(super) const fn registration(&self) -> Option<&Registration> {
        match &self.stage {
            PeerStage::Active(it) | PeerStage::Monitor(it) | PeerStage::Closing(it) => Some(it),
            PeerStage::Handshake(_) | PeerStage::Unregistered(_) => None,
        }
    }

    const fn registration_mut(&mut self) -> Option<&mut Registration> {
        match &mut self.stage {
            PeerStage::Active(it) | PeerStage::Monitor(it) | PeerStage::Closing(it) => Some(it),
            PeerStage::Handshake(_) | PeerStage::Unregistered(_) => None,
        }
    }

    /// The number in its unique name: 7 for `:1.7`.
    #[inline]
    pub(crate) fn number(&self) -> Option<u64> {
        self.registration().map(|registration| registration.number)
    }

    /// Its unique name, as the header field that is put on its messages.
    #[inline]
    pub(crate) fn sender_field(&self) -> Option<&SenderField> {
        self.registration().map(|registration| &registration.sender)
    }

    /// Its unique name, once it has called Hello.
    pub(crate) fn unique_name(&self) -> Option<&str> {
        self.sender_field().map(SenderField::name)
    }

    /// Its unique name, or what stands for it.
    pub(crate) fn name(&self) -> BusName<'_> {
        BusName::new(self.unique_name().unwrap_or(UNREGISTERED)).expect("made from a name")
    }

    /// What the policy asks besides the user.
    pub(crate) fn attributes(&self) -> Option<&PeerAttributes> {
        self.attributes.as_deref()
    }

    /// Its security label, if that is known.
    pub(crate) fn security_label(&self) -> Option<&[u8]> {
        self.attributes()?.label.as_deref()
    }

    /// The rules about what it may do, once it has called Hello.
    #[inline]
    pub(crate) fn policy(&self) -> Option<&ClientPolicy> {
        self.registration().map(|registration| &*registration.policy)
    }

    /// Whether it may send every message of this class. If not, the rules have to be asked.
    #[inline]
    pub(crate) fn sends_all(&self, class: MessageClass) -> bool {
        self.policy().is_some_and(|policy| policy.send.pass_all(class))
    }

    /// Whether it may receive every message of this class. If not, the rules have to be asked. A
    /// connection without a name receives only answers of the bus.
    #[inline]
    pub(crate) fn receives_all(&self, class: MessageClass) -> bool {
        self.policy().is_none_or(|policy| policy.receive.pass_all(class))
    }

    /// What the history keeps of it, apart from its names.
    pub(crate) fn nameless_snapshot(&self) -> PeerSnapshot {
        let (pid, uid) = (self.credentials.pid, self.user);
        PeerSnapshot { peer: Some(self.id), pid, uid, ..PeerSnapshot::default() }
    }
}

/// Names.
impl Peer {
    /// Its names: its unique name, and all that it owns or waits for.
    pub(crate) fn name_count(&self) -> usize {
        let others = self.registration().map_or(0, |registration| registration.names.len());
        usize::from(self.is_active()) + others
    }

    /// The most names that it ever had.
    pub(crate) fn peak_names(&self) -> usize {
        self.registration().map_or(0, |registration| registration.peak_names)
    }

    pub(super) fn add_name(&mut self, ticket: Ticket, name: NameId) {
        if let Some(registration) = self.registration_mut() {
            registration.names.insert(ticket, name);
        }
        let count = self.name_count();
        if let Some(registration) = self.registration_mut() {
            registration.peak_names = registration.peak_names.max(count);
        }
    }

    pub(super) fn remove_name(&mut self, ticket: Ticket) {
        if let Some(registration) = self.registration_mut() {
            registration.names.remove(&ticket);
        }
    }

    pub(super) fn pop_first_name(&mut self) -> Option<NameId> {
        self.registration_mut()?.names.pop_first().map(|(_, name)| name)
    }

    pub(super) fn pop_last_name(&mut self) -> Option<NameId> {
        self.registration_mut()?.names.pop_last().map(|(_, name)| name)
    }
}

/// What stands for the name of a connection that has not called Hello.
pub(super) const UNREGISTERED: &str = ":not.active.yet";
