//! Statistics of members: for each member of an interface, the number and size of its messages,
//! their recipients, and the time that callers wait for replies.
//!
//! Counting costs about one percent of the time of a small message, so it starts with the first
//! request for these statistics or with the metrics socket.
//!
//! A program sends few kinds of messages, and sends them often. So each connection remembers the
//! row in which its last message was counted, and the table is rarely searched. The number of rows
//! is bounded; members that find the table full share one row.

use alloc::boxed::Box;
use alloc::vec::Vec;

use hashbrown::HashTable;
use serde::{Deserialize, Serialize};
use wire::Message;
use wire::message::MessageType;

use crate::hash::KeyedState;
use crate::saved_state::SavedStateError;
use crate::types::Time;

/// A row of the table, or the row that members without their own row share.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct MemberId(u32);

impl MemberId {
    /// The row that members without their own row share.
    pub(crate) const OTHER: Self = Self(u32::MAX);

    /// No row: the message was not counted.
    pub(crate) const NONE: Self = Self(u32::MAX - 1);
}

/// The row in which a message was counted, and the time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Counted {
    pub(crate) member: MemberId,
    pub(crate) at: Time,
}

impl Counted {
    /// The message was not counted.
    pub(crate) const NOT: Self = Self { member: MemberId::NONE, at: Time::from_nanos(0) };
}

/// The state of the counting of members.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum MemberCounting {
    /// No connection has requested these statistics yet, and there is no metrics socket.
    Off,
    Since(Time),
}

/// The counters of one member.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MemberCounts {
    /// Method calls or signals.
    pub messages: u64,
    /// Bytes of the calls or signals.
    pub bytes: u64,
    /// Messages queued for recipients because of these calls or signals.
    pub deliveries: u64,
    /// Calls that were answered with a method return.
    pub returns: u64,
    /// Calls that were answered with an error.
    pub errors: u64,
    /// Total time from calls to their replies, in nanoseconds.
    pub waited: u64,
    /// Longest time from a call to its reply, in nanoseconds.
    pub waited_most: u64,
    /// Size of the largest call or signal, in bytes.
    pub largest: u64,
    /// Most recipients, other than monitors, of one call or signal.
    pub most_recipients: u64,
}

impl core::ops::AddAssign for MemberCounts {
    fn add_assign(&mut self, other: Self) {
        self.messages += other.messages;
        self.bytes += other.bytes;
        self.deliveries += other.deliveries;
        self.returns += other.returns;
        self.errors += other.errors;
        self.waited += other.waited;
        self.waited_most = self.waited_most.max(other.waited_most);
        self.largest = self.largest.max(other.largest);
        self.most_recipients = self.most_recipients.max(other.most_recipients);
    }
}

/// A member and its counters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemberUse<'a> {
    /// The interface of the member; empty if the messages named none.
    pub interface: &'a str,
    /// The name of the member.
    pub member: &'a str,
    /// The counters of the member.
    pub counts: MemberCounts,
}

#[derive(Debug, Serialize, Deserialize)]
struct MemberCountsRow {
    interface: Box<str>,
    member: Box<str>,
    counts: MemberCounts,
}

impl MemberCountsRow {
    fn is(&self, interface: &str, member: &str) -> bool {
        *self.member == *member && *self.interface == *interface
    }
}

/// The counters of members in the saved state: the fields of [`Members`] that are saved, in the same
/// order.
#[derive(Deserialize)]
struct SavedMembers {
    counting: MemberCounting,
    rows: Vec<MemberCountsRow>,
    other: MemberCounts,
    hasher: KeyedState,
}

impl TryFrom<SavedMembers> for Members {
    type Error = SavedStateError;

    fn try_from(saved: SavedMembers) -> Result<Self, SavedStateError> {
        let SavedMembers { counting, rows, other, hasher } = saved;
        let mut members = Self { counting, other, ..Self::new(hasher) };
        for row in rows {
            if members.find_row(&row.interface, &row.member).is_some() {
                return Err(SavedStateError::Duplicate("counted member"));
            }
            members.add_row(row);
        }
        Ok(members)
    }
}

/// The counters of all members that were called or emitted.
#[derive(Debug, Serialize, Deserialize)]
#[serde(try_from = "SavedMembers")]
pub(crate) struct Members {
    counting: MemberCounting,
    rows: Vec<MemberCountsRow>,
    #[serde(skip)]
    by_name: HashTable<u32>,
    other: MemberCounts,
    hasher: KeyedState,
}

impl Members {
    pub(crate) fn new(hasher: KeyedState) -> Self {
        let (rows, by_name) = (Vec::new(), HashTable::new());
        let (counting, other) = (MemberCounting::Off, MemberCounts::default());
        Self { counting, rows, by_name, other, hasher }
    }

    /// True if members are being counted.
    #[inline]
    pub(crate) const fn is_on(&self) -> bool {
        matches!(self.counting, MemberCounting::Since(_))
    }

    /// Starts counting if it has not started yet. Returns the time at which it started.
    pub(crate) const fn start(&mut self, now: Time) -> Time {
        match self.counting {
            MemberCounting::Since(since) => since,
            MemberCounting::Off => {
                self.counting = MemberCounting::Since(now);
                now
            }
        }
    }

    /// Returns the row of a member. Adds a row if the table has room.
    #[inline]
    fn find(&mut self, last: MemberId, interface: &str, member: &str) -> MemberId {
        match self.rows.get(last.0 as usize) {
            Some(row) if row.is(interface, member) => last,
            _ => self.find_or_add(interface, member),
        }
    }

