//! Calls while another client floods the bus.

use super::{Call, Outcome, Requirements, Targets, Use, Workload};
use crate::peer::{Content, Emitter, IdleConnections, Listener, Peer, Stamps};
use crate::stage::{MeasureError, Stage};

/// One process calls another, beside a third that sends as fast as it can.
#[derive(Clone, Debug)]
pub(crate) struct Flood {
    pub sink: Sink,
    /// Bytes of payload of each message of the flood.
    pub size: usize,
    pub victim: Call,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sink {
    /// To a process that reads all the time.
    Reader,
    /// To a process that never reads.
    Sleeper,
}

/// A process that gets a flood.
#[derive(Debug)]
enum Flooded {
    Reader(Peer<Listener>),
    Sleeper(Peer<IdleConnections>),
}

impl Workload for Flood {
    fn requirements(&self) -> Requirements {
        let requirements = Requirements::of(Targets::Buses);
        // What nobody has read stays in the bus for a while.
        Requirements { use_of_carrier: Use::Single, ..requirements }
    }

    fn measure(&self, stage: &Stage<'_>) -> Result<Outcome, MeasureError> {
        let flooded = self.flooded(stage)?;
        let mut flooder = stage.start(Emitter::of_stream(
            &stage.endpoint,
            flooded.name().to_owned(),
            Content::Bytes { size: self.size, stamps: Stamps::Off },
            WITHOUT_END,
        ))?;
        flooder.begin()?;
        self.victim.measure(stage)
    }
}

impl Flood {
    fn flooded(&self, stage: &Stage<'_>) -> Result<Flooded, MeasureError> {
        Ok(match self.sink {
            Sink::Reader => Flooded::Reader(stage.start(Listener {
                endpoint: stage.endpoint.clone(),
                rules: Vec::new(),
                bursts: 1,
                per_burst: WITHOUT_END,
                stamps: Stamps::Off,
                patience_ms: PATIENCE_MS,
            })?),
            Sink::Sleeper => Flooded::Sleeper(stage.start(IdleConnections {
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

/// How long the reader waits for the flood to go on.
const PATIENCE_MS: u64 = 60_000;
