//! Connecting and leaving.

use clap::Args;

use super::words;
use super::{Buses, Company, Pace, Scenario, Trial, Workshop};
use crate::result::{Case, Metric};
use crate::scenario_info::ScenarioInfo;
use crate::workload;

/// Connecting and leaving.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct Connect {
    /// How often [default: 1000]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub count: Option<u64>,
}

impl Scenario for Connect {
    fn info(&self) -> &'static ScenarioInfo {
        &INFO
    }

    fn company(&self) -> Company {
        Company { floors: &[], buses: Buses::All }
    }

    fn trials(&self, pace: Pace, _: &mut Workshop<'_>) -> Vec<Trial> {
        let count = pace.choose(self.count, 1000, 20);
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
