//! What is called and emitted: for each member how many messages, how large, to how many, and how
//! long calls wait for their replies.
//!
//! It costs some percent of what a small message costs, so it begins when somebody first asks.
//!
//! A program sends few kinds of messages, often, so each connection remembers which row its last
//! one was counted in, and mostly no table is searched. The table is bounded; what comes when it is
//! full is counted in one row for all others.

use alloc::boxed::Box;
use alloc::vec::Vec;

use hashbrown::HashTable;
use wire::Message;
use wire::message::MessageType;

use crate::hash::KeyedState;
use crate::types::Time;

/// A row of the table, or the one of all others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MemberId(u32);

impl MemberId {
    /// The row of those that have none of their own.
    pub(crate) const OTHER: Self = Self(u32::MAX);

    /// No row: nothing was counted.
    pub(crate) const NONE: Self = Self(u32::MAX - 1);
}

/// Where and when a message was counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Counted {
    pub(crate) member: MemberId,
    pub(crate) at: Time,
}

impl Counted {
    /// It was not.
    pub(crate) const NOT: Self = Self { member: MemberId::NONE, at: Time::from_nanos(0) };
}

/// Whether members are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum MemberCounting {
    /// Nobody has asked.
    Off,
    Since(Time),
}

/// What was counted of one member.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MemberCounts {
    /// Calls and signals.
    pub messages: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Messages that were queued for connections because of them.
    pub deliveries: u64,
    /// Calls that were answered.
    pub returns: u64,
    /// Calls that were answered with an error.
    pub errors: u64,
    /// Nanoseconds from the calls to their answers, all together.
    pub waited: u64,
    /// Nanoseconds from a call to its answer, the most.
    pub waited_most: u64,
    /// Bytes of the largest call or signal.
    pub largest: u64,
    /// Connections other than monitors that got the same call or signal, the most.
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

/// A member, and what was counted of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemberUse<'a> {
    /// Its interface; empty if the messages named none.
    pub interface: &'a str,
    /// Its name.
    pub member: &'a str,
    /// What was counted.
    pub counts: MemberCounts,
}

#[derive(Debug)]
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

/// All members that have been called or emitted.
#[derive(Debug)]
pub(crate) struct Members {
    counting: MemberCounting,
    rows: Vec<MemberCountsRow>,
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

    /// Whether members are counted.
    #[inline]
    pub(crate) const fn is_on(&self) -> bool {
        matches!(self.counting, MemberCounting::Since(_))
    }

    /// Counts from now on, unless it does already. Returns since when.
    pub(crate) const fn start(&mut self, now: Time) -> Time {
        match self.counting {
            MemberCounting::Since(since) => since,
            MemberCounting::Off => {
                self.counting = MemberCounting::Since(now);
                now
            }
        }
    }

    /// The row of a member.
    #[inline]
    fn find(&mut self, last: MemberId, interface: &str, member: &str) -> MemberId {
        match self.rows.get(last.0 as usize) {
            Some(row) if row.is(interface, member) => last,
            _ => self.find_or_add(interface, member),
        }
    }

    /// What was counted in a row, to be changed.
    #[inline]
    pub(crate) fn counts_mut(&mut self, id: MemberId) -> &mut MemberCounts {
        match self.rows.get_mut(id.0 as usize) {
            Some(row) => &mut row.counts,
            None => &mut self.other,
        }
    }

    /// Counts a message, unless it is a reply. Says where: `last` is where the last message of the
    /// same sender was counted.
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

    /// Counts the answer to a call.
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

    /// All rows, in the order in which the members came up.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = MemberUse<'_>> {
        self.rows.iter().map(|row| MemberUse {
            interface: &row.interface,
            member: &row.member,
            counts: row.counts,
        })
    }

    /// What was counted of those that have no row.
    pub(crate) const fn other(&self) -> MemberCounts {
        self.other
    }

    fn find_or_add(&mut self, interface: &str, member: &str) -> MemberId {
        let hash = self.hasher.hash(&(interface, member));
        let rows = &self.rows;
        if let Some(&index) = self.by_name.find(hash, |&i| rows[i as usize].is(interface, member)) {
            return MemberId(index);
        }
        if self.rows.len() == MEMBERS_MAX {
            return MemberId::OTHER;
        }
        let index = self.rows.len() as u32;
        self.rows.push(MemberCountsRow {
            interface: interface.into(),
            member: member.into(),
            counts: MemberCounts::default(),
        });
        let (rows, hasher) = (&self.rows, &self.hasher);
        let rehash =
            |&i: &u32| hasher.hash(&(&*rows[i as usize].interface, &*rows[i as usize].member));
        self.by_name.insert_unique(hash, index, rehash);
        MemberId(index)
    }
}

/// Members that have a row of their own: more than a desktop has, and less than a megabyte even if
/// somebody chooses the longest names.
pub(crate) const MEMBERS_MAX: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn a_member_has_one_row_whoever_sends_it() {
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
    fn those_that_come_when_the_table_is_full_are_counted_together() {
        let mut members = Members::new(KeyedState::new(1.into()));
        for n in 0..MEMBERS_MAX + 5 {
            let id = members.find(MemberId::OTHER, "a.b", &format!("M{n}"));
            members.counts_mut(id).messages += 1;
        }
        assert_eq!(members.iter().len(), MEMBERS_MAX);
        assert_eq!(members.other().messages, 5);
        let known = members.find(MemberId::OTHER, "a.b", "M7");
        assert_ne!(known, MemberId::OTHER, "those that have a row keep it");
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
