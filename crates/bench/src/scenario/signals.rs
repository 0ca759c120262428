//! Scenarios of signals: streams, and bursts to many recipients.

use std::time::Duration;

use clap::Args;
use sys::scheduling::{Nice, Slice};

use super::words::{self, binary_size_label, counted};
use super::{Effort, LibraryBuilder, Scenario, Subjects, Trial};
use crate::peer::{self, SignalContent, Stamps};
use crate::result::{BenchCase, CaseSetting, Metric};
use crate::scenario_info::ScenarioInfo;
use crate::workload::{
    self, Burst, Bystanders, Inspection, Prioritized, StreamRecipients, StreamWorkload,
    WithBystanders,
};

/// The `signals` scenario: signals at full rate.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct SignalsScenario {
    /// Sizes of the signals, in bytes [default: 32,64,128,... up to 131072]
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = words::size)]
    pub(crate) sizes: Option<Vec<u64>>,
    /// Number of signals of each size [default: 10000]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) count: Option<u64>,
    /// Number of listening processes [default: 1]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) listeners: Option<u64>,
}

impl Scenario for SignalsScenario {
    fn info(&self) -> &'static ScenarioInfo {
        &SIGNALS
    }

    fn trials(&self, effort: Effort, _: &mut LibraryBuilder<'_>) -> Vec<Trial> {
        let full: Vec<u64> = (5..=17).map(|power| 1 << power).collect();
        let sizes = effort.list(self.sizes.as_deref(), &full, &[32, 2048]);
        let listeners = self.listeners.unwrap_or(1);
        let trial = |&size: &u64| {
            let count = effort.choose(self.count, 10_000, 500);
            let content = SignalContent::Bytes { size: size as usize, stamps: Stamps::On };
            let stream =
                StreamWorkload { content, count, to: StreamRecipients::Subscribed(listeners) };
            let at = [("size", CaseSetting::from(size))];
            Trial::new(BenchCase::new(binary_size_label(size), at), stream)
        };
        sizes.iter().map(trial).collect()
    }
}

/// The number of messages of a size that take about half a second.
pub(super) fn stream_count(size: u64) -> u64 {
    (330_000_000 / size.max(1)).clamp(5000, 200_000)
}

pub(super) const SIGNALS: ScenarioInfo = ScenarioInfo {
    name: "signals",
    title: "Signals at full rate",
    about: "A service emits signals without a pause. The recipients measure how many signals \
            arrive, at which rate, and with which delay.",
    metrics: &[
        Metric::MessagesPerS,
        Metric::MibPerS,
        Metric::DelayMeanUs,
        Metric::DelayP99Us,
        Metric::ReceivedPercent,
        Metric::SendTimeouts,
        Metric::BusPeakMib,
    ],
};

/// The `volumes` scenario: all volumes of a large storage system change at once.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct VolumesScenario {
    /// Number of physical volumes [default: 120000]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) physical: Option<u64>,
    /// Number of logical volumes [default: 10000]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) logical: Option<u64>,
    /// Numbers of listening processes [default: 1,4]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = words::count)]
    pub(crate) listeners: Option<Vec<u64>>,
}

impl Scenario for VolumesScenario {
    fn info(&self) -> &'static ScenarioInfo {
        &VOLUMES
    }

    fn trials(&self, effort: Effort, _: &mut LibraryBuilder<'_>) -> Vec<Trial> {
        let volumes = peer::VolumeCounts {
            physical: effort.choose(self.physical, 120_000, 1200),
            logical: effort.choose(self.logical, 10_000, 100),
        };
        let listeners = effort.list(self.listeners.as_deref(), &[1, 4], &[2]);
        let trial = |&listeners: &u64| {
            let count = volumes.count();
            let label = format!(
                "{} to {}",
                counted(count, "volume", "volumes"),
                counted(listeners, "listener", "listeners")
            );
            let at = [
                ("physical", CaseSetting::from(volumes.physical)),
                ("logical", volumes.logical.into()),
                ("listeners", listeners.into()),
            ];
            let content = SignalContent::Volumes(volumes);
            let stream =
                StreamWorkload { content, count, to: StreamRecipients::Subscribed(listeners) };
            Trial::new(BenchCase::new(label, at), stream)
        };
        listeners.iter().map(trial).collect()
    }
}

