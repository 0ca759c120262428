//! `diligence bench`: measures the performance of buses, side by side.
//!
//! Each scenario of [`bench::scenario`] is a command, and its fields are options. This module adds
//! the options of all scenarios: which buses, how many rounds, where the results go.

mod error;
mod measure;
mod render;

use std::process::ExitCode;

use bench::scenario::{
    self, Clients, Compare, ConnectScenario, FanOut, FloodScenario, Floor, Idle, LanesScenario,
    NamesScenario, PingPong, Pipeline, PriorityScenario, Recording, ReexecScenario, RulesScenario,
    SandboxScenario, Scenario, SignalsScenario, TraceScenario, Validation, VolumesScenario,
};
use clap::{Args, Subcommand};
pub(crate) use error::BenchError;
use measure::MeasureOptions;
use render::Render;

/// Arguments of `diligence bench`.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    task: BenchTask,
}

#[derive(Debug, Subcommand)]
enum BenchTask {
    /// One row of each scenario, on every bus: the whole picture in minutes
    Compare(MeasureArgs<Compare>),
    /// Every scenario with its default options
    All(MeasureArgs<All>),
    /// The limit for any bus: bare sockets, and a process that only reads and writes
    Floor(MeasureArgs<Floor>),
    /// Calls of many sizes, one after the other
    PingPong(MeasureArgs<PingPong>),
    /// Signals at full rate
    Signals(MeasureArgs<SignalsScenario>),
    /// A storm of PropertiesChanged signals, as from a storage daemon with 130,000 volumes
    Volumes(MeasureArgs<VolumesScenario>),
    /// Signals to many recipients, with their context switches and system calls
    FanOut(MeasureArgs<FanOut>),
    /// Signals to many recipients, with a bus of higher scheduling priority
    Priority(MeasureArgs<PriorityScenario>),
    /// Calls on a bus with thousands of idle connections
    Idle(MeasureArgs<Idle>),
    /// Signals among thousands of match rules that do not match
    Rules(MeasureArgs<RulesScenario>),
    /// The cost of validating message bodies, in the bus and in the clients
    Validation(MeasureArgs<Validation>),
    /// Several calls in flight at once
    Pipeline(MeasureArgs<Pipeline>),
    /// Connecting and saying Hello, one connection at a time
    Connect(MeasureArgs<ConnectScenario>),
    /// Requesting and releasing names
    Names(MeasureArgs<NamesScenario>),
    /// Calls while the program of the bus is replaced
    Reexec(MeasureArgs<ReexecScenario>),
    /// Calls while another client floods the bus
    Flood(MeasureArgs<FloodScenario>),
    /// The cost of observation, by the bus's own trace and by monitors
    Trace(MeasureArgs<TraceScenario>),
    /// The rate at which a stream can be recorded, and the losses
    Recording(MeasureArgs<Recording>),
    /// Calls from a sandbox, behind a proxy or in a container of the bus
    Sandbox(MeasureArgs<SandboxScenario>),
    /// Calls between two programs over the bus and on a lane, a direct socket
    Lanes(MeasureArgs<LanesScenario>),
    /// Calls and signals with several client libraries
    Clients(MeasureArgs<Clients>),
    /// Make tables, an HTML page or a Markdown document from saved results
    Render(Render),
}

/// A scenario with all options.
#[derive(Debug, Args)]
struct MeasureArgs<S: Args> {
    #[command(flatten)]
    scenario: S,
    #[command(flatten)]
    options: MeasureOptions,
}

/// The command that runs every scenario, which has no options of its own.
#[derive(Debug, Args)]
struct All {}

impl<S: Args + Scenario + 'static> MeasureArgs<S> {
    fn run(self) -> Result<ExitCode, BenchError> {
        measure::run(vec![Box::new(self.scenario)], &self.options)
    }
}

impl BenchArgs {
    /// Runs the measurements, or renders saved results.
    pub(crate) fn run(self) -> Result<ExitCode, BenchError> {
        self.task.run()
    }
}

impl BenchTask {
    fn run(self) -> Result<ExitCode, BenchError> {
        match self {
            Self::Compare(measure) => measure.run(),
            Self::All(measure) => measure::run(scenario::all(), &measure.options),
            Self::Floor(measure) => measure.run(),
            Self::PingPong(measure) => measure.run(),
            Self::Signals(measure) => measure.run(),
            Self::Volumes(measure) => measure.run(),
            Self::FanOut(measure) => measure.run(),
            Self::Priority(measure) => measure.run(),
            Self::Idle(measure) => measure.run(),
            Self::Rules(measure) => measure.run(),
            Self::Validation(measure) => measure.run(),
            Self::Pipeline(measure) => measure.run(),
            Self::Connect(measure) => measure.run(),
            Self::Names(measure) => measure.run(),
            Self::Reexec(measure) => measure.run(),
            Self::Flood(measure) => measure.run(),
            Self::Trace(measure) => measure.run(),
            Self::Recording(measure) => measure.run(),
            Self::Sandbox(measure) => measure.run(),
            Self::Lanes(measure) => measure.run(),
            Self::Clients(measure) => measure.run(),
            Self::Render(render) => render::run(&render),
        }
    }
}

const LONG_HELP: &str = "\
Each scenario repeats an experiment; its options have the parameters of that experiment as defaults. \
All buses are started with the same configuration, each in its own directory, and stopped at the end. \
A bus that is not installed is reported, and the others are measured. The buses take turns within each \
round; figures are medians over the rounds. Ctrl-C ends a run and keeps its results so far.

Sizes are payload sizes. The reply to a call carries the payload back, except in pipeline and trace, \
and in ping-pong with --reply=empty. The sentences under a table are computed from its figures. A \
difference smaller than the spread of the rounds counts as noise. With fewer than three rounds, \
there is no comparison.

The exit status is 0 if everything was measured, 1 if something could not be measured, and 2 if the \
command line is wrong.";
