//! The workload with calls while another client floods the bus.

use super::{CallWorkload, Requirements, Targets, Use, Workload, WorkloadOutcome};
use crate::peer::{Emitter, IdleConnections, ListenerPeer, RunningPeer, SignalContent, Stamps};
use crate::stage::{MeasureError, MeasurementStage};

/// One process calls another, while a third sends messages at full rate.
#[derive(Clone, Debug)]
pub(crate) struct FloodWorkload {
    pub sink: FloodSink,
    /// Payload of each message of the flood, in bytes.
    pub size: usize,
    pub victim: CallWorkload,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FloodSink {
    /// The flood goes to a process that reads continuously.
    Reader,
    /// The flood goes to a process that never reads.
    Sleeper,
}

/// The process that receives the flood.
#[derive(Debug)]
enum Flooded {
    Reader(RunningPeer<ListenerPeer>),
    Sleeper(RunningPeer<IdleConnections>),
}

impl Workload for FloodWorkload {
    fn requirements(&self) -> Requirements {
        let requirements = Requirements::of(Targets::Buses);
        // Unread messages stay in the bus for a while, so the next round needs a new bus.
        Requirements { use_of_carrier: Use::Single, ..requirements }
    }

    fn measure(&self, stage: &MeasurementStage<'_>) -> Result<WorkloadOutcome, MeasureError> {
        let flooded = self.flooded(stage)?;
        let mut flooder = stage.start(Emitter::of_stream(
            &stage.endpoint,
            flooded.name().to_owned(),
            SignalContent::Bytes { size: self.size, stamps: Stamps::Off },
            WITHOUT_END,
        ))?;
        flooder.begin()?;
        self.victim.measure(stage)
    }
}

impl FloodWorkload {
    fn flooded(&self, stage: &MeasurementStage<'_>) -> Result<Flooded, MeasureError> {
        Ok(match self.sink {
            FloodSink::Reader => Flooded::Reader(stage.start(ListenerPeer {
                endpoint: stage.endpoint.clone(),
                rules: Vec::new(),
                bursts: 1,
                per_burst: WITHOUT_END,
                stamps: Stamps::Off,
                timeout_ms: TIMEOUT_MS,
            })?),
            FloodSink::Sleeper => Flooded::Sleeper(stage.start(IdleConnections {
                address: stage.bus_address()?.to_owned(),
                connections: 1,
                rules: Vec::new(),
                first: None,
            })?),
        })
    }
}

impl Flooded {
    fn name(&self) -> &str {
        match self {
            Self::Reader(peer) => peer.name(),
            Self::Sleeper(peer) => peer.name(),
        }
    }
}

const WITHOUT_END: u64 = u64::MAX;

/// Time for which the reader waits for the flood to continue, in milliseconds.
const TIMEOUT_MS: u64 = 60_000;
