//! A workload with idle connections on the same bus.

use super::{MIB, Requirements, Targets, Use, Workload, WorkloadOutcome};
use crate::peer::IdleConnections;
use crate::result::Metric;
use crate::stage::{MeasureError, MeasurementStage};

/// A workload with other clients that are connected to the same bus, and idle.
#[derive(Clone, Debug)]
pub(crate) struct WithBystanders<W> {
    pub bystanders: Bystanders,
    pub workload: W,
}

#[derive(Clone, Debug)]
pub(crate) struct Bystanders {
    pub connections: u64,
    /// The match rules of each connection; `{n}` is the number of the connection.
    pub rules: Vec<String>,
    /// A rule that the first connection adds repeatedly, and how often; `{n}` is the number of the
    /// rule.
    pub first: Option<(String, u64)>,
}

impl Bystanders {
    /// Connections with the match rules of a typical desktop program.
    pub(crate) fn desktop(connections: u64) -> Self {
        let rules = DESKTOP_RULES.map(str::to_owned).to_vec();
        Self { connections, rules, first: None }
    }

    /// One connection with many rules for signals that are never sent. They have the interface and
    /// member of the workloads' signals, so that only the path differs.
    pub(crate) fn rules(count: u64) -> Self {
        Self { connections: 1, rules: Vec::new(), first: Some((OTHER_RULE.to_owned(), count)) }
    }
}

impl Bystanders {
    /// The bus memory per connection or rule, if there are enough of them for a reliable figure.
    fn cost(&self, bytes: u64) -> Option<(Metric, f64)> {
        let (metric, count, enough) = match &self.first {
            Some((_, rules)) => (Metric::BytesPerRule, *rules, RULES_MIN),
            None => (Metric::BytesPerConnection, self.connections, CONNECTIONS_MIN),
        };
        (count >= enough).then(|| (metric, bytes as f64 / count as f64))
    }
}

impl<W: Workload> Workload for WithBystanders<W> {
    fn requirements(&self) -> Requirements {
        // In the next round, the bus would reuse memory from the first round.
        let use_of_carrier = Use::Single;
        Requirements { targets: Targets::Buses, use_of_carrier, ..self.workload.requirements() }
    }

    fn measure(&self, stage: &MeasurementStage<'_>) -> Result<WorkloadOutcome, MeasureError> {
        let before = stage.carrier_usage();
        let crowd = stage.start(IdleConnections {
            address: stage.bus_address()?.to_owned(),
            connections: self.bystanders.connections,
            rules: self.bystanders.rules.clone(),
            first: self.bystanders.first.clone(),
        })?;
        let after = stage.carrier_usage();
        let mut outcome = self.workload.measure(stage)?;
        if let (Some(before), Some(after)) = (before, after) {
            let bytes = after.resident_bytes.saturating_sub(before.resident_bytes);
            outcome.figures.extend(self.bystanders.cost(bytes));
        }
        let peak = stage.carrier_usage().map(|usage| usage.peak_resident_bytes as f64 / MIB);
        outcome.figures.extend(peak.map(|peak| (Metric::BusPeakMib, peak)));
        drop(crowd);
        Ok(outcome)
    }
}

/// The match rules of a typical desktop program: the owner of its settings daemon, the properties
/// of an object, and the objects of a service.
const DESKTOP_RULES: [&str; 3] = [
    "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',\
     interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='org.example.Service{n}'",
    "type='signal',interface='org.freedesktop.DBus.Properties',member='PropertiesChanged',\
     path='/org/example/Object{n}'",
    "type='signal',sender='org.freedesktop.DBus',\
     interface='org.freedesktop.DBus.ObjectManager',path_namespace='/org/example/Service{n}'",
];

/// With fewer connections, the figure would mostly show the size of memory pages.
const CONNECTIONS_MIN: u64 = 100;

const RULES_MIN: u64 = 1000;

/// A rule like that for the workloads' signals, except for the path.
const OTHER_RULE: &str =
    "type='signal',interface='org.diligence.Bench1',member='Sample',path='/org/example/Other{n}'";
