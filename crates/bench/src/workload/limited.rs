//! Workloads with restricted metrics or carriers.

use super::{Requirements, Targets, Workload, WorkloadOutcome};
use crate::result::Metric;
use crate::stage::{MeasureError, MeasurementStage};

/// A workload with a single metric, for lists of different workloads.
#[derive(Clone, Debug)]
pub(crate) struct SingleMetric<W> {
    pub metric: Metric,
    pub workload: W,
}

impl<W: Workload> Workload for SingleMetric<W> {
    fn requirements(&self) -> Requirements {
        self.workload.requirements()
    }

    fn measure(&self, stage: &MeasurementStage<'_>) -> Result<WorkloadOutcome, MeasureError> {
        let mut outcome = self.workload.measure(stage)?;
        outcome.figures.retain(|metric, _| *metric == self.metric);
        Ok(outcome)
    }
}

/// A workload that is measured only on this project's bus.
#[derive(Clone, Debug)]
pub(crate) struct OwnBusOnly<W>(pub W);

impl<W: Workload> Workload for OwnBusOnly<W> {
    fn requirements(&self) -> Requirements {
        Requirements { targets: Targets::OurBus, ..self.0.requirements() }
    }

    fn measure(&self, stage: &MeasurementStage<'_>) -> Result<WorkloadOutcome, MeasureError> {
        self.0.measure(stage)
    }

    fn inspect(&self, stage: &MeasurementStage<'_>) -> Result<WorkloadOutcome, MeasureError> {
        self.0.inspect(stage)
    }
}
