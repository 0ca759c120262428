//! Those who have connected and are not served yet, because others of the same user keep all
//! places of connections that have not said Hello.
//!
//! As long as there are places everybody gets one. When there are none, who belongs to a user with
//! half of them waits here, and everybody else is served all the same, so that nobody can keep the
//! others out by connecting and saying nothing.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::time::Duration;

use bus::Credentials;

/// Somebody who has connected.
#[derive(Debug)]
pub(super) struct Newcomer {
    pub(super) socket: OwnedFd,
    /// Which listener he came through.
    pub(super) listener: usize,
    pub(super) credentials: Credentials,
    /// Before when he is not read from, if that is said.
    pub(super) served_at: Option<Duration>,
}

/// The line, and when the log was told of it.
#[derive(Debug, Default)]
pub(super) struct Line {
    waiting: VecDeque<Newcomer>,
    reported: Option<Duration>,
}

/// What becomes of one who joins the line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Joined {
    /// He waits.
    Waits,
    /// There are too many of his user already; his connection is closed.
    Refused,
}

impl Line {
    /// Puts somebody at the end.
    pub(super) fn join(&mut self, newcomer: Newcomer) -> Joined {
        let uid = newcomer.credentials.uid;
        let of_user = self.waiting.iter().filter(|other| other.credentials.uid == uid).count();
        if of_user >= WAITING_MAX {
            return Joined::Refused;
        }
        self.waiting.push_back(newcomer);
        Joined::Waits
    }

    /// Who is next.
    pub(super) fn next(&mut self) -> Option<Newcomer> {
        self.waiting.pop_front()
    }

    /// Whether the log is to be told that somebody has to wait, which it is now and then.
    pub(super) fn is_news(&mut self, now: Duration) -> bool {
        let is_news = self.reported.is_none_or(|last| now.saturating_sub(last) >= REPORT_EVERY);
        if is_news {
            self.reported = Some(now);
        }
        is_news
    }
}

/// Connections of one user that wait; nobody has so many that are about to say Hello.
const WAITING_MAX: usize = 256;

/// How often the log is told.
const REPORT_EVERY: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    fn newcomer(uid: u32, pid: u32) -> Newcomer {
        let (socket, _) = sys::socket::socket_pair().unwrap();
        let credentials = Credentials { pid: Some(pid), uid: Some(uid) };
        Newcomer { socket, listener: 0, credentials, served_at: None }
    }

    #[test]
    fn who_came_first_is_served_first_and_nobody_fills_the_line() {
        let mut line = Line::default();
        assert_eq!(line.join(newcomer(7, 1)), Joined::Waits);
        assert_eq!(line.join(newcomer(8, 2)), Joined::Waits);
        for pid in 3..=WAITING_MAX as u32 + 1 {
            assert_eq!(line.join(newcomer(7, pid)), Joined::Waits);
        }
        assert_eq!(line.join(newcomer(7, 0)), Joined::Refused);
        assert_eq!(line.join(newcomer(8, 0)), Joined::Waits);
        let pids = [line.next(), line.next()].map(|next| next.unwrap().credentials.pid);
        assert_eq!(pids, [Some(1), Some(2)]);
        assert_eq!(line.join(newcomer(7, 0)), Joined::Waits);
    }

    #[test]
    fn the_log_is_told_now_and_then() {
        let mut line = Line::default();
        let told = [5, 6, 64, 65, 66, 200].map(|at| line.is_news(Duration::from_secs(at)));
        assert_eq!(told, [true, false, false, true, false, true]);
    }
}
