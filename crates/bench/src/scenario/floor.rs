//! The scenario that measures the lower bound for any bus.

use clap::Args;

use super::calls::{call_count, read_buffers};
use super::signals::{burst_label, bursts, stream_count};
use super::words::{self, binary_size_label};
use super::{Effort, LibraryBuilder, Scenario, Subjects, Trial};
use crate::raw::ReadBuffer;
use crate::result::{BenchCase, CaseSetting, Metric};
use crate::scenario_info::ScenarioInfo;
use crate::workload::{Burst, CallWorkload, StreamWorkload};

/// The `floor` scenario: the lower bound for any bus.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct Floor {
    /// Sizes of calls, in bytes [default: 8,1000,32768,1000000]
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = words::size)]
    pub(crate) sizes: Option<Vec<u64>>,
    /// Sizes of the read buffers: bytes, or `ours` [default: 2048,65536,ours]
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = words::read_buffer)]
    pub(crate) read_buffers: Option<Vec<ReadBuffer>>,
    /// Number of calls or messages of each size [default: depends on the size]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) count: Option<u64>,
}

impl Scenario for Floor {
    fn info(&self) -> &'static ScenarioInfo {
        &FLOOR
    }

    fn subjects(&self) -> Subjects {
        Subjects::Floors
    }

    fn trials(&self, effort: Effort, _: &mut LibraryBuilder<'_>) -> Vec<Trial> {
        let mut trials = self.calls(effort);
        trials.extend(self.bursts(effort));
        trials.extend(self.streams(effort));
        trials
    }
}

impl Floor {
    fn calls(&self, effort: Effort) -> Vec<Trial> {
        let sizes = effort.list(self.sizes.as_deref(), &[8, 1000, 32_768, 1_000_000], &[8, 32_768]);
        let read_buffers = read_buffers(effort, self.read_buffers.as_deref());
        let mut trials = Vec::new();
        for &read_buffer in &read_buffers {
            for &size in &sizes {
                let count = effort.choose(self.count, call_count(size), 50);
                let buffer = words::read_buffer_word(read_buffer);
                let reads = words::read_buffer_label(&buffer);
                let label = format!("call of {}, {reads}", binary_size_label(size));
                let at = [
                    ("work", CaseSetting::from("call")),
                    ("size", size.into()),
                    ("read_buffer", (&*buffer).into()),
                ];
                let call =
                    CallWorkload { read_buffer, ..CallWorkload::ping_pong(size as usize, count) };
                trials.push(Trial::new(BenchCase::new(label, at), call));
            }
        }
        trials
    }

    fn bursts(&self, effort: Effort) -> Vec<Trial> {
        let shapes: &[(u64, u64)] = match effort {
            Effort::Full => &[(1, 10), (10, 10), (10, 100)],
            Effort::Quick => &[(1, 10)],
        };
        let trial = |&(signals, recipients): &(u64, u64)| {
            let bursts = effort.choose(self.count, bursts(signals, recipients), 5);
            let label = burst_label(signals, recipients);
            let at = [
                ("work", CaseSetting::from("burst")),
                ("signals", signals.into()),
                ("recipients", recipients.into()),
            ];
            Trial::new(BenchCase::new(label, at), Burst::new(signals, recipients, bursts))
        };
        shapes.iter().map(trial).collect()
    }

    fn streams(&self, effort: Effort) -> Vec<Trial> {
        let sizes: &[u64] = match effort {
            Effort::Full => &[100, 2048, 65_536],
            Effort::Quick => &[100],
        };
        let trial = |&size: &u64| {
            let count = effort.choose(self.count, stream_count(size), 1000);
            let label = format!("stream of {}", binary_size_label(size));
            let at = [("work", CaseSetting::from("stream")), ("size", size.into())];
            Trial::new(BenchCase::new(label, at), StreamWorkload::addressed(size as usize, count))
        };
        sizes.iter().map(trial).collect()
    }
}

pub(super) const FLOOR: ScenarioInfo = ScenarioInfo {
    name: "floor",
    title: "Lower bound for any bus",
    about: "Calls, whose replies carry the payload back, between two processes over a socket \
            (direct), then through a process that only reads and writes: with the best read \
            buffer (floor), and with the read buffer of the two clients (relay). Signals to many \
            recipients and streams go through the floor. Every bus does at least the work of the \
            floor.",
    metrics: &[
        Metric::RoundTripUs,
        Metric::RoundTripP99Us,
        Metric::BurstUs,
        Metric::MessagesPerS,
        Metric::MibPerS,
    ],
};
