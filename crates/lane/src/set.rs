//! The lanes of one connection.

use std::io;
use std::mem;
use std::num::NonZeroU32;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use unix::clock;
use unix::event::Event;

use crate::awaited_replies::AwaitedReplies;
use crate::frame::{FrameStamp, MESSAGE_LEN_MAX};
use crate::inbox::LaneKey;
use crate::partners::Partners;
use crate::progress::Progress;
use crate::traffic::TrafficCounters;

/// The lanes of one connection, and the partners to which it could have one.
#[derive(Debug, Default)]
pub struct LaneSet {
    lanes: Vec<Lane>,
    ending: Vec<EndingLane>,
    partners: Partners,
    /// Answers of the bus to requests for lanes that are not open yet.
    granted: Vec<Alias>,
    /// True if the bus grants no lanes.
    is_unsupported: bool,
    next: u64,
    /// Messages that this connection has sent to the bus.
    sent: u64,
    /// Messages of the bus that this connection has processed.
    received: u64,
    /// `None` until the first lane.
    traffic: Option<TrafficCounters>,
}

/// The counters that the bus shares with one end of a lane.
#[derive(Debug)]
pub struct LaneCounters {
    own: Progress,
    of_partner: Progress,
    traffic: TrafficCounters,
}

impl LaneCounters {
    /// Maps the descriptors that the bus has sent behind the socket of a lane, in their order: the
    /// counters of this connection, the counters of the partner, and the counters for the traffic
    /// of this connection on its lanes.
    ///
    /// # Errors
    ///
    /// `InvalidData` if they are not the counters of the bus. Other errors if mappings or
    /// descriptors run out.
    pub fn map([own, of_partner, traffic]: [BorrowedFd<'_>; 3]) -> io::Result<Self> {
        let (own, of_partner) = (Progress::map(own)?, Progress::map(of_partner)?);
        Ok(Self { own, of_partner, traffic: TrafficCounters::map(traffic)? })
    }
}

#[derive(Debug)]
struct Lane {
    key: LaneKey,
    /// The unique name of the connection at the other end.
    partner: Box<str>,
    /// Names of the partner, which are valid as long as its names have not changed.
    aliases: Vec<Alias>,
    own: Progress,
    of_partner: Progress,
    /// True if this end has asked the bus to end the lane, so it sends nothing more on it.
    is_given_up: bool,
    /// Calls that came on the lane and wait for their reply.
    unanswered: AwaitedReplies,
}

/// A well-known name of a connection.
#[derive(Clone, Debug)]
struct Alias {
    name: Box<str>,
    partner: Box<str>,
    /// How often the names of the partner had changed when it owned this name.
    name_changes: u64,
}

/// A lane that has ended, until all replies that the bus accepted before have arrived.
#[derive(Debug)]
struct EndingLane {
    lane: EndedLane,
    /// The number of messages of the bus to process first.
    behind: u64,
    own: Progress,
}

/// How a call travels, and so who may answer it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CallRoute {
    /// Over the bus, which knows who may answer.
    Bus,
    /// On this lane, to its other end.
    Lane(LaneKey),
    /// On a lane that has ended, to the connection with this unique name. Its reply comes over the
    /// bus.
    Resumed(Box<str>),
}

/// A lane that has ended. The bus must learn which calls on it wait for a reply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EndedLane {
    /// The key of the lane.
    pub key: LaneKey,
    /// The unique name of the connection at the other end.
    pub partner: Box<str>,
}

/// The answer of the bus to a request for a lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RequestOutcome<'a> {
    /// The lane is open, or will be when the partner asks for it, too.
    Noted {
        /// The unique name of the partner.
        partner: &'a str,
        /// How often the names of the partner have changed.
        name_changes: u64,
    },
    /// The two cannot have a lane now.
    Refused,
    /// This bus grants no lanes.
    Unsupported,
}

/// Counting the messages of a connection.
impl LaneSet {
    /// Counts a message that is sent to the bus.
    #[inline]
    pub const fn count_sent(&mut self) {
        self.sent += 1;
    }

    /// Counts a message of the bus that is processed.
    #[inline]
    pub const fn count_received(&mut self) {
        self.received += 1;
    }

    /// Messages of the bus that were processed.
    #[inline]
    pub const fn received(&self) -> u64 {
        self.received
    }

    /// Counts a message of this length that was sent on a lane.
    #[inline]
    pub fn count_lane_sent(&mut self, len: usize) {
        self.traffic.iter_mut().for_each(|traffic| traffic.count_sent(len));
    }

    /// Counts a message of this length that came on a lane.
    #[inline]
    pub fn count_lane_received(&mut self, len: usize) {
        self.traffic.iter_mut().for_each(|traffic| traffic.count_received(len));
    }

