//! Peers that have connected, but are delayed or rejected.

use std::fmt;

use bus::{ConnectionCredentials, IncidentKind, LimitHit, LimitName, PeerSnapshot, Process};

use crate::os_error::OsError;

/// A peer that is delayed or rejected, and has no connection on the bus yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ThrottledPeer {
    /// The credentials that the kernel reports for the socket.
    pub(crate) credentials: ConnectionCredentials,
    /// The name of the process, if it was looked up.
    pub(crate) process: Process,
    pub(crate) outcome: ThrottleOutcome,
    pub(crate) reason: ThrottleReason,
}

/// What happens to a throttled peer.
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
            Self::Rejected => IncidentKind::Rejected,
        }
    }
}

/// Why a peer is delayed or rejected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ThrottleReason {
    /// Its user connects more often than allowed.
    TooOften {
        /// The allowed number of connections per second.
        per_second: u64,
        /// The burst limit and its usage.
        burst: LimitHit,
    },
    /// Its user has too many connections that have not called Hello.
    Crowding(LimitHit),
    /// The kernel does not report the user.
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

/// A sentence without its period, so that callers can append details.
impl fmt::Display for ThrottledPeer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let ThrottleReason::UnknownUser(error) = &self.reason {
            return write!(f, "Rejecting connections: reading SO_PEERCRED failed: {error}");
        }
        let (connects, has) = match self.credentials.uid {
            Some(uid) => {
                write!(f, "User {uid}")?;
                ("connects", "has")
            }
            None => {
                f.write_str("Unknown users")?;
                ("connect", "have")
            }
        };
        match (&self.reason, self.outcome) {
            (ThrottleReason::TooOften { per_second, .. }, outcome) => {
                let what = match outcome {
                    ThrottleOutcome::Delayed => "served later",
                    ThrottleOutcome::Rejected => "rejected",
                };
                let rate = LimitName::ConnectionsPerSecond.as_str();
                write!(f, " {connects} too often: new connections are {what} ({rate}={per_second})")
            }
            (ThrottleReason::Crowding(_), outcome) => {
                let what = match outcome {
                    ThrottleOutcome::Delayed => "wait",
                    ThrottleOutcome::Rejected => "are rejected",
                };
                write!(
                    f,
                    " {has} too many connections that have not called Hello: new connections {what}"
                )
            }
            (ThrottleReason::UnknownUser(_), _) => Ok(()),
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
        let text =
            format!("Unknown users connect too often: new connections are rejected ({RATE}=9)");
        check(None, ThrottleOutcome::Rejected, often, RATE, &text);
    }

    #[test]
    fn users_with_too_many_silent_connections_are_described() {
        let hit = LimitHit { limit: LimitName::IncompleteConnections, max: 1, used: 1 };
        let crowding = ThrottleReason::Crowding(hit);
        let many = "too many connections that have not called Hello: new connections";
        let word = "max_incomplete_connections";
        let text = format!("User 7 has {many} wait");
        check(Some(7), ThrottleOutcome::Delayed, crowding, word, &text);
        let text = format!("User 7 has {many} are rejected");
        check(Some(7), ThrottleOutcome::Rejected, crowding, word, &text);
    }

    #[test]
    fn peers_of_unknown_users_are_described_with_the_error() {
        let unknown = ThrottleReason::UnknownUser(OsError::from(io::Error::from_raw_os_error(12)));
        assert_eq!(unknown.limit_hit(), None);
        let text = "Rejecting connections: reading SO_PEERCRED failed: Cannot allocate memory";
        check(None, ThrottleOutcome::Rejected, unknown, "unknown-peer", text);
    }
}
