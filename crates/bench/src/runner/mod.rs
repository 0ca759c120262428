//! The runner: measures every case of every scenario, on every subject, round after round.
//!
//! ```text
//!  for each scenario
//!    for each case            start all suitable subjects
//!      for each round
//!        for each subject     in rotating order: measure, write the record
//!                             end all subjects
//! ```
//!
//! All subjects of a case are measured at nearly the same time, and the rotation ensures that no
//! subject is always first. If a subject fails, its row of the case ends; everything else
//! continues.

mod case;
mod left_out;
mod output;
mod plan;
mod progress;

use std::io;

pub use output::{RunOutput, Tables};
pub(crate) use plan::PlannedScenario;
pub use plan::{RunPlan, RunRequest};

use crate::result::BenchRecord;
use crate::stage::MeasurementSite;
use crate::wording;
use case::CaseRun;
use output::ScenarioEnd;

/// The result of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RunOutcome {
    /// The number of table rows that failed.
    pub failures: u64,
    /// True if the user ended the run.
    pub is_interrupted: bool,
}

/// Executes a plan.
///
/// # Errors
///
/// Fails if the output fails: without a place for the results, the run ends.
pub fn run(
    plan: &RunPlan,
    site: &MeasurementSite,
    output: &mut RunOutput<'_>,
) -> io::Result<RunOutcome> {
    let mut outcome = RunOutcome::default();
    output.begin(plan.steps());
    output.record(BenchRecord::Run(plan.run.clone()))?;
    for absence in &plan.absences {
        output.record(BenchRecord::Absence(absence.clone()))?;
    }
    for planned in &plan.scenarios {
        scenario(planned, plan.run.rounds, site, output, &mut outcome)?;
        if outcome.is_interrupted {
            break;
        }
    }
    output.end()?;
    Ok(outcome)
}

fn scenario(
    planned: &PlannedScenario,
    rounds: u32,
    site: &MeasurementSite,
    output: &mut RunOutput<'_>,
    outcome: &mut RunOutcome,
) -> io::Result<()> {
    let subjects: Vec<String> = planned.subjects.iter().map(|subject| subject.name()).collect();
    output.begin_scenario(planned.info, &subjects)?;
    let mut notes = Vec::new();
    for trial in &planned.trials {
        let mut case = CaseRun::new(planned, trial, rounds, site, &mut *output);
        case.run()?;
        outcome.failures += case.failures();
        outcome.is_interrupted |= case.is_interrupted;
        notes.extend(case.notes);
        output.end_case()?;
        if outcome.is_interrupted {
            break;
        }
    }
    let (left_out, notes) = (planned.left_out.as_deref(), &wording::distinct(notes));
    output.end_scenario(&ScenarioEnd { left_out, notes })
}
