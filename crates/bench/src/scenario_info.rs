//! Titles, descriptions and metrics of scenarios for tables and reports.

use crate::result::Metric;
use crate::summary::ScenarioSummary;

/// The description of a scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScenarioInfo {
    /// The name on the command line and in results: `fan-out`.
    pub name: &'static str,
    /// The title in reports: `Signals to many recipients`.
    pub title: &'static str,
    /// A sentence or more on the workload and its metrics.
    pub about: &'static str,
    /// The metrics, the most informative first.
    pub metrics: &'static [Metric],
}

/// The heading of the results of a scenario, known or unknown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ScenarioHeading<'a> {
    /// The name on the command line.
    pub name: &'a str,
    pub title: &'a str,
    /// The description; empty for an unknown scenario.
    pub about: &'a str,
    /// The metrics to show, the most informative first.
    pub metrics: Vec<Metric>,
}

impl<'a> ScenarioHeading<'a> {
    /// Creates the heading of a scenario without results.
    pub(crate) fn new(info: &'a ScenarioInfo) -> Self {
        let metrics = info.metrics.to_vec();
        Self { name: info.name, title: info.title, about: info.about, metrics }
    }

    /// Creates the heading of the results of a scenario. It keeps those metrics from `infos` that
    /// were measured; a scenario missing in `infos` shows all its metrics under its name.
    pub(crate) fn of(scenario: &'a ScenarioSummary, infos: &'a [ScenarioInfo]) -> Self {
        let measured = scenario.metrics();
        let Some(info) = infos.iter().find(|info| info.name == scenario.name) else {
            let name = &scenario.name;
            return Self { name, title: name, about: "", metrics: measured };
        };
        let mut heading = Self::new(info);
        heading.metrics.retain(|metric| measured.contains(metric));
        heading
    }
}
