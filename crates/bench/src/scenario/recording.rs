//! How fast can be recorded.

use clap::Args;

use super::words::{self, binary_size_label};
use super::{Effort, LibraryBuilder, Scenario, Subjects, Trial};
use crate::result::{Case, Metric, Setting};
use crate::scenario_info::ScenarioInfo;
use crate::workload::{Recorded, Stream};

/// How fast can be recorded.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct Recording {
    /// Sizes of the signals, in bytes [default: 100,2048]
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = words::size)]
    pub(crate) sizes: Option<Vec<u64>>,
    /// Number of signals of each size [default: about 200 MB]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) count: Option<u64>,
}

impl Scenario for Recording {
    fn info(&self) -> &'static ScenarioInfo {
        &INFO
    }

    fn subjects(&self) -> Subjects {
        Subjects::OurBus
    }

    fn trials(&self, effort: Effort, _: &mut LibraryBuilder<'_>) -> Vec<Trial> {
        let sizes = effort.list(self.sizes.as_deref(), &[100, 2048], &[100]);
        let trial = |&size: &u64| {
            let count = effort.choose(self.count, FILE_LEN / (size + HEAD_LEN), 1000);
            let label = format!("stream {}", binary_size_label(size));
            let case = Case::new(label, [("size", Setting::from(size))]);
            Trial::new(case, Recorded { stream: Stream::addressed(size as usize, count) })
        };
        sizes.iter().map(trial).collect()
    }
}

/// Bytes of a recording: several times what the ring between bus and recorder holds.
const FILE_LEN: u64 = 200_000_000;

/// Bytes of a recording for each message besides its payload, about.
const HEAD_LEN: u64 = 300;

pub(super) const INFO: ScenarioInfo = ScenarioInfo {
    name: "recording",
    title: "How fast can be recorded",
    about: "A stream as fast as it can be sent, while `diligence record` writes all of it to a \
            file. The share of a processor is what the recorder needs to keep up.",
    metrics: &[
        Metric::MessagesPerS,
        Metric::MibPerS,
        Metric::LostMessages,
        Metric::WatcherPercent,
        Metric::WatcherCpuUs,
        Metric::BusCpuUs,
    ],
};
