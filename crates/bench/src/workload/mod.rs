//! Workloads of measurements, on any carrier of messages.
//!
//! A [`scenario`](crate::scenario) is a list of workloads with their
//! [`BenchCase`](crate::result::BenchCase)s.

mod burst;
mod call;
mod clients;
mod counters;
mod flood;
mod idle;
mod inspected;
mod library;
mod limited;
mod observed;
mod prioritized;
mod reexec;
mod repeated;
mod sandboxed;
mod stream;
mod system_calls;
mod turns;
mod usage;

use std::fmt;

pub(crate) use burst::{Burst, Inspection};
pub(crate) use call::CallWorkload;
pub(crate) use clients::ConcurrentClients;
pub(crate) use flood::{FloodSink, FloodWorkload};
pub(crate) use idle::{Bystanders, WithBystanders};
pub(crate) use inspected::Inspected;
pub(crate) use library::{BetweenLibraries, LibraryRole, LibraryRoute, ThroughLibrary};
pub(crate) use limited::{OwnBusOnly, SingleMetric};
pub(crate) use observed::{CountedWorkload, ObservedWorkload, ObserverKind, Recorded};
pub(crate) use prioritized::{BusPriority, Prioritized};
pub(crate) use reexec::ReexecWorkload;
pub(crate) use repeated::{ConnectWorkload, NameCycleWorkload};
pub(crate) use sandboxed::{SandboxProxy, SandboxedCalls};
pub(crate) use stream::{StreamRecipients, StreamWorkload};

use crate::body_validation::BenchBodyValidation;
use crate::raw::ReadBuffer;
use crate::result::{Figures, ProcessTrack};
use crate::stage::{MeasureError, MeasurementStage};

/// A unit of work that can be measured.
pub(crate) trait Workload: fmt::Debug {
    /// The requirements for the carrier of its messages.
    fn requirements(&self) -> Requirements;

    /// Runs the workload once, and returns its figures.
    fn measure(&self, stage: &MeasurementStage<'_>) -> Result<WorkloadOutcome, MeasureError>;

    /// Runs the workload again with instruments that disturb it too much for timing, and returns
    /// their figures. A figure that cannot be obtained is a note, not an error.
    fn inspect(&self, _stage: &MeasurementStage<'_>) -> Result<WorkloadOutcome, MeasureError> {
        Ok(WorkloadOutcome::default())
    }
}

/// The requirements of a workload for the carrier of its messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Requirements {
    /// The carriers that support the workload.
    pub targets: Targets,
    /// How long one carrier is used.
    pub use_of_carrier: Use,
    /// Whether the bus validates the bodies of messages.
    pub body_validation: BenchBodyValidation,
    /// The number of bytes that the clients, and therefore a relay, read at once.
    pub read_buffer: ReadBuffer,
}

/// The carriers that support a workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Targets {
    /// Buses, the process that only reads and writes, and two processes without a carrier.
    Anything,
    /// Buses, and the process that only reads and writes.
    Carriers,
    Buses,
    OurBus,
}

/// How long one carrier is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Use {
    Repeated,
    /// For one round, because the workload leaves state behind.
    Single,
}

impl Requirements {
    /// Returns the default requirements, with these targets.
    pub(crate) const fn of(targets: Targets) -> Self {
        Self {
            targets,
            use_of_carrier: Use::Repeated,
            body_validation: BenchBodyValidation::On,
            read_buffer: ReadBuffer::Ours,
        }
    }
}

/// The results of a measurement.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct WorkloadOutcome {
    pub figures: Figures,
    /// The intervals in which each process ran, if they were recorded.
    pub timeline: Option<Vec<ProcessTrack>>,
    /// The results that could not be obtained, one sentence each.
    pub notes: Vec<String>,
}

impl From<Figures> for WorkloadOutcome {
    fn from(figures: Figures) -> Self {
        Self { figures, ..Self::default() }
    }
}

impl WorkloadOutcome {
    pub(crate) fn extend(&mut self, other: Self) {
        self.figures.extend(other.figures);
        self.timeline = other.timeline.or_else(|| self.timeline.take());
        self.notes.extend(other.notes);
    }
}

pub(crate) const MIB: f64 = 1024.0 * 1024.0;
pub(crate) const NS_PER_US: f64 = 1e3;
pub(crate) const NS_PER_MS: f64 = 1e6;
pub(crate) const NS_PER_S: f64 = 1e9;
