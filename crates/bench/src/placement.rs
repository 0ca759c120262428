//! Which processors the processes of a measurement may use.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Which processors the processes of a measurement may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// Everything on one processor: the steadiest, since no wake-up crosses processors
    #[default]
    One,
    /// The bus on one processor, and all other processes on another
    Split,
    /// Everything where the scheduler puts it
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
