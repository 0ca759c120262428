//! Several calls at once.

use clap::Args;

use super::words::{self, counted};
use super::{Effort, LibraryBuilder, Scenario, Trial};
use crate::result::{Case, Metric, Setting};
use crate::scenario_info::ScenarioInfo;
use crate::workload::Call;

/// Several calls at once.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct Pipeline {
    /// Numbers of calls in flight [default: 1,2,4,8,16,32,64,128]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = words::count)]
    pub(crate) in_flight: Option<Vec<u64>>,
    /// Number of calls [default: 20000]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) count: Option<u64>,
    /// Payload of each call, in bytes [default: 8]
    #[arg(long, value_name = "BYTES", value_parser = words::size)]
    pub(crate) size: Option<u64>,
}

impl Scenario for Pipeline {
    fn info(&self) -> &'static ScenarioInfo {
        &INFO
    }

    fn trials(&self, effort: Effort, _: &mut LibraryBuilder<'_>) -> Vec<Trial> {
        let full = [1, 2, 4, 8, 16, 32, 64, 128];
        let all = effort.list(self.in_flight.as_deref(), &full, &[1, 32]);
        let trial = |&in_flight: &u64| {
            let count = effort.choose(self.count, 20_000, 200);
            let call = Call::one_way(self.size.unwrap_or(8) as usize, count);
            let label = format!("{} in flight", counted(in_flight, "call", "calls"));
            let at = [("in_flight", Setting::from(in_flight))];
            Trial::new(Case::new(label, at), Call { in_flight, ..call })
        };
        all.iter().map(trial).collect()
    }
}

pub(super) const INFO: ScenarioInfo = ScenarioInfo {
    name: "pipeline",
    title: "Several calls at once",
    about: "A client does not wait for one reply before it sends the next call. Replies are empty.",
    metrics: &[Metric::CallsPerS, Metric::BusCpuUs],
};
