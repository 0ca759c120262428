//! Signals as fast as they can be sent.

use clap::Args;

use super::words::{self, binary_size_label};
use super::{Effort, LibraryBuilder, Scenario, Trial};
use crate::peer::{Content, Stamps};
use crate::result::{Case, Metric, Setting};
use crate::scenario_info::ScenarioInfo;
use crate::workload::{Recipients, Stream};

/// Signals as fast as they can be sent.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct Signals {
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

impl Scenario for Signals {
    fn info(&self) -> &'static ScenarioInfo {
        &INFO
    }

    fn trials(&self, effort: Effort, _: &mut LibraryBuilder<'_>) -> Vec<Trial> {
        let full: Vec<u64> = (5..=17).map(|power| 1 << power).collect();
        let sizes = effort.list(self.sizes.as_deref(), &full, &[32, 2048]);
        let listeners = self.listeners.unwrap_or(1);
        let trial = |&size: &u64| {
            let count = effort.choose(self.count, 10_000, 500);
            let content = Content::Bytes { size: size as usize, stamps: Stamps::On };
            let stream = Stream { content, count, to: Recipients::Subscribed(listeners) };
            let at = [("size", Setting::from(size))];
            Trial::new(Case::new(binary_size_label(size), at), stream)
        };
        sizes.iter().map(trial).collect()
    }
}

/// How many messages of a size take about half a second.
pub(super) fn stream_count(size: u64) -> u64 {
    (330_000_000 / size.max(1)).clamp(5000, 200_000)
}

pub(super) const INFO: ScenarioInfo = ScenarioInfo {
    name: "signals",
    title: "Signals as fast as they can be sent",
    about: "A service emits signals without a pause. Who listens tells how many came, how fast, \
            and how long each was under way.",
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
