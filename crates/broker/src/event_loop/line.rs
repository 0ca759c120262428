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

/// What has become of somebody who wanted to wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Joined {
    pub(super) fate: Fate,
    /// How many of the same user were there before.
    pub(super) ahead: usize,
}

/// The line.
#[derive(Debug, Default)]
pub(super) struct Line {
    waiting: VecDeque<Newcomer>,
}

impl Line {
    /// Puts somebody at the end, unless too many of his user wait already.
    pub(super) fn join(&mut self, newcomer: Newcomer) -> Joined {
        let uid = newcomer.credentials.uid;
        let ahead = self.waiting.iter().filter(|other| other.credentials.uid == uid).count();
        if ahead >= WAITING_MAX {
            return Joined { fate: Fate::TurnedAway, ahead };
        }
        self.waiting.push_back(newcomer);
        Joined { fate: Fate::Waits, ahead }
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
        let waits = |ahead| Joined { fate: Fate::Waits, ahead };
        assert_eq!(line.join(newcomer(7, 1)), waits(0));
        assert_eq!(line.join(newcomer(8, 2)), waits(0));
        for ahead in 1..WAITING_MAX {
            assert_eq!(line.join(newcomer(7, 3)), waits(ahead));
        }
        let turned_away = Joined { fate: Fate::TurnedAway, ahead: WAITING_MAX };
        assert_eq!(line.join(newcomer(7, 0)), turned_away);
        assert_eq!(line.join(newcomer(8, 0)), waits(1));
        let pids = [line.next(), line.next()].map(|next| next.unwrap().credentials.pid);
        assert_eq!(pids, [Some(1), Some(2)]);
        assert_eq!(line.join(newcomer(7, 0)), waits(WAITING_MAX - 1));
    }
}
