//! Workloads in which one end or both ends are library programs.

use std::path::PathBuf;

use sys::clock;

use super::call::{CallPair, CallWorkload, ClientTime};
use super::turns::medians;
use super::usage::CallParts;
use super::{MIB, NS_PER_S, NS_PER_US, Requirements, Targets, Workload, WorkloadOutcome};
use crate::durations::Distribution;
use crate::library::{
    BuiltLibrary, CallReport, EmitReport, LANES_VARIABLE, LibraryRunError, ListenReport,
    ProgramMode, RunningProgram,
};
use crate::peer::{
    CallerPeer, CallerReport, EchoPeer, Emitter, ListenerPeer, Payload, RunningPeer, SignalContent,
    Stamps,
};
use crate::raw::sample_rule;
use crate::result::{Figures, Metric};
use crate::stage::{MeasureError, MeasurementStage};

/// Calls or signals between a library program and the raw client.
#[derive(Clone, Debug)]
pub(crate) struct ThroughLibrary {
    pub library: BuiltLibrary,
    pub way: LibraryRole,
    /// The number of calls or signals.
    pub count: u64,
    /// The size of the payload, in bytes.
    pub size: usize,
}

/// The role of the library program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LibraryRole {
    Calls,
    Serves,
    Emits,
    Listens,
}

impl Workload for ThroughLibrary {
    fn requirements(&self) -> Requirements {
        Requirements::of(Targets::Buses)
    }

    fn measure(&self, stage: &MeasurementStage<'_>) -> Result<WorkloadOutcome, MeasureError> {
        let figures = match self.way {
            LibraryRole::Calls => self.calls(stage),
            LibraryRole::Serves => self.serves(stage),
            LibraryRole::Emits => self.emits(stage),
            LibraryRole::Listens => self.listens(stage),
        };
        figures.map(WorkloadOutcome::from)
    }
}

impl ThroughLibrary {
    fn start(
        &self,
        stage: &MeasurementStage<'_>,
        mode: &ProgramMode,
    ) -> Result<RunningProgram, LibraryRunError> {
        RunningProgram::start(stage.placed(self.library.command(mode)))
    }

    fn calls(&self, stage: &MeasurementStage<'_>) -> Result<Figures, MeasureError> {
        let calls = self.turn_calls();
        let mut raw = calls.raw_pair(stage)?;
        let echo = stage.start(calls.raw_echo(stage))?;
        let mut caller = self.start(stage, &calls.mode(stage.bus_address()?, echo.name()))?;
        let client = ClientTime::begin(caller.pid());
        let figures = in_turns(&mut raw.caller, Compared::ADDED, || {
            caller.begin();
            Ok(caller.report(stage.stop.left())?)
        })?;
        Ok(with_time(figures, client, TURNS * calls.count))
    }

    fn serves(&self, stage: &MeasurementStage<'_>) -> Result<Figures, MeasureError> {
        let calls = self.turn_calls();
        let mut raw = calls.raw_pair(stage)?;
        let mode = ProgramMode::Serve { address: stage.bus_address()?.to_owned() };
        let service = self.start(stage, &mode)?;
        let mut caller = stage.start(calls.raw_caller(stage, service.name()))?;
        let client = ClientTime::begin(service.pid());
        let figures = in_turns(&mut raw.caller, Compared::ADDED, || raw_turn(&mut caller))?;
        let calls = calls.raw();
        Ok(with_time(figures, client, TURNS * (calls.count + calls.warm_up())))
    }

    const fn turn_calls(&self) -> TurnCalls {
        TurnCalls::new(self.count, self.size)
    }

    fn emits(&self, stage: &MeasurementStage<'_>) -> Result<Figures, MeasureError> {
        let mut listener = stage.start(ListenerPeer::of_stream(
            &stage.endpoint,
            vec![sample_rule()],
            self.count,
            Stamps::On,
        ))?;
        let address = stage.bus_address()?.to_owned();
        let mode = ProgramMode::Emit { address, count: self.count, size: self.size };
        let mut emitter = self.start(stage, &mode)?;
        let client = ClientTime::begin(emitter.pid());
        let begun_ns = clock::monotonic().as_nanos() as u64;
        emitter.begin();
        let emitted: EmitReport = emitter.report(stage.stop.left())?;
        let received = listener.finish()?;
        let delays =
            received.delays.ok_or(MeasureError::Lost { sent: emitted.sent, received: 0 })?;
        let report = ListenReport {
            received: received.received,
            elapsed_ns: received.last_ns.saturating_sub(begun_ns),
            delay_mean_ns: delays.mean_ns as u64,
            delay_p99_ns: delays.p99_ns,
            bytes: received.received * self.size as u64,
        };
        let mut figures = self.listen_figures(&report);
        figures.insert(Metric::SendTimeouts, emitted.timeouts as f64);
        Ok(with_time(figures, client, self.count))
    }

