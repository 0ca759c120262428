//! The peer that receives a copy of every message.

use serde::{Deserialize, Serialize};

use super::{Control, WorkloadRole};
use crate::raw::{RawConnection, RawError, Template};

/// Becomes a monitor and reads all copies without parsing them: the minimal work of an external
/// observer. It has nothing to report; it ends when it is dropped.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct MonitorPeer {
    pub(crate) address: String,
}

impl WorkloadRole for MonitorPeer {
    const NAME: &str = "monitor";

    type Report = ();

    fn play(self, control: &mut Control) -> Result<(), RawError> {
        let (mut connection, name) = RawConnection::to_bus(&self.address)?;
        connection.ask(&mut Template::become_monitor()?)?;
        control.ready(&name)?;
        loop {
            match connection.receive() {
                Ok(_) => {}
                Err(RawError::Closed) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }
}
