//! LanePairs: two connections that both ask for it get a socket between them, and exchange messages
//! without the bus (`org.diligence.Lanes1`).
//!
//! ```text
//!   one asks ──▶ Wished ──the other asks──▶ Open ──revoked, released──▶ Ended ──both resume──▶ (removed)
//! ```
//!
//! The bus does not see calls that travel on a lane. If their reply comes over the bus, because the
//! lane has ended or the order of messages requires it, the bus has no pending call for it. So it
//! accepts replies between the ends of an open lane, with the flag
//! [`LANE_REPLY`](wire::message::Flags::LANE_REPLY): the recipient checks that it has sent the call on
//! a lane to this sender. When the lane has ended, each end tells the bus with the method Resume
//! which of its calls wait for a reply. These become pending calls, except those whose reply has
//! come in the meantime.
//!
//! This component stores the pairs. It produces no effects, and does not decide who may have a lane.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::types::{LaneId, PeerId};

/// The pairs of connections that have, wish or had a lane.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct LanePairs {
    pairs: BTreeMap<PeerPair, LaneStage>,
    peers: BTreeMap<PeerId, LanePeer>,
    /// Number of open lanes.
    open: usize,
    /// Number of the next lane.
    next: u32,
}

/// Two different connections, in the order of their ids.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) struct PeerPair(PeerId, PeerId);

/// What a pair has.
#[derive(Debug, Serialize, Deserialize)]
enum LaneStage {
    /// This connection has asked for a lane, and the other has not.
    Wished(PeerId),
    Open(LaneId),
    Ended(LaneAftermath),
}

/// A lane that has ended, until both ends have resumed their calls on the bus.
#[derive(Debug, Default, Serialize, Deserialize)]
struct LaneAftermath {
    resumed: BTreeSet<PeerId>,
    /// The callers and serials of calls whose reply came over the bus since the lane ended.
    answered: BTreeSet<(PeerId, NonZeroU32)>,
}

/// A connection that uses lanes, or has asked for one.
#[derive(Debug, Default, Serialize, Deserialize)]
struct LanePeer {
    partners: BTreeSet<PeerId>,
    /// How often its names have changed since it first used lanes.
    name_changes: u64,
}

/// The result of a request for a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LaneWish {
    /// The other connection has not asked yet.
    Noted,
    /// The other connection has asked before.
    Mutual,
    /// The two have a lane.
    Granted,
    /// The last lane of the two has ended, and they have not resumed their calls.
    NotResumed,
}

impl PeerPair {
    /// The pair of two connections, if they are different.
    pub(crate) fn new(one: PeerId, other: PeerId) -> Option<Self> {
        (one != other).then(|| Self(one.min(other), one.max(other)))
    }

    pub(crate) const fn ends(self) -> [PeerId; 2] {
        [self.0, self.1]
    }

    fn of(one: PeerId, other: PeerId) -> Self {
        Self(one.min(other), one.max(other))
    }
}

impl LanePairs {
    /// True if any lane is open.
    #[inline]
    pub(crate) const fn are_open(&self) -> bool {
        self.open > 0
    }

    /// Number of open lanes.
    pub(crate) const fn open_count(&self) -> usize {
        self.open
    }

    /// Records that `from` asks for a lane to `to`.
    pub(crate) fn wish(&mut self, from: PeerId, to: PeerId) -> LaneWish {
        let pair = PeerPair::of(from, to);
        match self.pairs.get(&pair) {
            None => {
                self.pairs.insert(pair, LaneStage::Wished(from));
                self.peers.entry(from).or_default().partners.insert(to);
                self.peers.entry(to).or_default().partners.insert(from);
                LaneWish::Noted
            }
            Some(LaneStage::Wished(by)) if *by == from => LaneWish::Noted,
            Some(LaneStage::Wished(_)) => LaneWish::Mutual,
            Some(LaneStage::Open(_)) => LaneWish::Granted,
            Some(LaneStage::Ended(_)) => LaneWish::NotResumed,
        }
    }

    /// Number of lanes of a connection, including those that were not wound up.
    pub(crate) fn count_of(&self, peer: PeerId) -> u64 {
        let has_lane = |stage: &LaneStage| !matches!(stage, LaneStage::Wished(_));
        self.pairs_of(peer).filter(|pair| has_lane(&self.pairs[pair])).count() as u64
    }

    /// Number of lanes that a connection has asked for, and its partners have not.
    pub(crate) fn wish_count_of(&self, peer: PeerId) -> u64 {
        let wishes = |stage: &LaneStage| matches!(stage, LaneStage::Wished(by) if *by == peer);
        self.pairs_of(peer).filter(|pair| wishes(&self.pairs[pair])).count() as u64
    }

    /// Opens the lane of a pair. `None` if all ids were used.
    pub(crate) fn open(&mut self, pair: PeerPair) -> Option<LaneId> {
        let id = LaneId::new(self.next);
        self.next = self.next.checked_add(1)?;
        self.pairs.insert(pair, LaneStage::Open(id));
        self.open += 1;
        Some(id)
    }

