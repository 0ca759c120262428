//! The scenario with one row of each of the other scenarios.

use clap::Args;

use super::clients::text_call;
use super::signals::{bursts as burst_count, single_signals};
use super::{Effort, LibraryBuilder, Scenario, Trial};
use crate::library::Library;
use crate::peer::Payload;
use crate::result::{BenchCase, Metric};
use crate::scenario_info::ScenarioInfo;
use crate::workload::{
    Burst, Bystanders, CallWorkload, ConcurrentClients, ConnectWorkload, LibraryRole, OwnBusOnly,
    SingleMetric, StreamWorkload, ThroughLibrary, WithBystanders, Workload,
};

/// The `compare` scenario: one row of each of the other scenarios.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct Compare {}

impl Scenario for Compare {
    fn info(&self) -> &'static ScenarioInfo {
        &COMPARE
    }

    fn trials(&self, effort: Effort, libraries: &mut LibraryBuilder<'_>) -> Vec<Trial> {
        let mut trials = Vec::from(calls(effort));
        trials.extend(bursts(effort));
        trials.extend(streams(effort));
        trials.extend(pipelines(effort));
        trials.push(dictionaries(effort));
        trials.extend(crowds(effort));
        trials.extend(rules(effort));
        trials.push(connect(effort));
        trials.extend(idle(effort));
        trials.extend(clients(effort, libraries));
        trials
    }
}

fn row(label: &str, metric: Metric, workload: impl Workload + 'static) -> Trial {
    Trial::new(BenchCase::new(label, []), SingleMetric { metric, workload })
}

fn calls(effort: Effort) -> [Trial; 3] {
    let sizes = [("call 8 B", 8, 10_000), ("call 32 KiB", 32 << 10, 3000)];
    let [small, medium] = sizes;
    [small, medium, ("call 1 MB", 1_000_000, 200)].map(|(label, size, count)| {
        let call = CallWorkload::ping_pong(size, effort.choose(None, count, 20));
        row(label, Metric::RoundTripUs, call)
    })
}

fn bursts(effort: Effort) -> [Trial; 3] {
    [("1 signal to 10", 1, 10), ("10 signals to 10", 10, 10), ("10 signals to 100", 10, 100)].map(
        |(label, signals, recipients)| {
            let bursts = effort.choose(None, burst_count(signals, recipients), 3);
            row(label, Metric::BurstUs, Burst::new(signals, recipients, bursts))
        },
    )
}

fn streams(effort: Effort) -> [Trial; 3] {
    [
        ("stream 100 B", 100, 200_000, Metric::MessagesPerS),
        ("stream 2 KiB", 2 << 10, 50_000, Metric::MibPerS),
        ("stream 64 KiB", 64 << 10, 5000, Metric::MibPerS),
    ]
    .map(|(label, size, count, metric)| {
        row(label, metric, StreamWorkload::addressed(size, effort.choose(None, count, 500)))
    })
}

/// Calls that share a connection.
fn pipelines(effort: Effort) -> [Trial; 2] {
    let call = CallWorkload::one_way(8, effort.choose(None, 50_000, 500));
    let small = CallWorkload { in_flight: 32, ..call };
    let call = CallWorkload::ping_pong(16 << 10, effort.choose(None, 10_000, 200));
    let large = CallWorkload { in_flight: 100, ..call };
    // Without a bus, nothing would buffer 1.6 MB in both directions.
    let large = ConcurrentClients { clients: 1, calls: large };
    [
        row("32 calls in flight", Metric::CallsPerS, small),
        row("100 calls of 16 KiB in flight", Metric::CallsPerS, large),
    ]
}

fn dictionaries(effort: Effort) -> Trial {
    let payload = Payload::Dictionaries(100);
    let call = CallWorkload::ping_pong(0, effort.choose(None, 5000, 20));
    row("call with 100 variants", Metric::RoundTripUs, CallWorkload { payload, ..call })
}

/// Many clients at the same time, with the load and the memory of the bus.
fn crowds(effort: Effort) -> Vec<Trial> {
    let counts = effort.choose(None, [20, 100], [2, 4]);
    let rows = counts.into_iter().flat_map(|clients| {
        let metrics = [
            (", 16 KiB", Metric::CallsPerS),
            (": p99 of a call", Metric::RoundTripP99Us),
            (": bus time per call", Metric::BusCpuUs),
            (": peak memory", Metric::BusPeakMib),
        ];
        metrics.map(|(what, metric)| {
            let calls = CallWorkload::ping_pong(16 << 10, effort.choose(None, 500, 10));
            let workload = ConcurrentClients { clients, calls };
            row(&format!("{clients} clients{what}"), metric, workload)
        })
    });
    rows.collect()
}

fn rules(effort: Effort) -> [Trial; 2] {
    let many =
        effort.choose(None, ("signal with 10,000 rules", 10_000), ("signal with 500 rules", 500));
    [many, ("signal with 1 rule", 1)].map(|(label, rules)| {
        let workload = single_signals(effort.choose(None, 500, 10));
        let bystanders = Bystanders::rules(rules);
        row(label, Metric::BurstUs, WithBystanders { bystanders, workload })
    })
}

fn connect(effort: Effort) -> Trial {
    row("connect", Metric::ConnectUs, ConnectWorkload { count: effort.choose(None, 1000, 20) })
}

fn idle(effort: Effort) -> [Trial; 2] {
    let connections = effort.choose(None, 4000, 100);
    let label = match effort {
        Effort::Full => "call among 4,000 idle",
        Effort::Quick => "call among 100 idle",
    };
    [(label, Metric::RoundTripUs), ("an idle connection with 3 rules", Metric::BytesPerConnection)]
        .map(|(label, metric)| {
            let workload = CallWorkload::ping_pong(8, effort.choose(None, 5000, 20));
            let bystanders = Bystanders::desktop(connections);
            row(label, metric, WithBystanders { bystanders, workload })
        })
}

/// The same call by the raw client and by each library.
fn clients(effort: Effort, libraries: &mut LibraryBuilder<'_>) -> Vec<Trial> {
    let (count, size) = (effort.choose(None, 10_000, 20), 11);
    let raw = OwnBusOnly(text_call(size, count));
    let mut rows = vec![row("text call, no library", Metric::RoundTripUs, raw)];
    for library in [Library::Diligence, Library::Libdbus, Library::SdBus, Library::GDBus] {
        let Some(ready) = libraries.library(library) else { continue };
        let label = match library {
            Library::Diligence => "text call, our library".to_owned(),
            _ => format!("text call, {library} {}", ready.version),
        };
        let through = ThroughLibrary { library: ready, way: LibraryRole::Calls, count, size };
        rows.push(row(&label, Metric::RoundTripUs, OwnBusOnly(through)));
    }
    rows
}

pub(super) const COMPARE: ScenarioInfo = ScenarioInfo {
    name: "compare",
    title: "Side by side",
    about: "One row of each of the other scenarios: what a bus costs, and how close it comes to \
            the floor. Replies carry the payload of the call back, except replies to calls in flight.",
    metrics: &[
        Metric::RoundTripUs,
        Metric::RoundTripP99Us,
        Metric::BurstUs,
        Metric::MessagesPerS,
        Metric::MibPerS,
        Metric::CallsPerS,
        Metric::ConnectUs,
        Metric::BusCpuUs,
        Metric::BusPeakMib,
        Metric::BytesPerConnection,
    ],
};
