//! Rate limits of the log: an administrator sees each topic and its cause, but no peer can fill the
//! log.
//!
//! On each topic a connection may cause a limited number of lines in [`WINDOW`], and all
//! connections of a user together somewhat more (`LogTopic::lines`). Suppressed lines are counted
//! and summarized at the end of the window.

use std::collections::HashMap;
use std::time::Duration;

use bus::PeerId;
use serde::{Deserialize, Serialize};

use super::topic::{LineAllowance, LogTopic};

/// The peer or user that caused a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LineSubject {
    /// A connection, and its user if known.
    Connection(PeerId, Option<u32>),
    /// A user without a connection yet.
    User(Option<u32>),
    /// No connection caused it.
    Unattributed,
}

/// Whether a line is written or suppressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LineAdmission {
    Write,
    LeaveOut,
}

/// The group of lines that share a window.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) enum WindowKey {
    /// One connection, and its user if known.
    Connection(PeerId, Option<u32>),
    /// All connections of a user.
    User(Option<u32>),
    /// Lines without a subject, and lines beyond [`WINDOWS_MAX`] windows.
    Shared,
}

/// Lines of one window that were suppressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LeftOut {
    pub(super) topic: LogTopic,
    pub(super) key: WindowKey,
    pub(super) count: u64,
}

/// The recent lines and suppressed lines of all topics.
#[derive(Debug, Default)]
pub(super) struct Governor {
    windows: HashMap<(LogTopic, WindowKey), LineWindow>,
}

/// The counts of one window, which starts with its first line.
#[derive(Clone, Copy, Debug)]
struct LineWindow {
    began: Duration,
    written: u32,
    left_out: u64,
}

/// A window in a saved state: the word and the cause of its topic, its key and its counts.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedWindow {
    topic: String,
    cause: Option<String>,
    key: WindowKey,
    began: Duration,
    written: u32,
    left_out: u64,
}

impl Governor {
    /// Saves all windows that have not expired.
    pub(super) fn save(&self) -> Vec<SavedWindow> {
        let save = |((topic, key), window): (&(LogTopic, WindowKey), &LineWindow)| SavedWindow {
            topic: topic.word().to_owned(),
            cause: topic.cause().map(str::to_owned),
            key: *key,
            began: window.began,
            written: window.written,
            left_out: window.left_out,
        };
        self.windows.iter().map(save).collect()
    }

    /// Restores the windows. A topic that this version does not know is dropped.
    pub(super) fn restore(saved: Vec<SavedWindow>) -> Self {
        let window = |saved: SavedWindow| {
            let topic = LogTopic::of_words(&saved.topic, saved.cause)?;
            let SavedWindow { key, began, written, left_out, .. } = saved;
            Some(((topic, key), LineWindow { began, written, left_out }))
        };
        let windows = saved.into_iter().take(WINDOWS_MAX).filter_map(window);
        Self { windows: windows.collect() }
    }

    /// Decides whether a line is written. Expired windows must have been taken before.
    pub(super) fn admit(
        &mut self,
        topic: LogTopic,
        subject: LineSubject,
        now: Duration,
    ) -> LineAdmission {
        let LineAllowance { of_connection, of_user } = topic.lines();
        let accounts = match subject {
            LineSubject::Connection(peer, uid) => {
                [(WindowKey::Connection(peer, uid), of_connection), (WindowKey::User(uid), of_user)]
            }
            // Counted twice, so the allowance is doubled.
            LineSubject::User(uid) => [(WindowKey::User(uid), 2 * of_user); 2],
            // Counted twice, as above.
            LineSubject::Unattributed => [(WindowKey::Shared, 2 * of_user); 2],
        };
        for (key, lines) in accounts {
            let window = self.window(topic, key, now);
            if window.written >= lines {
                window.left_out += 1;
                return LineAdmission::LeaveOut;
            }
        }
        for (key, _) in accounts {
            self.window(topic, key, now).written += 1;
        }
        LineAdmission::Write
    }

