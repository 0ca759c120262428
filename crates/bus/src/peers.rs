//! The connections of a bus.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::hash::Hash;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use wire::message::SenderField;
use wire::names::{BusName, WellKnownName};

use crate::config::Limits;
use crate::history::Missed;
use crate::input::{Amount, Credentials, FdPassing, PeerId, Process};
use crate::matches::RuleId;
use crate::members::MemberId;
use crate::names::{NameId, Ticket};
use crate::policy::{ClientPolicy, Kind, Standing};
use crate::reached::{LimitName, Reached};
use crate::shares::{Account, Shares};
use crate::time::Time;

/// The name of the bus itself.
pub(crate) const DRIVER_NAME: WellKnownName<'static> =
    WellKnownName::literal("org.freedesktop.DBus");

/// How far a connection has come.
///
/// ```text
///   Handshake ──authenticated──▶ Unregistered ──Hello──▶ Active ──BecomeMonitor──▶ Monitor
///                                                          └──disconnected──▶ Gone
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    /// It authenticates.
    Handshake,
    /// It may say Hello, and nothing else.
    Unregistered,
    /// It has a unique name and takes part.
    Active,
    /// It sees everything and says nothing. It keeps its unique name, which nobody can use.
    Monitor,
    /// Its connection has ended; it still has a name while the others are told of that.
    Gone,
}

/// Numbers that have been reached at some time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Peaks {
    pub(crate) rules: usize,
    pub(crate) names: usize,
    pub(crate) incoming_bytes: u64,
    pub(crate) incoming_fds: u64,
    pub(crate) outgoing_bytes: u64,
    pub(crate) outgoing_fds: u64,
}

/// Those of the limits of a connection that are looked at with every message, as they are for its
/// user.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Room {
    /// Bytes that may be queued for it.
    bytes: u64,
    /// Descriptors that may be.
    fds: u64,
    /// What is queued at most if the queue is not crowded.
    crowded_bytes: u64,
    crowded_fds: u64,
    /// Calls of it that may wait for a reply.
    pub(crate) replies: u64,
}

impl Room {
    /// What these limits leave.
    pub(crate) const fn within(limits: &Limits) -> Self {
        Self {
            bytes: limits.max_outgoing_bytes,
            fds: limits.max_outgoing_unix_fds,
            crowded_bytes: limits.max_outgoing_bytes / CROWDED,
            crowded_fds: limits.max_outgoing_unix_fds / CROWDED,
            replies: limits.max_replies_per_connection,
        }
    }
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) id: PeerId,
    pub(crate) stage: Stage,
    pub(crate) credentials: Credentials,
    /// As whom it authenticated.
    pub(crate) uid: Option<u32>,
    pub(crate) fds: FdPassing,
    /// Its unique name, as the field that is put on its messages.
    pub(crate) sender: SenderField,
    pub(crate) unique: Option<u64>,
    /// Since when it has yet to say Hello, while the time for that runs.
    pub(crate) waited_since: Option<Time>,
    /// What may wait for it, and what it may wait for.
    pub(crate) room: Room,
    /// Names that it owns or waits for, in the order in which it asked.
    pub(crate) names: BTreeMap<Ticket, NameId>,
    /// Its rules, in no particular order; each knows its place here.
    pub(crate) rules: Vec<OwnedRule>,
    /// How many times it has added a rule, the same one counted each time.
    pub(crate) rule_count: usize,
    /// What waits in its queue.
    pub(crate) queued: Amount,
    /// Who sent that, while it is much.
    shares: Option<Box<Shares>>,
    /// What it has sent to services that are being started.
    pub(crate) held: Amount,
    pub(crate) peaks: Peaks,
    /// What it has sent.
    pub(crate) sent: Amount,
    /// What it has been sent, without what still waits in its queue.
    pub(crate) taken: Amount,
    /// Its messages that were refused.
    pub(crate) refused: u64,
    /// Where its last message was counted.
    pub(crate) last_member: MemberId,
    /// Messages that were lost because it did not read.
    pub(crate) lost: u64,
    /// What it has lost since it last kept up.
    pub(crate) losing: Option<Losing>,
    /// Messages that the policy has kept from it, and nobody was told.
    pub(crate) withheld: Missed,
    /// What its policy was chosen by, where policies ask for more than the user.
    pub(crate) standing: Option<Box<Standing>>,
    /// What it may do; set when it says Hello.
    pub(crate) policy: Option<Rc<ClientPolicy>>,
    /// What its process is called, once somebody has looked.
    pub(crate) process: Option<Box<Process>>,
    /// Since when it is connected.
    pub(crate) since: Time,
}

