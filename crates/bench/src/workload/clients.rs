//! The workload in which many clients call their services at the same time.

use std::time::Instant;

use super::{CallWorkload, MIB, NS_PER_US, Requirements, Targets, Workload, WorkloadOutcome};
use crate::durations::Distribution;
use crate::result::{Figures, Metric};
use crate::stage::{MeasureError, MeasurementStage};

/// Clients that call at the same time, each its own service.
#[derive(Clone, Debug)]
pub(crate) struct ConcurrentClients {
    /// The number of clients, each of which is a process, like its service.
    pub clients: usize,
    /// The calls of each client.
    pub calls: CallWorkload,
}

impl Workload for ConcurrentClients {
    fn requirements(&self) -> Requirements {
        Requirements { targets: Targets::Buses, ..self.calls.requirements() }
    }

    fn measure(&self, stage: &MeasurementStage<'_>) -> Result<WorkloadOutcome, MeasureError> {
        let calls = &self.calls;
        let pairs = (0..self.clients).map(|_| calls.start(stage));
        let mut pairs = pairs.collect::<Result<Vec<_>, _>>()?;
        let all = (calls.count + calls.warm_up()) * self.clients as u64;
        let before = stage.carrier_usage();
        let start = Instant::now();
        for pair in &mut pairs {
            pair.caller.begin()?;
        }
        let mut trips = Vec::new();
        for pair in &mut pairs {
            trips.extend(pair.caller.finish()?.round_trips);
        }
        let elapsed = start.elapsed();
        let mut figures = Figures::new();
        figures.insert(Metric::CallsPerS, all as f64 / elapsed.as_secs_f64());
        if !trips.is_empty() {
            let mean = |of: fn(&Distribution) -> u64| {
                let sum: u64 = trips.iter().map(of).sum();
                sum as f64 / trips.len() as f64 / NS_PER_US
            };
            figures.insert(Metric::RoundTripUs, mean(|trips| trips.p50_ns));
            figures.insert(Metric::RoundTripP99Us, mean(|trips| trips.p99_ns));
        }
        let bus_time = stage.carrier_time_since(before, all);
        figures.extend(bus_time.map(|time| (Metric::BusCpuUs, time)));
        let peak = stage.carrier_usage().map(|usage| usage.peak_resident_bytes as f64 / MIB);
        figures.extend(peak.map(|peak| (Metric::BusPeakMib, peak)));
        Ok(figures.into())
    }
}
