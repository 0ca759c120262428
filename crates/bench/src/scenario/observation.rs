//! Scenarios with an observer of the bus.

use clap::{Args, ValueEnum as _};

use super::words::{self, binary_size_label};
use super::{Effort, LibraryBuilder, Scenario, Subjects, Trial};
use crate::result::{BenchCase, CaseSetting, Metric};
use crate::scenario_info::ScenarioInfo;
use crate::workload::{
    CallWorkload, CountedWorkload, ObservedWorkload, ObserverKind, Recorded, StreamWorkload,
};

/// The `trace` scenario: the cost of observation.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct TraceScenario {
    /// Observers to measure [default: all]
    #[arg(long, value_name = "WATCHER", value_delimiter = ',', value_enum)]
    pub(crate) watchers: Option<Vec<ObserverKind>>,
    /// Sizes of calls, one after the other, in bytes [default: 8,16384]
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = words::size)]
    pub(crate) calls: Option<Vec<u64>>,
    /// Sizes of signals, sent at full rate, in bytes [default: 100,2048]
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = words::size)]
    pub(crate) streams: Option<Vec<u64>>,
    /// Number of calls [default: 2000]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) count: Option<u64>,
    /// Number of signals [default: 50000]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) signals: Option<u64>,
    /// Repetitions in each round, each without and with the observer [default: 5]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) turns: Option<u64>,
}

impl Scenario for TraceScenario {
    fn info(&self) -> &'static ScenarioInfo {
        &TRACE
    }

    fn subjects(&self) -> Subjects {
        Subjects::OurBus
    }

    fn trials(&self, effort: Effort, _: &mut LibraryBuilder<'_>) -> Vec<Trial> {
        let watchers = self.watchers.as_deref().unwrap_or(ObserverKind::value_variants());
        let turns = effort.choose(self.turns, 5, 1);
        let mut trials = Vec::new();
        for size in effort.list(self.calls.as_deref(), &[8, 16_384], &[8]) {
            let call = CallWorkload::one_way(size as usize, effort.choose(self.count, 2000, 100));
            trials.extend(watchers.iter().map(|&it| trial("call", size, it, turns, &call)));
        }
        for size in effort.list(self.streams.as_deref(), &[100, 2048], &[100]) {
            let signals = effort.choose(self.signals, 50_000, 1000);
            let stream = StreamWorkload::addressed(size as usize, signals);
            trials.extend(watchers.iter().map(|&it| trial("stream", size, it, turns, &stream)));
        }
        trials
    }
}

fn trial<W: CountedWorkload + 'static>(
    work: &str,
    size: u64,
    watcher: ObserverKind,
    turns: u64,
    workload: &W,
) -> Trial {
    let what = match watcher {
        ObserverKind::Nobody => "unwatched",
        ObserverKind::Stamps => "stamps alone",
        ObserverKind::FlightRecorder => "flight recorder",
        ObserverKind::Recorder => "diligence record",
        ObserverKind::Monitor => "a monitor that only reads",
        ObserverKind::DbusMonitor => "dbus-monitor",
        ObserverKind::Busctl => "busctl capture",
    };
    let label = format!("{work} {}, {what}", binary_size_label(size));
    let watcher_word = watcher.to_string();
    let at = [
        ("work", CaseSetting::from(work)),
        ("size", size.into()),
        ("watcher", (&*watcher_word).into()),
    ];
    Trial::new(
        BenchCase::new(label, at),
        ObservedWorkload { observer: watcher, turns, workload: workload.clone() },
    )
}

pub(super) const TRACE: ScenarioInfo = ScenarioInfo {
    name: "trace",
    title: "Cost of observation",
    about: "Calls with empty replies and streams on a bus with an observer: the bus's own trace, \
            with timestamps only or with whole messages, or an external monitor. Added time is \
            the difference to the same work without an observer, measured directly before. The \
            observer's time is per message and includes the time until it has caught up.",
    metrics: &[
        Metric::AddedPercent,
        Metric::AddedBusNs,
        Metric::BusSystemCalls,
        Metric::BusWakeUps,
        Metric::WatcherCpuUs,
        Metric::LostMessages,
        Metric::CallsPerS,
        Metric::MessagesPerS,
        Metric::RoundTripUs,
        Metric::BusCpuUs,
    ],
};

/// The `recording` scenario: the rate at which `diligence record` keeps up.
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
        &RECORDING
    }

    fn subjects(&self) -> Subjects {
        Subjects::OurBus
    }

    fn trials(&self, effort: Effort, _: &mut LibraryBuilder<'_>) -> Vec<Trial> {
        let sizes = effort.list(self.sizes.as_deref(), &[100, 2048], &[100]);
        let trial = |&size: &u64| {
            let count = effort.choose(self.count, FILE_LEN / (size + HEAD_LEN), 1000);
            let label = format!("stream {}", binary_size_label(size));
            let case = BenchCase::new(label, [("size", CaseSetting::from(size))]);
            Trial::new(case, Recorded { stream: StreamWorkload::addressed(size as usize, count) })
        };
        sizes.iter().map(trial).collect()
    }
}

/// Size of a recording in bytes: several times the size of the ring between bus and recorder.
const FILE_LEN: u64 = 200_000_000;

/// Approximate bytes that a recording needs per message in addition to the payload.
const HEAD_LEN: u64 = 300;

pub(super) const RECORDING: ScenarioInfo = ScenarioInfo {
    name: "recording",
    title: "Recording rate",
    about: "A stream at full rate, while `diligence record` writes all of it to a file. The share \
            of a processor is what the recorder needs to keep up.",
    metrics: &[
        Metric::MessagesPerS,
        Metric::MibPerS,
        Metric::LostMessages,
        Metric::WatcherPercent,
        Metric::WatcherCpuUs,
        Metric::BusCpuUs,
    ],
};