/// What a connection has lost since it last kept up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Losing {
    /// The limit that was reached when it began.
    pub(crate) limit: LimitName,
    /// Messages so far.
    pub(crate) missed: Missed,
}

/// A rule, and in which index it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct OwnedRule {
    pub(crate) index: RuleIndex,
    pub(crate) id: RuleId,
}

/// The indexes of rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RuleIndex {
    /// Rules for signals that are addressed to nobody.
    Plain,
    /// Rules that ask for what is addressed to others too.
    Eavesdropping,
    /// Rules of monitors.
    Monitoring,
}

impl Peer {
    fn new(id: PeerId, credentials: Credentials, now: Time) -> Self {
        let unnamed = BusName::new(":not.active.yet").expect("a valid name");
        Self {
            id,
            stage: Stage::Handshake,
            uid: credentials.uid,
            credentials,
            fds: FdPassing::Refused,
            sender: SenderField::new(unnamed),
            unique: None,
            waited_since: None,
            room: Room::default(),
            names: BTreeMap::new(),
            rules: Vec::new(),
            rule_count: 0,
            queued: Amount::default(),
            shares: None,
            held: Amount::default(),
            peaks: Peaks::default(),
            sent: Amount::default(),
            taken: Amount::default(),
            refused: 0,
            last_member: MemberId::NONE,
            lost: 0,
            losing: None,
            withheld: Missed::default(),
            standing: None,
            policy: None,
            process: None,
            since: now,
        }
    }

    /// Its unique name, once it has said Hello.
    pub(crate) fn unique_name(&self) -> Option<&str> {
        self.unique.map(|_| self.sender.name())
    }

