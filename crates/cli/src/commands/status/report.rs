//! What a bus says of itself.

use serde::Serialize;

use super::dict::StatusDict;

/// What a bus says of itself.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct BusReport {
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
    pub(super) numbers: BusNumbers,
}

/// How much it tells.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub(super) enum BusNumbers {
    /// All that our own bus has.
    Own {
        totals: StatusDict,
        connections: Vec<StatusDict>,
        members: Vec<StatusDict>,
        /// Microseconds for which members have been counted.
        #[serde(rename = "members_counted_for")]
        counted_for: u64,
        /// The newest first.
        history: Vec<StatusDict>,
    },
    /// What any bus may have.
    DebugStats {
        #[serde(rename = "debug_stats")]
        totals: StatusDict,
        connections: Vec<StatusDict>,
    },
    /// Nothing.
    Nothing {},
}
