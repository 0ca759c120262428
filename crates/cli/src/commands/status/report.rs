//! What a bus says of itself.

use serde::Serialize;

use super::dict::Dict;

/// What a bus says of itself.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct Report {
    /// Which bus, in words.
    #[serde(rename = "bus")]
    pub(super) choice: String,
    /// Its id.
    pub(super) id: String,
    /// Its process, as far as it is known.
    #[serde(rename = "process")]
    pub(super) pid: Option<u64>,
    /// Its user.
    #[serde(rename = "user")]
    pub(super) uid: Option<u64>,
    #[serde(flatten)]
    pub(super) numbers: Numbers,
}

/// How much it tells.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Numbers {
    /// All that our own bus has.
    Own {
        totals: Dict,
        connections: Vec<Dict>,
        members: Vec<Dict>,
        /// Microseconds for which members have been counted.
        #[serde(rename = "members_counted_for")]
        counted_for: u64,
        /// The newest first.
        history: Vec<Dict>,
    },
    /// What any bus may have.
    DebugStats {
        #[serde(rename = "debug_stats")]
        totals: Dict,
        connections: Vec<Dict>,
    },
    /// Nothing.
    Nothing {},
}
