//! Names that come and go.

use super::{NS_PER_US, Outcome, Requirements, Targets, Workload};
use crate::peer::{IdleConnections, NameCycler};
use crate::result::{Figures, Metric};
use crate::stage::{MeasureError, Stage};

/// Taking a name and giving it up, while some watch all names.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// How often.
    pub count: u64,
    /// How many connections own a name of their own already, and have a rule for it.
    pub bystanders: u64,
}

impl Workload for Names {
    fn requirements(&self) -> Requirements {
        Requirements::of(Targets::Buses)
    }

    fn measure(&self, stage: &Stage<'_>) -> Result<Outcome, MeasureError> {
        let address = stage.bus_address()?;
        let _bystanders = stage.start(IdleConnections {
            address: address.to_owned(),
            connections: self.bystanders,
            rules: vec![NAME_RULE.to_owned()],
            first: None,
        })?;
        let mut namer = stage.start(NameCycler {
            address: address.to_owned(),
            warm_up: self.count / 10,
            count: self.count,
        })?;
        namer.begin()?;
        let cycles = namer.finish()?;
        Ok(Figures::from([(Metric::NameCycleUs, cycles.p50_ns as f64 / NS_PER_US)]).into())
    }
}

/// What every client of a desktop adds for each name that it cares for.
const NAME_RULE: &str = "type='signal',sender='org.freedesktop.DBus',\
     path='/org/freedesktop/DBus',interface='org.freedesktop.DBus',\
     member='NameOwnerChanged',arg0='org.example.Service{n}'";
