//! A part of what a workload can do.

use super::{Audience, Conditions, Outcome, Workload};
use crate::result::Metric;
use crate::stage::{MeasureError, Stage};

/// A workload of which one figure counts, for lists of unlike things.
#[derive(Clone, Debug)]
pub struct Only<W> {
    /// What counts.
    pub metric: Metric,
    /// What is measured.
    pub workload: W,
}

impl<W: Workload> Workload for Only<W> {
    fn conditions(&self) -> Conditions {
        self.workload.conditions()
    }

    fn measure(&self, stage: &Stage<'_>) -> Result<Outcome, MeasureError> {
        let mut outcome = self.workload.measure(stage)?;
        outcome.figures.retain(|metric, _| *metric == self.metric);
        Ok(outcome)
    }
}

/// A workload that is of interest on the bus of this program only.
#[derive(Clone, Debug)]
pub struct OnOurBus<W>(pub W);

impl<W: Workload> Workload for OnOurBus<W> {
    fn conditions(&self) -> Conditions {
        Conditions { audience: Audience::OurBus, ..self.0.conditions() }
    }

    fn measure(&self, stage: &Stage<'_>) -> Result<Outcome, MeasureError> {
        self.0.measure(stage)
    }

    fn inspect(&self, stage: &Stage<'_>) -> Result<Outcome, MeasureError> {
        self.0.inspect(stage)
    }
}
