//! Calls beside a flood.

use clap::Args;

use super::words;
use super::{Effort, LibraryBuilder, Scenario, Subjects, Trial};
use crate::result::{Case, Metric, Setting};
use crate::scenario_info::ScenarioInfo;
use crate::workload::{self, Call, Sink};

/// Calls beside a flood.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct Flood {
    /// Number of calls [default: 2000]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) count: Option<u64>,
    /// Payload of each message of the flood, in bytes [default: 1000]
    #[arg(long, value_name = "BYTES", value_parser = words::size)]
    pub(crate) size: Option<u64>,
}

impl Scenario for Flood {
    fn info(&self) -> &'static ScenarioInfo {
        &INFO
    }

    fn subjects(&self) -> Subjects {
        Subjects::Buses
    }

    fn trials(&self, effort: Effort, _: &mut LibraryBuilder<'_>) -> Vec<Trial> {
        let victim = Call::ping_pong(8, effort.choose(self.count, 2000, 50));
        let size = self.size.unwrap_or(1000) as usize;
        let case = |label: &str, flood: &str| Case::new(label, [("flood", Setting::from(flood))]);
        let beside = |sink| workload::Flood { sink, size, victim: victim.clone() };
        vec![
            Trial::new(case("alone", "none"), victim.clone()),
            Trial::new(case("beside a flood", "read"), beside(Sink::Reader)),
            Trial::new(case("beside a flood that nobody reads", "unread"), beside(Sink::Sleeper)),
        ]
    }
}

pub(super) const INFO: ScenarioInfo = ScenarioInfo {
    name: "flood",
    title: "Calls beside a flood",
    about: "A client calls a service, while another process sends messages to a third as fast as \
            it can, and that reads them, or does not.",
    metrics: &[
        Metric::RoundTripUs,
        Metric::RoundTripP99Us,
        Metric::RoundTripMaxUs,
        Metric::CallsPerS,
    ],
};
