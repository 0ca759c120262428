//! The scenario that compares lanes with the bus.

use clap::Args;

use super::clients::text_call;
use super::words::{self, binary_size_label};
use super::{Effort, LibraryBuilder, Scenario, Subjects, Trial};
use crate::library::{BuiltLibrary, Library};
use crate::result::{BenchCase, CaseSetting, Metric};
use crate::scenario_info::ScenarioInfo;
use crate::workload::{BetweenLibraries, LibraryRoute};

/// The `lanes` scenario: calls between two programs that have a socket of their own.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct LanesScenario {
    /// Text lengths of the calls, in bytes [default: 8,1000,32768]
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = words::size)]
    pub(crate) sizes: Option<Vec<u64>>,
    /// Number of calls of each size [default: 20000]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) count: Option<u64>,
}

impl Scenario for LanesScenario {
    fn info(&self) -> &'static ScenarioInfo {
        &LANES
    }

    fn subjects(&self) -> Subjects {
        Subjects::DirectAndBuses
    }

    fn trials(&self, effort: Effort, libraries: &mut LibraryBuilder<'_>) -> Vec<Trial> {
        let sizes = effort.list(self.sizes.as_deref(), &[8, 1000, 32_768], &[8]);
        let count = effort.choose(self.count, 20_000, 200);
        let fronts = [
            (Library::Diligence, "our library"),
            (Library::DiligenceAsync, "our library in a task"),
        ];
        let fronts = fronts.map(|(library, what)| (libraries.library(library), what));
        sizes.into_iter().flat_map(|size| trials(size, count, &fronts)).collect()
    }
}

/// The trials with one size: without a library, and with each front end of the library over the bus
/// and on a lane.
fn trials(size: u64, count: u64, fronts: &[(Option<BuiltLibrary>, &str)]) -> Vec<Trial> {
    let label = binary_size_label(size);
    let case = |what: &str, route: &str| {
        let at = [("route", CaseSetting::from(route)), ("size", size.into())];
        BenchCase::new(format!("{label}, {what}"), at)
    };
    let size = size as usize;
    let mut trials = vec![Trial::new(case("no library", "none"), text_call(size, count))];
    for (library, what) in fronts {
        let Some(library) = library else { continue };
        for (place, word, route) in
            [("", "bus", LibraryRoute::Bus), (" on a lane", "lane", LibraryRoute::Lane)]
        {
            let calls = BetweenLibraries { library: library.clone(), route, count, size };
            let route = format!("{}, {word}", library.library);
            trials.push(Trial::new(case(&format!("{what}{place}"), &route), calls));
        }
    }
    trials
}

pub(super) const LANES: ScenarioInfo = ScenarioInfo {
    name: "lanes",
    title: "Direct lanes",
    about: "Calls with a text, which the reply carries back. Without a library, both ends write \
            to the socket directly; *direct* has no bus between them. Our library is at both ends \
            of the other calls. On a lane, it sends them on a socket that the bus has given to \
            both ends. Context switches are counted in caller, service and bus.",
    metrics: &[Metric::RoundTripUs, Metric::RoundTripP99Us, Metric::Switches, Metric::BusCpuUs],
};
