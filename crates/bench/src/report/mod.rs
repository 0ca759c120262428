//! One page that shows a whole run: what was measured and where, and for each scenario its plots
//! and tables.
//!
//! The page stands alone: its style and its plots are part of it, and it loads nothing.

mod about;
mod layout;
mod page;
mod palette;
mod plot;
mod section;
mod tables;

use std::io;

use crate::result::Record;
use crate::scenario_info::{Heading, ScenarioInfo};
use crate::summary::{Scenario, Summary};

/// Writes the page for the records of a run.
///
/// Scenarios come in the order of the records, except that [`HEADLINE_SCENARIO`] is the first.
///
/// # Errors
///
/// Those of `out`.
pub fn write_html(
    records: &[Record],
    infos: &[ScenarioInfo],
    out: &mut impl io::Write,
) -> io::Result<()> {
    let summary = Summary::of(records);
    let page = page::page(records, &summary, infos).map_err(io::Error::other)?;
    out.write_all(page.into_string().as_bytes())
}

/// The scenarios in the order in which they are shown, each with what is known of it.
pub(crate) fn in_order<'a>(
    summary: &'a Summary,
    infos: &'a [ScenarioInfo],
) -> Vec<(Heading<'a>, &'a Scenario)> {
    let mut scenarios: Vec<_> = summary.scenarios.iter().collect();
    scenarios.sort_by_key(|scenario| scenario.name != HEADLINE_SCENARIO);
    let described = scenarios.into_iter().map(|scenario| (Heading::of(scenario, infos), scenario));
    described.collect()
}

/// The scenario that has a row of each of the others.
pub const HEADLINE_SCENARIO: &str = "compare";
