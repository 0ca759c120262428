//! Scenarios of calls: sequential, pipelined, with and without validation, and with other clients
//! on the bus.

use clap::Args;

use super::words::{self, counted, size_label};
use super::{Effort, LibraryBuilder, Scenario, Subjects, Trial};
use crate::body_validation::BenchBodyValidation;
use crate::peer::{Payload, ReplyPayload};
use crate::raw::ReadBuffer;
use crate::result::{BenchCase, CaseSetting, Metric};
use crate::scenario_info::ScenarioInfo;
use crate::workload::{self, Bystanders, CallWorkload, FloodSink, Inspected, WithBystanders};

/// The `ping-pong` scenario: sequential calls of all sizes.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct PingPong {
    /// Sizes of the payload, in bytes [default: 1,3,10,31,100,... up to 10000000]
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = words::size)]
    pub(crate) sizes: Option<Vec<u64>>,
    /// Sizes of the read buffers of the two processes: bytes, or `ours` for everything that has
    /// arrived, up to the whole message [default: 2048,65536,ours]
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = words::read_buffer)]
    pub(crate) read_buffers: Option<Vec<ReadBuffer>>,
    /// Payload of the replies [default: echo]
    #[arg(long, value_name = "WHAT", value_enum)]
    pub(crate) reply: Option<ReplyPayload>,
    /// Number of calls of each size [default: 5000, fewer of large calls]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) count: Option<u64>,
}

impl Scenario for PingPong {
    fn info(&self) -> &'static ScenarioInfo {
        &PING_PONG
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
                let count = effort.choose(self.count, call_count(size), 50);
                let buffer = words::read_buffer_word(read_buffer);
                let label = match read_buffers[..] {
                    [_] => size_label(size),
                    _ => {
                        format!("{}, {}", size_label(size), words::read_buffer_label(&buffer))
                    }
                };
                let label = match answer {
                    ReplyPayload::Echo => label,
                    ReplyPayload::Empty => format!("{label}, empty reply"),
                };
                let at = [
                    ("size", CaseSetting::from(size)),
                    ("read_buffer", (&*buffer).into()),
                    ("reply", answer.word().into()),
                ];
                let call = CallWorkload {
                    read_buffer,
                    answer,
                    ..CallWorkload::ping_pong(size as usize, count)
                };
                trials.push(Trial::new(BenchCase::new(label, at), call));
            }
        }
        trials
    }
}

/// The default read buffers: the size that libraries use, a larger one, and the one of this
/// project.
pub(super) fn read_buffers(effort: Effort, chosen: Option<&[ReadBuffer]>) -> Vec<ReadBuffer> {
    let all = [ReadBuffer::Bytes(2048), ReadBuffer::Bytes(65_536), ReadBuffer::Ours];
    effort.list(chosen, &all, &all[2..])
}

/// The number of calls of a size that take at most about a second.
pub(super) fn call_count(size: u64) -> u64 {
    (200_000_000 / size.max(1)).clamp(30, 5000)
}

/// Default sizes in bytes, two per power of ten.
const SIZES: [u64; 15] = [
    1, 3, 10, 31, 100, 316, 1000, 3162, 10_000, 31_622, 100_000, 316_227, 1_000_000, 3_162_277,
    10_000_000,
];

pub(super) const PING_PONG: ScenarioInfo = ScenarioInfo {
    name: "ping-pong",
    title: "Sequential calls",
    about: "A client calls a service and waits for the reply, which carries the payload of the \
            call back (with --reply empty, it carries nothing). The size is the payload in one \
            direction; the transfer rate counts the payload that both ends receive.",
    metrics: &[
        Metric::RoundTripUs,
        Metric::MibPerS,
        Metric::RoundTripP90Us,
        Metric::RoundTripP99Us,
        Metric::BusCpuUs,
    ],
};

/// The `pipeline` scenario: several calls in flight.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct Pipeline {
    /// Numbers of calls in flight [default: 1,2,4,8,16,32,64,128]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = words::count)]
    pub(crate) in_flight: Option<Vec<u64>>,
    /// Number of calls [default: 20000]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) count: Option<u64>,
    /// Payload of each call, in bytes [default: 8]
    #[arg(long, value_name = "BYTES", value_parser = words::size)]
    pub(crate) size: Option<u64>,
}

impl Scenario for Pipeline {
    fn info(&self) -> &'static ScenarioInfo {
        &PIPELINE
    }

    fn trials(&self, effort: Effort, _: &mut LibraryBuilder<'_>) -> Vec<Trial> {
        let full = [1, 2, 4, 8, 16, 32, 64, 128];
        let all = effort.list(self.in_flight.as_deref(), &full, &[1, 32]);
        let trial = |&in_flight: &u64| {
            let count = effort.choose(self.count, 20_000, 200);
            let call = CallWorkload::one_way(self.size.unwrap_or(8) as usize, count);
            let label = format!("{} in flight", counted(in_flight, "call", "calls"));
            let at = [("in_flight", CaseSetting::from(in_flight))];
            Trial::new(BenchCase::new(label, at), CallWorkload { in_flight, ..call })
        };
        all.iter().map(trial).collect()
    }
}

pub(super) const PIPELINE: ScenarioInfo = ScenarioInfo {
    name: "pipeline",
    title: "Pipelined calls",
    about: "A client sends the next call without waiting for the previous reply. Replies are empty.",
    metrics: &[Metric::CallsPerS, Metric::BusCpuUs],
};

/// The `validation` scenario: the cost of body validation.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct Validation {
    /// Number of calls [default: 50000]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) count: Option<u64>,
    /// Text of each call [default: Hello world]
    #[arg(long, value_name = "TEXT")]
    pub(crate) text: Option<String>,
}

