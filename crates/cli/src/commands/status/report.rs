//! The reported state of a bus.

use serde::Serialize;

use super::dict::StatusDict;

/// The reported state of a bus.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct BusReport {
    /// The description of the bus.
    #[serde(rename = "bus")]
    pub(super) choice: String,
    /// The GUID of the bus.
    pub(super) id: String,
    /// The pid of the bus, if it is known.
    #[serde(rename = "process")]
    pub(super) pid: Option<u64>,
    /// The user of the bus, if it is known.
    #[serde(rename = "user")]
    pub(super) uid: Option<u64>,
    #[serde(flatten)]
    pub(super) numbers: BusNumbers,
}

/// The statistics, which depend on the implementation of the bus.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub(super) enum BusNumbers {
    /// The statistics of a bus of Diligence.
    Own {
        totals: StatusDict,
        connections: Vec<StatusDict>,
        members: Vec<StatusDict>,
        /// The time for which members have been counted, in microseconds.
        #[serde(rename = "members_counted_for")]
        counted_for: u64,
        /// Incidents, the newest first.
        history: Vec<StatusDict>,
    },
    /// The statistics in `org.freedesktop.DBus.Debug.Stats`.
    DebugStats {
        #[serde(rename = "debug_stats")]
        totals: StatusDict,
        connections: Vec<StatusDict>,
    },
    /// The bus supports no statistics.
    Nothing {},
}
