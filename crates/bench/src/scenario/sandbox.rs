//! The scenario with a program in a sandbox.

use clap::Args;

use super::words;
use super::{Effort, LibraryBuilder, Scenario, Subjects, Trial};
use crate::result::{BenchCase, CaseSetting, Metric};
use crate::scenario_info::ScenarioInfo;
use crate::workload::{CallWorkload, SandboxProxy, SandboxedCalls};

/// The `sandbox` scenario: calls from a sandbox to a service outside.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct SandboxScenario {
    /// Number of calls [default: 10000]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) count: Option<u64>,
    /// Payload of each call, in bytes [default: 8]
    #[arg(long, value_name = "BYTES", value_parser = words::size)]
    pub(crate) size: Option<u64>,
}

impl Scenario for SandboxScenario {
    fn info(&self) -> &'static ScenarioInfo {
        &SANDBOX
    }

    fn subjects(&self) -> Subjects {
        Subjects::Buses
    }

    fn trials(&self, effort: Effort, _: &mut LibraryBuilder<'_>) -> Vec<Trial> {
        let size = self.size.unwrap_or(8) as usize;
        let calls = CallWorkload::ping_pong(size, effort.choose(self.count, 10_000, 50));
        let cases = [
            ("no sandbox", "none", None),
            ("with xdg-dbus-proxy", "xdg-dbus-proxy", Some(SandboxProxy::XdgDbusProxy)),
            ("with our replacement", "ours", Some(SandboxProxy::Ours)),
        ];
        let trial = |(label, setting, proxy)| {
            let case = BenchCase::new(label, [("proxy", CaseSetting::from(setting))]);
            Trial::new(case, SandboxedCalls { proxy, calls: calls.clone() })
        };
        cases.into_iter().map(trial).collect()
    }
}

pub(super) const SANDBOX: ScenarioInfo = ScenarioInfo {
    name: "sandbox",
    title: "Calls from a sandbox",
    about: "A client in a sandbox may call one service outside, and does. The program of the \
            sandbox makes the socket for the client: xdg-dbus-proxy, or our replacement, which is \
            diligence-bus under that name. Both forward all messages, but with diligence as the \
            bus, our replacement hands the socket to the bus, and no process is between. Context \
            switches are counted in client, service, bus and proxy together.",
    metrics: &[
        Metric::RoundTripUs,
        Metric::Switches,
        Metric::RoundTripP99Us,
        Metric::BusCpuUs,
        Metric::ProxyCpuUs,
    ],
};
