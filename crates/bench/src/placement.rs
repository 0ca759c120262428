//! Which processors the processes of a measurement may use.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Which processors the processes of a measurement may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// Everything on one processor: the steadiest figures, because no wake-up crosses processors
    #[default]
    One,
    /// The bus on one processor, and all other processes on another
    Split,
    /// Everything where the scheduler puts it
    Free,
}

/// The role of a process in a measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ProcessPart {
    /// The process carries messages.
    Bus,
    /// The process sends or receives messages.
    Peer,
}

impl Placement {
    /// Returns the only processor that a process may use, out of `allowed`, which is not empty;
    /// `None` if the process may use any.
    pub(crate) fn processor(self, part: ProcessPart, allowed: &[usize]) -> Option<usize> {
        let last = allowed.last().copied();
        match (self, part) {
            (Self::Free, _) => None,
            // The last processor, because interrupts tend to run on the first.
            (Self::One, _) | (Self::Split, ProcessPart::Bus) => last,
            (Self::Split, ProcessPart::Peer) => allowed.iter().rev().nth(1).copied().or(last),
        }
    }
}