    /// Its unique name, or what stands for it.
    pub(crate) fn name(&self) -> BusName<'_> {
        BusName::new(self.sender.name()).expect("made from a name")
    }

    /// Its security label, if that is known.
    pub(crate) fn security_label(&self) -> Option<&[u8]> {
        self.standing.as_deref()?.label.as_deref()
    }

    fn register(&mut self, unique: u64) {
        let name = format!(":1.{unique}");
        self.sender = SenderField::new(BusName::new(&name).expect("a valid name"));
        self.unique = Some(unique);
        self.stage = Stage::Active;
    }

    #[inline]
    pub(crate) const fn is_active(&self) -> bool {
        matches!(self.stage, Stage::Active)
    }

    /// Whether it has said Hello, whatever became of it.
    pub(crate) const fn is_complete(&self) -> bool {
        self.unique.is_some()
    }

    /// Whether it may send every message of this kind. If not, the rules have to be asked.
    #[inline]
    pub(crate) fn sends_all(&self, kind: Kind) -> bool {
        self.policy.as_deref().is_some_and(|policy| policy.send.pass_all(kind))
    }

    /// Whether it may receive every message of this kind. If not, the rules have to be asked. Who
    /// has no name yet hears only what the bus answers.
    #[inline]
    pub(crate) fn receives_all(&self, kind: Kind) -> bool {
        self.policy.as_deref().is_none_or(|policy| policy.receive.pass_all(kind))
    }

    /// Names on its account: its unique name, and all that it owns or waits for.
    pub(crate) fn name_count(&self) -> usize {
        usize::from(self.is_active()) + self.names.len()
    }

    /// Whether its queue has no room for another message with so many descriptors. One message may
    /// go beyond the limit, so that a limit below the size of messages does not stop everything.
    #[inline]
    pub(crate) const fn is_full(&self, fds: u32) -> bool {
        self.queued.bytes > self.room.bytes || (fds > 0 && self.queued.fds > self.room.fds)
    }

    /// Whether so much less waits for it than may that it keeps up.
    pub(crate) const fn keeps_up(&self) -> bool {
        self.queued.bytes <= self.room.bytes / 2 && self.queued.fds <= self.room.fds / 2
    }

    /// The limit for which its queue has no room, or no room for one user: the one of which more is
    /// used.
    pub(crate) const fn reached(&self) -> Reached {
        let (queued, bytes, fds) = (self.queued, self.room.bytes, self.room.fds);
        let is_bytes = queued.bytes.saturating_mul(fds) >= queued.fds.saturating_mul(bytes);
        if queued.bytes > bytes || (queued.fds <= fds && is_bytes) {
            return Reached { limit: LimitName::OutgoingBytes, max: bytes, used: queued.bytes };
        }
        Reached { limit: LimitName::OutgoingFds, max: fds, used: queued.fds }
    }

    /// Puts one message on its account.
    pub(crate) fn charge(&mut self, bytes: u64, fds: u64) {
        self.queued.messages += 1;
        self.queued.bytes += bytes;
        self.queued.fds += fds;
        self.peaks.outgoing_bytes = self.peaks.outgoing_bytes.max(self.queued.bytes);
        self.peaks.outgoing_fds = self.peaks.outgoing_fds.max(self.queued.fds);
    }

    /// Whether so much waits in its queue that the bus counts who sent it. A queue that is full is
    /// crowded, too.
    #[inline]
    pub(crate) const fn is_crowded(&self) -> bool {
        self.queued.bytes > self.room.crowded_bytes
            || self.queued.fds > self.room.crowded_fds
            || self.shares.is_some()
    }

    /// Adds one message to the queue's totals and to the share of `account`.
    #[cold]
    pub(crate) fn charge_to(&mut self, account: Account, bytes: u64, fds: u64) {
        let queued = self.queued;
        let shares =
            self.shares.get_or_insert_with(|| Box::new(Shares::after(queued.bytes, queued.fds)));
        shares.bytes.push(account, bytes);
        shares.fds.push(account, fds);
        self.charge(bytes, fds);
    }

    /// Whether a user has more in this queue than is free, so that the rest is for others.
    #[inline]
    pub(crate) fn has_used_share(&self, user: Option<u32>, fds: u32) -> bool {
        self.shares.as_ref().is_some_and(|shares| {
            let free_bytes = self.room.bytes.saturating_sub(self.queued.bytes);
            let free_fds = self.room.fds.saturating_sub(self.queued.fds);
            shares.bytes.of(user) > free_bytes || (fds > 0 && shares.fds.of(user) > free_fds)
        })
    }

    /// Takes what has left its queue without being written off its account.
    pub(crate) fn drop_queued(&mut self, amount: Amount) {
        debug_assert!(self.queued.bytes >= amount.bytes, "more has left than was queued");
        self.queued.subtract(amount);
        if self.shares.is_some() {
            self.pop_shares(amount);
        }
    }

    #[cold]
    fn pop_shares(&mut self, amount: Amount) {
        let (queued, room) = (self.queued, self.room);
        if queued.bytes <= room.bytes / SPARSE && queued.fds <= room.fds / SPARSE {
            self.shares = None;
        } else if let Some(shares) = &mut self.shares {
            shares.bytes.pop(amount.bytes);
            shares.fds.pop(amount.fds);
        }
    }

    /// Takes what has been written off its account.
    pub(crate) fn discharge(&mut self, amount: Amount) {
        self.drop_queued(amount);
        self.taken.messages += amount.messages;
        self.taken.bytes += amount.bytes;
        self.taken.fds += amount.fds;
    }
}

/// A queue is crowded when it holds more than this part of what it may.
const CROWDED: u64 = 4;