pub(super) const VOLUMES: ScenarioInfo = ScenarioInfo {
    name: "volumes",
    title: "All volumes of a large storage system change",
    about: "The service of a volume manager emits PropertiesChanged for every physical and logical \
            volume without a pause. Every listener should get every signal.",
    metrics: &[
        Metric::ReceivedPercent,
        Metric::TotalMs,
        Metric::MessagesPerS,
        Metric::MibPerS,
        Metric::SendTimeouts,
        Metric::BusPeakMib,
    ],
};

/// The `fan-out` scenario: signals to many recipients.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct FanOut {
    /// Numbers of signals in a burst [default: 1,10]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = words::count)]
    pub(crate) signals: Option<Vec<u64>>,
    /// Numbers of recipients [default: 10,100]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = words::count)]
    pub(crate) recipients: Option<Vec<u64>>,
    /// Payload of each signal, in bytes [default: 8]
    #[arg(long, value_name = "BYTES", value_parser = words::size)]
    pub(crate) size: Option<u64>,
    /// Number of bursts [default: 40 to 300]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) bursts: Option<u64>,
}

impl Scenario for FanOut {
    fn info(&self) -> &'static ScenarioInfo {
        &FAN_OUT
    }

    fn trials(&self, effort: Effort, _: &mut LibraryBuilder<'_>) -> Vec<Trial> {
        let all_signals = effort.list(self.signals.as_deref(), &[1, 10], &[1, 10]);
        let all_recipients = effort.list(self.recipients.as_deref(), &[10, 100], &[10]);
        let mut trials = Vec::new();
        for &recipients in &all_recipients {
            for &signals in &all_signals {
                let bursts = effort.choose(self.bursts, bursts(signals, recipients), 5);
                let label = burst_label(signals, recipients);
                let at =
                    [("signals", CaseSetting::from(signals)), ("recipients", recipients.into())];
                let size = self.size.unwrap_or(8) as usize;
                let inspection = Inspection::Done;
                let burst = Burst { signals, recipients, size, bursts, inspection };
                trials.push(Trial::new(BenchCase::new(label, at), burst));
            }
        }
        trials
    }
}

/// The label of a burst: `10 signals to 100`.
pub(super) fn burst_label(signals: u64, recipients: u64) -> String {
    format!("{} to {recipients}", counted(signals, "signal", "signals"))
}

/// The number of bursts that take about half a second.
pub(super) fn bursts(signals: u64, recipients: u64) -> u64 {
    (20_000 / (signals * recipients).max(1)).clamp(40, 300)
}

pub(super) const FAN_OUT: ScenarioInfo = ScenarioInfo {
    name: "fan-out",
    title: "Signals to many recipients",
    about: "A process emits signals in immediate succession, and every recipient gets each of \
            them. The burst ends when the last recipient has received the last signal. Copies and \
            validations are per signal; for buses that do not count them, the figures come from \
            a model of libdbus and dbus-daemon: 4 + 2r copies and 1 + 2r validations for r \
            recipients.",
    metrics: &[
        Metric::BurstUs,
        Metric::BusSwitches,
        Metric::SenderSwitches,
        Metric::RecipientSwitches,
        Metric::BusSends,
        Metric::BusReceives,
        Metric::SenderSends,
        Metric::RecipientReceives,
        Metric::BusCpuUs,
        Metric::KernelCopies,
        Metric::BusCopies,
        Metric::ModelCopies,
        Metric::Validations,
        Metric::ModelValidations,
    ],
};

