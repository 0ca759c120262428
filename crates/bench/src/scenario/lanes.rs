//! The scenario that compares lanes with the bus.

use std::path::{Path, PathBuf};

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
    /// Measure programs in C and Python too: the folder of this project's libdbus-1.so.3
    #[arg(long, value_name = "FOLDER", value_parser = folder_of_libdbus)]
    pub(crate) libdbus: Option<PathBuf>,
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
        let mut pairs = Vec::new();
        let mut add = |library, linked: Option<&PathBuf>, routes, what| {
            if let Some(library) = libraries.library(library) {
                pairs.push(ProgramPair { library, linked: linked.cloned(), routes, what });
            }
        };
        add(Library::Diligence, None, BUS_AND_LANE, "our library");
        add(Library::DiligenceAsync, None, BUS_AND_LANE, "our library in a task");
        if let Some(folder) = &self.libdbus {
            add(Library::Libdbus, None, BUS, "a program in C");
            add(Library::Libdbus, Some(folder), BUS_AND_LANE, "a program in C, our libdbus");
            add(Library::DbusPython, None, BUS, "dbus-python");
            add(Library::DbusPython, Some(folder), BUS_AND_LANE, "dbus-python, our libdbus");
        }
        sizes.into_iter().flat_map(|size| trials(size, count, &pairs)).collect()
    }
}

const BUS: &[LibraryRoute] = &[LibraryRoute::Bus];
const BUS_AND_LANE: &[LibraryRoute] = &[LibraryRoute::Bus, LibraryRoute::Lane];

/// Parses the folder of a libdbus. Its path becomes absolute, for programs that run elsewhere.
fn folder_of_libdbus(path: &str) -> Result<PathBuf, String> {
    let file = Path::new(path).join("libdbus-1.so.3");
    let file = file.canonicalize().map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(file.parent().unwrap_or(&file).to_owned())
}

/// Two programs that call each other with the same library.
struct ProgramPair {
    library: BuiltLibrary,
    /// The folder of the shared library that replaces the one of the system.
    linked: Option<PathBuf>,
    routes: &'static [LibraryRoute],
    what: &'static str,
}

/// The trials with one size: without a library, and with each library over the bus and on a lane.
fn trials(size: u64, count: u64, pairs: &[ProgramPair]) -> Vec<Trial> {
    let label = binary_size_label(size);
    let case = |what: &str, library: &str, route: &'static str| {
        let at = [
            ("library", CaseSetting::from(library)),
            ("route", route.into()),
            ("size", size.into()),
        ];
        BenchCase::new(format!("{label}, {what}"), at)
    };
    let size = size as usize;
    let mut trials = vec![Trial::new(case("no library", "none", "bus"), text_call(size, count))];
    for ProgramPair { library, linked, routes, what } in pairs {
        for &route in *routes {
            let (place, word) = match route {
                LibraryRoute::Bus => ("", "bus"),
                LibraryRoute::Lane => (", on a lane", "lane"),
            };
            let (library, linked) = (library.clone(), linked.clone());
            let calls = BetweenLibraries { library, linked, route, count, size };
            trials.push(Trial::new(case(&format!("{what}{place}"), what, word), calls));
        }
    }
    trials
}

pub(super) const LANES: ScenarioInfo = ScenarioInfo {
    name: "lanes",
    title: "Direct lanes",
    about: "Calls with a text, which the reply carries back. Without a library, both ends write \
            to the socket directly; *direct* has no bus between them. The other calls have the \
            same library at both ends. Our libdbus replaces the one of the system, without a \
            change of the program. On a lane, messages travel on a socket that the bus has given \
            to both ends. Programs with a library and two without one, which have a bare socket \
            between them, call in turns; the times of both are compared. Context switches are \
            counted in caller, service and bus.",
    metrics: &[
        Metric::RoundTripUs,
        Metric::ToSocket,
        Metric::RoundTripP99Us,
        Metric::Switches,
        Metric::BusCpuUs,
    ],
};
