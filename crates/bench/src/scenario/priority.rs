//! Signals to many recipients, by a bus that the scheduler prefers.

use std::time::Duration;

use clap::Args;
use sys::scheduling::{Nice, Slice};

use super::words;
use super::{Effort, LibraryBuilder, Scenario, Trial, fan_out};
use crate::result::{Case, Metric, Setting};
use crate::scenario_info::ScenarioInfo;
use crate::workload::{self, Burst, Prioritized};

/// Signals to many recipients, by a bus that the scheduler prefers.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct Priority {
    /// Nice values of the bus [default: 0,-5,-15]
    #[arg(
        long,
        value_name = "NICE",
        value_delimiter = ',',
        allow_hyphen_values = true,
        value_parser = words::nice
    )]
    pub(crate) nice: Option<Vec<Nice>>,
    /// Time slices that the bus requests from the scheduler, in milliseconds [default: 0.1,20]
    #[arg(long, value_name = "MS", value_delimiter = ',', value_parser = words::slice)]
    pub(crate) slices: Option<Vec<Slice>>,
    /// Numbers of signals in a burst [default: 1,10]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = words::count)]
    pub(crate) signals: Option<Vec<u64>>,
    /// Number of recipients [default: 10]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) recipients: Option<u64>,
    /// Number of bursts [default: 40 to 300]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) bursts: Option<u64>,
}

impl Scenario for Priority {
    fn info(&self) -> &'static ScenarioInfo {
        &INFO
    }

    fn trials(&self, effort: Effort, _: &mut LibraryBuilder<'_>) -> Vec<Trial> {
        let all_signals = effort.list(self.signals.as_deref(), &[1, 10], &[10]);
        let mut trials = Vec::new();
        for &signals in &all_signals {
            for priority in self.priorities() {
                trials.push(self.trial(effort, signals, priority));
            }
        }
        trials
    }
}

impl Priority {
    fn priorities(&self) -> Vec<workload::Priority> {
        let nices = [0, -5, -15].map(|value| Nice::new(value).expect("it is from -20 to 19"));
        let slices = [Slice::SHORTEST, LONG_SLICE].map(Slice::new);
        let slices = slices.map(|slice| slice.expect("it is from 0.1 to 100 ms"));
        let nices = self.nice.as_deref().unwrap_or(&nices);
        let slices = self.slices.as_deref().unwrap_or(&slices);
        let nices = nices.iter().copied().map(workload::Priority::Nice);
        nices.chain(slices.iter().copied().map(workload::Priority::Slice)).collect()
    }

    fn trial(&self, effort: Effort, signals: u64, priority: workload::Priority) -> Trial {
        let recipients = self.recipients.unwrap_or(10);
        let bursts = effort.choose(self.bursts, fan_out::bursts(signals, recipients), 5);
        let label = priority.label();
        let at = [
            ("signals", Setting::from(signals)),
            ("recipients", recipients.into()),
            ("priority", (&*label).into()),
        ];
        let label = format!("{}, {label}", fan_out::label(signals, recipients));
        let workload = Burst::new(signals, recipients, bursts);
        Trial::new(Case::new(label, at), Prioritized { priority, workload })
    }
}

/// Longer than a bus needs for what comes at once.
const LONG_SLICE: Duration = Duration::from_millis(20);

pub(super) const INFO: ScenarioInfo = ScenarioInfo {
    name: "priority",
    title: "Signals to many recipients, by a bus that the scheduler prefers",
    about: "The same as fan-out, while the bus has a lower nice value, or asks the scheduler for \
            shorter or longer slices.",
    metrics: &[
        Metric::BurstUs,
        Metric::BusSwitches,
        Metric::SenderSwitches,
        Metric::RecipientSwitches,
        Metric::BusCpuUs,
    ],
};