/// The `priority` scenario: signals to many recipients, with a prioritized bus.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct PriorityScenario {
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

impl Scenario for PriorityScenario {
    fn info(&self) -> &'static ScenarioInfo {
        &PRIORITY
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

impl PriorityScenario {
    fn priorities(&self) -> Vec<workload::BusPriority> {
        let nices = [0, -5, -15].map(|value| Nice::new(value).expect("it is from -20 to 19"));
        let slices = [Slice::SHORTEST, LONG_SLICE].map(Slice::new);
        let slices = slices.map(|slice| slice.expect("it is from 0.1 to 100 ms"));
        let nices = self.nice.as_deref().unwrap_or(&nices);
        let slices = self.slices.as_deref().unwrap_or(&slices);
        let nices = nices.iter().copied().map(workload::BusPriority::Nice);
        nices.chain(slices.iter().copied().map(workload::BusPriority::Slice)).collect()
    }

    fn trial(&self, effort: Effort, signals: u64, priority: workload::BusPriority) -> Trial {
        let recipients = self.recipients.unwrap_or(10);
        let bursts = effort.choose(self.bursts, bursts(signals, recipients), 5);
        let label = priority.label();
        let at = [
            ("signals", CaseSetting::from(signals)),
            ("recipients", recipients.into()),
            ("priority", (&*label).into()),
        ];
        let label = format!("{}, {label}", burst_label(signals, recipients));
        let workload = Burst::new(signals, recipients, bursts);
        Trial::new(BenchCase::new(label, at), Prioritized { priority, workload })
    }
}

/// A slice longer than a bus needs to process one burst.
const LONG_SLICE: Duration = Duration::from_millis(20);

pub(super) const PRIORITY: ScenarioInfo = ScenarioInfo {
    name: "priority",
    title: "Signals to many recipients, with a prioritized bus",
    about: "The same as fan-out, while the bus has a lower nice value or requests shorter or \
            longer time slices from the scheduler.",
    metrics: &[
        Metric::BurstUs,
        Metric::BusSwitches,
        Metric::SenderSwitches,
        Metric::RecipientSwitches,
        Metric::BusCpuUs,
    ],
};

/// The `rules` scenario: signals with many match rules that do not match.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct RulesScenario {
    /// Numbers of match rules that do not match [default: 1,10,100,1000,10000,100000]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = words::count)]
    pub(crate) rules: Option<Vec<u64>>,
    /// Number of signals [default: 300]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) count: Option<u64>,
}

impl Scenario for RulesScenario {
    fn info(&self) -> &'static ScenarioInfo {
        &RULES
    }

    fn subjects(&self) -> Subjects {
        Subjects::Buses
    }

    fn trials(&self, effort: Effort, _: &mut LibraryBuilder<'_>) -> Vec<Trial> {
        let full = [1, 10, 100, 1000, 10_000, 100_000];
        let all = effort.list(self.rules.as_deref(), &full, &[1, 1000]);
        let trial = |&rules: &u64| {
            let workload = single_signals(effort.choose(self.count, 300, 10));
            let label = counted(rules, "rule", "rules");
            let bystanders = Bystanders::rules(rules);
            let at = [("rules", CaseSetting::from(rules))];
            Trial::new(BenchCase::new(label, at), WithBystanders { bystanders, workload })
        };
        all.iter().map(trial).collect()
    }
}

/// Single signals to one recipient, one after another.
pub(super) const fn single_signals(count: u64) -> Burst {
    Burst::new(1, 1, count)
}

pub(super) const RULES: ScenarioInfo = ScenarioInfo {
    name: "rules",
    title: "Signals with many match rules that do not match",
    about: "A signal to one recipient, while another connection has match rules for signals with \
            the same interface and member but other object paths.",
    metrics: &[Metric::BurstUs, Metric::BusCpuUs, Metric::BytesPerRule, Metric::BusPeakMib],
};
