//! Connecting and leaving.

use clap::Args;

use super::words;
use super::{Effort, LibraryBuilder, Scenario, Subjects, Trial};
use crate::result::{Case, Metric};
use crate::scenario_info::ScenarioInfo;
use crate::workload;

/// Connecting and leaving.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct Connect {
    /// Number of connections [default: 1000]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) count: Option<u64>,
}

impl Scenario for Connect {
    fn info(&self) -> &'static ScenarioInfo {
        &INFO
    }

    fn subjects(&self) -> Subjects {
        Subjects::Buses
    }

    fn trials(&self, effort: Effort, _: &mut LibraryBuilder<'_>) -> Vec<Trial> {
        let count = effort.choose(self.count, 1000, 20);
        vec![Trial::new(Case::new("connect", []), workload::Connect { count })]
    }
}

pub(super) const INFO: ScenarioInfo = ScenarioInfo {
    name: "connect",
    title: "Connecting",
    about: "From the socket through the handshake to the answer to Hello, one connection after \
            the other.",
    metrics: &[Metric::ConnectUs],
};
