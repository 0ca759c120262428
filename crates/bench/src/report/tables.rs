//! Tables: a row for each case, a column for each subject.

use maud::{Markup, html};

use super::palette::Palette;
use crate::show::{number, words};
use crate::summary::{Outcome, Role, Row, Scenario, Steadiness};

/// What stands at the beginning of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Label {
    /// The case; the metric is in the title.
    Case,
    /// The case, and below it what is measured there.
    CaseAndMetric,
}

/// A table of some rows of a scenario.
pub(super) fn table(
    rows: &[Row<'_>],
    scenario: &Scenario,
    label: Label,
    palette: &Palette,
) -> Markup {
    let has_ratio = rows.iter().any(|row| row.ratio().is_some());
    let has_floor = rows.iter().any(|row| row.floor_share().is_some());
    html! {
        div.scroll {
            table.figures {
                thead {
                    tr {
                        th scope="col" { "Case" }
                        @for subject in &scenario.subjects { (subject_head(subject, palette)) }
                        @if has_ratio { th.number scope="col" { "to best" } }
                        @if has_floor { th.number scope="col" { "floor’s share" } }
                    }
                }
                tbody {
                    @for row in rows {
                        tr {
                            th scope="row" {
                                (row.comparison.case.label)
                                @if label == Label::CaseAndMetric { small { (measured(row)) } }
                            }
                            @for subject in &scenario.subjects { (cell(row, subject)) }
                            @if has_ratio { (ratio(row)) }
                            @if has_floor { (floor_share(row)) }
                        }
                    }
                }
            }
        }
    }
}

/// Why figures are missing; nothing if none is.
pub(super) fn failures(scenario: &Scenario) -> Markup {
    let outcomes = || {
        scenario.comparisons.iter().flat_map(|comparison| {
            let failed = comparison.outcomes.iter().filter(|outcome| outcome.has_failed());
            failed.map(|outcome| (&comparison.case.label, outcome))
        })
    };
    html! {
        @if outcomes().next().is_some() {
            h3 { "What failed" }
            ul.failures {
                @for (case, outcome) in outcomes() { (failure(case, outcome)) }
            }
        }
    }
}

fn failure(case: &str, outcome: &Outcome) -> Markup {
    let mut reasons = outcome.failures.clone();
    reasons.dedup();
    html! {
        li {
            b { (outcome.subject) } ", " (case)
            @if outcome.failures.len() > 1 { ", " (words::times(outcome.failures.len())) }
            ": " (reasons.join("; "))
        }
    }
}

fn subject_head(subject: &str, palette: &Palette) -> Markup {
    let colour = palette.look(subject).ink.css();
    html! {
        th.number.ours[is_ours(subject)] scope="col" {
            svg.swatch viewBox="0 0 10 10" aria-hidden="true" {
                rect width="10" height="10" rx="2" fill=(colour) {}
            }
            (subject)
        }
    }
}

fn measured(row: &Row<'_>) -> Markup {
    let info = row.metric.info();
    html! { (words::metric(row.metric)) " " (words::arrow(info.better)) }
}

fn cell(row: &Row<'_>, subject: &str) -> Markup {
    let Some(figure) = row.figure(subject) else { return no_figure(row, subject) };
    let range =
        format!("{} to {}", number::significant(figure.low), number::significant(figure.high));
    let is_unsteady = figure.steadiness() != Steadiness::Steady;
    html! {
        td.number.ours[is_ours(subject)].best[row.is_best(subject)] title=(range) {
            (number::significant(figure.median)) " "
            small.worse[is_unsteady] { "±" (number::percent(figure.spread())) }
        }
    }
}

fn no_figure(row: &Row<'_>, subject: &str) -> Markup {
    let outcome = row.comparison.find(subject);
    let has_failed = outcome.is_some_and(Outcome::has_failed);
    html! {
        td.number.ours[is_ours(subject)] {
            @if has_failed { span.worse { "failed" } } @else { "–" }
            " " small {}
        }
    }
}

fn ratio(row: &Row<'_>) -> Markup {
    let worse = row.best_peer().and_then(|(_, figure)| row.times_worse(figure));
    let is_better = worse.is_some_and(|worse| worse < 1.0);
    let is_worse = worse.is_some_and(|worse| worse > 1.0);
    html! {
        td.number.better[is_better].worse[is_worse] {
            @if let Some(ratio) = row.ratio() { "×" (number::ratio(ratio)) } @else { "–" }
        }
    }
}

fn floor_share(row: &Row<'_>) -> Markup {
    html! {
        td.number {
            @if let Some(share) = row.floor_share() { (number::percent(share)) } @else { "–" }
        }
    }
}

fn is_ours(subject: &str) -> bool {
    Role::of(subject) == Role::Ours
}
