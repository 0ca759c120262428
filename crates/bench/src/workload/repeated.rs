//! Workloads that connect, or request names, repeatedly.

use super::{NS_PER_US, Requirements, Targets, Workload, WorkloadOutcome};
use crate::peer::{IdleConnections, RepeatedAction, Repeater};
use crate::result::{Figures, Metric};
use crate::stage::{MeasureError, MeasurementStage};

/// Connecting, from the socket to the reply to Hello, and disconnecting again.
#[derive(Clone, Debug)]
pub(crate) struct ConnectWorkload {
    pub count: u64,
}

/// Requesting a name and releasing it, while other connections have match rules for names.
#[derive(Clone, Debug)]
pub(crate) struct NameCycleWorkload {
    pub count: u64,
    /// The number of connections that each have a rule for a different name.
    pub bystanders: u64,
}

impl Workload for ConnectWorkload {
    fn requirements(&self) -> Requirements {
        Requirements::of(Targets::Buses)
    }

    fn measure(&self, stage: &MeasurementStage<'_>) -> Result<WorkloadOutcome, MeasureError> {
        repeat(stage, RepeatedAction::Connect, self.count, Metric::ConnectUs)
    }
}

impl Workload for NameCycleWorkload {
    fn requirements(&self) -> Requirements {
        Requirements::of(Targets::Buses)
    }

    fn measure(&self, stage: &MeasurementStage<'_>) -> Result<WorkloadOutcome, MeasureError> {
        let _bystanders = stage.start(IdleConnections {
            address: stage.bus_address()?.to_owned(),
            connections: self.bystanders,
            rules: vec![NAME_RULE.to_owned()],
            first: None,
        })?;
        repeat(stage, RepeatedAction::CycleName, self.count, Metric::NameCycleUs)
    }
}

/// Measures the median duration of an action, after a warm-up of a tenth of `count`.
fn repeat(
    stage: &MeasurementStage<'_>,
    action: RepeatedAction,
    count: u64,
    metric: Metric,
) -> Result<WorkloadOutcome, MeasureError> {
    let address = stage.bus_address()?.to_owned();
    let mut peer = stage.start(Repeater { address, action, warm_up: count / 10, count })?;
    peer.begin()?;
    let durations = peer.finish()?;
    Ok(Figures::from([(metric, durations.p50_ns as f64 / NS_PER_US)]).into())
}

/// The match rule that a desktop client adds for each name that it watches.
const NAME_RULE: &str = "type='signal',sender='org.freedesktop.DBus',\
     path='/org/freedesktop/DBus',interface='org.freedesktop.DBus',\
     member='NameOwnerChanged',arg0='org.example.Service{n}'";
