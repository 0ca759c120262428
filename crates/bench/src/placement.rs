//! Which processors the processes of a measurement may use.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Which processors the processes of a measurement may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// All on one: the steadiest, since no wake-up crosses processors.
    #[default]
    One,
    /// The bus on one, everybody else on another.
    Split,
    /// Where the scheduler puts them.
    Free,
}

/// A part that a process has in a measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ProcessPart {
    /// It carries messages.
    Bus,
    /// It sends or receives messages.
    Peer,
}

impl Placement {
    /// The only processor that a process may use, of those this process may; `None` if it may use
    /// any. `allowed` is not empty.
    pub(crate) fn processor(self, part: ProcessPart, allowed: &[usize]) -> Option<usize> {
        let last = allowed.last().copied();
        match (self, part) {
            (Self::Free, _) => None,
            // The last, since interrupts tend to be on the first.
            (Self::One, _) | (Self::Split, ProcessPart::Bus) => last,
            (Self::Split, ProcessPart::Peer) => allowed.iter().rev().nth(1).copied().or(last),
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::One => "one",
            Self::Split => "split",
            Self::Free => "free",
        })
    }
}

impl FromStr for Placement {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "one" => Ok(Self::One),
            "split" => Ok(Self::Split),
            "free" => Ok(Self::Free),
            _ => Err("it is one, split or free".to_owned()),
        }
    }
}