    /// True if the pair has, wishes or had a lane.
    pub(crate) fn knows(&self, pair: PeerPair) -> bool {
        self.pairs.contains_key(&pair)
    }

    /// The pair that has this lane.
    pub(crate) fn pair_of(&self, lane: LaneId) -> Option<PeerPair> {
        let has_lane = |stage: &LaneStage| matches!(stage, LaneStage::Open(id) if *id == lane);
        self.pairs.iter().find(|(_, stage)| has_lane(stage)).map(|(pair, _)| *pair)
    }

    /// The pairs with an open lane.
    pub(crate) fn open_pairs(&self) -> impl Iterator<Item = PeerPair> {
        let is_open = |stage: &LaneStage| matches!(stage, LaneStage::Open(_));
        self.pairs.iter().filter(move |(_, stage)| is_open(stage)).map(|(pair, _)| *pair)
    }

    /// The pairs of one connection with an open lane.
    pub(crate) fn open_pairs_of(&self, peer: PeerId) -> impl Iterator<Item = PeerPair> {
        self.pairs_of(peer).filter(|pair| matches!(self.pairs[pair], LaneStage::Open(_)))
    }

    /// The connections to which one connection has an open lane.
    pub(crate) fn partners_of(&self, peer: PeerId) -> impl Iterator<Item = PeerId> {
        let others = self.open_pairs_of(peer).map(PeerPair::ends);
        others.map(move |[one, other]| if one == peer { other } else { one })
    }

    /// The pairs of one connection.
    pub(crate) fn pairs_of(&self, peer: PeerId) -> impl Iterator<Item = PeerPair> {
        let partners = self.peers.get(&peer).into_iter().flat_map(|it| &it.partners);
        partners.map(move |partner| PeerPair::of(peer, *partner))
    }

    /// Ends the lane of a pair, or the wish for one. Returns the lane, if it was open.
    pub(crate) fn end(&mut self, pair: PeerPair) -> Option<LaneId> {
        match self.pairs.get_mut(&pair)? {
            LaneStage::Open(id) => {
                let id = *id;
                self.pairs.insert(pair, LaneStage::Ended(LaneAftermath::default()));
                self.open -= 1;
                Some(id)
            }
            LaneStage::Wished(_) => {
                self.remove(pair);
                None
            }
            LaneStage::Ended(_) => None,
        }
    }

    /// Removes a pair whose lane could not be opened.
    pub(crate) fn remove_unopened(&mut self, pair: PeerPair) {
        if self.end(pair).is_some() {
            self.remove(pair);
        }
    }

    /// True if a reply without a pending call may belong to a call that traveled on a lane.
    pub(crate) fn accept_reply(
        &mut self,
        callee: PeerId,
        caller: PeerId,
        serial: NonZeroU32,
    ) -> bool {
        match self.pairs.get_mut(&PeerPair::of(callee, caller)) {
            Some(LaneStage::Open(_)) => true,
            Some(LaneStage::Ended(ended)) if !ended.resumed.contains(&caller) => {
                ended.answered.len() < ANSWERED_MAX && ended.answered.insert((caller, serial))
            }
            _ => false,
        }
    }

    /// Takes note that `peer` has resumed its calls of `partner`. Returns the serials of its calls
    /// that were answered since the lane ended; `None` if there was no lane.
    pub(crate) fn resume(&mut self, peer: PeerId, partner: PeerId) -> Option<Vec<NonZeroU32>> {
        let pair = PeerPair::of(peer, partner);
        let Some(LaneStage::Ended(ended)) = self.pairs.get_mut(&pair) else { return None };
        if !ended.resumed.insert(peer) {
            return None;
        }
        let own = ended.answered.iter().filter(|(caller, _)| *caller == peer);
        let answered = own.map(|(_, serial)| *serial).collect();
        if ended.resumed.len() == pair.ends().len() {
            self.remove(pair);
        }
        Some(answered)
    }

    /// Removes all pairs of a connection that has ended. Returns its open lanes.
    pub(crate) fn forget(&mut self, peer: PeerId) -> Vec<LaneId> {
        let pairs: Vec<PeerPair> = self.pairs_of(peer).collect();
        let open = pairs.iter().filter_map(|pair| self.end(*pair)).collect();
        pairs.into_iter().for_each(|pair| self.remove(pair));
        self.peers.remove(&peer);
        open
    }

    /// Counts a change of the names of a connection. Returns the number of changes, if it uses lanes.
    pub(crate) fn names_changed(&mut self, peer: PeerId) -> Option<u64> {
        let peer = self.peers.get_mut(&peer)?;
        peer.name_changes += 1;
        Some(peer.name_changes)
    }

