//! Measures one case on all subjects, in all rounds.

use std::io;
use std::ops::ControlFlow;

use super::progress::RunStep;
use super::{PlannedScenario, RunOutput};
use crate::disturbance::Disturbance;
use crate::result::{BenchFailure, BenchRecord, BenchSample, Timeline};
use crate::scenario::Trial;
use crate::stage::{MeasureError, MeasurementSite};
use crate::subject::{BenchSubject, RunningSubject};
use crate::workload::{Requirements, Use, WorkloadOutcome};

/// The state of one case during its measurement.
pub(super) struct CaseRun<'r, 'o> {
    scenario: &'static str,
    trial: &'r Trial,
    requirements: Requirements,
    rounds: u32,
    site: &'r MeasurementSite,
    output: &'r mut RunOutput<'o>,
    participants: Vec<CaseSubject<'r>>,
    /// True if the user has ended the run.
    pub(super) is_interrupted: bool,
    /// The results that could not be obtained, one sentence each.
    pub(super) notes: Vec<String>,
}

/// A subject that participates in the case.
struct CaseSubject<'r> {
    subject: &'r BenchSubject,
    state: CaseSubjectState,
}

/// The state of a subject in a case.
enum CaseSubjectState {
    Waiting,
    Running(RunningSubject),
    /// The subject has failed and is no longer measured.
    Out,
}

/// The outcome of a measurement, and the share of processor time that others took.
type TimedOutcome = (WorkloadOutcome, f64);

impl<'r, 'o> CaseRun<'r, 'o> {
    pub(super) fn new(
        planned: &'r PlannedScenario,
        trial: &'r Trial,
        rounds: u32,
        site: &'r MeasurementSite,
        output: &'r mut RunOutput<'o>,
    ) -> Self {
        let requirements = trial.workload.requirements();
        let suitable = planned.subjects.iter().filter(|it| it.suits(requirements.targets));
        let participants = suitable
            .map(|subject| CaseSubject { subject, state: CaseSubjectState::Waiting })
            .collect();
        let (is_interrupted, notes) = (false, Vec::new());
        let scenario = planned.info.name;
        Self {
            scenario,
            trial,
            requirements,
            rounds,
            site,
            output,
            participants,
            is_interrupted,
            notes,
        }
    }

    pub(super) fn run(&mut self) -> io::Result<()> {
        let count = self.participants.len();
        for round in 1..=self.rounds {
            for place in 0..count {
                let index = (place + round as usize - 1) % count;
                if self.turn(index, round)?.is_break() {
                    self.is_interrupted = true;
                    return Ok(());
                }
                self.output.end_step();
            }
        }
        Ok(())
    }

    pub(super) fn failures(&self) -> u64 {
        let out = self
            .participants
            .iter()
            .filter(|participant| matches!(participant.state, CaseSubjectState::Out));
        out.count() as u64
    }

    fn turn(&mut self, index: usize, round: u32) -> io::Result<ControlFlow<()>> {
        if self.site.stop().is_interrupted() {
            return Ok(ControlFlow::Break(()));
        }
        // Starts all subjects before it measures the first, so that the machine is in the same
        // state for all of them.
        if round == 1 && index == 0 && self.requirements.use_of_carrier == Use::Repeated {
            self.start_all()?;
        }
        if matches!(self.participants[index].state, CaseSubjectState::Out) {
            return Ok(ControlFlow::Continue(()));
        }
        let subject = self.participants[index].subject;
        self.output.begin_step(RunStep {
            scenario: self.scenario,
            case: &self.trial.case.label,
            round,
            rounds: self.rounds,
            subject: &subject.name(),
        });
        let measured = self.attempt(index, round);
        if self.site.stop().is_interrupted() {
            return Ok(ControlFlow::Break(()));
        }
        match measured {
            Ok(measured) => self.write_down(subject, round, measured)?,
            Err(reason) => self.give_up(index, round, reason)?,
        }
        Ok(ControlFlow::Continue(()))
    }

    fn start_all(&mut self) -> io::Result<()> {
        for index in 0..self.participants.len() {
            if let Err(reason) = self.start(index) {
                self.give_up(index, 1, reason)?;
            }
        }
        Ok(())
    }

    fn start(&mut self, index: usize) -> Result<(), String> {
        let participant = &mut self.participants[index];
        let carrier = participant.subject.start(self.site, &self.requirements);
        participant.state = CaseSubjectState::Running(carrier.map_err(|error| error.to_string())?);
        Ok(())
    }

    /// Measures a subject once, or returns the reason of the failure.
    fn attempt(&mut self, index: usize, round: u32) -> Result<TimedOutcome, String> {
        if matches!(self.participants[index].state, CaseSubjectState::Waiting) {
            self.start(index)?;
        }
        let pids = self.pids();
        let CaseSubjectState::Running(carrier) = &mut self.participants[index].state else {
            unreachable!("it was just started, and nobody measures one that is out")
        };
        let measured = measure(self.trial, self.site, carrier, &pids, round);
        let measured = measured.map_err(|error| {
            // If the bus has died, its death is the cause of all other errors.
            carrier.exit_report().unwrap_or_else(|| error.to_string())
        });
        if self.requirements.use_of_carrier == Use::Single {
            self.participants[index].state = CaseSubjectState::Waiting;
        }
        measured
    }

    /// Returns the processes of all running subjects.
    fn pids(&self) -> Vec<u32> {
        let carriers =
            self.participants.iter().filter_map(|participant| match &participant.state {
                CaseSubjectState::Running(carrier) => carrier.pid(),
                CaseSubjectState::Waiting | CaseSubjectState::Out => None,
            });
        carriers.collect()
    }

    fn write_down(
        &mut self,
        subject: &BenchSubject,
        round: u32,
        measured: TimedOutcome,
    ) -> io::Result<()> {
        let (outcome, disturbance) = measured;
        let (scenario, case) = (self.scenario.to_owned(), self.trial.case.clone());
        self.notes.extend(outcome.notes);
        self.output.record(BenchRecord::Sample(BenchSample {
            scenario: scenario.clone(),
            case: case.clone(),
            subject: subject.name(),
            round,
            figures: outcome.figures,
            disturbance,
        }))?;
        let Some(tracks) = outcome.timeline else { return Ok(()) };
        let timeline = Timeline { scenario, case, subject: subject.name(), tracks };
        self.output.record(BenchRecord::Timeline(timeline))
    }

    fn give_up(&mut self, index: usize, round: u32, reason: String) -> io::Result<()> {
        let participant = &mut self.participants[index];
        participant.state = CaseSubjectState::Out;
        let failure = BenchFailure {
            scenario: self.scenario.to_owned(),
            case: self.trial.case.clone(),
            subject: participant.subject.name(),
            round,
            reason,
        };
        self.output.record(BenchRecord::Failure(failure))
    }
}

/// Measures once; in the first round also with instruments, without timing.
fn measure(
    trial: &Trial,
    site: &MeasurementSite,
    carrier: &RunningSubject,
    pids: &[u32],
    round: u32,
) -> Result<TimedOutcome, MeasureError> {
    let disturbance = Disturbance::begin(site.processors(), pids)?;
    let mut outcome = trial.workload.measure(&carrier.stage(site, site.stop()))?;
    let disturbance = disturbance.end()?;
    if round == 1 {
        outcome.extend(trial.workload.inspect(&carrier.stage(site, site.stop()))?);
    }
    Ok((outcome, disturbance))
}
