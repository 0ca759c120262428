//! Names that come and go.

use super::{Audience, Conditions, NS_PER_US, Outcome, Workload};
use crate::peer::{Crowd, Namer};
use crate::result::{Figures, Metric};
use crate::stage::{MeasureError, Stage};

/// Taking a name and giving it up, while some watch all names.
#[derive(Clone, Debug)]
pub struct Names {
    /// How often.
    pub count: u64,
    /// How many connections own a name of their own already, and have a rule for it.
    pub bystanders: u64,
}

impl Workload for Names {
    fn conditions(&self) -> Conditions {
        Conditions::of(Audience::Buses)
    }

    fn measure(&self, stage: &Stage<'_>) -> Result<Outcome, MeasureError> {
        let address = stage.bus_address()?;
        let _bystanders = stage.start(Crowd {
            address: address.to_owned(),
            connections: self.bystanders,
            rules: vec![NAME_RULE.to_owned()],
            first: None,
        })?;
        let mut namer = stage.start(Namer {
            address: address.to_owned(),
            warm_up: self.count / 10,
            count: self.count,
        })?;
        namer.begin()?;
        let cycles = namer.finish()?.cycles;
        Ok(Figures::from([(Metric::NameCycleUs, cycles.p50_ns as f64 / NS_PER_US)]).into())
    }
}

/// What every client of a desktop adds for each name that it cares for.
const NAME_RULE: &str = "type='signal',sender='org.freedesktop.DBus',\
     path='/org/freedesktop/DBus',interface='org.freedesktop.DBus',\
     member='NameOwnerChanged',arg0='org.example.Service{n}'";
