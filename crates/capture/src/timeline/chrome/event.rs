//! The events of the trace event format.

use serde::Serialize;
use serde::ser::Serializer;

use super::tracks::Track;
use crate::record::RecordedTime;

/// One event. Its keys are defined by the format.
#[derive(Clone, Debug, Serialize)]
pub(super) struct TraceEvent<'a> {
    pub(super) ph: TraceEventPhase,
    pub(super) name: &'a str,
    pub(super) cat: &'static str,
    pub(super) pid: u32,
    pub(super) tid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ts: Option<Micros>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bp: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) s: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) args: Option<TraceEventArguments<'a>>,
}

/// The type of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub(super) enum TraceEventPhase {
    /// The start of a span.
    #[serde(rename = "B")]
    Begin,
    /// The end of the span that began last on its track.
    #[serde(rename = "E")]
    End,
    /// A single point in time.
    #[serde(rename = "i")]
    Instant,
    /// A new value of a number.
    #[serde(rename = "C")]
    Counter,
    /// The start of an arrow.
    #[serde(rename = "s")]
    FlowStart,
    /// The end of an arrow.
    #[serde(rename = "f")]
    FlowEnd,
    /// The name of a track.
    #[serde(rename = "M")]
    Metadata,
}

/// Additional data of an event.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub(super) enum TraceEventArguments<'a> {
    /// Data of a message and its reply.
    Message {
        number: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        reply: Option<u64>,
        from: &'a str,
        to: &'a str,
        path: &'a str,
        bytes: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        reply_bytes: Option<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a str>,
    },
    /// The name of a track.
    Name { name: &'a str },
    /// The number of pending calls.
    Pending { pending: i64 },
}

/// A time in microseconds, written with three decimal places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Micros {
    nanos: i64,
}

impl Micros {
    pub(super) const fn between(from: RecordedTime, to: RecordedTime) -> Self {
        Self { nanos: to.0.saturating_sub(from.0) }
    }
}

impl Serialize for Micros {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.nanos as f64 / 1000.0)
    }
}

impl<'a> TraceEvent<'a> {
    pub(super) const fn new(ph: TraceEventPhase, name: &'a str, track: Track) -> Self {
        Self {
            ph,
            name,
            cat: "dbus",
            pid: track.process,
            tid: track.thread,
            ts: None,
            id: None,
            bp: None,
            s: None,
            args: None,
        }
    }
}
