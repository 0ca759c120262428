//! One connection, as the bus sees it: a peer.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::rc::Rc;
use core::mem;

use serde::{Deserialize, Serialize, Serializer};
use wire::message::SenderField;
use wire::names::BusName;

use super::names::{NameId, Ticket};
use crate::accounting::{PeerStatistics, Queue};
use crate::policy::{ClientPolicy, MessageClass, PeerAttributes};
use crate::types::{
    BusLimits, ConnectionCredentials, ContainerDescription, DescriptorPassing, PeerId,
    PeerSnapshot, Process, Time,
};

/// A connection and its state.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Peer {
    pub(crate) id: PeerId,
    pub(crate) credentials: ConnectionCredentials,
    /// The user that it authenticated as; before that, the user of the socket credentials.
    pub(crate) user: Option<u32>,
    /// Whether file descriptors can be passed over it.
    pub(crate) fds: DescriptorPassing,
    /// The time at which it connected.
    pub(crate) since: Time,
    stage: PeerStage,
    /// The messages that wait to be read by it.
    pub(crate) queue: Queue,
    /// Maximum number of its pending calls.
    pub(crate) max_replies: u64,
    pub(crate) statistics: PeerStatistics,
    /// Facts in addition to the user, if the policy needs them.
    attributes: Option<Box<PeerAttributes>>,
    /// The description of its process, if it was looked up.
    pub(crate) process: Option<Box<Process>>,
    /// The container that it is in, if any.
    pub(crate) container: Option<Box<ContainerDescription>>,
}

/// The stage of a connection.
///
/// ```text
///   Handshake ──authenticated──▶ Unregistered ──Hello──▶ Active ──BecomeMonitor──▶ Monitor
///                                                          └──disconnected──▶ Closing
/// ```
#[derive(Debug, Serialize, Deserialize)]
enum PeerStage {
    /// Its authentication has not finished.
    Handshake(Waiting),
    /// It is authenticated. It may only call Hello.
    Unregistered(Waiting),
    /// It has a unique name and may send and receive.
    Active(Registration),
    /// It gets a copy of each message that matches its rules, and cannot send. It keeps its unique
    /// name, which cannot be used as a destination.
    Monitor(Registration),
    /// It has ended, and still has names while subscribers are notified.
    Closing(Registration),
}

/// A connection that has not called Hello yet.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Waiting {
    /// The start of its timer, unless the timer has expired.
    since: Option<Time>,
}

/// The data that a connection gets when it calls Hello.
#[derive(Debug, Deserialize)]
#[serde(from = "SavedRegistration")]
pub(crate) struct Registration {
    /// The number in its unique name: 7 for `:1.7`.
    number: u64,
    /// Its unique name, as the header field that the bus adds to its messages.
    sender: SenderField,
    /// The policy that applies to it.
    policy: Rc<ClientPolicy>,
    /// Names that it owns or waits for, in the order in which it requested them.
    names: BTreeMap<Ticket, NameId>,
    /// Most names at the same time, including its unique name.
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

/// A registration in the saved state, without what follows from the rest of the state.
#[derive(Serialize, Deserialize)]
struct SavedRegistration {
    number: u64,
    peak_names: usize,
}

impl Serialize for Registration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (number, peak_names) = (self.number, self.peak_names);
        SavedRegistration { number, peak_names }.serialize(serializer)
    }
}

/// The result has no names yet, and a policy that allows nothing.
impl From<SavedRegistration> for Registration {
    fn from(saved: SavedRegistration) -> Self {
        let SavedRegistration { number, peak_names } = saved;
        Self { peak_names, ..Self::new(number, Rc::new(ClientPolicy::new([]))) }
    }
}

