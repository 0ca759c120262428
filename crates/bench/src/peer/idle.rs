//! Connections that are there, and do nothing.

use serde::{Deserialize, Serialize};

use super::{Control, WorkloadRole};
use crate::raw::{RawConnection, RawError};

/// Opens connections, adds match rules to each, and keeps them. After it was told to begin, it
/// reports at once; the connections stay until it is ended.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct IdleConnections {
    pub(crate) address: String,
    pub(crate) connections: u64,
    /// The match rules of each. In each of them, `{n}` stands for the number of the connection.
    pub(crate) rules: Vec<String>,
    /// Rules of the first connection alone: this one as often as that, `{n}` being the number of
    /// the rule.
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
        // Told to begin or that all is over, there is nothing to do.
        control.wait()?;
        control.wait()
    }
}
