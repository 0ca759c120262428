//! Measures: every case of every scenario, on every subject, round after round.
//!
//! ```text
//!  for each scenario
//!    for each case            start all subjects that suit
//!      for each round
//!        for each subject     in an order that rotates: measure, write down
//!                             end all subjects
//! ```
//!
//! So all subjects of a case are measured at nearly the same time, and none of them always comes
//! first. What fails ends the row of that subject in that case; everything else goes on.

mod case;
mod left_out;
mod observe;
mod plan;
mod progress;
mod terminal;

use std::io;

pub use observe::{Collector, JsonLines, Observer, RunEvent, Several};
pub(crate) use plan::PlannedScenario;
pub use plan::{Plan, Request};
pub use terminal::{TableOutput, Terminal};

use crate::result::Record;
use crate::stage::Site;
use case::CaseRun;

/// How a run has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RunOutcome {
    /// How many rows of tables have failed.
    pub failures: u64,
    /// Whether the user has ended it.
    pub is_interrupted: bool,
}

/// Carries out a plan at a site, and tells the observer all that happens.
///
/// # Errors
///
/// Those of the observer: when nobody can be told, there is no sense in going on.
pub fn run(plan: &Plan, site: &Site, observer: &mut dyn Observer) -> io::Result<RunOutcome> {
    let mut outcome = RunOutcome::default();
    observer.see(&RunEvent::Begins { steps: plan.steps() })?;
    observer.see(&RunEvent::Record(&Record::Run(plan.run.clone())))?;
    for absence in &plan.absences {
        observer.see(&RunEvent::Record(&Record::Absence(absence.clone())))?;
    }
    for planned in &plan.scenarios {
        scenario(planned, plan.run.rounds, site, observer, &mut outcome)?;
        if outcome.is_interrupted {
            break;
        }
    }
    observer.see(&RunEvent::Ends)?;
    Ok(outcome)
}

fn scenario(
    planned: &PlannedScenario,
    rounds: u32,
    site: &Site,
    observer: &mut dyn Observer,
    outcome: &mut RunOutcome,
) -> io::Result<()> {
    let subjects: Vec<String> = planned.subjects.iter().map(|subject| subject.name()).collect();
    observer.see(&RunEvent::ScenarioBegins { info: planned.info, subjects: &subjects })?;
    let mut notes = Vec::new();
    for trial in &planned.trials {
        let mut case = CaseRun::new(planned, trial, rounds, site, &mut *observer);
        case.run()?;
        outcome.failures += case.failures();
        outcome.is_interrupted |= case.is_interrupted();
        for note in case.into_notes() {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        observer.see(&RunEvent::CaseEnds)?;
        if outcome.is_interrupted {
            break;
        }
    }
    observer.see(&RunEvent::ScenarioEnds { left_out: planned.left_out.as_deref(), notes: &notes })
}
