//! Scenarios that open connections, request names and replace the program of the bus.

use clap::Args;

use super::words::{self, counted};
use super::{Effort, LibraryBuilder, Scenario, Subjects, Trial};
use crate::result::{BenchCase, CaseSetting, Metric};
use crate::scenario_info::ScenarioInfo;
use crate::workload::{self, CallWorkload};

/// The `connect` scenario: connecting and disconnecting.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct ConnectScenario {
    /// Number of connections [default: 1000]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) count: Option<u64>,
}

impl Scenario for ConnectScenario {
    fn info(&self) -> &'static ScenarioInfo {
        &CONNECT
    }

    fn subjects(&self) -> Subjects {
        Subjects::Buses
    }

    fn trials(&self, effort: Effort, _: &mut LibraryBuilder<'_>) -> Vec<Trial> {
        let count = effort.choose(self.count, 1000, 20);
        vec![Trial::new(BenchCase::new("connect", []), workload::ConnectWorkload { count })]
    }
}

pub(super) const CONNECT: ScenarioInfo = ScenarioInfo {
    name: "connect",
    title: "Connecting",
    about: "Time from opening the socket through the handshake to the reply to Hello, one \
            connection at a time.",
    metrics: &[Metric::ConnectUs],
};

/// The `names` scenario: requesting and releasing a name.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct NamesScenario {
    /// Numbers of other connections, each with a match rule for a different name [default:
    /// 0,10,1000]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = words::count_or_none)]
    pub(crate) bystanders: Option<Vec<u64>>,
    /// Number of times that the name is requested and released [default: 2000]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) count: Option<u64>,
}

impl Scenario for NamesScenario {
    fn info(&self) -> &'static ScenarioInfo {
        &NAMES
    }

    fn subjects(&self) -> Subjects {
        Subjects::Buses
    }

    fn trials(&self, effort: Effort, _: &mut LibraryBuilder<'_>) -> Vec<Trial> {
        let all = effort.list(self.bystanders.as_deref(), &[0, 10, 1000], &[10]);
        let trial = |&bystanders: &u64| {
            let count = effort.choose(self.count, 2000, 20);
            let label = counted(bystanders, "bystander", "bystanders");
            let at = [("bystanders", CaseSetting::from(bystanders))];
            Trial::new(BenchCase::new(label, at), workload::NameCycleWorkload { count, bystanders })
        };
        all.iter().map(trial).collect()
    }
}

pub(super) const NAMES: ScenarioInfo = ScenarioInfo {
    name: "names",
    title: "Requesting and releasing names",
    about: "A client requests a name and releases it again, while each of the other clients has a \
            match rule for a different name.",
    metrics: &[Metric::NameCycleUs],
};

/// The `reexec` scenario: calls while the program of the bus is replaced.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct ReexecScenario {
    /// Numbers of idle connections [default: 10,1000,10000]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = words::count_or_none)]
    pub(crate) connections: Option<Vec<u64>>,
    /// Number of match rules of each idle connection [default: 10]
    #[arg(long, value_name = "N", value_parser = words::count_or_none)]
    pub(crate) rules: Option<u64>,
    /// Number of calls, during which the program is replaced once [default: 50000]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) count: Option<u64>,
}

impl Scenario for ReexecScenario {
    fn info(&self) -> &'static ScenarioInfo {
        &REEXEC
    }

    fn subjects(&self) -> Subjects {
        Subjects::OurBus
    }

    fn trials(&self, effort: Effort, _: &mut LibraryBuilder<'_>) -> Vec<Trial> {
        let all = effort.list(self.connections.as_deref(), &[10, 1000, 10_000], &[10]);
        let rules = effort.choose(self.rules, 10, 2);
        let calls = CallWorkload::ping_pong(8, effort.choose(self.count, 50_000, 5000));
        let trial = |&connections: &u64| {
            let label = counted(connections, "connection", "connections");
            let label = match connections * rules {
                0 => label,
                rules => format!("{label}, {}", counted(rules, "match rule", "match rules")),
            };
            let at = [("connections", CaseSetting::from(connections)), ("rules", rules.into())];
            let calls = calls.clone();
            let workload = workload::ReexecWorkload { connections, rules, calls };
            Trial::new(BenchCase::new(label, at), workload)
        };
        all.iter().map(trial).collect()
    }
}

pub(super) const REEXEC: ScenarioInfo = ScenarioInfo {
    name: "reexec",
    title: "Replacing the program of the bus",
    about: "A client calls a service, one call after the other, while the program of the bus is \
            replaced once by diligence reexec. The other clients are idle and have match rules. \
            The longest call is the longest time for which the bus did not route messages, plus \
            the time of one call.",
    metrics: &[Metric::LongestCallMs, Metric::ReplacementMs],
};
