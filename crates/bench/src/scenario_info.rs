//! What tables and reports know of a scenario besides its results.

use crate::result::Metric;
use crate::summary::ScenarioSummary;

/// What there is to say about a scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScenarioInfo {
    /// Its name on the command line, which its results repeat: `fan-out`.
    pub name: &'static str,
    /// Its title for people: `Signals to many recipients`.
    pub title: &'static str,
    /// One sentence: what is done, and what it shows.
    pub about: &'static str,
    /// What is measured, the most telling first.
    pub metrics: &'static [Metric],
}

/// How the results of a scenario are introduced, whether or not anything is known about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ScenarioHeading<'a> {
    /// Its name on the command line.
    pub name: &'a str,
    pub title: &'a str,
    /// What is done, and what it shows; empty if that is not known.
    pub about: &'a str,
    /// The metrics to show, the most telling first.
    pub metrics: Vec<Metric>,
}

impl<'a> ScenarioHeading<'a> {
    /// What to write above a scenario of which nothing was measured yet.
    pub(crate) fn new(info: &'a ScenarioInfo) -> Self {
        let metrics = info.metrics.to_vec();
        Self { name: info.name, title: info.title, about: info.about, metrics }
    }

    /// What to write above the results of a scenario. Of the metrics in `infos` it keeps those
    /// that were measured; a scenario that is not among `infos` shows what it has, under its name.
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
