//! How much of the same is written: so much that an administrator sees who and what, and so little
//! that nobody can fill the log.
//!
//! On each topic a connection may have so many lines in [`WINDOW`], and a user with all connections
//! some more ([`Topic::lines`]). What is left out is counted, and told when the time is over.

use std::collections::HashMap;
use std::time::Duration;

use bus::PeerId;

use super::topic::{LineAllowance, LogTopic};

/// Whose fault something is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LineSubject {
    /// That of a connection, of this user.
    Connection(PeerId, Option<u32>),
    /// That of a user, who has no connection yet.
    User(Option<u32>),
    /// Nobody's who is connected.
    Nobody,
}

/// Whether something is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LineAdmission {
    Write,
    LeaveOut,
}

/// Whose lines are counted together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Whose {
    /// Those of one connection, of this user.
    Connection(PeerId, Option<u32>),
    /// Those of all connections of a user.
    User(Option<u32>),
    /// Everybody's, when there are too many to be told apart, and nobody's.
    Anybody,
}

/// Lines that were left out of the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LeftOut {
    pub(super) topic: LogTopic,
    pub(super) whose: Whose,
    pub(super) count: u64,
}

/// What was written of late, and how much was not.
#[derive(Debug, Default)]
pub(super) struct Governor {
    windows: HashMap<(LogTopic, Whose), LineWindow>,
}

/// The time in which lines are counted, from the first of them on.
#[derive(Clone, Copy, Debug)]
struct LineWindow {
    began: Duration,
    written: u32,
    left_out: u64,
}

impl Governor {
    /// Decides about a line. Windows that are over must have been taken before.
    pub(super) fn admit(
        &mut self,
        topic: LogTopic,
        subject: LineSubject,
        now: Duration,
    ) -> LineAdmission {
        let LineAllowance { of_connection, of_user } = topic.lines();
        let accounts = match subject {
            LineSubject::Connection(peer, uid) => {
                [(Whose::Connection(peer, uid), of_connection), (Whose::User(uid), of_user)]
            }
            // Counted twice, so it may have twice as many.
            LineSubject::User(uid) => [(Whose::User(uid), 2 * of_user); 2],
            // The same.
            LineSubject::Nobody => [(Whose::Anybody, 2 * of_user); 2],
        };
        for (whose, lines) in accounts {
            let window = self.window(topic, whose, now);
            if window.written >= lines {
                window.left_out += 1;
                return LineAdmission::LeaveOut;
            }
        }
        for (whose, _) in accounts {
            self.window(topic, whose, now).written += 1;
        }
        LineAdmission::Write
    }

    /// Whether the next line of a user would be written.
    pub(super) fn has_room(&self, topic: LogTopic, uid: Option<u32>, now: Duration) -> bool {
        let window = self.windows.get(&(topic, Whose::User(uid)));
        window.is_none_or(|window| window.written == 0 || window.began + WINDOW <= now)
    }

    /// When the next window is over, if any was begun.
    pub(super) fn due(&self) -> Option<Duration> {
        self.windows.values().map(|window| window.began + WINDOW).min()
    }

    /// Takes the windows that are over. Returns what was left out in them.
    pub(super) fn take_over(&mut self, now: Duration) -> Vec<LeftOut> {
        let over = self.windows.extract_if(|_, window| window.began + WINDOW <= now);
        let left_out = over.filter(|(_, window)| window.left_out > 0);
        left_out
            .map(|((topic, whose), LineWindow { left_out: count, .. })| LeftOut {
                topic,
                whose,
                count,
            })
            .collect()
    }

    fn window(&mut self, topic: LogTopic, whose: Whose, now: Duration) -> &mut LineWindow {
        let is_full = self.windows.len() >= WINDOWS_MAX;
        let is_known = self.windows.contains_key(&(topic, whose));
        let whose = if is_full && !is_known { Whose::Anybody } else { whose };
        let new = LineWindow { began: now, written: 0, left_out: 0 };
        self.windows.entry((topic, whose)).or_insert(new)
    }
}

/// How long lines are counted together.
pub(super) const WINDOW: Duration = Duration::from_secs(10);

/// Windows that are kept apart; those beyond are one for each topic.
const WINDOWS_MAX: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;

    const TOPIC: LogTopic = LogTopic::Refused("max_something");
    const LINES: LineAllowance = TOPIC.lines();

    fn subject(index: u32, uid: u32) -> LineSubject {
        LineSubject::Connection(PeerId::new(index, 0), Some(uid))
    }

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// How many of a hundred lines are written.
    fn written(governor: &mut Governor, subject: impl Fn(u32) -> LineSubject) -> u32 {
        let admit = |n| governor.admit(TOPIC, subject(n), seconds(5));
        (0..100).map(admit).filter(|&admission| admission == LineAdmission::Write).count() as u32
    }

    #[test]
    fn one_connection_has_its_lines_and_the_rest_is_counted() {
        let mut governor = Governor::default();
        assert_eq!(governor.due(), None);
        assert_eq!(written(&mut governor, |_| subject(1, 7)), LINES.of_connection);
        assert_eq!(governor.due(), Some(seconds(5) + WINDOW));
        assert_eq!(governor.take_over(seconds(14)), []);
        let whose = Whose::Connection(PeerId::new(1, 0), Some(7));
        let count = u64::from(100 - LINES.of_connection);
        assert_eq!(governor.take_over(seconds(15)), [LeftOut { topic: TOPIC, whose, count }]);
        assert_eq!(governor.due(), None);
        assert_eq!(written(&mut governor, |_| subject(1, 7)), LINES.of_connection, "and again");
    }

    #[test]
    fn a_user_has_not_more_by_having_many_connections() {
        let mut governor = Governor::default();
        assert_eq!(written(&mut governor, |n| subject(n, 7)), LINES.of_user);
        assert_eq!(written(&mut governor, |n| subject(1000 + n, 8)), LINES.of_user, "each");
        let left_out = governor.take_over(seconds(15));
        let of_users = left_out.iter().filter(|left| matches!(left.whose, Whose::User(_)));
        assert_eq!(of_users.map(|left| left.count).sum::<u64>(), 180);
    }

    #[test]
    fn there_are_not_more_windows_than_there_may_be() {
        let mut governor = Governor::default();
        let all = 10 * WINDOWS_MAX as u32;
        let lines = (0..all).map(|n| governor.admit(TOPIC, subject(n, n), seconds(5)));
        let written = lines.filter(|&admission| admission == LineAdmission::Write).count();
        assert!(governor.windows.len() <= WINDOWS_MAX + 1);
        let left_out = governor.take_over(seconds(15));
        let count: u64 = left_out.iter().map(|left| left.count).sum();
        assert_eq!(written as u64 + count, u64::from(all), "all is written or counted");
    }
}
