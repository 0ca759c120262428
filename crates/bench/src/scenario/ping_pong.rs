//! Calls of all sizes, one after the other.

use clap::Args;

use super::words::{self, size_label};
use super::{Effort, LibraryBuilder, Scenario, Subjects, Trial};
use crate::peer::Answer;
use crate::raw::ReadBuffer;
use crate::result::{Case, Metric, Setting};
use crate::scenario_info::ScenarioInfo;
use crate::workload::Call;

/// Calls of all sizes, one after the other.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct PingPong {
    /// Sizes of the payload, in bytes [default: 1,3,10,31,100,... up to 10000000]
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = words::size)]
    pub(crate) sizes: Option<Vec<u64>>,
    /// Sizes of the read buffers of the two processes: bytes, or `ours` for all that has arrived, up to
    /// the whole message [default: 2048,65536,ours]
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = words::read_buffer)]
    pub(crate) read_buffers: Option<Vec<ReadBuffer>>,
    /// What a reply carries [default: echo]
    #[arg(long, value_name = "WHAT", value_enum)]
    pub(crate) reply: Option<Answer>,
    /// Number of calls of each size [default: 5000, fewer of large calls]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) count: Option<u64>,
}

impl Scenario for PingPong {
    fn info(&self) -> &'static ScenarioInfo {
        &INFO
    }

    fn subjects(&self) -> Subjects {
        Subjects::DirectFloorAndBuses
    }

    fn trials(&self, effort: Effort, _: &mut LibraryBuilder<'_>) -> Vec<Trial> {
        let sizes = effort.list(self.sizes.as_deref(), &SIZES, &[1, 1000, 100_000]);
        let read_buffers = read_buffers(effort, self.read_buffers.as_deref());
        let answer = self.reply.unwrap_or_default();
        let mut trials = Vec::new();
        for &read_buffer in &read_buffers {
            for &size in &sizes {
                let count = effort.choose(self.count, count(size), 50);
                let buffer = words::read_buffer_word(read_buffer);
                let label = match read_buffers[..] {
                    [_] => size_label(size),
                    _ => format!("{}, reading {buffer}", size_label(size)),
                };
                let label = match answer {
                    Answer::Echo => label,
                    Answer::Empty => format!("{label}, empty reply"),
                };
                let at = [
                    ("size", Setting::from(size)),
                    ("read_buffer", (&*buffer).into()),
                    ("reply", answer.word().into()),
                ];
                let call = Call { read_buffer, answer, ..Call::ping_pong(size as usize, count) };
                trials.push(Trial::new(Case::new(label, at), call));
            }
        }
        trials
    }
}

/// The default read buffers: the size that libraries have, a larger one, and ours.
pub(super) fn read_buffers(effort: Effort, chosen: Option<&[ReadBuffer]>) -> Vec<ReadBuffer> {
    let all = [ReadBuffer::Bytes(2048), ReadBuffer::Bytes(65_536), ReadBuffer::Ours];
    effort.list(chosen, &all, &all[2..])
}

/// How many calls of a size take about a second, or less.
pub(super) fn count(size: u64) -> u64 {
    (200_000_000 / size.max(1)).clamp(30, 5000)
}

/// Two in each power of ten.
const SIZES: [u64; 15] = [
    1, 3, 10, 31, 100, 316, 1000, 3162, 10_000, 31_622, 100_000, 316_227, 1_000_000, 3_162_277,
    10_000_000,
];

pub(super) const INFO: ScenarioInfo = ScenarioInfo {
    name: "ping-pong",
    title: "One call after the other",
    about: "A client calls a service and waits for the reply, which carries the payload of the \
            call back (with --reply empty, nothing). The size counts the payload in one direction, \
            the transfer rate the payload that both ends receive.",
    metrics: &[
        Metric::RoundTripUs,
        Metric::MibPerS,
        Metric::RoundTripP90Us,
        Metric::RoundTripP99Us,
        Metric::BusCpuUs,
    ],
};
