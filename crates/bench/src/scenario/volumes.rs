//! All volumes of a large storage system change at once.

use clap::Args;

use super::words::{self, counted};
use super::{Effort, LibraryBuilder, Scenario, Trial};
use crate::peer::{self, Content};
use crate::result::{Case, Metric, Setting};
use crate::scenario_info::ScenarioInfo;
use crate::workload::{Recipients, Stream};

/// All volumes of a large storage system change at once.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct Volumes {
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

impl Scenario for Volumes {
    fn info(&self) -> &'static ScenarioInfo {
        &INFO
    }

    fn trials(&self, effort: Effort, _: &mut LibraryBuilder<'_>) -> Vec<Trial> {
        let volumes = peer::Volumes {
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
                ("physical", Setting::from(volumes.physical)),
                ("logical", volumes.logical.into()),
                ("listeners", listeners.into()),
            ];
            let content = Content::Volumes(volumes);
            let stream = Stream { content, count, to: Recipients::Subscribed(listeners) };
            Trial::new(Case::new(label, at), stream)
        };
        listeners.iter().map(trial).collect()
    }
}

pub(super) const INFO: ScenarioInfo = ScenarioInfo {
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
