//! Event sources of the poller, encoded as tokens.

use bus::{ContainerId, PeerId};

use super::entrance::Entrance;
use crate::activation::ChildKey;
use crate::metrics::MetricsPlace;

/// A source of poller events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EventSource {
    Signals,
    Alarm,
    /// The bus's standard error, while output of services waits for it.
    Stderr,
    /// The process of a service.
    Child(ChildKey),
    /// The standard error of a service.
    Output(ChildKey),
    /// The child of a trial.
    Trial,
    /// Directories of the configuration.
    Folders,
    /// The metrics socket, or one of its clients.
    Metrics(MetricsPlace),
    /// The pipe that determines the lifetime of a container.
    Lifetime(ContainerId),
    /// One of the sockets of a listener. A container has one socket.
    Listener {
        entrance: Entrance,
        socket: usize,
    },
    Peer(PeerId),
}

impl EventSource {
    pub(super) fn token(self) -> u64 {
        match self {
            Self::Signals => SIGNALS,
            Self::Alarm => ALARM,
            Self::Stderr => STDERR,
            Self::Trial => TRIAL,
            Self::Child(key) => u64::from(key.number()) << 32 | CHILD,
            Self::Output(key) => u64::from(key.number()) << 32 | OUTPUT,
            Self::Metrics(place) => u64::from(place.number()) << 32 | METRICS,
            Self::Folders => FOLDERS,
            Self::Lifetime(container) => u64::from(container.number()) << 32 | LIFETIME,
            Self::Listener { entrance: Entrance::Configured(index), socket } => {
                (socket as u64) << 32 | OTHER_BIT | index as u64
            }
            Self::Listener { entrance: Entrance::Container(container), socket: _ } => {
                u64::from(container.number()) << 32 | CONTAINER
            }
            Self::Peer(peer) => u64::from(peer.generation()) << 32 | peer.index() as u64,
        }
    }

    pub(super) const fn from_token(token: u64) -> Self {
        let (upper, lower) = ((token >> 32) as u32, token as u32);
        match token {
            // The index of a connection has less than 31 bits, like a descriptor.
            _ if token & OTHER_BIT == 0 => Self::Peer(PeerId::new(lower, upper)),
            SIGNALS => Self::Signals,
            ALARM => Self::Alarm,
            STDERR => Self::Stderr,
            TRIAL => Self::Trial,
            FOLDERS => Self::Folders,
            _ if lower as u64 == CHILD => Self::Child(ChildKey::new(upper)),
            _ if lower as u64 == OUTPUT => Self::Output(ChildKey::new(upper)),
            _ if lower as u64 == METRICS => Self::Metrics(MetricsPlace::from_number(upper)),
            _ if lower as u64 == LIFETIME => Self::Lifetime(ContainerId::new(upper)),
            _ if lower as u64 == CONTAINER => {
                Self::Listener { entrance: Entrance::Container(ContainerId::new(upper)), socket: 0 }
            }
            _ => Self::Listener {
                entrance: Entrance::Configured((lower & !(OTHER_BIT as u32)) as usize),
                socket: upper as usize,
            },
        }
    }
}

/// Set in the tokens of all sources that are not connections.
const OTHER_BIT: u64 = 1 << 31;

const SIGNALS: u64 = u64::MAX;
const ALARM: u64 = u64::MAX - 1;
const STDERR: u64 = u64::MAX - 2;
const FOLDERS: u64 = u64::MAX - 3;
const TRIAL: u64 = u64::MAX - 4;

/// The lower halves of tokens of services, metrics clients and containers; there are always fewer listeners.
const CHILD: u64 = OTHER_BIT | 1 << 30;
const OUTPUT: u64 = OTHER_BIT | 1 << 30 | 1;
const METRICS: u64 = OTHER_BIT | 1 << 30 | 2;
const CONTAINER: u64 = OTHER_BIT | 1 << 30 | 3;
const LIFETIME: u64 = OTHER_BIT | 1 << 30 | 4;
