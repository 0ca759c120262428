//! The environment of measurements: processors, files, time limits, and how peers are started.

use std::cell::Cell;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::rc::Rc;
use std::time::Duration;

use sys::private_directory::PrivateDirectory;
use sys::process::{self, Usage};
use sys::rlimit::OpenFiles;
use sys::scheduling::{self, ProcessorSet};
use sys::signals::{ProcessSignal, SignalSource};
use sys::spawn::ChildSetup;

use crate::buses::directory::private_directory;
use crate::library::LibraryRunError;
use crate::peer::{PeerError, RunningPeer, WorkloadRole};
use crate::placement::{Placement, ProcessPart};
use crate::raw::{Endpoint, RawError};
use crate::stop::{StopCondition, WaitError};

/// The environment shared by all measurements of a run.
#[derive(Debug)]
pub struct MeasurementSite {
    program: PathBuf,
    directory: PrivateDirectory,
    placement: Placement,
    /// The processors that this process may use, at least one.
    allowed: Vec<usize>,
    /// The time limit of a measurement.
    limit: Duration,
    signals: Option<Rc<SignalSource>>,
    sockets: Cell<u64>,
}

/// The environment of one measurement: the carrier of its messages, and how peers are started.
#[derive(Debug)]
pub(crate) struct MeasurementStage<'s> {
    /// The environment shared by all measurements.
    pub(crate) site: &'s MeasurementSite,
    pub(crate) endpoint: Endpoint,
    /// The process that carries the messages, if there is one.
    pub(crate) carrier: Option<u32>,
    /// The configuration file of the carrier, which no other process uses and which a workload may
    /// change temporarily.
    pub(crate) configuration: Option<PathBuf>,
    /// The deadline of the measurement.
    pub(crate) stop: StopCondition,
}

impl MeasurementSite {
    /// Creates an environment in which peers are processes of `program` and a measurement may take
    /// as long as `limit`. A signal in `signals` ends the run.
    ///
    /// Raises the limit of open files of this process, for the processes that it starts.
    ///
    /// # Errors
    ///
    /// Fails if the limit of open files cannot be raised, the directory for socket files cannot be
    /// created, or the processors of this process cannot be read.
    pub fn new(
        program: PathBuf,
        placement: Placement,
        limit: Duration,
        signals: Option<Rc<SignalSource>>,
    ) -> io::Result<Self> {
        OpenFiles::raise()?;
        let directory = private_directory()?;
        let allowed = scheduling::own_processors()?.iter().collect();
        let sockets = Cell::new(0);
        Ok(Self { program, directory, placement, allowed, limit, signals, sockets })
    }

    /// Returns the deadline of a measurement that starts now.
    pub(crate) fn stop(&self) -> StopCondition {
        StopCondition::new(self.limit, self.signals.clone())
    }

    /// The only processor that a process may use; `None` if it may use any.
    pub(crate) fn processor(&self, part: ProcessPart) -> Option<usize> {
        self.placement.processor(part, &self.allowed)
    }

    /// Returns all processors that processes of a measurement may use.
    pub(crate) fn processors(&self) -> ProcessorSet {
        let parts = [ProcessPart::Bus, ProcessPart::Peer].map(|part| self.processor(part));
        let chosen = match parts {
            [Some(bus), Some(peer)] => ProcessorSet::new([bus, peer]),
            _ => ProcessorSet::new(self.allowed.iter().copied()),
        };
        chosen.expect("the kernel has named them, and at least one")
    }

    /// Returns the path of a file that does not exist yet.
    pub(crate) fn new_file(&self, name: &str) -> PathBuf {
        let number = self.sockets.replace(self.sockets.get() + 1);
        self.directory.path().join(format!("{name}{number}"))
    }

    /// Returns a command of this program without arguments.
    pub(crate) fn command(&self) -> Command {
        Command::new(&self.program)
    }

    /// Starts a process of this program in the given role.
    pub(crate) fn start<R: WorkloadRole>(
        &self,
        part: ProcessPart,
        role: R,
        stop: &StopCondition,
    ) -> Result<RunningPeer<R>, MeasureError> {
        let mut command = self.command();
        self.place(part, &mut command);
        Ok(RunningPeer::start(command, stop.clone(), role)?)
    }

    /// Configures a command so that its process runs where the placement says, and ends with this
    /// process.
    fn place(&self, part: ProcessPart, command: &mut Command) {
        let setup = ChildSetup::new().end_with_parent(ProcessSignal::Terminate);
        let only = self.processor(part).and_then(ProcessorSet::one);
        let setup = match only {
            Some(only) => setup.processors(only),
            None => setup,
        };
        setup.install(command);
    }
}

impl<'s> MeasurementStage<'s> {
    /// Starts a peer where the placement says, and waits until it is ready.
    pub(crate) fn start<R: WorkloadRole>(&self, role: R) -> Result<RunningPeer<R>, MeasureError> {
        self.site.start(ProcessPart::Peer, role, &self.stop)
    }

    /// Configures a command so that its process runs where the placement says for peers, and ends
    /// with this process.
    pub(crate) fn placed(&self, mut command: Command) -> Command {
        self.site.place(ProcessPart::Peer, &mut command);
        command
    }

    pub(crate) fn bus_address(&self) -> Result<&str, MeasureError> {
        match &self.endpoint {
            Endpoint::Bus(address) => Ok(address),
            Endpoint::Floor(_) | Endpoint::Direct(_) => Err(MeasureError::NoBus),
        }
    }

    /// The environment for peers that are connected to each other without a bus.
    pub(crate) fn without_bus(&self) -> Self {
        let Self { site, stop, .. } = self;
        let endpoint = Endpoint::Direct(site.new_file("direct"));
        Self { site, endpoint, carrier: None, configuration: None, stop: stop.clone() }
    }

    /// Returns the resource usage of the carrier so far.
    pub(crate) fn carrier_usage(&self) -> Option<Usage> {
        process::usage(self.carrier?)
    }

    /// Returns the processor time that the carrier has used since `before`, in microseconds per
    /// unit of work.
    pub(crate) fn carrier_time_since(&self, before: Option<Usage>, count: u64) -> Option<f64> {
        let used = self.carrier_usage()?.processor_time.saturating_sub(before?.processor_time);
        Some(used.as_nanos() as f64 / 1e3 / count as f64)
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum MeasureError {
    #[error(transparent)]
    Peer(#[from] PeerError),
    #[error(transparent)]
    Library(#[from] LibraryRunError),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Raw(#[from] RawError),
    #[error(transparent)]
    Wait(#[from] WaitError),
    #[error("this workload requires a message bus")]
    NoBus,
    #[error("the programs have no lane: the bus passes their messages")]
    NoLane,
    #[error("only {received} of {sent} messages arrived")]
    Lost { sent: u64, received: u64 },
    #[error("{0}")]
    Unable(String),
}
