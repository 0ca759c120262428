//! Plans a run from the request.

use sys::clock;

use super::left_out;
use crate::buses::{BusKind, BusList, InstalledBus, ProgramPaths};
use crate::library::Cache;
use crate::machine::Machine;
use crate::placement::Placement;
use crate::result::{Absence, BenchRun, FORMAT};
use crate::scenario::{Effort, LibraryBuilder, Scenario, Subjects, Trial};
use crate::scenario_info::ScenarioInfo;
use crate::subject::BenchSubject;
use crate::wording::distinct;

/// The request for a run.
#[derive(Debug)]
pub struct RunRequest<'r> {
    /// The scenarios to measure.
    pub scenarios: &'r [Box<dyn Scenario>],
    /// The buses to measure; `None` leaves the choice to the scenarios.
    pub buses: Option<&'r BusList>,
    /// The places to search for buses.
    pub places: &'r ProgramPaths,
    /// How thoroughly to measure.
    pub effort: Effort,
    /// The number of rounds; `None` means the default of the effort.
    pub rounds: Option<u32>,
    /// The processors to use for each process.
    pub placement: Placement,
    /// The command line, including the program.
    pub command: Vec<String>,
}

/// The plan of a run.
#[derive(Debug)]
pub struct RunPlan {
    pub(crate) run: BenchRun,
    /// The requested buses and libraries that are not installed.
    pub absences: Vec<Absence>,
    pub(crate) scenarios: Vec<PlannedScenario>,
}

/// A scenario that the run measures.
#[derive(Debug)]
pub(crate) struct PlannedScenario {
    pub(crate) info: &'static ScenarioInfo,
    /// The subjects, in the order of the columns.
    pub(crate) subjects: Vec<BenchSubject>,
    pub(crate) trials: Vec<Trial>,
    /// A sentence about the cases that only a full run has.
    pub(crate) left_out: Option<String>,
}

impl RunPlan {
    /// Searches for the buses, and builds the programs of libraries. Calls `tell` with a sentence
    /// before each long operation.
    #[must_use]
    pub fn new(request: &RunRequest<'_>, tell: &mut dyn FnMut(&str)) -> Self {
        let mut finder = BusFinder::new(request.places);
        let mut libraries = LibraryBuilder::new(Some(Cache::of_user()), request.effort, tell);
        let planned = request.scenarios.iter().map(|scenario| {
            let trials = scenario.trials(request.effort, &mut libraries);
            let usual = scenario.subjects();
            let buses = finder.buses(request.buses, usual);
            let all = usual.floors().iter().cloned().chain(buses);
            PlannedScenario {
                info: scenario.info(),
                subjects: involved(all, &trials),
                trials,
                left_out: left_out::by(request.effort, &**scenario),
            }
        });
        let scenarios: Vec<PlannedScenario> = planned.collect();
        let mut absences = finder.absences;
        absences.extend(libraries.into_absences());
        Self { run: run_of(request, &scenarios), absences, scenarios }
    }

    /// The number of steps: one for each case, subject and round.
    pub(crate) fn steps(&self) -> u64 {
        let trials = self.scenarios.iter().flat_map(|planned| {
            planned.trials.iter().map(|trial| {
                let targets = trial.workload.requirements().targets;
                planned.subjects.iter().filter(|subject| subject.suits(targets)).count()
            })
        });
        trials.sum::<usize>() as u64 * u64::from(self.run.rounds)
    }

    /// True if nothing can be measured.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps() == 0
    }
}

/// Returns the subjects on which at least one case can be measured.
fn involved(subjects: impl Iterator<Item = BenchSubject>, trials: &[Trial]) -> Vec<BenchSubject> {
    let targets: Vec<_> =
        trials.iter().map(|trial| trial.workload.requirements().targets).collect();
    let is_involved = |subject: &BenchSubject| targets.iter().any(|it| subject.suits(*it));
    subjects.filter(is_involved).collect()
}

fn run_of(request: &RunRequest<'_>, scenarios: &[PlannedScenario]) -> BenchRun {
    let subjects = scenarios.iter().flat_map(|planned| &planned.subjects).map(BenchSubject::info);
    BenchRun {
        format: FORMAT,
        started: clock::realtime().as_secs(),
        command: request.command.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        machine: Machine::read(),
        placement: request.placement,
        rounds: request.rounds.unwrap_or(request.effort.rounds()),
        subjects: distinct(subjects),
    }
}

/// Searches for each bus once.
struct BusFinder<'p> {
    places: &'p ProgramPaths,
    known: Vec<(String, Option<InstalledBus>)>,
    absences: Vec<Absence>,
}

impl<'p> BusFinder<'p> {
    const fn new(places: &'p ProgramPaths) -> Self {
        Self { places, known: Vec::new(), absences: Vec::new() }
    }

    /// Returns the requested buses, or else the default buses of the scenario.
    fn buses(&mut self, asked: Option<&BusList>, usual: Subjects) -> Vec<BenchSubject> {
        let buses = match (asked, usual) {
            (Some(buses), _) => buses.clone(),
            (None, Subjects::OurBus) => "diligence".parse().expect("it is the name of a bus"),
            (None, Subjects::Floors) => return Vec::new(),
            (None, _) => BusList::all(),
        };
        let kinds = buses.kinds().iter();
        kinds.filter_map(|kind| self.bus(kind)).map(BenchSubject::Bus).collect()
    }

    fn bus(&mut self, kind: &BusKind) -> Option<InstalledBus> {
        let name = kind.to_string();
        if let Some((_, known)) = self.known.iter().find(|(known, _)| *known == name) {
            return known.clone();
        }
        let found = kind.find(self.places);
        let found = found.map_err(|missing| self.absences.push(missing.absence())).ok();
        self.known.push((name, found.clone()));
        found
    }
}
