//! Where this project's bus does badly: a list, the worst first.

use std::fmt::Write as _;

use super::markdown::{escaped, folded};
use crate::result::Metric;
use crate::scenario_info::Heading;
use crate::show::{number, words};
use crate::summary::{Comparison, Figure, OURS, Row, Scenario};

/// One figure that another bus, or the floor, beats.
struct Setback<'a> {
    title: &'a str,
    row: Row<'a>,
    ours: &'a Figure,
    rival: &'a str,
    theirs: &'a Figure,
    times_worse: f64,
    weight: Weight,
}

/// How much a figure matters in its scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Weight {
    /// It is what the case is about.
    Main,
    /// It explains that, or comes with it.
    Other,
}

/// A scenario and what is known of it.
type Described<'a> = (Heading<'a>, &'a Scenario);

/// The section of the document.
pub(super) fn section(scenarios: &[Described<'_>]) -> String {
    let mut text = "## Where we do badly\n\n".to_owned();
    text.push_str(&failures(scenarios));
    let peers = sorted(setbacks(scenarios, behind_peer));
    let floors = sorted(setbacks(scenarios, above_floor));
    if peers.is_empty() {
        text.push_str("No other bus has a better figure in this run.\n\n");
    } else {
        text.push_str("Another bus has the better figure, the worst first:\n\n");
        text.push_str(&tables(&peers));
    }
    if !floors.is_empty() {
        let margin = number::percent(FLOOR_MARGIN);
        let _ = writeln!(text, "The floor is more than {margin} away, the worst first:\n");
        text.push_str(&tables(&floors));
    }
    text
}

/// What this project's bus did not do at all, which is the worst.
fn failures(scenarios: &[Described<'_>]) -> String {
    let mut text = String::new();
    for (heading, scenario) in scenarios {
        for comparison in &scenario.comparisons {
            let failures = comparison.find(OURS).map_or(&[][..], |ours| &ours.failures);
            if let Some(reason) = failures.first() {
                let (title, case) = (escaped(heading.title), escaped(&comparison.case.label));
                let (count, reason) = (words::times(failures.len()), escaped(reason));
                let _ = writeln!(text, "- Failed {count} at {title}: {case}: {reason}");
            }
        }
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// All setbacks of a kind.
fn setbacks<'a>(
    scenarios: &'a [Described<'a>],
    find: fn(&Row<'a>) -> Option<(&'a str, &'a Figure, f64)>,
) -> Vec<Setback<'a>> {
    let mut found = Vec::new();
    for (heading, scenario) in scenarios {
        for row in scenario.comparisons.iter().flat_map(|one| one.rows(&heading.metrics)) {
            let (Some(ours), Some((rival, theirs, times_worse))) = (row.ours(), find(&row)) else {
                continue;
            };
            let weight = weight(row.metric, row.comparison, heading);
            let title = heading.title;
            found.push(Setback { title, row, ours, rival, theirs, times_worse, weight });
        }
    }
    found
}

/// The best other bus, if it is better.
fn behind_peer<'a>(row: &Row<'a>) -> Option<(&'a str, &'a Figure, f64)> {
    let (peer, figure) = row.best_peer()?;
    let times_worse = row.times_worse(figure)?;
    (times_worse > 1.0).then_some((peer, figure, times_worse))
}

/// The floor, if it is far away.
fn above_floor<'a>(row: &Row<'a>) -> Option<(&'a str, &'a Figure, f64)> {
    let floor = row.floor()?;
    let times_worse = row.times_worse(floor)?;
    (times_worse > 1.0 + FLOOR_MARGIN).then_some(("floor", floor, times_worse))
}

fn weight(metric: Metric, comparison: &Comparison, heading: &Heading<'_>) -> Weight {
    let main = comparison.rows(&heading.metrics).next().map(|row| row.metric);
    if main == Some(metric) { Weight::Main } else { Weight::Other }
}

fn sorted(mut setbacks: Vec<Setback<'_>>) -> Vec<Setback<'_>> {
    setbacks.sort_by(|one, other| other.times_worse.total_cmp(&one.times_worse));
    setbacks
}

/// A table of the main ones, and a folded one of the rest.
fn tables(setbacks: &[Setback<'_>]) -> String {
    let of = |weight| setbacks.iter().filter(move |setback| setback.weight == weight);
    let mut text = String::new();
    if of(Weight::Main).next().is_some() {
        text.push_str(&table(of(Weight::Main)));
        text.push('\n');
    }
    let others = of(Weight::Other).count();
    if others > 0 {
        let title = format!("In the other metrics ({others})");
        text.push_str(&folded(&title, &table(of(Weight::Other))));
    }
    text
}

fn table<'a>(setbacks: impl Iterator<Item = &'a Setback<'a>>) -> String {
    let mut text = "| | | ours | theirs | worse |\n| --- | --- | ---: | ---: | ---: |\n".to_owned();
    for setback in setbacks {
        let Setback { title, row, ours, rival, theirs, times_worse, .. } = setback;
        let unit = row.metric.info().unit.sign();
        let with_unit = |figure: &Figure| {
            format!("{} {unit}", number::significant(figure.median)).trim_end().to_owned()
        };
        let (case, label) = (escaped(&row.comparison.case.label), row.metric.info().label);
        let remark = if ours.overlaps(theirs) { ", within the spread" } else { "" };
        let _ = writeln!(
            text,
            "| {}: {case} | {} | {} | {}: {} | ×{}{remark} |",
            escaped(title),
            words::capitalised(label),
            with_unit(ours),
            escaped(rival),
            with_unit(theirs),
            number::ratio(*times_worse),
        );
    }
    text
}

/// How far from the floor is worth telling, as a share of it.
const FLOOR_MARGIN: f64 = 0.15;
