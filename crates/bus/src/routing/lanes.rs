//! Decides which connections may have a lane. When a change forbids a lane, ends it.
//!
//! A lane is allowed only as long as the bus would pass every message between its ends without
//! looking at it: no one else sees messages of others, the policy allows everything in both
//! directions, neither end is in a container, and no security module decides.

use alloc::boxed::Box;
use alloc::vec::Vec;

use wire::message::MessageType;

use super::router::Router;
use crate::lanes::PeerPair;
use crate::policy::{DeliveryKind, MessageClass, ReplyClass};
use crate::types::{DescriptorPassing, Effect, Effects, LaneCounts, LaneRefusal, LogEvent, PeerId};

impl Router {
    /// Decides whether two connections may have a lane.
    pub(crate) fn check_lane(&self, pair: PeerPair) -> Result<(), LaneRefusal> {
        if let Some(refusal) = self.forbids_lanes() {
            return Err(refusal);
        }
        let [one, other] = pair.ends();
        for peer in [one, other].map(|end| &self.registry[end]) {
            let name = || Box::from(peer.name().as_str());
            if peer.container.is_some() {
                return Err(LaneRefusal::Contained { name: name() });
            }
            if peer.fds == DescriptorPassing::Refused {
                return Err(LaneRefusal::FdsNotAgreed { name: name() });
            }
        }
        self.check_policy(one, other)?;
        self.check_policy(other, one)
    }

    /// Checks that the policy allows all messages from one connection to another.
    fn check_policy(&self, from: PeerId, to: PeerId) -> Result<(), LaneRefusal> {
        let (sender, recipient) = (&self.registry[from], &self.registry[to]);
        let (Some(sending), Some(receiving)) = (sender.policy(), recipient.policy()) else {
            return Err(LaneRefusal::NoPartner);
        };
        let passes = LANE_CLASSES.iter().all(|class| {
            sending.send.pass_all_of(*class, self.registry.names_of(to))
                && receiving.receive.pass_all_of(*class, self.registry.names_of(from))
        });
        match passes {
            true => Ok(()),
            false => Err(LaneRefusal::PolicyDecides {
                sender: sender.name().as_str().into(),
                recipient: recipient.name().as_str().into(),
            }),
        }
    }

    /// Ends all lanes if somebody sees messages of others now.
    #[inline]
    pub(crate) fn end_watched_lanes(&mut self, fx: &mut Effects) {
        if self.lanes.are_open() && (self.is_watched() || self.matching.has_eavesdroppers()) {
            self.end_forbidden_lanes(fx);
        }
    }

    /// Ends each lane that its two connections may not have any more.
    #[cold]
    pub(crate) fn end_forbidden_lanes(&mut self, fx: &mut Effects) {
        self.end_forbidden(self.lanes.open_pairs().collect(), fx);
    }

    fn end_forbidden(&mut self, open: Vec<PeerPair>, fx: &mut Effects) {
        self.end_lanes_if(open, |router, pair| router.check_lane(pair).err(), fx);
    }

    /// Ends each of these open lanes for which there is a reason, and logs their number.
    fn end_lanes_if(
        &mut self,
        open: Vec<PeerPair>,
        reason: impl Fn(&Self, PeerPair) -> Option<LaneRefusal>,
        fx: &mut Effects,
    ) {
        let forbidden = open.into_iter().filter_map(|pair| Some((pair, reason(self, pair)?)));
        let forbidden: Vec<(PeerPair, LaneRefusal)> = forbidden.collect();
        forbidden.iter().for_each(|(pair, _)| self.end_lane(*pair, fx));
        let count = forbidden.len() as u64;
        if let Some((_, reason)) = forbidden.into_iter().next() {
            fx.log(LogEvent::LanesEnded { count, reason });
        }
    }

