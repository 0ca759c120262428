//! Scenarios: lists of cases, each with the workload to measure.
//!
//! A scenario is a type whose fields are its command-line options; an option that is not given has
//! the parameter of the experiment that the scenario repeats. To add a scenario, define the type
//! and its [`ScenarioInfo`], and add a line in [`INFOS`], a line in [`all`], and a variant of the
//! command.

mod calls;
mod clients;
mod compare;
mod connections;
mod effort;
mod floor;
mod lanes;
mod library_builder;
mod observation;
mod sandbox;
mod signals;
mod trial;
mod words;

pub use calls::{FloodScenario, Idle, PingPong, Pipeline, Validation};
pub use clients::Clients;
pub use compare::Compare;
pub use connections::{ConnectScenario, NamesScenario, ReexecScenario};
pub use effort::Effort;
pub use floor::Floor;
pub use lanes::LanesScenario;
pub use library_builder::LibraryBuilder;
pub use observation::{Recording, TraceScenario};
pub use sandbox::SandboxScenario;
pub use signals::{FanOut, PriorityScenario, RulesScenario, SignalsScenario, VolumesScenario};
pub use trial::{Scenario, Subjects, Trial};
pub(crate) use words::{read_buffer_label, size_label};

use crate::scenario_info::ScenarioInfo;

/// Returns all scenarios with their default options.
#[must_use]
pub fn all() -> Vec<Box<dyn Scenario>> {
    vec![
        Box::<Compare>::default(),
        Box::<Floor>::default(),
        Box::<PingPong>::default(),
        Box::<SignalsScenario>::default(),
        Box::<VolumesScenario>::default(),
        Box::<FanOut>::default(),
        Box::<PriorityScenario>::default(),
        Box::<Idle>::default(),
        Box::<RulesScenario>::default(),
        Box::<Validation>::default(),
        Box::<Pipeline>::default(),
        Box::<ConnectScenario>::default(),
        Box::<NamesScenario>::default(),
        Box::<ReexecScenario>::default(),
        Box::<FloodScenario>::default(),
        Box::<TraceScenario>::default(),
        Box::<Recording>::default(),
        Box::<SandboxScenario>::default(),
        Box::<Clients>::default(),
        Box::<LanesScenario>::default(),
    ]
}

/// Titles, descriptions and metrics of all scenarios.
pub static INFOS: [ScenarioInfo; 20] = [
    compare::COMPARE,
    floor::FLOOR,
    calls::PING_PONG,
    signals::SIGNALS,
    signals::VOLUMES,
    signals::FAN_OUT,
    signals::PRIORITY,
    calls::IDLE,
    signals::RULES,
    calls::VALIDATION,
    calls::PIPELINE,
    connections::CONNECT,
    connections::NAMES,
    connections::REEXEC,
    calls::FLOOD,
    observation::TRACE,
    observation::RECORDING,
    sandbox::SANDBOX,
    clients::CLIENTS,
    lanes::LANES,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_is_known_and_has_cases() {
        let mut tell = |_: &str| {};
        let mut libraries = LibraryBuilder::new(None, Effort::Quick, &mut tell);
        assert_eq!(all().len(), INFOS.len());
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
