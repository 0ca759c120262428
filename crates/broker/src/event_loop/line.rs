//! Those who have connected and are not served yet, because others of the same user keep all
//! places of connections that have not said Hello.
//!
//! As long as there are places everybody gets one. When there are none, who belongs to a user with
//! half of them waits here, and everybody else is served all the same, so that nobody can keep the
//! others out by connecting and saying nothing.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::time::Duration;

use bus::{Credentials, Fate};

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

/// The line.
#[derive(Debug, Default)]
pub(super) struct Line {
    waiting: VecDeque<Newcomer>,
}

impl Line {
    /// Puts somebody at the end, unless too many of his user wait already.
    pub(super) fn join(&mut self, newcomer: Newcomer) -> Fate {
        if self.waiting_of(newcomer.credentials.uid) >= WAITING_MAX {
            return Fate::TurnedAway;
        }
        self.waiting.push_back(newcomer);
        Fate::Waits
    }

    /// How many of a user wait.
    pub(super) fn waiting_of(&self, uid: Option<u32>) -> usize {
        self.waiting.iter().filter(|other| other.credentials.uid == uid).count()
    }

    /// Who is next.
    pub(super) fn next(&mut self) -> Option<Newcomer> {
        self.waiting.pop_front()
    }
}

/// Connections of one user that wait; nobody has so many that are about to say Hello.
const WAITING_MAX: usize = 256;

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
        assert_eq!(line.join(newcomer(7, 1)), Fate::Waits);
        assert_eq!(line.join(newcomer(8, 2)), Fate::Waits);
        for pid in 3..=WAITING_MAX as u32 + 1 {
            assert_eq!(line.join(newcomer(7, pid)), Fate::Waits);
        }
        assert_eq!(line.join(newcomer(7, 0)), Fate::TurnedAway);
        assert_eq!(line.join(newcomer(8, 0)), Fate::Waits);
        let pids = [line.next(), line.next()].map(|next| next.unwrap().credentials.pid);
        assert_eq!(pids, [Some(1), Some(2)]);
        assert_eq!(line.join(newcomer(7, 0)), Fate::Waits);
    }
}
