//! Taking names and giving them up.

use serde::{Deserialize, Serialize};
use sys::clock;

use super::{Control, Role};
use crate::durations::{Distribution, Durations};
use crate::raw::{Connection, RawError, Template};

/// Takes a name and gives it up, again and again.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct NameCycler {
    pub(crate) address: String,
    /// Times that are not measured, to begin with.
    pub(crate) warm_up: u64,
    pub(crate) count: u64,
}

impl Role for NameCycler {
    /// Taking a name and giving it up, both answered.
    type Report = Distribution;

    fn play(self, control: &mut Control) -> Result<Distribution, RawError> {
        let (mut connection, name) = Connection::to_bus(&self.address)?;
        control.ready(&name)?;
        let mut request = Template::driver("RequestName", &(NAME, 0u32))?;
        let mut release = Template::driver("ReleaseName", &(NAME,))?;
        control.wait()?;
        let mut cycle = || -> Result<(), RawError> {
            connection.ask(&mut request)?;
            connection.ask(&mut release)?;
            Ok(())
        };
        for _ in 0..self.warm_up {
            cycle()?;
        }
        let mut cycles = Durations::new();
        for _ in 0..self.count {
            let start = clock::monotonic();
            cycle()?;
            cycles.record(clock::monotonic() - start);
        }
        Ok(cycles.distribution())
    }
}

const NAME: &str = "org.diligence.Bench.Name";