    /// The number of messages that the bus has queued for this connection. 0 without lanes.
    pub fn queued(&self) -> u64 {
        let own = self.lanes.first().map(|lane| &lane.own);
        own.or_else(|| self.ending.first().map(|lane| &lane.own)).map_or(0, Progress::queued)
    }
}

/// Methods that ask for lanes, and add them.
impl LaneSet {
    /// Counts a call to or from a partner over the bus. Returns true if the connection should ask
    /// for a lane to it.
    pub fn count_call(&mut self, partner: &str) -> bool {
        let has_lane = || self.lanes.iter().any(|lane| lane.has_name(partner));
        if self.is_unsupported || has_lane() || !self.partners.count(partner) {
            return false;
        }
        let has_room = has_free_descriptors();
        if !has_room {
            self.partners.refused(partner);
        }
        has_room
    }

    /// Takes note of the answer to a request for a lane to `asked`.
    pub fn handle_request(&mut self, asked: &str, outcome: RequestOutcome<'_>) {
        let (partner, name_changes) = match outcome {
            RequestOutcome::Noted { partner, name_changes } => (partner, name_changes),
            RequestOutcome::Refused => return self.partners.refused(asked),
            RequestOutcome::Unsupported => {
                self.is_unsupported = true;
                return;
            }
        };
        if asked.starts_with(':') {
            return;
        }
        let alias = Alias { name: asked.into(), partner: partner.into(), name_changes };
        match self.lanes.iter_mut().find(|lane| *lane.partner == *partner) {
            Some(lane) => lane.add_alias(alias),
            None => {
                self.granted.retain(|other| other.name != alias.name);
                if self.granted.len() < ALIASES_MAX {
                    self.granted.push(alias);
                }
            }
        }
    }

    /// Adds a lane that the bus has opened.
    pub fn open(&mut self, partner: &str, counters: LaneCounters) -> LaneKey {
        let LaneCounters { own, of_partner, traffic } = counters;
        // All lanes of a connection have the same.
        self.traffic.get_or_insert(traffic);
        let key = LaneKey(self.next);
        self.next += 1;
        let aliases = self.granted.iter().filter(|alias| *alias.partner == *partner);
        let aliases = aliases.cloned().collect();
        self.granted.retain(|alias| *alias.partner != *partner);
        let partner = partner.into();
        let unanswered = AwaitedReplies::default();
        self.lanes.push(Lane {
            key,
            partner,
            aliases,
            own,
            of_partner,
            is_given_up: false,
            unanswered,
        });
        key
    }
}

/// Methods that use lanes, or end them.
impl LaneSet {
    /// True if a lane is ending, so that [`take_ended`](Self::take_ended) will return it.
    #[inline]
    pub const fn has_ending(&self) -> bool {
        !self.ending.is_empty()
    }