impl Scenario for Validation {
    fn info(&self) -> &'static ScenarioInfo {
        &VALIDATION
    }

    fn subjects(&self) -> Subjects {
        Subjects::Buses
    }

    fn trials(&self, effort: Effort, _: &mut LibraryBuilder<'_>) -> Vec<Trial> {
        use BenchBodyValidation::{Off, On};
        let cases = [
            ("in bus and clients", On, On),
            ("in the clients only", Off, On),
            ("in the bus only", On, Off),
            ("nowhere", Off, Off),
        ];
        let text = self.text.as_deref().unwrap_or("Hello world");
        let trial = |(label, bus_validation, body_validation)| {
            let payload = Payload::Text(text.to_owned());
            let count = effort.choose(self.count, 50_000, 50);
            let call = CallWorkload::ping_pong(0, count);
            let call = CallWorkload { payload, bus_validation, body_validation, ..call };
            let at = [
                ("bus", CaseSetting::from(on_or_off(bus_validation == On))),
                ("client", on_or_off(body_validation == On).into()),
            ];
            Trial::new(BenchCase::new(format!("checked {label}"), at), Inspected(call))
        };
        cases.into_iter().map(trial).collect()
    }
}

const fn on_or_off(is_on: bool) -> &'static str {
    if is_on { "on" } else { "off" }
}

pub(super) const VALIDATION: ScenarioInfo = ScenarioInfo {
    name: "validation",
    title: "Cost of body validation",
    about: "Calls with a short text, which the reply carries back, while the bus, the two clients, \
            both or neither validate the bodies of messages. Buses other than diligence always \
            validate. Copies and validations are per message (a call or a reply); for a bus that \
            does not count them, the figures come from a model of libdbus and dbus-daemon: 6 \
            copies and 3 validations.",
    metrics: &[
        Metric::RoundTripUs,
        Metric::CallsPerS,
        Metric::BusCpuUs,
        Metric::BusSystemCalls,
        Metric::KernelCopies,
        Metric::BusCopies,
        Metric::ModelCopies,
        Metric::Validations,
        Metric::ModelValidations,
    ],
};

/// The `idle` scenario: calls on a bus with many idle connections.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct Idle {
    /// Numbers of idle connections, each with three match rules [default: 0,10,100,1000,10000]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = words::count_or_none)]
    pub(crate) connections: Option<Vec<u64>>,
    /// Number of calls [default: 5000]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) count: Option<u64>,
}

impl Scenario for Idle {
    fn info(&self) -> &'static ScenarioInfo {
        &IDLE
    }

    fn subjects(&self) -> Subjects {
        Subjects::Buses
    }

    fn trials(&self, effort: Effort, _: &mut LibraryBuilder<'_>) -> Vec<Trial> {
        let full = [0, 10, 100, 1000, 10_000];
        let all = effort.list(self.connections.as_deref(), &full, &[0, 100]);
        let trial = |&connections: &u64| {
            let call = CallWorkload::ping_pong(8, effort.choose(self.count, 5000, 50));
            let label = counted(connections, "idle connection", "idle connections");
            let at = [("connections", CaseSetting::from(connections))];
            let bystanders = Bystanders::desktop(connections);
            Trial::new(BenchCase::new(label, at), WithBystanders { bystanders, workload: call })
        };
        all.iter().map(trial).collect()
    }
}

pub(super) const IDLE: ScenarioInfo = ScenarioInfo {
    name: "idle",
    title: "Calls with idle connections",
    about: "Calls of 8 bytes while other clients are connected to the same bus and idle. Each \
            idle client has three match rules, as a typical desktop program does.",
    metrics: &[
        Metric::RoundTripUs,
        Metric::RoundTripP99Us,
        Metric::BytesPerConnection,
        Metric::BusPeakMib,
        Metric::BusCpuUs,
    ],
};

/// The `flood` scenario: calls while another client floods the bus.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct FloodScenario {
    /// Number of calls [default: 2000]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) count: Option<u64>,
    /// Payload of each message of the flood, in bytes [default: 1000]
    #[arg(long, value_name = "BYTES", value_parser = words::size)]
    pub(crate) size: Option<u64>,
}

impl Scenario for FloodScenario {
    fn info(&self) -> &'static ScenarioInfo {
        &FLOOD
    }

    fn subjects(&self) -> Subjects {
        Subjects::Buses
    }

    fn trials(&self, effort: Effort, _: &mut LibraryBuilder<'_>) -> Vec<Trial> {
        let victim = CallWorkload::ping_pong(8, effort.choose(self.count, 2000, 50));
        let size = self.size.unwrap_or(1000) as usize;
        let case =
            |label: &str, flood: &str| BenchCase::new(label, [("flood", CaseSetting::from(flood))]);
        let flooded = |sink| workload::FloodWorkload { sink, size, victim: victim.clone() };
        vec![
            Trial::new(case("alone", "none"), victim.clone()),
            Trial::new(case("during a flood", "read"), flooded(FloodSink::Reader)),
            Trial::new(
                case("during a flood that is not read", "unread"),
                flooded(FloodSink::Sleeper),
            ),
        ]
    }
}

pub(super) const FLOOD: ScenarioInfo = ScenarioInfo {
    name: "flood",
    title: "Calls during a flood",
    about: "A client calls a service while another process sends messages at full rate to a third \
            process, which reads them or does not.",
    metrics: &[
        Metric::RoundTripUs,
        Metric::RoundTripP99Us,
        Metric::RoundTripMaxUs,
        Metric::CallsPerS,
    ],
};
