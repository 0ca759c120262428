//! Signals among many match rules.

use clap::Args;

use super::words::{self, counted};
use super::{Effort, LibraryBuilder, Scenario, Subjects, Trial};
use crate::result::{Case, Metric, Setting};
use crate::scenario_info::ScenarioInfo;
use crate::workload::{Burst, Bystanders, WithBystanders};

/// Signals among many match rules.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct Rules {
    /// Numbers of match rules that do not match [default: 1,10,100,1000,10000,100000]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = words::count)]
    pub(crate) rules: Option<Vec<u64>>,
    /// Number of signals [default: 300]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) count: Option<u64>,
}

impl Scenario for Rules {
    fn info(&self) -> &'static ScenarioInfo {
        &INFO
    }

    fn subjects(&self) -> Subjects {
        Subjects::Buses
    }

    fn trials(&self, effort: Effort, _: &mut LibraryBuilder<'_>) -> Vec<Trial> {
        let full = [1, 10, 100, 1000, 10_000, 100_000];
        let all = effort.list(self.rules.as_deref(), &full, &[1, 1000]);
        let trial = |&rules: &u64| {
            let workload = signal(effort.choose(self.count, 300, 10));
            let label = counted(rules, "rule", "rules");
            let bystanders = Bystanders::rules(rules);
            let at = [("rules", Setting::from(rules))];
            Trial::new(Case::new(label, at), WithBystanders { bystanders, workload })
        };
        all.iter().map(trial).collect()
    }
}

/// One signal after the other, to one recipient.
pub(super) const fn signal(count: u64) -> Burst {
    Burst::new(1, 1, count)
}

pub(super) const INFO: ScenarioInfo = ScenarioInfo {
    name: "rules",
    title: "Signals among match rules that do not match",
    about: "A signal to one recipient, while another connection has match rules for signals of \
            the same interface and member, but of other objects.",
    metrics: &[Metric::BurstUs, Metric::BusCpuUs, Metric::BytesPerRule, Metric::BusPeakMib],
};