    /// Whether the next line about this user would be written.
    pub(super) fn has_room(&self, topic: LogTopic, uid: Option<u32>, now: Duration) -> bool {
        let window = self.windows.get(&(topic, WindowKey::User(uid)));
        window
            .is_none_or(|window| window.written == 0 || window.began.saturating_add(WINDOW) <= now)
    }

    /// The end of the next window, if there is one.
    pub(super) fn due(&self) -> Option<Duration> {
        self.windows.values().map(|window| window.began.saturating_add(WINDOW)).min()
    }

    /// Removes expired windows and returns the lines that they suppressed.
    pub(super) fn take_over(&mut self, now: Duration) -> Vec<LeftOut> {
        let over = self.windows.extract_if(|_, window| window.began.saturating_add(WINDOW) <= now);
        let left_out = over.filter(|(_, window)| window.left_out > 0);
        left_out
            .map(|((topic, key), LineWindow { left_out: count, .. })| LeftOut { topic, key, count })
            .collect()
    }

    fn window(&mut self, topic: LogTopic, key: WindowKey, now: Duration) -> &mut LineWindow {
        let is_full = self.windows.len() >= WINDOWS_MAX;
        let is_known = self.windows.contains_key(&(topic, key));
        let key = if is_full && !is_known { WindowKey::Shared } else { key };
        let new = LineWindow { began: now, written: 0, left_out: 0 };
        self.windows.entry((topic, key)).or_insert(new)
    }
}

/// The length of a window.
pub(super) const WINDOW: Duration = Duration::from_secs(10);

/// The maximum number of separate windows; beyond it, there is one window per topic.
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

    /// Returns how many of a hundred lines are written.
    fn written(governor: &mut Governor, subject: impl Fn(u32) -> LineSubject) -> u32 {
        let admit = |n| governor.admit(TOPIC, subject(n), seconds(5));
        (0..100).map(admit).filter(|&admission| admission == LineAdmission::Write).count() as u32
    }

    #[test]
    fn lines_beyond_the_allowance_of_a_connection_are_counted() {
        let mut governor = Governor::default();
        assert_eq!(governor.due(), None);
        assert_eq!(written(&mut governor, |_| subject(1, 7)), LINES.of_connection);
        assert_eq!(governor.due(), Some(seconds(5) + WINDOW));
        assert_eq!(governor.take_over(seconds(14)), []);
        let key = WindowKey::Connection(PeerId::new(1, 0), Some(7));
        let count = u64::from(100 - LINES.of_connection);
        assert_eq!(governor.take_over(seconds(15)), [LeftOut { topic: TOPIC, key, count }]);
        assert_eq!(governor.due(), None);
        assert_eq!(written(&mut governor, |_| subject(1, 7)), LINES.of_connection, "and again");
    }

    #[test]
    fn more_connections_do_not_increase_the_allowance_of_a_user() {
        let mut governor = Governor::default();
        assert_eq!(written(&mut governor, |n| subject(n, 7)), LINES.of_user);
        assert_eq!(written(&mut governor, |n| subject(1000 + n, 8)), LINES.of_user, "each");
        let left_out = governor.take_over(seconds(15));
        let of_users = left_out.iter().filter(|left| matches!(left.key, WindowKey::User(_)));
        assert_eq!(of_users.map(|left| left.count).sum::<u64>(), 180);
    }

    #[test]
    fn saved_windows_count_on_after_they_are_restored() {
        let mut governor = Governor::default();
        let count = written(&mut governor, |_| subject(1, 7));
        let topics = [LogTopic::Monitor, LogTopic::Fault("metrics"), LogTopic::Started];
        for topic in topics {
            governor.admit(topic, LineSubject::Unattributed, seconds(5));
        }
        let mut restored = Governor::restore(governor.save());
        assert_eq!(restored.windows.len(), governor.windows.len());
        assert_eq!((count, written(&mut restored, |_| subject(1, 7))), (LINES.of_connection, 0));
        let key = WindowKey::Connection(PeerId::new(1, 0), Some(7));
        let count = u64::from(200 - LINES.of_connection);
        assert_eq!(restored.take_over(seconds(15)), [LeftOut { topic: TOPIC, key, count }]);
    }

    #[test]
    fn the_number_of_windows_is_limited() {
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
