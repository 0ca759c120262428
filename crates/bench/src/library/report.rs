//! Reports of the library programs.

use serde::{Deserialize, Serialize};

/// The report of a caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CallReport {
    /// The number of answered calls.
    pub calls: u64,
    /// Time from the first call to the last reply, in nanoseconds.
    pub elapsed_ns: u64,
    /// Median round-trip time, in nanoseconds.
    pub p50_ns: u64,
    /// 99th percentile of the round-trip time, in nanoseconds.
    pub p99_ns: u64,
}

/// The report of an emitter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct EmitReport {
    /// The number of signals sent.
    pub sent: u64,
    /// The number of signals that the library refused to send because its queue was full.
    pub timeouts: u64,
    /// Time from the first emission until all signals were sent, in nanoseconds.
    pub elapsed_ns: u64,
}

/// The report of a listener.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ListenReport {
    /// The number of signals received.
    pub received: u64,
    /// Time from the emission of the first received signal to the receipt of the last, in
    /// nanoseconds.
    pub elapsed_ns: u64,
    /// Mean time from emission to handler, in nanoseconds.
    pub delay_mean_ns: u64,
    /// 99th percentile of the time from emission to handler, in nanoseconds.
    pub delay_p99_ns: u64,
    /// Total size of all payloads, in bytes.
    pub bytes: u64,
}
