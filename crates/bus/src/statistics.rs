//! Numbers about the bus, for who watches it from outside.

use core::time::Duration;

use crate::bus::Bus;
use crate::effects::Barrier;
use crate::history::{Incident, Trouble};
use crate::members::{MemberCounts, MemberUse};
use crate::peers::Stage;
use crate::time::Time;

/// What was counted since the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    /// Connections that were accepted.
    pub connected: u64,
    /// Connections that the bus has ended.
    pub disconnected: u64,
    /// Messages that came.
    pub messages: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Bytes that the daemon has copied in memory on the way from one connection to another.
    pub copied_bytes: u64,
    /// Bytes that were written to connections.
    pub written_bytes: u64,
    /// Messages whose bodies were validated.
    pub validated: u64,
    /// Bytes of these bodies.
    pub validated_bytes: u64,
    /// Messages that were queued for connections.
    pub deliveries: u64,
    /// Messages that were refused.
    pub refused: u64,
    /// Messages that the policy has kept from somebody, and nobody was told.
    pub withheld: u64,
    /// Messages that connections have lost because they did not read.
    pub lost: u64,
}

/// What there is at this moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Now {
    /// Connections that have said Hello.
    pub connections: u64,
    /// Connections that have not.
    pub incomplete: u64,
    /// Connections that see everything.
    pub monitors: u64,
    /// Traces that connections have asked for.
    pub traces: u64,
    /// Unique names, and places in queues for others.
    pub names: u64,
    /// Match rules.
    pub rules: u64,
    /// Calls that wait for their replies.
    pub pending_replies: u64,
    /// Messages that wait to be read.
    pub queued_messages: u64,
    /// Bytes of them.
    pub queued_bytes: u64,
    /// Connections that lose messages because they do not read.
    pub losing: u64,
}

/// Looking at what was counted.
impl Bus {
    /// What was counted since the start.
    #[must_use]
    pub fn totals(&self) -> Totals {
        let counters = &self.counters;
        Totals {
            connected: counters.connected,
            disconnected: counters.disconnected_by_bus,
            messages: counters.messages,
            bytes: counters.bytes,
            copied_bytes: counters.copied_bytes,
            written_bytes: counters.written_bytes,
            validated: counters.validated,
            validated_bytes: counters.validated_bytes,
            deliveries: counters.deliveries,
            refused: counters.refused,
            withheld: counters.withheld.iter().sum(),
            lost: counters.lost,
        }
    }

    /// What there is at this moment. It looks at each connection.
    #[must_use]
    pub fn count_now(&self) -> Now {
        let mut now = Now {
            connections: self.peers.complete as u64,
            incomplete: self.peers.incomplete as u64,
            traces: self.traces.len() as u64,
            names: self.counters.names as u64,
            rules: self.counters.rules as u64,
            pending_replies: self.replies.len() as u64,
            ..Now::default()
        };
        for peer in self.peers.iter() {
            now.monitors += u64::from(peer.stage == Stage::Monitor);
            now.queued_messages += peer.queued.messages;
            now.queued_bytes += peer.queued.bytes;
            now.losing += u64::from(peer.losing.is_some());
        }
        now
    }

    /// How long ago the first connection came.
    #[must_use]
    pub fn uptime(&self) -> Duration {
        self.started.map_or(Duration::ZERO, |started| self.now.since(started))
    }

    /// Counts members from now on, unless that is done already. Returns for how long it was.
    pub fn count_members(&mut self, now: Time) -> Duration {
        now.since(self.members.start(now))
    }

    /// The members that were called or emitted since they are counted, in the order in which they came up.
    pub fn members(&self) -> impl ExactSizeIterator<Item = MemberUse<'_>> {
        self.members.iter()
    }

    /// What was counted of members that have no row of their own.
    #[must_use]
    pub const fn other_members(&self) -> MemberCounts {
        self.members.other()
    }

    /// The last incidents, by kind, each from the earliest to the latest.
    pub fn incidents(&self) -> impl Iterator<Item = &Incident> {
        self.history.iter()
    }

    /// How often each cause of trouble has come up.
    pub fn causes(&self) -> impl Iterator<Item = (Trouble, &'static str, u64)> {
        let withheld = Barrier::ALL.into_iter().map(|barrier| {
            (Trouble::Withheld, barrier.word(), self.counters.withheld[barrier as usize])
        });
        self.history.totals().chain(withheld.filter(|(.., count)| *count > 0))
    }
}
