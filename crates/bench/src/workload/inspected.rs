//! Calls with inspection by instruments.

use super::call::CallMeasurement;
use super::counters::{BusTotals, CopyCounters, model};
use super::system_calls::SystemCalls;
use super::{CallWorkload, Requirements, Workload, WorkloadOutcome};
use crate::raw::Endpoint;
use crate::result::Figures;
use crate::stage::{MeasureError, MeasurementStage};

/// Timed calls, and after them a count of their system calls, copies and validations.
#[derive(Clone, Debug)]
pub(crate) struct Inspected(pub CallWorkload);

impl Workload for Inspected {
    fn requirements(&self) -> Requirements {
        self.0.requirements()
    }

    fn measure(&self, stage: &MeasurementStage<'_>) -> Result<WorkloadOutcome, MeasureError> {
        self.0.measure(stage)
    }

    fn inspect(&self, stage: &MeasurementStage<'_>) -> Result<WorkloadOutcome, MeasureError> {
        let mut outcome = WorkloadOutcome::from(self.copies(stage)?);
        if let Some(bus) = stage.carrier {
            outcome.extend(SystemCalls::of_a_unit(&self.0, stage, bus)?);
        }
        Ok(outcome)
    }
}

impl Inspected {
    /// Returns the copies and validations of a message: counted if the bus counts them, otherwise
    /// from the model.
    fn copies(&self, stage: &MeasurementStage<'_>) -> Result<Figures, MeasureError> {
        if !matches!(stage.endpoint, Endpoint::Bus(_)) {
            return Ok(Figures::new());
        }
        let call = CallWorkload { count: INSPECTED_CALLS, ..self.0.clone() };
        let Some(counters) = CopyCounters::begin(stage)? else { return Ok(model(1)) };
        let short = CallWorkload { count: 1, ..self.0.clone() };
        let few = counted(&short, stage, &counters)?;
        let more = counted(&call, stage, &counters)?;
        // Both counts include the work of connecting.
        let (Some((few, few_validated)), Some((more, validated))) = (few, more) else {
            return Ok(Figures::new());
        };
        Ok((more - few).figures(validated - few_validated))
    }
}

/// Returns the counts of the bus and the peers during these calls.
fn counted(
    call: &CallWorkload,
    stage: &MeasurementStage<'_>,
    counters: &CopyCounters,
) -> Result<Option<(BusTotals, u64)>, MeasureError> {
    let Some(before) = counters.end() else { return Ok(None) };
    let CallMeasurement { validated, .. } = call.perform(stage)?;
    Ok(counters.end().map(|after| (after - before, validated)))
}

/// The number of inspected calls.
const INSPECTED_CALLS: u64 = 1000;
