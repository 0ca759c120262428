//! `diligence bench`: measures what a bus costs, side by side with others.
//!
//! A scenario of [`bench::scenario`] is a command, and its type is the options. What is here is
//! the rest: which buses, how often, where the results go.

mod error;
mod measure;
mod render;

use std::process::ExitCode;

use bench::scenario::{
    self, Clients, Compare, Connect, FanOut, Flood, Floor, Idle, Names, PingPong, Pipeline,
    Priority, Recording, Rules, Scenario, Signals, Trace, Validation, Volumes,
};
use clap::{Args, Subcommand};
use error::BenchError;
use measure::Options;
use render::Render;

use crate::output::failed;

/// What to measure.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct Bench {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// One row of each scenario, on every bus: the whole picture in minutes
    Compare(Measure<Compare>),
    /// Every scenario, one after the other
    All(Measure<All>),
    /// What no bus can beat: bare sockets, and a process that only reads and writes
    Floor(Measure<Floor>),
    /// Calls of all sizes, one after the other
    PingPong(Measure<PingPong>),
    /// Signals as fast as they can be sent
    Signals(Measure<Signals>),
    /// All volumes of a large storage system change at once
    Volumes(Measure<Volumes>),
    /// Signals to many recipients, with their context switches and system calls
    FanOut(Measure<FanOut>),
    /// The same by a bus that the scheduler prefers
    Priority(Measure<Priority>),
    /// Calls on a bus to which thousands of others are connected
    Idle(Measure<Idle>),
    /// Signals among thousands of match rules that do not match
    Rules(Measure<Rules>),
    /// What it costs to check bodies, in the bus and in the client
    Validation(Measure<Validation>),
    /// Several calls at once
    Pipeline(Measure<Pipeline>),
    /// Connecting and leaving
    Connect(Measure<Connect>),
    /// Names that come and go
    Names(Measure<Names>),
    /// Calls beside somebody who sends as fast as possible
    Flood(Measure<Flood>),
    /// What it costs to be watched: by the bus's own trace, and by monitors
    Trace(Measure<Trace>),
    /// How fast a stream can be recorded, and what is lost
    Recording(Measure<Recording>),
    /// The libraries by which programs use a bus
    Clients(Measure<Clients>),
    /// Make tables, a page and a document of saved results
    Render(Render),
}

/// A scenario with all options.
#[derive(Debug, Args)]
struct Measure<S: Args> {
    #[command(flatten)]
    scenario: S,
    #[command(flatten)]
    options: Options,
}

/// Every scenario, as it is if nothing is given.
#[derive(Debug, Args)]
struct All {}

impl<S: Args + Scenario + 'static> Measure<S> {
    fn run(self) -> Result<ExitCode, BenchError> {
        measure::run(vec![Box::new(self.scenario)], &self.options)
    }
}

impl Task {
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
            Self::Flood(measure) => measure.run(),
            Self::Trace(measure) => measure.run(),
            Self::Recording(measure) => measure.run(),
            Self::Clients(measure) => measure.run(),
            Self::Render(render) => render::run(&render),
        }
    }
}

/// Measures, or renders what was measured before.
pub(crate) fn run(bench: Bench) -> ExitCode {
    match bench.task.run() {
        Ok(code) => code,
        Err(BenchError::NobodyReads) => ExitCode::SUCCESS,
        Err(error) => failed("bench", &error, ExitCode::FAILURE),
    }
}

const LONG_HELP: &str = "\
Each scenario repeats an experiment, with its parameters if none are given. DefaultBuses are started with \
the same configuration, each in a directory of its own, and ended; one that is not installed is \
named, and the rest is measured. All take turns within each round; figures are medians over the \
rounds. Ctrl-C ends a run with what was measured so far.

Sizes are those of the payload. The reply to a call carries the payload back, except in pipeline and \
trace, and in ping-pong with --reply=empty. The sentences under a table are computed from its figures; \
a difference that is smaller than the spread of the rounds counts as noise, and fewer than three rounds \
are not compared.

The exit status is 0 when everything was measured, 1 when something could not be, and 2 when the \
command line is wrong.";
