//! Signals to many recipients.

use clap::Args;

use super::words::{self, counted};
use super::{Effort, LibraryBuilder, Scenario, Trial};
use crate::result::{Case, Metric, Setting};
use crate::scenario_info::ScenarioInfo;
use crate::workload::{Burst, Inspection};

/// Signals to many recipients.
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
        &INFO
    }

    fn trials(&self, effort: Effort, _: &mut LibraryBuilder<'_>) -> Vec<Trial> {
        let all_signals = effort.list(self.signals.as_deref(), &[1, 10], &[1, 10]);
        let all_recipients = effort.list(self.recipients.as_deref(), &[10, 100], &[10]);
        let mut trials = Vec::new();
        for &recipients in &all_recipients {
            for &signals in &all_signals {
                let bursts = effort.choose(self.bursts, bursts(signals, recipients), 5);
                let label = label(signals, recipients);
                let at = [("signals", Setting::from(signals)), ("recipients", recipients.into())];
                let size = self.size.unwrap_or(8) as usize;
                let inspection = Inspection::Done;
                let burst = Burst { signals, recipients, size, bursts, inspection };
                trials.push(Trial::new(Case::new(label, at), burst));
            }
        }
        trials
    }
}

/// What such a burst is called.
pub(super) fn label(signals: u64, recipients: u64) -> String {
    format!("{} to {recipients}", counted(signals, "signal", "signals"))
}

/// How many bursts take about half a second.
pub(super) fn bursts(signals: u64, recipients: u64) -> u64 {
    (20_000 / (signals * recipients).max(1)).clamp(40, 300)
}

pub(super) const INFO: ScenarioInfo = ScenarioInfo {
    name: "fan-out",
    title: "Signals to many recipients",
    about: "A process emits signals in immediate succession, and every recipient gets each of \
            them. It ends when the last recipient has the last. Copies and validations are those \
            of one signal; a bus that does not count them has those of the model of libdbus and \
            dbus-daemon: 4 + 2r copies and 1 + 2r validations for r recipients.",
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
