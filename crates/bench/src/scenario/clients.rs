//! The scenario that compares client libraries.

use clap::{Args, ValueEnum as _};

use super::words;
use super::{Effort, LibraryBuilder, Scenario, Subjects, Trial};
use crate::library::{BuiltLibrary, Library};
use crate::peer::{Payload, SignalContent, Stamps};
use crate::result::{BenchCase, CaseSetting, Metric};
use crate::scenario_info::ScenarioInfo;
use crate::workload::{
    CallWorkload, LibraryRole, StreamRecipients, StreamWorkload, ThroughLibrary,
};

/// The `clients` scenario: client libraries.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct Clients {
    /// Libraries to measure [default: all]
    #[arg(long, value_name = "LIBRARY", value_delimiter = ',', value_enum)]
    pub(crate) libraries: Option<Vec<Library>>,
    /// Number of calls [default: 5000]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) count: Option<u64>,
    /// Number of signals [default: 10000]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) signals: Option<u64>,
    /// Text length of each call, in bytes [default: 11]
    #[arg(long, value_name = "BYTES", value_parser = words::size)]
    pub(crate) size: Option<u64>,
    /// Payload of each signal, in bytes [default: 128]
    #[arg(long, value_name = "BYTES", value_parser = words::size)]
    pub(crate) signal_size: Option<u64>,
}

impl Scenario for Clients {
    fn info(&self) -> &'static ScenarioInfo {
        &CLIENTS
    }

    fn subjects(&self) -> Subjects {
        Subjects::OurBus
    }

    fn trials(&self, effort: Effort, libraries: &mut LibraryBuilder<'_>) -> Vec<Trial> {
        let wanted = self.libraries.as_deref().unwrap_or(Library::value_variants());
        let libraries: Vec<BuiltLibrary> =
            wanted.iter().filter_map(|library| libraries.library(*library)).collect();
        let count = effort.choose(self.count, 5000, 50);
        let signals = effort.choose(self.signals, 10_000, 200);
        let call = (count, self.size.unwrap_or(11) as usize);
        let signal = (signals, self.signal_size.unwrap_or(128) as usize);
        let mut trials = vec![raw_call(call)];
        trials.extend(libraries.iter().map(|library| trial(library, LibraryRole::Calls, call)));
        trials.extend(libraries.iter().map(|library| trial(library, LibraryRole::Serves, call)));
        trials.push(raw_signals(signal));
        trials.extend(libraries.iter().map(|library| trial(library, LibraryRole::Emits, signal)));
        trials.extend(libraries.iter().map(|library| trial(library, LibraryRole::Listens, signal)));
        trials
    }
}

fn trial(library: &BuiltLibrary, way: LibraryRole, (count, size): (u64, usize)) -> Trial {
    let (verb, part) = match way {
        LibraryRole::Calls => ("calls", "call"),
        LibraryRole::Serves => ("is called", "serve"),
        LibraryRole::Emits => ("emits", "emit"),
        LibraryRole::Listens => ("listens", "listen"),
    };
    let name = library.library.to_string();
    let label = format!("{name} {} {verb}", library.version);
    let workload = ThroughLibrary { library: library.clone(), way, count, size };
    Trial::new(BenchCase::new(label, at(part, &name)), workload)
}

fn raw_call((count, size): (u64, usize)) -> Trial {
    Trial::new(BenchCase::new("no library calls", at("call", "none")), text_call(size, count))
}

fn raw_signals((count, size): (u64, usize)) -> Trial {
    let content = SignalContent::Bytes { size, stamps: Stamps::On };
    let stream = StreamWorkload { content, count, to: StreamRecipients::Subscribed(1) };
    Trial::new(BenchCase::new("no library emits and listens", at("emit", "none")), stream)
}

/// The calls that library programs make, made by the raw client.
pub(super) fn text_call(size: usize, count: u64) -> CallWorkload {
    let payload = Payload::Text("x".repeat(size));
    CallWorkload { payload, ..CallWorkload::ping_pong(0, count) }
}

fn at(part: &'static str, library: &str) -> [(&'static str, CaseSetting); 2] {
    [("part", part.into()), ("library", library.into())]
}

pub(super) const CLIENTS: ScenarioInfo = ScenarioInfo {
    name: "clients",
    title: "Client libraries",
    about: "Calls and signals in which one end uses a library and the other end writes to the \
            socket directly. Calls without a library are measured in turns with those through the \
            library; the difference is what the library adds.",
    metrics: &[
        Metric::RoundTripUs,
        Metric::LibraryUs,
        Metric::RoundTripP99Us,
        Metric::MessagesPerS,
        Metric::DelayMeanUs,
        Metric::DelayP99Us,
        Metric::ReceivedPercent,
        Metric::SendTimeouts,
        Metric::ClientCpuUs,
    ],
};
