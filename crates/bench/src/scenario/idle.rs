//! Calls on a bus to which many others are connected.

use clap::Args;

use super::words::{self, counted};
use super::{Effort, LibraryBuilder, Scenario, Subjects, Trial};
use crate::result::{Case, Metric, Setting};
use crate::scenario_info::ScenarioInfo;
use crate::workload::{Bystanders, Call, WithBystanders};

/// Calls on a bus to which many others are connected.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct Idle {
    /// Numbers of idle connections, each with three match rules [default: 0,10,100,1000,10000]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = words::count_or_none)]
    pub(crate) connections: Option<Vec<u64>>,
    /// Number of calls [default: 5000]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) count: Option<u64>,
}

impl Scenario for Idle {
    fn info(&self) -> &'static ScenarioInfo {
        &INFO
    }

    fn subjects(&self) -> Subjects {
        Subjects::Buses
    }

    fn trials(&self, effort: Effort, _: &mut LibraryBuilder<'_>) -> Vec<Trial> {
        let full = [0, 10, 100, 1000, 10_000];
        let all = effort.list(self.connections.as_deref(), &full, &[0, 100]);
        let trial = |&connections: &u64| {
            let call = Call::ping_pong(8, effort.choose(self.count, 5000, 50));
            let label = counted(connections, "idle connection", "idle connections");
            let at = [("connections", Setting::from(connections))];
            let bystanders = Bystanders::desktop(connections);
            Trial::new(Case::new(label, at), WithBystanders { bystanders, workload: call })
        };
        all.iter().map(trial).collect()
    }
}

pub(super) const INFO: ScenarioInfo = ScenarioInfo {
    name: "idle",
    title: "Calls among idle connections",
    about: "Calls of 8 bytes while others are connected to the same bus and do nothing. Each of \
            them has the three match rules that a program of a desktop has.",
    metrics: &[
        Metric::RoundTripUs,
        Metric::RoundTripP99Us,
        Metric::BytesPerConnection,
        Metric::BusPeakMib,
        Metric::BusCpuUs,
    ],
};