/// Construction, and changes of stage.
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
            container: None,
        }
    }

    pub(crate) const fn set_limits(&mut self, limits: &BusLimits) {
        self.queue.set_limits(limits);
        self.max_replies = limits.max_replies_per_connection;
    }

    /// Records that the handshake has succeeded. Returns false if it was recorded before.
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

    /// Stops the timer for Hello. Returns its start.
    pub(super) const fn stop_waiting(&mut self) -> Option<Time> {
        match &mut self.stage {
            PeerStage::Handshake(waiting) | PeerStage::Unregistered(waiting) => {
                waiting.since.take()
            }
            PeerStage::Active(_) | PeerStage::Monitor(_) | PeerStage::Closing(_) => None,
        }
    }

    /// The start of the timer for Hello, while it runs.
    pub(super) const fn waiting_since(&self) -> Option<Time> {
        match &self.stage {
            PeerStage::Handshake(waiting) | PeerStage::Unregistered(waiting) => waiting.since,
            PeerStage::Active(_) | PeerStage::Monitor(_) | PeerStage::Closing(_) => None,
        }
    }

    /// Gives the connection a unique name.
    pub(super) fn register(&mut self, number: u64, policy: Rc<ClientPolicy>) {
        self.stage = PeerStage::Active(Registration::new(number, policy));
    }

    /// Makes the connection a monitor.
    pub(super) fn become_monitor(&mut self) {
        self.replace_stage(PeerStage::Monitor);
    }

    /// Records that the connection has ended.
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

/// The stage, and facts that depend on it.
impl Peer {
    /// True if it has called Hello, and is neither a monitor nor closed.
    #[inline]
    pub(crate) const fn is_active(&self) -> bool {
        matches!(self.stage, PeerStage::Active(_))
    }

    #[inline]
    pub(crate) const fn is_monitor(&self) -> bool {
        matches!(self.stage, PeerStage::Monitor(_))
    }

    /// True if it has ended, and subscribers are being notified.
    #[inline]
    pub(crate) const fn is_closing(&self) -> bool {
        matches!(self.stage, PeerStage::Closing(_))
    }

    /// True if it has called Hello, whatever its stage is now.
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

    /// Its unique name, as the header field that the bus adds to its messages.
    #[inline]
    pub(crate) fn sender_field(&self) -> Option<&SenderField> {
        self.registration().map(|registration| &registration.sender)
    }

    /// Its unique name, once it has called Hello.
    pub(crate) fn unique_name(&self) -> Option<&str> {
        self.sender_field().map(SenderField::name)
    }

    /// Its unique name, or the placeholder for connections without one.
    pub(crate) fn name(&self) -> BusName<'_> {
        BusName::new(self.unique_name().unwrap_or(UNREGISTERED)).expect("made from a name")
    }

    /// Facts in addition to the user, if the policy needs them.
    pub(crate) fn attributes(&self) -> Option<&PeerAttributes> {
        self.attributes.as_deref()
    }

    /// Its security label, if it is known.
    pub(crate) fn security_label(&self) -> Option<&[u8]> {
        self.attributes()?.label.as_deref()
    }

    /// The policy that applies to it, once it has called Hello.
    #[inline]
    pub(crate) fn policy(&self) -> Option<&ClientPolicy> {
        self.registration().map(|registration| &*registration.policy)
    }

    /// True if it may send every message of this class. If false, the rules must be searched.
    #[inline]
    pub(crate) fn sends_all(&self, class: MessageClass) -> bool {
        self.policy().is_some_and(|policy| policy.send.pass_all(class))
    }

    /// True if it may receive every message of this class. If false, the rules must be searched. A
    /// connection without a name receives only replies of the bus.
    #[inline]
    pub(crate) fn receives_all(&self, class: MessageClass) -> bool {
        self.policy().is_none_or(|policy| policy.receive.pass_all(class))
    }

    /// Its description for the history, without its names.
    pub(crate) fn nameless_snapshot(&self) -> PeerSnapshot {
        let (pid, uid) = (self.credentials.pid, self.user);
        let container = self.container.clone();
        PeerSnapshot { id: Some(self.id), pid, uid, container, ..PeerSnapshot::default() }
    }
}

/// Names of the connection.
impl Peer {
    /// Number of its names: its unique name, and all that it owns or waits for.
    pub(crate) fn name_count(&self) -> usize {
        let others = self.registration().map_or(0, |registration| registration.names.len());
        usize::from(self.is_active()) + others
    }

    /// Most names that it had at the same time.
    pub(crate) fn peak_names(&self) -> usize {
        self.registration().map_or(0, |registration| registration.peak_names)
    }

    /// Restores a name that it had when the state was saved.
    pub(super) fn restore_name(&mut self, ticket: Ticket, name: NameId) {
        if let Some(registration) = self.registration_mut() {
            registration.names.insert(ticket, name);
        }
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

/// The placeholder for the name of a connection that has not called Hello.
pub(super) const UNREGISTERED: &str = ":not.active.yet";
