//! How well a bus is seen.

use std::fmt;

use capture::losses::Losses;
use capture::record::{Method, Record};

/// How well a bus is seen. Its text is for people: `seen by a monitor, nothing lost`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sight {
    method: Method,
    losses: Losses,
}

impl Sight {
    /// Nothing was seen yet.
    pub(crate) fn new() -> Self {
        Self { method: Method::Unknown, losses: Losses::default() }
    }

    /// Takes in what comes next.
    pub(crate) fn learn(&mut self, record: &Record<'_>) {
        if let Record::Bus(bus) = record {
            self.method = bus.method;
        }
        self.losses.learn(record);
    }
}

impl fmt::Display for Sight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seen = match self.method {
            Method::Trace => "written by the bus",
            Method::Monitor => "seen by a monitor",
            Method::Eavesdrop => "overheard",
            Method::Unknown => "not seen",
        };
        write!(f, "{seen}, {}", self.losses)
    }
}