    /// How often the names of a connection have changed since it first used lanes.
    pub(crate) fn name_changes(&self, peer: PeerId) -> u64 {
        self.peers.get(&peer).map_or(0, |peer| peer.name_changes)
    }

    /// Checks that every pair has two live connections, which know each other, and that the number
    /// of open lanes is right.
    ///
    /// # Panics
    ///
    /// Panics if an invariant is violated.
    pub(crate) fn check(&self, is_active: impl Fn(PeerId) -> bool) {
        let mut partners = 0;
        for pair in self.pairs.keys() {
            for end in pair.ends() {
                assert!(is_active(end), "an end of {pair:?} is gone");
                assert!(self.pairs_of(end).any(|known| known == *pair), "{pair:?} at {end}");
                partners += 1;
            }
        }
        let known: usize = self.peers.values().map(|peer| peer.partners.len()).sum();
        assert_eq!(known, partners, "ends of lanes");
        assert!(self.peers.keys().all(|peer| is_active(*peer)), "users of lanes are gone");
        assert_eq!(self.open_pairs().count(), self.open, "open lanes");
    }

    fn remove(&mut self, pair: PeerPair) {
        self.pairs.remove(&pair);
        let PeerPair(one, other) = pair;
        for (peer, partner) in [(one, other), (other, one)] {
            if let Some(peer) = self.peers.get_mut(&peer) {
                peer.partners.remove(&partner);
            }
        }
    }
}

/// The maximum number of replies that are remembered after a lane has ended.
const ANSWERED_MAX: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::corruption::each_is_reported;

    const A: PeerId = PeerId::new(0, 0);
    const B: PeerId = PeerId::new(1, 0);
    const C: PeerId = PeerId::new(2, 0);

    /// A and B have a lane, and C has asked B for one.
    fn lanes() -> LanePairs {
        let mut lanes = LanePairs::default();
        assert_eq!(lanes.wish(A, B), LaneWish::Noted);
        assert_eq!(lanes.wish(A, B), LaneWish::Noted);
        assert_eq!(lanes.wish(B, A), LaneWish::Mutual);
        lanes.open(PeerPair::of(A, B)).expect("the first id");
        assert_eq!(lanes.wish(C, B), LaneWish::Noted);
        lanes
    }

    #[test]
    fn lanes_and_own_wishes_are_counted() {
        let mut lanes = lanes();
        assert_eq!([A, B, C].map(|peer| lanes.count_of(peer)), [1, 1, 0]);
        assert_eq!([A, B, C].map(|peer| lanes.wish_count_of(peer)), [0, 0, 1]);
        assert!(lanes.end(PeerPair::of(A, B)).is_some());
        assert_eq!([A, B, C].map(|peer| lanes.count_of(peer)), [1, 1, 0], "not wound up");
    }

    #[test]
    fn replies_are_accepted_until_the_caller_has_resumed() {
        let serial = |number| NonZeroU32::new(number).expect("not 0");
        let mut lanes = lanes();
        assert!(lanes.accept_reply(B, A, serial(1)));
        assert!(!lanes.accept_reply(C, B, serial(1)), "a wish is not a lane");
        assert!(lanes.end(PeerPair::of(B, A)).is_some());
        assert_eq!(lanes.wish(A, B), LaneWish::NotResumed);
        assert!(lanes.accept_reply(B, A, serial(2)));
        assert!(!lanes.accept_reply(B, A, serial(2)), "once");
        assert_eq!(lanes.resume(A, B), Some([serial(2)].into()));
        assert!(!lanes.accept_reply(B, A, serial(3)));
        assert!(lanes.accept_reply(A, B, serial(3)), "the other has not resumed");
        assert_eq!(lanes.resume(A, B), None);
        assert_eq!(lanes.resume(B, A), Some([serial(3)].into()));
        assert_eq!(lanes.wish(A, B), LaneWish::Noted);
    }

    #[test]
    fn a_connection_that_ends_takes_its_lanes_along() {
        let mut lanes = lanes();
        assert_eq!(lanes.forget(B), [LaneId::new(0)]);
        lanes.check(|peer| peer != B);
        assert!(!lanes.are_open());
        assert_eq!([A, C].map(|peer| lanes.count_of(peer)), [0, 0]);
    }

    #[test]
    fn the_check_reports_every_corruption() {
        each_is_reported(
            lanes,
            |lanes| lanes.check(|peer| [A, B, C].contains(&peer)),
            &[
                ("the number of open lanes", |lanes| lanes.open += 1),
                ("a pair is gone", |lanes| {
                    lanes.pairs.remove(&PeerPair::of(A, B));
                }),
                ("a partner is gone", |lanes| {
                    lanes.peers.remove(&A);
                }),
                ("a connection is gone", |lanes| {
                    lanes.peers.insert(PeerId::new(9, 0), LanePeer::default());
                }),
                ("the pair of a connection that is gone", |lanes| {
                    lanes.wish(A, PeerId::new(9, 0));
                }),
            ],
        );
    }
}