/// A crowded queue stays crowded until it holds at most this part of its limit.
const SPARSE: u64 = 8;

/// All connections, by the index that the daemon gave them.
#[derive(Debug, Default)]
pub(crate) struct Peers {
    places: Vec<Option<Box<Peer>>>,
    /// How many have not said Hello.
    pub(crate) incomplete: usize,
    /// How many have.
    pub(crate) complete: usize,
    /// How many have, by user.
    complete_by_user: HashMap<u32, usize, FixedState>,
    /// How many have not, by the user whom the kernel named.
    incomplete_by_user: HashMap<Option<u32>, usize, FixedState>,
}

impl Peers {
    pub(crate) fn insert(&mut self, id: PeerId, credentials: Credentials, now: Time) {
        if self.places.len() <= id.index() {
            self.places.resize_with(id.index() + 1, || None);
        }
        debug_assert!(self.places[id.index()].is_none(), "{id} is connected already");
        *self.incomplete_by_user.entry(credentials.uid).or_default() += 1;
        self.places[id.index()] = Some(Box::new(Peer::new(id, credentials, now)));
        self.incomplete += 1;
    }

    /// Gives a connection its unique name.
    pub(crate) fn register(&mut self, id: PeerId, unique: u64) {
        self[id].register(unique);
        self.incomplete -= 1;
        let user = self[id].credentials.uid;
        count_down(&mut self.incomplete_by_user, user);
        self.complete += 1;
        if let Some(uid) = self[id].uid {
            *self.complete_by_user.entry(uid).or_default() += 1;
        }
    }

    /// How many connections of a user have said Hello.
    pub(crate) fn complete_of(&self, uid: u32) -> usize {
        self.complete_by_user.get(&uid).copied().unwrap_or_default()
    }

    /// Whether connections of more than one user have said Hello.
    pub(crate) fn has_several_users(&self) -> bool {
        self.complete_by_user.len() > 1
    }

    /// How many connections have not said Hello of those whom the kernel named this user.
    pub(crate) fn incomplete_of(&self, uid: Option<u32>) -> usize {
        self.incomplete_by_user.get(&uid).copied().unwrap_or_default()
    }

    pub(crate) fn remove(&mut self, id: PeerId) -> Option<Box<Peer>> {
        self.get(id)?;
        let peer = self.places[id.index()].take()?;
        if !peer.is_complete() {
            self.incomplete -= 1;
            count_down(&mut self.incomplete_by_user, peer.credentials.uid);
            return Some(peer);
        }
        self.complete -= 1;
        if let Some(uid) = peer.uid {
            count_down(&mut self.complete_by_user, uid);
        }
        Some(peer)
    }

    #[inline]
    pub(crate) fn get(&self, id: PeerId) -> Option<&Peer> {
        self.places.get(id.index())?.as_deref().filter(|peer| peer.id == id)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: PeerId) -> Option<&mut Peer> {
        self.places.get_mut(id.index())?.as_deref_mut().filter(|peer| peer.id == id)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Peer> {
        self.places.iter_mut().flatten().map(|peer| &mut **peer)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Peer> {
        self.places.iter().flatten().map(|peer| &**peer)
    }
}

/// Counts one less, and forgets what is counted when there is none.
fn count_down<K: Eq + Hash>(counts: &mut HashMap<K, usize, FixedState>, key: K) {
    if let Entry::Occupied(mut count) = counts.entry(key) {
        *count.get_mut() -= 1;
        if *count.get() == 0 {
            count.remove();
        }
    }
}

impl core::ops::Index<PeerId> for Peers {
    type Output = Peer;

    fn index(&self, id: PeerId) -> &Peer {
        self.get(id).unwrap_or_else(|| panic!("{id} is not connected"))
    }
}

impl core::ops::IndexMut<PeerId> for Peers {
    fn index_mut(&mut self, id: PeerId) -> &mut Peer {
        self.get_mut(id).unwrap_or_else(|| panic!("{id} is not connected"))
    }
}