    /// True if no lane is open or ending.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.lanes.is_empty() && self.ending.is_empty()
    }

    /// The unique names of the connections at the other ends of open lanes.
    pub fn partners(&self) -> impl Iterator<Item = &str> {
        self.lanes.iter().map(|lane| &*lane.partner)
    }

    /// True if a lane has not ended.
    pub fn is_open(&self, key: LaneKey) -> bool {
        self.lanes.iter().any(|lane| lane.key == key)
    }

    /// Number of open lanes.
    pub const fn len(&self) -> usize {
        self.lanes.len()
    }

    /// The lane for a message to this destination, if it may travel on it now. Replies need the
    /// lane on which their call came.
    #[inline]
    pub fn route(&mut self, destination: &str, reply_to: Option<NonZeroU32>) -> Option<LaneKey> {
        if self.lanes.is_empty() {
            return None;
        }
        let is_usable = |lane: &&mut Lane| !lane.is_given_up && lane.has_name(destination);
        let lane = self.lanes.iter_mut().find(is_usable)?;
        if *lane.partner != *destination && !lane.are_names_valid() {
            let moved = mem::take(&mut lane.aliases);
            moved.iter().for_each(|alias| self.partners.restart(&alias.name));
            return None;
        }
        if let Some(call) = reply_to
            && !lane.unanswered.remove(call)
        {
            return None;
        }
        (lane.own.routed() == self.sent).then_some(lane.key)
    }

    /// True if a message of this length, with this number of descriptors, may travel on a lane.
    pub const fn fits(len: usize, descriptors: usize) -> bool {
        len <= MESSAGE_LEN_MAX && descriptors == 0
    }

    /// The stamp of a message that is sent on a lane now. `now` is the time on the monotonic clock,
    /// if it was read after everything that can have caused the message. `None` if the lane has
    /// ended.
    pub fn stamp(&self, key: LaneKey, now: Option<Duration>) -> Option<FrameStamp> {
        let lane = self.lanes.iter().find(|lane| lane.key == key)?;
        let now = now.unwrap_or_else(clock::monotonic);
        let sent_at = u64::try_from(now.as_nanos()).unwrap_or(u64::MAX);
        Some(FrameStamp { behind: lane.of_partner.queued(), sent_at })
    }

    /// The unique name of the connection at the other end of a lane, also of one that is ending.
    pub fn partner(&self, key: LaneKey) -> Option<&str> {
        let open = self.lanes.iter().find(|lane| lane.key == key).map(|lane| &*lane.partner);
        let ending = || self.ending.iter().find(|ending| ending.lane.key == key);
        open.or_else(|| ending().map(|ending| &*ending.lane.partner))
    }

    /// True if a reply that came over the bus, with the flag
    /// [`LANE_REPLY`](wire::message::Flags::LANE_REPLY), can answer a call. The bus accepts such
    /// replies from the ends of lanes without knowing the call, so an end could answer the calls to
    /// others.
    pub fn may_answer(&self, route: &CallRoute, sender: Option<&str>) -> bool {
        let partner = match route {
            CallRoute::Bus => None,
            CallRoute::Lane(key) => self.partner(*key),
            CallRoute::Resumed(partner) => Some(&**partner),
        };
        partner.is_some() && partner == sender
    }

    /// Takes note of a call that came on a lane and expects a reply.
    pub fn expect_reply(&mut self, key: LaneKey, call: NonZeroU32) {
        if let Some(lane) = self.lanes.iter_mut().find(|lane| lane.key == key) {
            lane.unanswered.add(call);
        }
    }

    /// Gives up a lane whose partner has violated the protocol. Returns the unique name of the
    /// partner, to ask the bus to end the lane, unless it was given up before. What the partner has
    /// sent is still received, because valid calls wait for their replies.
    pub fn give_up(&mut self, key: LaneKey) -> Option<&str> {
        let lane = self.lanes.iter_mut().find(|lane| lane.key == key && !lane.is_given_up)?;
        lane.is_given_up = true;
        Some(&lane.partner)
    }

    /// Ends a lane: its socket was shut down, and everything was read from it.
    pub fn end(&mut self, key: LaneKey) {
        let Some(place) = self.lanes.iter().position(|lane| lane.key == key) else { return };
        let Lane { partner, aliases, own, .. } = self.lanes.swap_remove(place);
        let names = aliases.iter().map(|alias| &*alias.name).chain([&*partner]);
        names.for_each(|name| self.partners.restart(name));
        let behind = own.queued();
        self.ending.push(EndingLane { lane: EndedLane { key, partner }, behind, own });
    }

    /// Takes a lane that has ended, once all replies that came over the bus before are processed.
    pub fn take_ended(&mut self) -> Option<EndedLane> {
        let received = self.received;
        let is_over =
            |ending: &EndingLane| ending.behind <= received || ending.own.queued() <= received;
        let place = self.ending.iter().position(is_over)?;
        Some(self.ending.swap_remove(place).lane)
    }
}

impl Lane {
    /// True if the partner has, or had, this name.
    fn has_name(&self, name: &str) -> bool {
        *self.partner == *name || self.aliases.iter().any(|alias| *alias.name == *name)
    }

    /// True if no name of the partner has moved since this connection got to know its names.
    fn are_names_valid(&self) -> bool {
        let changes = self.of_partner.name_changes();
        self.aliases.iter().all(|alias| alias.name_changes == changes)
    }

    fn add_alias(&mut self, alias: Alias) {
        self.aliases.retain(|other| other.name != alias.name);
        if self.aliases.len() < ALIASES_MAX {
            self.aliases.push(alias);
        }
    }
}

/// True if this process can receive the descriptors of a lane. Otherwise the kernel would drop some,
/// and with them the connection, because it cannot know to which message they belonged.
fn has_free_descriptors() -> bool {
    (0..DESCRIPTORS_FREE_MIN).map(|_| Event::new()).collect::<io::Result<Vec<_>>>().is_ok()
}

/// The number of free descriptors with which a connection asks for a lane. It gets four, and others
/// may be opened before it has them.
const DESCRIPTORS_FREE_MIN: usize = 8;

/// The number of well-known names that are remembered for one connection.
const ALIASES_MAX: usize = 16;

/// The number of calls of a connection that may wait for replies on its lanes. The bus resumes no
/// more.
pub const CALLS_MAX: usize = 4096;
