//! What the programs of the libraries report.

use serde::{Deserialize, Serialize};

/// What came of calling.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CallReport {
    /// Calls that were answered.
    pub calls: u64,
    /// From the first call to the last reply, in nanoseconds.
    pub elapsed_ns: u64,
    /// From a call to its reply, what half of them do not exceed, in nanoseconds.
    pub p50_ns: u64,
    /// From a call to its reply, what 99 of 100 do not exceed, in nanoseconds.
    pub p99_ns: u64,
}

/// What came of emitting.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct EmitReport {
    /// Signals that were sent.
    pub sent: u64,
    /// Signals that the library refused to send, since too many waited.
    pub timeouts: u64,
    /// From the first emission until all were sent, in nanoseconds.
    pub elapsed_ns: u64,
}

/// What came of listening.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ListenReport {
    /// Signals that came.
    pub received: u64,
    /// From the emission of the first that came to the receipt of the last, in nanoseconds.
    pub elapsed_ns: u64,
    /// From emission to handler, the mean, in nanoseconds.
    pub delay_mean_ns: u64,
    /// From emission to handler, what 99 of 100 do not exceed, in nanoseconds.
    pub delay_p99_ns: u64,
    /// Bytes of all payloads.
    pub bytes: u64,
}