    /// Returns the counters of a row, to be changed.
    #[inline]
    pub(crate) fn counts_mut(&mut self, id: MemberId) -> &mut MemberCounts {
        match self.rows.get_mut(id.0 as usize) {
            Some(row) => &mut row.counts,
            None => &mut self.other,
        }
    }

    /// Counts a message unless it is a reply, and returns its row. `last` is the row of the
    /// previous message of the same sender.
    pub(crate) fn count(&mut self, last: MemberId, message: &Message<'_>) -> MemberId {
        let Some(member) = message.member() else { return MemberId::NONE };
        let interface = message.interface().map_or("", |name| name.as_str());
        let id = self.find(last, interface, member.as_str());
        let counts = self.counts_mut(id);
        let bytes = message.bytes().len() as u64;
        counts.messages += 1;
        counts.bytes += bytes;
        counts.largest = counts.largest.max(bytes);
        id
    }

    /// Counts the reply to a call.
    pub(crate) fn answered(&mut self, call: Counted, answer: MessageType, now: Time) {
        let waited = now.as_nanos().saturating_sub(call.at.as_nanos());
        let counts = self.counts_mut(call.member);
        match answer {
            MessageType::Error => counts.errors += 1,
            _ => counts.returns += 1,
        }
        counts.waited += waited;
        counts.waited_most = counts.waited_most.max(waited);
    }

    /// All rows, in the order in which the members first appeared.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = MemberUse<'_>> {
        self.rows.iter().map(|row| MemberUse {
            interface: &row.interface,
            member: &row.member,
            counts: row.counts,
        })
    }

    /// The counters of the members that do not have a row.
    pub(crate) const fn other(&self) -> MemberCounts {
        self.other
    }

    fn find_or_add(&mut self, interface: &str, member: &str) -> MemberId {
        if let Some(index) = self.find_row(interface, member) {
            return MemberId(index);
        }
        if self.rows.len() == MEMBERS_MAX {
            return MemberId::OTHER;
        }
        let counts = MemberCounts::default();
        self.add_row(MemberCountsRow { interface: interface.into(), member: member.into(), counts })
    }

    fn find_row(&self, interface: &str, member: &str) -> Option<u32> {
        let (rows, hash) = (&self.rows, self.hasher.hash(&(interface, member)));
        self.by_name.find(hash, |&i| rows[i as usize].is(interface, member)).copied()
    }

    fn add_row(&mut self, row: MemberCountsRow) -> MemberId {
        let index = self.rows.len() as u32;
        self.rows.push(row);
        let (rows, hasher) = (&self.rows, &self.hasher);
        let hash = |i: &u32| {
            let row = &rows[*i as usize];
            hasher.hash(&(&*row.interface, &*row.member))
        };
        self.by_name.insert_unique(hash(&index), index, hash);
        MemberId(index)
    }
}

/// Maximum number of rows: more than the members of a desktop, and less than one megabyte even if a
/// peer chooses names of the greatest length.
pub(crate) const MEMBERS_MAX: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn a_member_has_one_row_for_all_senders() {
        let mut members = Members::new(KeyedState::new(1.into()));
        let first = members.find(MemberId::NONE, "a.b", "M");
        let second = members.find(first, "a.b", "N");
        assert_ne!(first, second);
        assert_eq!(members.find(first, "a.b", "M"), first, "the same as before");
        assert_eq!(members.find(second, "a.b", "M"), first, "another than before");
        assert_eq!(members.find(MemberId::OTHER, "a.b", "N"), second, "a new sender");
        assert_ne!(members.find(first, "c.d", "M"), first, "of another interface");
        assert_eq!(members.iter().len(), 3);
    }

    #[test]
    fn members_share_a_row_when_the_table_is_full() {
        let mut members = Members::new(KeyedState::new(1.into()));
        for n in 0..MEMBERS_MAX + 5 {
            let id = members.find(MemberId::OTHER, "a.b", &format!("M{n}"));
            members.counts_mut(id).messages += 1;
        }
        assert_eq!(members.iter().len(), MEMBERS_MAX);
        assert_eq!(members.other().messages, 5);
        let known = members.find(MemberId::OTHER, "a.b", "M7");
        assert_ne!(known, MemberId::OTHER, "members keep their row");
    }

    #[test]
    fn counts_are_added_and_of_peaks_the_highest_is_kept() {
        let one = MemberCounts {
            messages: 1,
            bytes: 2,
            deliveries: 3,
            returns: 4,
            errors: 5,
            waited: 6,
            waited_most: 7,
            largest: 8,
            most_recipients: 9,
        };
        let mut sum = one;
        sum += MemberCounts { waited_most: 6, largest: 80, most_recipients: 2, ..one };
        let expected = MemberCounts {
            messages: 2,
            bytes: 4,
            deliveries: 6,
            returns: 8,
            errors: 10,
            waited: 12,
            waited_most: 7,
            largest: 80,
            most_recipients: 9,
        };
        assert_eq!(sum, expected);
    }

    #[test]
    fn answers_are_timed() {
        let mut members = Members::new(KeyedState::new(1.into()));
        let member = members.find(MemberId::NONE, "a.b", "M");
        let call = Counted { member, at: Time::from_nanos(100) };
        members.answered(call, MessageType::MethodReturn, Time::from_nanos(130));
        members.answered(call, MessageType::Error, Time::from_nanos(110));
        let counts = members.iter().next().expect("a row").counts;
        let expected = MemberCounts {
            returns: 1,
            errors: 1,
            waited: 40,
            waited_most: 30,
            ..MemberCounts::default()
        };
        assert_eq!(counts, expected);
    }
}
