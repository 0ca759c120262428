//! The processor time and the context switches of calls.

use std::array;

use sys::process::{self, Usage};

use super::NS_PER_US;
use crate::result::Metric;

/// The processes that take part in a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallParts {
    pub(super) caller: u32,
    pub(super) service: u32,
    pub(super) bus: Option<u32>,
    /// The program between the caller and the bus.
    pub(super) proxy: Option<u32>,
}

/// The usage of the caller, the service, the bus and the proxy. A process that does not exist has
/// none.
pub(super) type CallUsage = [Option<Usage>; 4];

impl CallParts {
    /// The resources that the processes have used so far.
    pub(super) fn usage(self) -> CallUsage {
        let Self { caller, service, bus, proxy } = self;
        [Some(caller), Some(service), bus, proxy].map(|pid| pid.and_then(process::usage))
    }

    /// The resources that the processes have used since then, per call.
    pub(super) fn used_since(self, before: CallUsage, calls: u64) -> PartUsage {
        PartUsage::between(before, self.usage(), calls)
    }
}

/// The resources that the processes of a call have used, per call.
#[derive(Debug)]
pub(super) struct PartUsage {
    switches: Option<f64>,
    /// The switches of the bus only.
    pub(super) bus_switches: Option<f64>,
    bus_us: Option<f64>,
    proxy_us: Option<f64>,
}

impl PartUsage {
    fn between(before: CallUsage, after: CallUsage, calls: u64) -> Self {
        let [caller, service, bus, proxy] = array::from_fn(|part| before[part].zip(after[part]));
        let switches = |(before, after): (Usage, Usage)| {
            let count = |usage: Usage| usage.voluntary_switches + usage.involuntary_switches;
            count(after) - count(before)
        };
        let time = |part: Option<(Usage, Usage)>| {
            let (before, after) = part?;
            let used = after.processor_time.saturating_sub(before.processor_time);
            Some(used.as_nanos() as f64 / NS_PER_US / calls as f64)
        };
        let per_call = |switches: u64| switches as f64 / calls as f64;
        let all = [caller, service, bus, proxy].into_iter().flatten().map(switches).sum::<u64>();
        Self {
            // Without the process of the bus, the sum would be too small.
            switches: bus.map(|_| per_call(all)),
            bus_switches: bus.map(switches).map(per_call),
            bus_us: time(bus),
            proxy_us: time(proxy),
        }
    }

    pub(super) fn figures(self) -> impl Iterator<Item = (Metric, f64)> {
        let figures = [
            (Metric::Switches, self.switches),
            (Metric::BusCpuUs, self.bus_us),
            (Metric::ProxyCpuUs, self.proxy_us),
        ];
        figures.into_iter().filter_map(|(metric, figure)| Some((metric, figure?)))
    }
}