    fn listens(&self, stage: &MeasurementStage<'_>) -> Result<Figures, MeasureError> {
        let mut emitter = stage.start(Emitter::of_stream(
            &stage.endpoint,
            String::new(),
            SignalContent::Bytes { size: self.size, stamps: Stamps::On },
            self.count,
        ))?;
        let mode = ProgramMode::Listen {
            address: stage.bus_address()?.to_owned(),
            sender: emitter.name().to_owned(),
            count: self.count,
        };
        let mut listener = self.start(stage, &mode)?;
        let client = ClientTime::begin(listener.pid());
        emitter.begin()?;
        let emitted = emitter.finish()?;
        let report: ListenReport = listener.report(stage.stop.left())?;
        let mut figures = self.listen_figures(&report);
        figures.insert(Metric::SendTimeouts, emitted.timeouts as f64);
        Ok(with_time(figures, client, self.count))
    }

    /// Converts the report of a listener into figures.
    fn listen_figures(&self, report: &ListenReport) -> Figures {
        let seconds = report.elapsed_ns as f64 / NS_PER_S;
        Figures::from([
            (Metric::MessagesPerS, report.received as f64 / seconds),
            (Metric::MibPerS, report.bytes as f64 / seconds / MIB),
            (Metric::DelayMeanUs, report.delay_mean_ns as f64 / NS_PER_US),
            (Metric::DelayP99Us, report.delay_p99_ns as f64 / NS_PER_US),
            (Metric::ReceivedPercent, report.received as f64 / self.count as f64 * 100.0),
        ])
    }
}

/// The calls of a turn of [`in_turns`], with or without a library.
#[derive(Clone, Copy, Debug)]
struct TurnCalls {
    /// The number of measured calls.
    count: u64,
    /// The length of the text, in bytes.
    size: usize,
}

impl TurnCalls {
    /// The calls of one turn, of `count` calls in total.
    const fn new(count: u64, size: usize) -> Self {
        Self { count: count.div_ceil(TURNS), size }
    }

    /// How a library program makes them.
    fn mode(self, address: &str, destination: &str) -> ProgramMode {
        let (address, destination) = (address.to_owned(), destination.to_owned());
        ProgramMode::Call { address, destination, count: self.count, length: self.size }
    }

    /// The calls without a library.
    fn raw(self) -> CallWorkload {
        let payload = Payload::Text("x".repeat(self.size));
        CallWorkload { payload, ..CallWorkload::ping_pong(0, self.count) }
    }

    /// A caller and a service without a library. The service can answer only one caller.
    fn raw_pair(self, stage: &MeasurementStage<'_>) -> Result<CallPair, MeasureError> {
        let echo = stage.start(self.raw_echo(stage))?;
        let caller = stage.start(self.raw_caller(stage, echo.name()))?;
        Ok(CallPair { echo, caller })
    }

    fn raw_echo(self, stage: &MeasurementStage<'_>) -> EchoPeer {
        EchoPeer { calls: None, ..self.raw().echo(stage, 0) }
    }

    fn raw_caller(self, stage: &MeasurementStage<'_>, destination: &str) -> CallerPeer {
        let calls = self.raw();
        CallerPeer { turns: TURNS, ..calls.caller(stage, destination, calls.warm_up()) }
    }
}

/// How the two halves of a turn are compared: a metric, and its figure for the median round trips
/// without and through the library, in nanoseconds.
struct Compared {
    metric: Metric,
    figure: fn(f64, f64) -> f64,
}

impl Compared {
    const ADDED: Self =
        Self { metric: Metric::LibraryUs, figure: |raw, through| (through - raw) / NS_PER_US };
    const RATIO: Self = Self { metric: Metric::ToSocket, figure: |raw, through| through / raw };
}

