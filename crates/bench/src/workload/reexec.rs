//! The workload in which the program of the bus is replaced.

use super::{CallWorkload, NS_PER_MS, Requirements, Targets, Use, Workload, WorkloadOutcome};
use crate::peer::{IdleConnections, RepeatedAction, Repeater};
use crate::result::{Figures, Metric};
use crate::stage::{MeasureError, MeasurementStage};

/// One process calls another, while the program of the bus is replaced once.
#[derive(Clone, Debug)]
pub(crate) struct ReexecWorkload {
    /// The number of idle connections.
    pub connections: u64,
    /// The number of match rules of each idle connection.
    pub rules: u64,
    pub calls: CallWorkload,
}

impl Workload for ReexecWorkload {
    fn requirements(&self) -> Requirements {
        let requirements = Requirements::of(Targets::OurBus);
        Requirements { use_of_carrier: Use::Single, ..requirements }
    }

    fn measure(&self, stage: &MeasurementStage<'_>) -> Result<WorkloadOutcome, MeasureError> {
        let address = stage.bus_address()?.to_owned();
        let _idle = stage.start(IdleConnections {
            address: address.clone(),
            connections: self.connections,
            rules: (0..self.rules)
                .map(|number| RULE.replace("{rule}", &number.to_string()))
                .collect(),
            first: None,
        })?;
        let action = RepeatedAction::Reexecute;
        let mut replacing = stage.start(Repeater { address, action, warm_up: 0, count: 1 })?;
        let mut pair = self.calls.start_with(stage, 0)?;
        pair.caller.begin()?;
        replacing.begin()?;
        let replaced = replacing.finish()?;
        let calls = pair.caller.finish()?;
        // If the calls ended before the replacement, they show nothing about it.
        if calls.elapsed_ns < replaced.max_ns {
            let text = "the bus was not replaced during the calls; make more of them with --count";
            return Err(MeasureError::Unable(text.to_owned()));
        }
        let calls = calls.round_trips.ok_or_else(|| {
            MeasureError::Unable("the calls were not made one after the other".to_owned())
        })?;
        let longest = calls.max_ns as f64 / NS_PER_MS;
        let replaced = replaced.max_ns as f64 / NS_PER_MS;
        Ok(Figures::from([(Metric::LongestCallMs, longest), (Metric::ReplacementMs, replaced)])
            .into())
    }
}

/// A rule for a signal that is never sent. `{n}` is the number of the connection.
const RULE: &str = "type='signal',interface='org.diligence.Bench1',member='Sample',path='/org/example/Other{n}/{rule}'";
