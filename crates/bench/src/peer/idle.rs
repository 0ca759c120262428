//! The peer that holds idle connections.

use serde::{Deserialize, Serialize};

use super::{Control, WorkloadRole};
use crate::raw::{RawConnection, RawError};

/// Opens connections, adds match rules to each, and keeps them open. It reports immediately after
/// the start; the connections stay open until the process ends.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct IdleConnections {
    pub(crate) address: String,
    pub(crate) connections: u64,
    /// The match rules of each connection. `{n}` stands for the number of the connection.
    pub(crate) rules: Vec<String>,
    /// A rule that the first connection adds repeatedly, and how often; `{n}` stands for the number
    /// of the rule.
    pub(crate) first: Option<(String, u64)>,
}

impl WorkloadRole for IdleConnections {
    const NAME: &str = "idle-connections";

    type Report = ();

    fn play(self, control: &mut Control) -> Result<(), RawError> {
        let mut crowd = Vec::with_capacity(self.connections as usize);
        let mut first_name = String::new();
        for number in 0..self.connections {
            let (mut connection, name) = RawConnection::to_bus(&self.address)?;
            if number == 0 {
                first_name = name;
            }
            for rule in &self.rules {
                connection.add_match(&rule.replace("{n}", &number.to_string()))?;
            }
            crowd.push(connection);
        }
        if let (Some((rule, count)), Some(first)) = (&self.first, crowd.first_mut()) {
            for number in 0..*count {
                first.add_match(&rule.replace("{n}", &number.to_string()))?;
            }
        }
        control.ready(&first_name)?;
        // There is nothing to do at the start or at the end.
        control.wait()?;
        control.wait()
    }
}