/// Measures calls without a library and calls through it in turns, and returns the medians over the
/// turns. The state of the machine changes the time of a call by more than most libraries do; both
/// halves of a turn find nearly the same state.
fn in_turns(
    raw: &mut RunningPeer<CallerPeer>,
    Compared { metric, figure }: Compared,
    mut through_library: impl FnMut() -> Result<CallReport, MeasureError>,
) -> Result<Figures, MeasureError> {
    let mut turn = || {
        let without = raw_turn(raw)?;
        let through = through_library()?;
        let mut figures = call_figures(&through);
        figures.insert(metric, figure(without.p50_ns as f64, through.p50_ns as f64));
        Ok(figures)
    };
    let turns = (0..TURNS).map(|_| turn()).collect::<Result<Vec<_>, MeasureError>>()?;
    Ok(medians(&turns))
}

fn raw_turn(caller: &mut RunningPeer<CallerPeer>) -> Result<CallReport, MeasureError> {
    caller.begin()?;
    let CallerReport { elapsed_ns, round_trips, .. } = caller.finish()?;
    let trips = round_trips.expect("one call at a time has a duration");
    let Distribution { count: calls, p50_ns, p99_ns, .. } = trips;
    Ok(CallReport { calls, elapsed_ns, p50_ns, p99_ns })
}

/// The number of turns of [`in_turns`].
const TURNS: u64 = 20;

/// Calls between two programs of one library.
#[derive(Clone, Debug)]
pub(crate) struct BetweenLibraries {
    pub library: BuiltLibrary,
    /// The folder of a shared library that replaces the one of the system in both programs.
    pub linked: Option<PathBuf>,
    pub route: LibraryRoute,
    /// The number of calls.
    pub count: u64,
    /// The length of the text, in bytes.
    pub size: usize,
}

/// The way of the messages between two library programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LibraryRoute {
    /// All messages pass the bus.
    Bus,
    /// Both programs ask for lanes. If they get none, the measurement fails.
    Lane,
}

impl BetweenLibraries {
    fn start(
        &self,
        stage: &MeasurementStage<'_>,
        mode: &ProgramMode,
    ) -> Result<RunningProgram, LibraryRunError> {
        let mut command = self.library.command(mode);
        if self.route == LibraryRoute::Lane {
            command.env(LANES_VARIABLE, "1");
        }
        if let Some(folder) = &self.linked {
            command.env("LD_LIBRARY_PATH", folder);
        }
        RunningProgram::start(stage.placed(command))
    }
}

impl Workload for BetweenLibraries {
    fn requirements(&self) -> Requirements {
        Requirements::of(match self.route {
            LibraryRoute::Bus => Targets::Buses,
            LibraryRoute::Lane => Targets::OurBus,
        })
    }

    fn measure(&self, stage: &MeasurementStage<'_>) -> Result<WorkloadOutcome, MeasureError> {
        let calls = TurnCalls::new(self.count, self.size);
        let mut raw = calls.raw_pair(&stage.without_bus())?;
        let address = stage.bus_address()?;
        let service = self.start(stage, &ProgramMode::Serve { address: address.to_owned() })?;
        let mut caller = self.start(stage, &calls.mode(address, service.name()))?;
        let parts = CallParts {
            caller: caller.pid(),
            service: service.pid(),
            bus: stage.carrier,
            proxy: None,
        };
        let before = parts.usage();
        let mut figures = in_turns(&mut raw.caller, Compared::RATIO, || {
            caller.begin();
            Ok(caller.report(stage.stop.left())?)
        })?;
        let used = parts.used_since(before, TURNS * calls.count);
        let passed_the_bus = |switches| switches > BUS_SWITCHES_ON_LANE_MAX;
        if self.route == LibraryRoute::Lane && used.bus_switches.is_some_and(passed_the_bus) {
            return Err(MeasureError::NoLane);
        }
        figures.extend(used.figures());
        Ok(figures.into())
    }
}

/// The context switches of the bus for each call on a lane: nearly none.
const BUS_SWITCHES_ON_LANE_MAX: f64 = 0.5;

fn call_figures(report: &CallReport) -> Figures {
    let per_second = report.calls as f64 / (report.elapsed_ns as f64 / NS_PER_S);
    Figures::from([
        (Metric::RoundTripUs, report.p50_ns as f64 / NS_PER_US),
        (Metric::RoundTripP99Us, report.p99_ns as f64 / NS_PER_US),
        (Metric::CallsPerS, per_second),
    ])
}

fn with_time(mut figures: Figures, client: ClientTime, count: u64) -> Figures {
    figures.extend(client.end(count).map(|time| (Metric::ClientCpuUs, time)));
    figures
}
