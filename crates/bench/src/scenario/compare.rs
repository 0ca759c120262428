//! One row of each of the other scenarios.

use clap::Args;

use super::clients::text_call;
use super::rules::signal;
use super::{Pace, Scenario, Trial, Workshop, fan_out};
use crate::library::Library;
use crate::peer::{Content, Stamps};
use crate::result::{Case, Metric};
use crate::scenario_info::ScenarioInfo;
use crate::workload::{
    Burst, Bystanders, Call, Connect, Inspection, OnOurBus, Only, Recipients, Stream,
    ThroughLibrary, Way, WithBystanders, Workload,
};

/// One row of each of the other scenarios.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct Compare {}

impl Scenario for Compare {
    fn info(&self) -> &'static ScenarioInfo {
        &INFO
    }

    fn trials(&self, pace: Pace, workshop: &mut Workshop<'_>) -> Vec<Trial> {
        let mut trials = Vec::from(calls(pace));
        trials.extend(bursts(pace));
        trials.extend(streams(pace));
        trials.push(pipeline(pace));
        trials.extend(rules(pace));
        trials.push(connect(pace));
        trials.extend(idle(pace));
        trials.extend(clients(pace, workshop));
        trials
    }
}

fn row(label: &str, metric: Metric, workload: impl Workload + 'static) -> Trial {
    Trial::new(Case::new(label, []), Only { metric, workload })
}

fn calls(pace: Pace) -> [Trial; 3] {
    let sizes = [("call 8 B", 8, 10_000), ("call 32 KiB", 32 << 10, 3000)];
    let [small, medium] = sizes;
    [small, medium, ("call 1 MB", 1_000_000, 200)].map(|(label, size, count)| {
        let call = Call::ping_pong(size, pace.choose(None, count, 20));
        row(label, Metric::RoundTripUs, call)
    })
}

fn bursts(pace: Pace) -> [Trial; 3] {
    [("1 signal to 10", 1, 10), ("10 signals to 10", 10, 10), ("10 signals to 100", 10, 100)].map(
        |(label, signals, recipients)| {
            let bursts = pace.choose(None, fan_out::bursts(signals, recipients), 3);
            let inspection = Inspection::LeftOut;
            let burst = Burst { signals, recipients, size: 8, bursts, inspection };
            row(label, Metric::BurstUs, burst)
        },
    )
}

fn streams(pace: Pace) -> [Trial; 3] {
    [
        ("stream 100 B", 100, 200_000, Metric::MessagesPerS),
        ("stream 2 KiB", 2 << 10, 50_000, Metric::MibPerS),
        ("stream 64 KiB", 64 << 10, 5000, Metric::MibPerS),
    ]
    .map(|(label, size, count, metric)| {
        let content = Content::Bytes { size, stamps: Stamps::Off };
        let count = pace.choose(None, count, 500);
        row(label, metric, Stream { content, count, to: Recipients::Addressed })
    })
}

fn pipeline(pace: Pace) -> Trial {
    let call = Call::one_way(8, pace.choose(None, 50_000, 500));
    row("32 calls in flight", Metric::CallsPerS, Call { in_flight: 32, ..call })
}

fn rules(pace: Pace) -> [Trial; 2] {
    let many =
        pace.choose(None, ("signal with 10,000 rules", 10_000), ("signal with 500 rules", 500));
    [many, ("signal with 1 rule", 1)].map(|(label, rules)| {
        let workload = signal(pace.choose(None, 500, 10));
        let bystanders = Bystanders::rules(rules);
        row(label, Metric::BurstUs, WithBystanders { bystanders, workload })
    })
}

fn connect(pace: Pace) -> Trial {
    row("connect", Metric::ConnectUs, Connect { count: pace.choose(None, 1000, 20) })
}

fn idle(pace: Pace) -> [Trial; 2] {
    let connections = pace.choose(None, 4000, 100);
    let label = match pace {
        Pace::Full => "call among 4,000 idle",
        Pace::Quick => "call among 100 idle",
    };
    [(label, Metric::RoundTripUs), ("an idle connection with 3 rules", Metric::BytesPerConnection)]
        .map(|(label, metric)| {
            let workload = Call::ping_pong(8, pace.choose(None, 5000, 20));
            let bystanders = Bystanders::desktop(connections);
            row(label, metric, WithBystanders { bystanders, workload })
        })
}

/// The same call by a client with nothing in it, and by libraries.
fn clients(pace: Pace, workshop: &mut Workshop<'_>) -> Vec<Trial> {
    let (count, size) = (pace.choose(None, 10_000, 20), 11);
    let raw = OnOurBus(text_call(size, count));
    let mut rows = vec![row("text call, no library", Metric::RoundTripUs, raw)];
    for library in [Library::Diligence, Library::Libdbus, Library::SdBus, Library::GDBus] {
        let Some(ready) = workshop.library(library) else { continue };
        let label = match library {
            Library::Diligence => "text call, our library".to_owned(),
            _ => format!("text call, {library} {}", ready.version()),
        };
        let through = ThroughLibrary { library: ready, way: Way::Calls, count, size };
        rows.push(row(&label, Metric::RoundTripUs, OnOurBus(through)));
    }
    rows
}

pub(super) const INFO: ScenarioInfo = ScenarioInfo {
    name: "compare",
    title: "Side by side",
    about: "One row of each of the other scenarios: what a bus costs, and how near it is to the \
            floor. Replies carry the payload of the call back, except those of calls in flight.",
    metrics: &[
        Metric::RoundTripUs,
        Metric::BurstUs,
        Metric::MessagesPerS,
        Metric::MibPerS,
        Metric::CallsPerS,
        Metric::ConnectUs,
        Metric::BytesPerConnection,
    ],
};
