//! Calls that are also looked at with instruments.

use super::call::Reports;
use super::counters::{Counters, Totals, model};
use super::system_calls::SystemCalls;
use super::{Call, Outcome, Requirements, Workload};
use crate::raw::Endpoint;
use crate::result::Figures;
use crate::stage::{MeasureError, Stage};

/// Calls of which system calls, copies and validations are counted too, after they were timed.
#[derive(Clone, Debug)]
pub(crate) struct Inspected(pub Call);

impl Workload for Inspected {
    fn requirements(&self) -> Requirements {
        self.0.requirements()
    }

    fn measure(&self, stage: &Stage<'_>) -> Result<Outcome, MeasureError> {
        self.0.measure(stage)
    }

    fn inspect(&self, stage: &Stage<'_>) -> Result<Outcome, MeasureError> {
        let mut outcome = Outcome::from(self.copies(stage)?);
        if let Some(bus) = stage.carrier {
            outcome.extend(SystemCalls::of_a_unit(&self.0, stage, bus)?);
        }
        Ok(outcome)
    }
}

impl Inspected {
    /// Copies and validations of a message: counted if the bus does, otherwise by the model.
    fn copies(&self, stage: &Stage<'_>) -> Result<Figures, MeasureError> {
        if !matches!(stage.endpoint, Endpoint::Bus(_)) {
            return Ok(Figures::new());
        }
        let call = Call { count: INSPECTED_CALLS, ..self.0.clone() };
        let Some(counters) = Counters::begin(stage)? else { return Ok(model(1)) };
        let short = Call { count: 1, ..self.0.clone() };
        let few = counted(&short, stage, &counters)?;
        let more = counted(&call, stage, &counters)?;
        // What connecting takes is in both.
        let (Some((few, few_validated)), Some((more, validated))) = (few, more) else {
            return Ok(Figures::new());
        };
        Ok((more - few).figures(validated - few_validated))
    }
}

/// What the bus and the peers count while these calls are made.
fn counted(
    call: &Call,
    stage: &Stage<'_>,
    counters: &Counters,
) -> Result<Option<(Totals, u64)>, MeasureError> {
    let Some(before) = counters.end() else { return Ok(None) };
    let Reports { validated, .. } = call.perform(stage)?;
    Ok(counters.end().map(|after| (after - before, validated)))
}

/// How many calls are looked at.
const INSPECTED_CALLS: u64 = 1000;
