//! Connecting and leaving.

use serde::{Deserialize, Serialize};
use sys::clock;

use super::{Control, Role};
use crate::durations::{Distribution, Durations};
use crate::raw::{Connection, RawError};

/// Connects to a bus, says Hello, and leaves, again and again.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Connector {
    pub(crate) address: String,
    /// Times that are not measured, to begin with.
    pub(crate) warm_up: u64,
    pub(crate) count: u64,
}

impl Role for Connector {
    /// From the start of a connection to the answer to its Hello.
    type Report = Distribution;

    fn play(self, control: &mut Control) -> Result<Distribution, RawError> {
        control.ready("")?;
        control.wait()?;
        for _ in 0..self.warm_up {
            Connection::to_bus(&self.address)?;
        }
        let mut connects = Durations::new();
        for _ in 0..self.count {
            let start = clock::monotonic();
            let connection = Connection::to_bus(&self.address)?;
            connects.record(clock::monotonic() - start);
            drop(connection);
        }
        Ok(connects.distribution())
    }
}
