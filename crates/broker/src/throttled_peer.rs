//! Peers that have connected and are not served, or not at once.

use std::fmt;

use bus::{ConnectionCredentials, IncidentKind, LimitHit, LimitName, PeerSnapshot, Process};

use crate::os_error::OsError;

/// A peer that has connected, and that the bus does not know as a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ThrottledPeer {
    /// What the kernel knows of it.
    pub(crate) credentials: ConnectionCredentials,
    /// What its process is called, if that was looked up.
    pub(crate) process: Process,
    pub(crate) outcome: ThrottleOutcome,
    pub(crate) reason: ThrottleReason,
}

/// What happens to a peer that is not served at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ThrottleOutcome {
    /// It is served later.
    Delayed,
    /// Its connection is closed.
    Rejected,
}

impl ThrottleOutcome {
    pub(crate) const fn incident_kind(self) -> IncidentKind {
        match self {
            Self::Delayed => IncidentKind::Delayed,
            Self::Rejected => IncidentKind::TurnedAway,
        }
    }
}

/// Why a peer is not served at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ThrottleReason {
    /// Its user connects more often than it may.
    TooOften {
        /// Connections that the user may make in a second.
        per_second: u64,
        /// How far ahead of that rate the user may be, and is.
        burst: LimitHit,
    },
    /// Its user has too many connections that have not called Hello.
    Crowding(LimitHit),
    /// The kernel does not name the user.
    UnknownUser(OsError),
}

impl ThrottledPeer {
    pub(crate) fn snapshot(&self) -> PeerSnapshot {
        let ConnectionCredentials { pid, uid } = self.credentials;
        PeerSnapshot { pid, uid, process: self.process.clone(), ..PeerSnapshot::default() }
    }
}

impl ThrottleReason {
    /// The word for this reason in logs and statistics: the limit that was hit, if there was one.
    pub(crate) const fn cause(&self) -> &'static str {
        match self {
            Self::TooOften { .. } => LimitName::ConnectionsPerSecond.as_str(),
            Self::Crowding(hit) => hit.limit.as_str(),
            Self::UnknownUser(_) => "unknown-peer",
        }
    }

    /// The limit that was hit, if there was one.
    pub(crate) const fn limit_hit(&self) -> Option<LimitHit> {
        match self {
            Self::TooOften { burst, .. } => Some(*burst),
            Self::Crowding(hit) => Some(*hit),
            Self::UnknownUser(_) => None,
        }
    }
}

/// A sentence without an end, so that something can be added.
impl fmt::Display for ThrottledPeer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (is, has) = match self.credentials.uid {
            Some(uid) => {
                write!(f, "User {uid}")?;
                ("connects", "has")
            }
            None => {
                f.write_str("Those of whom no user is known")?;
                ("connect", "have")
            }
        };
        match (&self.reason, self.outcome) {
            (ThrottleReason::TooOften { per_second, .. }, outcome) => {
                let what = match outcome {
                    ThrottleOutcome::Delayed => "served later",
                    ThrottleOutcome::Rejected => "refused",
                };
                let rate = LimitName::ConnectionsPerSecond.as_str();
                write!(f, " {is} too often: new connections are {what} ({rate}={per_second})")
            }
            (ThrottleReason::Crowding(_), outcome) => {
                let what = match outcome {
                    ThrottleOutcome::Delayed => "wait",
                    ThrottleOutcome::Rejected => "are closed",
                };
                write!(
                    f,
                    " {has} too many connections that have not said Hello: the next ones {what}"
                )
            }
            (ThrottleReason::UnknownUser(error), _) => {
                write!(f, " {is}, and the kernel does not tell who that is: {error}")
            }
        }
    }
}

impl std::error::Error for ThrottledPeer {}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    const RATE: &str = "max_connections_per_second_per_user";

    fn check(
        uid: Option<u32>,
        outcome: ThrottleOutcome,
        reason: ThrottleReason,
        word: &str,
        text: &str,
    ) {
        let credentials = ConnectionCredentials { uid, ..ConnectionCredentials::default() };
        assert_eq!(reason.cause(), word);
        let peer = ThrottledPeer { credentials, process: Process::default(), outcome, reason };
        assert_eq!(peer.to_string(), text);
    }

    #[test]
    fn users_that_connect_too_often_are_described() {
        let burst = LimitHit { limit: LimitName::ConnectionBurst, max: 2, used: 2 };
        let often = ThrottleReason::TooOften { per_second: 9, burst };
        let text =
            format!("User 7 connects too often: new connections are served later ({RATE}=9)");
        check(Some(7), ThrottleOutcome::Delayed, often, RATE, &text);
        let text = format!(
            "Those of whom no user is known connect too often: new connections are refused ({RATE}=9)"
        );
        check(None, ThrottleOutcome::Rejected, often, RATE, &text);
    }

    #[test]
    fn users_with_too_many_silent_connections_are_described() {
        let hit = LimitHit { limit: LimitName::IncompleteConnections, max: 1, used: 1 };
        let crowding = ThrottleReason::Crowding(hit);
        let many = "too many connections that have not said Hello: the next ones";
        let word = "max_incomplete_connections";
        let text = format!("User 7 has {many} wait");
        check(Some(7), ThrottleOutcome::Delayed, crowding, word, &text);
        let text = format!("User 7 has {many} are closed");
        check(Some(7), ThrottleOutcome::Rejected, crowding, word, &text);
    }

    #[test]
    fn peers_of_unknown_users_are_described_with_the_error() {
        let unknown = ThrottleReason::UnknownUser(OsError::from(io::Error::from_raw_os_error(12)));
        assert_eq!(unknown.limit_hit(), None);
        let text = "Those of whom no user is known connect, and the kernel does not tell who that is: \
                    Cannot allocate memory";
        check(None, ThrottleOutcome::Rejected, unknown, "unknown-peer", text);
    }
}
