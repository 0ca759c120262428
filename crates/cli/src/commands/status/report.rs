//! What a bus says of itself.

use super::dict::Dict;

/// What a bus says of itself.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Report {
    /// Which bus, in words.
    pub(super) choice: String,
    /// Its id.
    pub(super) id: String,
    /// Its process, as far as it is known.
    pub(super) pid: Option<u64>,
    /// Its user.
    pub(super) uid: Option<u64>,
    pub(super) numbers: Numbers,
}

/// How much it tells.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Numbers {
    /// All that our own bus has.
    Own {
        totals: Dict,
        connections: Vec<Dict>,
        members: Vec<Dict>,
        /// Microseconds for which members have been counted.
        counted_for: u64,
        /// The newest first.
        history: Vec<Dict>,
    },
    /// What any bus may have.
    DebugStats { totals: Dict, connections: Vec<Dict> },
    /// Nothing.
    Nothing,
}