    /// Ends each lane of a connection that it may not have any more, because it has other names now.
    /// The policy counts names for which it is queued, too.
    pub(crate) fn end_forbidden_lanes_of(&mut self, peer: PeerId, fx: &mut Effects) {
        self.end_forbidden(self.lanes.open_pairs_of(peer).collect(), fx);
    }

    /// Ends the lanes of connections that have more than the configuration allows now.
    pub(crate) fn end_surplus_lanes(&mut self, fx: &mut Effects) {
        let surplus = |router: &Self, pair: PeerPair| {
            let check = |end| router.check_lane_count(end, router.lanes.count_of(end));
            pair.ends().into_iter().try_for_each(check).err()
        };
        self.end_lanes_if(self.lanes.open_pairs().collect(), surplus, fx);
    }

    /// Checks that a connection may have this number of lanes.
    pub(crate) fn check_lane_count(&self, peer: PeerId, count: u64) -> Result<(), LaneRefusal> {
        let max = self.config.lanes.max_lanes_per_connection;
        if count <= max {
            return Ok(());
        }
        let name = self.registry[peer].name().as_str().into();
        Err(LaneRefusal::TooMany { name, max, used: self.lanes.count_of(peer) })
    }

    /// Why no two connections may have a lane now, if that is so.
    pub(crate) fn forbids_lanes(&self) -> Option<LaneRefusal> {
        if self.config.lanes.max_lanes_per_connection == 0 {
            return Some(LaneRefusal::Disabled);
        }
        if self.is_watched() || self.matching.has_eavesdroppers() {
            return Some(LaneRefusal::Watched);
        }
        self.access.needs_labels().then_some(LaneRefusal::Mediated)
    }

    /// Ends the lane of a pair, or the wish for one.
    pub(crate) fn end_lane(&mut self, pair: PeerPair, fx: &mut Effects) {
        if let Some(lane) = self.lanes.end(pair) {
            fx.push(Effect::CloseLane { lane });
        }
    }

    /// Ends all lanes of a connection that has lost a message. The message may have been the one with
    /// its end of a lane, and the counters by which messages are ordered may be wrong.
    #[cold]
    pub(crate) fn end_lanes_of(&mut self, peer: PeerId, fx: &mut Effects) {
        let pairs: Vec<PeerPair> = self.lanes.pairs_of(peer).collect();
        pairs.into_iter().for_each(|pair| self.end_lane(pair, fx));
    }

    /// Ends all lanes of a connection that has ended or has become a monitor.
    pub(crate) fn forget_lanes(&mut self, peer: PeerId, fx: &mut Effects) {
        let lanes = self.lanes.forget(peer);
        fx.extend(lanes.into_iter().map(|lane| Effect::CloseLane { lane }));
    }

    /// Counts the messages that a connection has exchanged on its lanes since the last call.
    pub(crate) fn note_lane_traffic(&mut self, peer: PeerId, traffic: LaneCounts) {
        if let Some(peer) = self.registry.get_mut(peer) {
            self.accounting.lane_traffic(&mut peer.statistics, traffic);
        }
    }

    /// Tells the partners of a connection that its names have changed, and ends its lanes if the
    /// policy has rules about the new name.
    pub(crate) fn note_name_change(&mut self, peer: PeerId, fx: &mut Effects) {
        let Some(count) = self.lanes.names_changed(peer) else { return };
        fx.push(Effect::NoteNameChanges { peer, count });
        self.end_forbidden_lanes_of(peer, fx);
    }
}

/// The classes of the messages that travel on lanes.
const LANE_CLASSES: [MessageClass; 4] = [
    lane_class(MessageType::MethodCall, ReplyClass::No),
    lane_class(MessageType::MethodReturn, ReplyClass::Requested),
    lane_class(MessageType::Error, ReplyClass::Requested),
    lane_class(MessageType::Signal, ReplyClass::No),
];

const fn lane_class(message_type: MessageType, reply: ReplyClass) -> MessageClass {
    MessageClass::new(message_type, reply, DeliveryKind::Addressed)
}
