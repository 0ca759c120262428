//! Doing one thing with a bus again and again.

use serde::{Deserialize, Serialize};
use sys::clock;

use super::{Control, WorkloadRole};
use crate::durations::{Distribution, Durations};
use crate::raw::{RawConnection, RawError, Template};

/// Does something with a bus again and again, and measures how long each time takes.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Repeater {
    pub(crate) address: String,
    pub(crate) action: RepeatedAction,
    /// How often it is done before anything is measured.
    pub(crate) warm_up: u64,
    pub(crate) count: u64,
}

/// What a [`Repeater`] does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RepeatedAction {
    /// Connects, says Hello, and disconnects. What is measured ends with the reply to Hello.
    Connect,
    /// Takes a name and releases it. What is measured ends with the second reply.
    CycleName,
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
            // A connection is closed outside of what is measured.
            drop(result);
        }
        Ok(durations.distribution())
    }
}

const CYCLED_NAME: &str = "org.diligence.Bench.Name";
