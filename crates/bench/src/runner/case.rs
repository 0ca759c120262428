//! One case, on all subjects, in all rounds.

use std::io;
use std::ops::ControlFlow;

use super::progress::Step;
use super::{Event, Observer, Planned};
use crate::disturbance::Disturbance;
use crate::result::{Failure, Record, Sample, Timeline};
use crate::scenario::Trial;
use crate::stage::{MeasureError, Site};
use crate::subject::{Carrier, Subject};
use crate::workload::{Conditions, Outcome, Use};

/// One case while it is measured.
pub(super) struct CaseRun<'r> {
    scenario: &'static str,
    trial: &'r Trial,
    conditions: Conditions,
    rounds: u32,
    site: &'r Site,
    observer: &'r mut dyn Observer,
    entrants: Vec<Entrant<'r>>,
    is_interrupted: bool,
    notes: Vec<String>,
}

/// A subject that takes part in the case.
struct Entrant<'r> {
    subject: &'r Subject,
    state: State,
}

/// How far a subject is.
enum State {
    /// It is not started.
    Waiting,
    /// It runs.
    Running(Carrier),
    /// It has failed, and is not measured any more.
    Out,
}

/// What was measured, and how much others have disturbed that.
type Measured = (Outcome, f64);

impl<'r> CaseRun<'r> {
    pub(super) fn new(
        planned: &'r Planned,
        trial: &'r Trial,
        rounds: u32,
        site: &'r Site,
        observer: &'r mut dyn Observer,
    ) -> Self {
        let conditions = trial.workload.conditions();
        let suitable = planned.subjects.iter().filter(|it| it.suits(conditions.audience));
        let entrants = suitable.map(|subject| Entrant { subject, state: State::Waiting }).collect();
        let (is_interrupted, notes) = (false, Vec::new());
        let scenario = planned.info.name;
        Self {
            scenario,
            trial,
            conditions,
            rounds,
            site,
            observer,
            entrants,
            is_interrupted,
            notes,
        }
    }

    /// Measures it.
    pub(super) fn run(&mut self) -> io::Result<()> {
        let count = self.entrants.len();
        for round in 1..=self.rounds {
            for place in 0..count {
                let index = (place + round as usize - 1) % count;
                if self.turn(index, round)?.is_break() {
                    self.is_interrupted = true;
                    return Ok(());
                }
                self.observer.see(&Event::StepDone)?;
            }
        }
        Ok(())
    }

    /// How many subjects have failed.
    pub(super) fn failures(&self) -> u64 {
        let out = self.entrants.iter().filter(|entrant| matches!(entrant.state, State::Out));
        out.count() as u64
    }

    /// Whether the user has ended the run meanwhile.
    pub(super) const fn is_interrupted(&self) -> bool {
        self.is_interrupted
    }

    /// What could not be found, each in a sentence.
    pub(super) fn into_notes(self) -> Vec<String> {
        self.notes
    }

    /// Measures one subject once.
    fn turn(&mut self, index: usize, round: u32) -> io::Result<ControlFlow<()>> {
        if self.site.watch().is_interrupted() {
            return Ok(ControlFlow::Break(()));
        }
        // All are started before the first is measured, so that all see the same machine.
        if round == 1 && index == 0 && self.conditions.use_of_carrier == Use::Repeated {
            self.start_all()?;
        }
        if matches!(self.entrants[index].state, State::Out) {
            return Ok(ControlFlow::Continue(()));
        }
        let subject = self.entrants[index].subject;
        self.observer.see(&Event::Step(Step {
            scenario: self.scenario,
            case: &self.trial.case.label,
            round,
            rounds: self.rounds,
            subject: &subject.name(),
        }))?;
        let measured = self.attempt(index, round);
        if self.site.watch().is_interrupted() {
            return Ok(ControlFlow::Break(()));
        }
        match measured {
            Ok(measured) => self.write_down(subject, round, measured)?,
            Err(reason) => self.give_up(index, round, reason)?,
        }
        Ok(ControlFlow::Continue(()))
    }

    fn start_all(&mut self) -> io::Result<()> {
        for index in 0..self.entrants.len() {
            if let Err(reason) = self.start(index) {
                self.give_up(index, 1, reason)?;
            }
        }
        Ok(())
    }

    fn start(&mut self, index: usize) -> Result<(), String> {
        let entrant = &mut self.entrants[index];
        let carrier = entrant.subject.start(self.site, &self.conditions);
        entrant.state = State::Running(carrier.map_err(|error| error.to_string())?);
        Ok(())
    }

    /// Measures a subject once, or says why that failed.
    fn attempt(&mut self, index: usize, round: u32) -> Result<Measured, String> {
        if matches!(self.entrants[index].state, State::Waiting) {
            self.start(index)?;
        }
        let pids = self.pids();
        let State::Running(carrier) = &mut self.entrants[index].state else {
            unreachable!("it was just started, and nobody measures one that is out")
        };
        let measured = measure(self.trial, self.site, carrier, &pids, round);
        let measured = measured.map_err(|error| {
            // When the bus has died, that is why everything else went wrong.
            carrier.obituary().unwrap_or_else(|| error.to_string())
        });
        if self.conditions.use_of_carrier == Use::Single {
            self.entrants[index].state = State::Waiting;
        }
        measured
    }

    /// The processes of all subjects that run.
    fn pids(&self) -> Vec<u32> {
        let carriers = self.entrants.iter().filter_map(|entrant| match &entrant.state {
            State::Running(carrier) => carrier.pid(),
            State::Waiting | State::Out => None,
        });
        carriers.collect()
    }

    fn write_down(&mut self, subject: &Subject, round: u32, measured: Measured) -> io::Result<()> {
        let (outcome, disturbance) = measured;
        let (scenario, case) = (self.scenario.to_owned(), self.trial.case.clone());
        self.notes.extend(outcome.notes);
        self.observer.see(&Event::Record(&Record::Sample(Sample {
            scenario: scenario.clone(),
            case: case.clone(),
            subject: subject.name(),
            round,
            figures: outcome.figures,
            disturbance,
        })))?;
        let Some(tracks) = outcome.timeline else { return Ok(()) };
        let timeline = Timeline { scenario, case, subject: subject.name(), tracks };
        self.observer.see(&Event::Record(&Record::Timeline(timeline)))
    }

    fn give_up(&mut self, index: usize, round: u32, reason: String) -> io::Result<()> {
        let entrant = &mut self.entrants[index];
        entrant.state = State::Out;
        let failure = Failure {
            scenario: self.scenario.to_owned(),
            case: self.trial.case.clone(),
            subject: entrant.subject.name(),
            round,
            reason,
        };
        self.observer.see(&Event::Record(&Record::Failure(failure)))
    }
}

/// Measures once; in the first round also with instruments, which is not timed.
fn measure(
    trial: &Trial,
    site: &Site,
    carrier: &Carrier,
    pids: &[u32],
    round: u32,
) -> Result<Measured, MeasureError> {
    let disturbance = Disturbance::begin(site.processors(), pids)?;
    let mut outcome = trial.workload.measure(&carrier.stage(site, site.watch()))?;
    let disturbance = disturbance.end()?;
    if round == 1 {
        outcome.extend(trial.workload.inspect(&carrier.stage(site, site.watch()))?);
    }
    Ok((outcome, disturbance))
}
