//! Workloads with a prioritized carrier.

use std::io;
use std::time::Duration;

use sys::scheduling::{self, Nice, Slice};

use super::{Requirements, Workload, WorkloadOutcome};
use crate::stage::{MeasureError, MeasurementStage};

/// A workload with a prioritized carrier.
#[derive(Clone, Debug)]
pub(crate) struct Prioritized<W> {
    pub priority: BusPriority,
    pub workload: W,
}

/// The scheduling priority of a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BusPriority {
    Nice(Nice),
    /// A hint for the length of its time slice, at the default nice value.
    Slice(Slice),
}

impl<W: Workload> Workload for Prioritized<W> {
    fn requirements(&self) -> Requirements {
        self.workload.requirements()
    }

    fn measure(&self, stage: &MeasurementStage<'_>) -> Result<WorkloadOutcome, MeasureError> {
        let unknown = || MeasureError::Unable("the process of this bus is unknown".to_owned());
        let pid = stage.carrier.ok_or_else(unknown)?;
        let before = scheduling::nice(pid)?;
        self.priority.set(pid).map_err(|error| refused(&error))?;
        let outcome = self.workload.measure(stage);
        // Restores the priority of a bus that was already running; others end soon.
        let restored = match self.priority {
            BusPriority::Nice(_) => scheduling::set_nice(pid, before),
            BusPriority::Slice(_) => scheduling::reset_slice(pid),
        };
        outcome.and_then(|outcome| restored.map(|()| outcome).map_err(MeasureError::Io))
    }
}

impl BusPriority {
    fn set(self, pid: u32) -> io::Result<()> {
        match self {
            Self::Nice(nice) => scheduling::set_nice(pid, nice),
            Self::Slice(slice) => scheduling::set_slice(pid, slice),
        }
    }

    /// A short label: `nice -5`, `slice 0.1 ms`.
    pub(crate) fn label(self) -> String {
        match self {
            Self::Nice(nice) => format!("nice {}", nice.get()),
            Self::Slice(slice) => format!("slice {} ms", milliseconds(slice.get())),
        }
    }
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

fn refused(error: &io::Error) -> MeasureError {
    MeasureError::Unable(match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "the system does not let this user raise priorities: run it as root, or with \
             CAP_SYS_NICE"
                .to_owned()
        }
        io::ErrorKind::Unsupported => {
            "this kernel has no hints for slices; Linux 6.12 and newer have".to_owned()
        }
        _ => format!("the priority of the bus cannot be set: {error}"),
    })
}
