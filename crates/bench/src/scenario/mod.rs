//! Lists of cases, each with the workload that is measured there: what `diligence bench` can do.
//!
//! A scenario is a type whose fields are its options on the command line; what is not given has
//! the parameters of the experiment that it repeats. To add one: a file with the type and its
//! [`ScenarioInfo`], a line in [`INFOS`], one in [`all`], and a variant of the command.

mod clients;
mod compare;
mod connect;
mod effort;
mod fan_out;
mod flood;
mod floor;
mod idle;
mod library_builder;
mod names;
mod ping_pong;
mod pipeline;
mod priority;
mod recording;
mod rules;
mod signals;
mod trace;
mod validation;
mod volumes;
mod words;

use std::fmt;

pub use clients::Clients;
pub use compare::Compare;
pub use connect::Connect;
pub use effort::Effort;
pub use fan_out::FanOut;
pub use flood::Flood;
pub use floor::Floor;
pub use idle::Idle;
pub use library_builder::LibraryBuilder;
pub use names::Names;
pub use ping_pong::PingPong;
pub use pipeline::Pipeline;
pub use priority::Priority;
pub use recording::Recording;
pub use rules::Rules;
pub use signals::Signals;
pub use trace::Trace;
pub use validation::Validation;
pub use volumes::Volumes;
pub(crate) use words::size_label;

use crate::result::Case;
use crate::scenario_info::ScenarioInfo;
use crate::subject::Subject;
use crate::workload::Workload;

/// A list of cases.
pub trait Scenario: fmt::Debug {
    /// What reports say about it.
    fn info(&self) -> &'static ScenarioInfo;

    /// What is measured.
    fn subjects(&self) -> Subjects {
        Subjects::FloorAndBuses
    }

    /// The cases, in the order in which they are measured and shown.
    fn trials(&self, effort: Effort, libraries: &mut LibraryBuilder<'_>) -> Vec<Trial>;
}

/// A case, and what is measured there.
#[derive(Debug)]
pub struct Trial {
    /// The case.
    pub(crate) case: Case,
    /// What is measured.
    pub(crate) workload: Box<dyn Workload>,
}

/// What is measured in a scenario if no buses are given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subjects {
    /// The floor and all installed buses.
    FloorAndBuses,
    /// Two processes without a bus between them, the floor and all installed buses.
    DirectFloorAndBuses,
    /// All installed buses.
    Buses,
    /// The bus of this program.
    OurBus,
    /// No buses, but everything that is not a bus.
    Floors,
}

impl Subjects {
    /// What is not a bus.
    pub(crate) const fn floors(self) -> &'static [Subject] {
        match self {
            Self::FloorAndBuses => &[Subject::Floor],
            Self::DirectFloorAndBuses => &[Subject::Direct, Subject::Floor],
            Self::Buses | Self::OurBus => &[],
            Self::Floors => &[Subject::Direct, Subject::Floor, Subject::Relay],
        }
    }
}

impl Trial {
    fn new(case: Case, workload: impl Workload + 'static) -> Self {
        Self { case, workload: Box::new(workload) }
    }
}

/// All scenarios, with the parameters that they have if nothing is given.
#[must_use]
pub fn all() -> Vec<Box<dyn Scenario>> {
    vec![
        Box::<Compare>::default(),
        Box::<Floor>::default(),
        Box::<PingPong>::default(),
        Box::<Signals>::default(),
        Box::<Volumes>::default(),
        Box::<FanOut>::default(),
        Box::<Priority>::default(),
        Box::<Idle>::default(),
        Box::<Rules>::default(),
        Box::<Validation>::default(),
        Box::<Pipeline>::default(),
        Box::<Connect>::default(),
        Box::<Names>::default(),
        Box::<Flood>::default(),
        Box::<Trace>::default(),
        Box::<Recording>::default(),
        Box::<Clients>::default(),
    ]
}

/// What tables and reports know of all scenarios.
pub static INFOS: [ScenarioInfo; 17] = [
    compare::INFO,
    floor::INFO,
    ping_pong::INFO,
    signals::INFO,
    volumes::INFO,
    fan_out::INFO,
    priority::INFO,
    idle::INFO,
    rules::INFO,
    validation::INFO,
    pipeline::INFO,
    connect::INFO,
    names::INFO,
    flood::INFO,
    trace::INFO,
    recording::INFO,
    clients::INFO,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_is_known_and_has_cases() {
        let mut tell = |_: &str| {};
        let mut libraries = LibraryBuilder::without_libraries(&mut tell);
        for (scenario, info) in all().iter().zip(&INFOS) {
            assert_eq!(scenario.info(), info);
            for effort in [Effort::Full, Effort::Quick] {
                let trials = scenario.trials(effort, &mut libraries);
                assert!(!trials.is_empty(), "{}", info.name);
                let mut cases: Vec<_> = trials.iter().map(|trial| &trial.case).collect();
                cases.sort_unstable();
                cases.dedup();
                assert_eq!(cases.len(), trials.len(), "{} has a case twice", info.name);
            }
        }
    }
}
