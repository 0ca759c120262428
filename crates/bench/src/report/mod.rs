//! Reports from the records of a run.
//!
//! ```text
//!  records ──▶ summary ──▶ model ──▶ markdown: docs/benchmarks.md and the tables of the README
//!                       │        └─▶ html: one page to share, with plots
//!                       └─▶ text: a table for the terminal, which grows during the run
//! ```
//!
//! The `model` is built once (`build`) and is independent of the format; each format traverses it
//! once.

mod axis;
mod build;
mod html;
mod losses;
mod markdown;
mod model;
mod palette;
mod plot;
mod svg;
mod tables;
pub(crate) mod text;

pub use tables::{MarkerError, replace_tables};
pub use text::TableStyle;

use crate::result::BenchRecord;
use crate::scenario_info::ScenarioInfo;
use crate::summary::RunSummary;

/// Formats the report as an HTML page that loads no other resources.
#[must_use]
pub fn html(records: &[BenchRecord], infos: &[ScenarioInfo]) -> String {
    let summary = RunSummary::of(records);
    html::page(&build::report(records, &summary, infos), &summary)
}

/// Formats the report as a Markdown document.
#[must_use]
pub fn markdown(records: &[BenchRecord], infos: &[ScenarioInfo]) -> String {
    markdown::report(&build::report(records, &RunSummary::of(records), infos))
}

/// Formats the table of a scenario for the README, in Markdown; `None` if it was not run.
#[must_use]
pub fn summary_table(
    records: &[BenchRecord],
    infos: &[ScenarioInfo],
    scenario: &str,
) -> Option<String> {
    let summary = RunSummary::of(records);
    Some(markdown::blocks(&build::summary_table(records, &summary, infos, scenario)?))
}

/// Formats the tables of all scenarios for a terminal.
#[must_use]
pub fn text(records: &[BenchRecord], infos: &[ScenarioInfo], style: TableStyle) -> String {
    text::all(&RunSummary::of(records), infos, style)
}
