//! The peer that emits signals.

use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sys::clock;
use wire::names::BusName;

use super::volumes::VolumeSignals;
use super::{BusSetup, Control, VolumeCounts, WorkloadRole};
use crate::raw::{Endpoint, HubOrSpoke, RawConnection, RawError, SocketCalls, Template};

/// Emits signals in bursts, with one send per signal and a pause before each burst.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Emitter {
    pub(crate) endpoint: Endpoint,
    /// The unicast destination; empty means broadcast.
    pub(crate) destination: String,
    pub(crate) content: SignalContent,
    pub(crate) bursts: u64,
    pub(crate) per_burst: u64,
    /// The pause before each burst, in microseconds, in which recipients complete the previous
    /// burst.
    pub(crate) pause_us: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SignalContent {
    /// Identical signals: a time stamp of 8 bytes, and an array of bytes.
    Bytes { size: usize, stamps: Stamps },
    /// PropertiesChanged signals, for one volume after another.
    Volumes(VolumeCounts),
}

/// Whether each signal carries the time of its emission.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Stamps {
    On,
    /// No time stamp, so that no peer reads the clock.
    Off,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct EmitterReport {
    /// The start of each burst, in nanoseconds of the monotonic clock.
    pub(crate) begun_ns: Vec<u64>,
    pub(crate) ended_ns: u64,
    /// The number of signals that were written to the socket.
    pub(crate) sent: u64,
    pub(crate) bytes: u64,
    /// The number of sends that timed out because the socket stayed full.
    pub(crate) timeouts: u64,
    pub(crate) traffic: SocketCalls,
}

impl WorkloadRole for Emitter {
    const NAME: &str = "emitter";

    type Report = EmitterReport;

    fn play(self, control: &mut Control) -> Result<EmitterReport, RawError> {
        let mut connection = control.join(&self.endpoint, HubOrSpoke::Hub, BusSetup::default())?;
        connection.set_timeout(TIMEOUT)?;
        let mut signals = self.signals()?;
        control.wait()?;
        self.emit(&mut connection, &mut signals)
    }
}

/// The signals of an emitter.
enum EmittedSignals {
    Same(Template, Stamps),
    Volumes(VolumeSignals),
}

impl EmittedSignals {
    fn next(&mut self) -> Result<&[u8], RawError> {
        match self {
            Self::Same(signal, stamps) => {
                signal.next_serial();
                if *stamps == Stamps::On {
                    signal.stamp(now_ns());
                }
                Ok(signal.bytes())
            }
            Self::Volumes(signals) => signals.next(),
        }
    }
}

impl Emitter {
    /// Creates an emitter of `count` signals in one burst, to one recipient or, if `destination` is
    /// empty, as broadcast.
    pub(crate) fn of_stream(
        endpoint: &Endpoint,
        destination: String,
        content: SignalContent,
        count: u64,
    ) -> Self {
        let endpoint = endpoint.clone();
        Self { endpoint, destination, content, bursts: 1, per_burst: count, pause_us: 0 }
    }

    fn signals(&self) -> Result<EmittedSignals, RawError> {
        let destination = BusName::new(&self.destination).ok();
        Ok(match self.content {
            SignalContent::Bytes { size, stamps } => {
                let body = (0u64, vec![0u8; size]);
                EmittedSignals::Same(Template::signal(destination, &body)?, stamps)
            }
            SignalContent::Volumes(volumes) => {
                EmittedSignals::Volumes(VolumeSignals::new(volumes)?)
            }
        })
    }

    fn emit(
        &self,
        connection: &mut RawConnection,
        signals: &mut EmittedSignals,
    ) -> Result<EmitterReport, RawError> {
        let before = connection.traffic();
        let mut begun_ns = Vec::with_capacity(self.bursts as usize);
        let (mut sent, mut bytes, mut timeouts) = (0, 0, 0);
        for _ in 0..self.bursts {
            thread::sleep(Duration::from_micros(self.pause_us));
            begun_ns.push(now_ns());
            for _ in 0..self.per_burst {
                let signal = signals.next()?;
                match connection.send(signal) {
                    Ok(()) => {
                        sent += 1;
                        bytes += signal.len() as u64;
                    }
                    Err(RawError::Silence) => timeouts += 1,
                    Err(error) => return Err(error),
                }
                if timeouts > 0 {
                    break; // part of a message may be in the socket; nothing can follow it
                }
            }
        }
        let traffic = connection.traffic().since(before);
        Ok(EmitterReport { begun_ns, ended_ns: now_ns(), sent, bytes, timeouts, traffic })
    }
}

pub(super) fn now_ns() -> u64 {
    clock::monotonic().as_nanos() as u64
}

/// Time for which a socket may stay full before the emitter gives up; libraries wait as long for a
/// reply.
const TIMEOUT: Duration = Duration::from_secs(25);
