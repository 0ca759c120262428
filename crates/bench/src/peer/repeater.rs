//! The peer that repeats one action.

use serde::{Deserialize, Serialize};
use sys::clock;

use super::{Control, WorkloadRole};
use crate::durations::{Distribution, Durations};
use crate::raw::{RawConnection, RawError, Template};

/// Repeats an action on a bus, and measures the duration of each repetition.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Repeater {
    pub(crate) address: String,
    pub(crate) action: RepeatedAction,
    /// The number of repetitions before the measurement.
    pub(crate) warm_up: u64,
    pub(crate) count: u64,
}

/// The action of a [`Repeater`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RepeatedAction {
    /// Connects, calls Hello, and disconnects. The measurement ends with the reply to Hello.
    Connect,
    /// Requests a name and releases it. The measurement ends with the second reply.
    CycleName,
    /// Replaces the program of the bus. The measurement ends with the reply of the new program.
    Reexecute,
}

impl WorkloadRole for Repeater {
    const NAME: &str = "repeater";

    type Report = Distribution;

    fn play(self, control: &mut Control) -> Result<Distribution, RawError> {
        match self.action {
            RepeatedAction::Connect => {
                control.ready("")?;
                self.repeat(control, || RawConnection::to_bus(&self.address))
            }
            RepeatedAction::Reexecute => {
                let (mut connection, name) = RawConnection::to_bus(&self.address)?;
                control.ready(&name)?;
                let mut replace = Template::reexecute()?;
                self.repeat(control, || connection.ask(&mut replace))
            }
            RepeatedAction::CycleName => {
                let (mut connection, name) = RawConnection::to_bus(&self.address)?;
                control.ready(&name)?;
                let mut request = Template::driver("RequestName", &(CYCLED_NAME, 0u32))?;
                let mut release = Template::driver("ReleaseName", &(CYCLED_NAME,))?;
                self.repeat(control, || {
                    connection.ask(&mut request)?;
                    connection.ask(&mut release)
                })
            }
        }
    }
}

impl Repeater {
    fn repeat<T>(
        &self,
        control: &mut Control,
        mut action: impl FnMut() -> Result<T, RawError>,
    ) -> Result<Distribution, RawError> {
        control.wait()?;
        for _ in 0..self.warm_up {
            action()?;
        }
        let mut durations = Durations::new();
        for _ in 0..self.count {
            let start = clock::monotonic();
            let result = action()?;
            durations.record(clock::monotonic() - start);
            // Closes the connection outside of the measurement.
            drop(result);
        }
        Ok(durations.distribution())
    }
}

const CYCLED_NAME: &str = "org.diligence.Bench.Name";
