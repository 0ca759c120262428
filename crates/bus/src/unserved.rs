//! Those who want to connect and are not served, or not at once; and what the system does not let the
//! bus do. The daemon notices both, and the bus counts them with all other trouble.

use alloc::string::String;
use core::fmt;

use crate::bus::Bus;
use crate::effects::{Effects, Event};
use crate::history::{Culprit, Incident, Trouble};
use crate::input::{Credentials, Process};
use crate::reached::{LimitName, Reached};

/// Somebody who has connected, and whom the bus does not know as a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unserved {
    /// Who is at the other end, as far as the kernel knows.
    pub credentials: Credentials,
    /// What his process is called, if that was looked up.
    pub process: Process,
    /// What becomes of him.
    pub fate: Fate,
    /// Why.
    pub obstacle: Obstacle,
}

/// What becomes of one who has connected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// He is served later.
    Waits,
    /// His connection is closed.
    TurnedAway,
}

/// Why somebody who has connected is not served at once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Obstacle {
    /// His user connects more often than he may.
    TooOften {
        /// How often that is.
        per_second: u64,
        /// How far ahead of that he may be, and is.
        burst: Reached,
    },
    /// His user has too many connections that have not said Hello.
    Crowding(Reached),
    /// The kernel does not tell who he is.
    Nameless {
        /// What it said instead.
        why: String,
    },
}

impl Unserved {
    /// Who it is.
    #[must_use]
    pub fn culprit(&self) -> Culprit {
        let Credentials { pid, uid } = self.credentials;
        Culprit { pid, uid, process: self.process.clone(), ..Culprit::default() }
    }
}

impl Obstacle {
    /// It in one word: the limit that was reached, if it was one.
    #[must_use]
    pub const fn cause(&self) -> &'static str {
        match self {
            Self::TooOften { .. } => LimitName::ConnectionsPerSecond.as_str(),
            Self::Crowding(reached) => reached.limit.as_str(),
            Self::Nameless { .. } => "unknown-peer",
        }
    }

    /// The limit that was reached, if it was one.
    #[must_use]
    pub const fn reached(&self) -> Option<Reached> {
        match self {
            Self::TooOften { burst, .. } => Some(*burst),
            Self::Crowding(reached) => Some(*reached),
            Self::Nameless { .. } => None,
        }
    }
}

impl Fate {
    const fn trouble(self) -> Trouble {
        match self {
            Self::Waits => Trouble::Delayed,
            Self::TurnedAway => Trouble::TurnedAway,
        }
    }
}

/// Something that the system does not let the bus do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// There is no descriptor for another connection.
    NoDescriptors,
    /// A folder of the configuration cannot be watched for changes.
    UnwatchedFolder,
    /// A connection cannot be watched.
    UnwatchedConnection,
    /// What the policy asks of a connection cannot be learnt.
    UnknownStanding,
    /// The numbers of the bus cannot be told.
    Metrics,
    /// The process of a service cannot be ended.
    StrayService,
    /// What services write cannot be passed on.
    ServiceOutput,
    /// The flight recorder has no memory, or what it has cannot be written to a file.
    FlightRecorder,
}

impl Fault {
    /// It in one word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::NoDescriptors => "no-descriptors",
            Self::UnwatchedFolder => "unwatched-folder",
            Self::UnwatchedConnection => "unwatched-connection",
            Self::UnknownStanding => "standing-unknown",
            Self::Metrics => "metrics",
            Self::StrayService => "stray-service",
            Self::ServiceOutput => "service-output",
            Self::FlightRecorder => "flight-recorder",
        }
    }
}

impl Bus {
    pub(crate) fn not_served(&mut self, unserved: Unserved, fx: &mut Effects) {
        let Unserved { fate, obstacle, .. } = &unserved;
        let (trouble, cause, text) =
            (fate.trouble(), obstacle.cause(), alloc::format!("{unserved}"));
        self.history.count(trouble, cause);
        let who = unserved.culprit();
        let reached = obstacle.reached();
        self.history.add(Incident::new(trouble, cause, who, text, reached, self.now));
        fx.log(Event::Unserved(unserved));
    }

    pub(crate) fn fault(&mut self, fault: Fault, text: String, fx: &mut Effects) {
        let (trouble, cause) = (Trouble::Fault, fault.word());
        self.history.count(trouble, cause);
        let who = Culprit::default();
        self.history.add(Incident::new(trouble, cause, who, text.clone(), None, self.now));
        fx.log(Event::Fault { fault, text });
    }
}

/// A sentence without an end, so that something can be put behind it.
impl fmt::Display for Unserved {
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
        match (&self.obstacle, self.fate) {
            (Obstacle::TooOften { per_second, .. }, fate) => {
                let what = match fate {
                    Fate::Waits => "served later",
                    Fate::TurnedAway => "refused",
                };
                let rate = LimitName::ConnectionsPerSecond.as_str();
                write!(f, " {is} too often: new connections are {what} ({rate}={per_second})")
            }
            (Obstacle::Crowding(_), fate) => {
                let what = match fate {
                    Fate::Waits => "wait",
                    Fate::TurnedAway => "are closed",
                };
                write!(
                    f,
                    " {has} too many connections that have not said Hello: the next ones {what}"
                )
            }
            (Obstacle::Nameless { why }, _) => {
                write!(f, " {is}, and the kernel does not tell who that is: {why}")
            }
        }
    }
}
