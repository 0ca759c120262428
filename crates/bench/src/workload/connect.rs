//! Connecting and leaving.

use super::{NS_PER_US, Outcome, Requirements, Targets, Workload};
use crate::peer::Connector;
use crate::result::{Figures, Metric};
use crate::stage::{MeasureError, Stage};

/// Connecting, from the socket to the answer to Hello, and leaving again.
#[derive(Clone, Debug)]
pub(crate) struct Connect {
    /// How often.
    pub count: u64,
}

impl Workload for Connect {
    fn requirements(&self) -> Requirements {
        Requirements::of(Targets::Buses)
    }

    fn measure(&self, stage: &Stage<'_>) -> Result<Outcome, MeasureError> {
        let mut peer = stage.start(Connector {
            address: stage.bus_address()?.to_owned(),
            warm_up: self.count / 10,
            count: self.count,
        })?;
        peer.begin()?;
        let connects = peer.finish()?;
        Ok(Figures::from([(Metric::ConnectUs, connects.p50_ns as f64 / NS_PER_US)]).into())
    }
}
