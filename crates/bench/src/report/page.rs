//! The page as a whole.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::palette::{Palette, dark_rules};
use super::plot::Fault;
use super::{about, in_order, section};
use crate::result::Record;
use crate::scenario_info::{Heading, ScenarioInfo};
use crate::summary::Summary;

/// The page of a run.
pub(super) fn page(
    records: &[Record],
    summary: &Summary,
    infos: &[ScenarioInfo],
) -> Result<Markup, Fault> {
    let scenarios = in_order(summary, infos);
    let subjects = summary.scenarios.iter().flat_map(|scenario| &scenario.subjects);
    let palette = Palette::new(subjects.map(String::as_str));
    let sections = scenarios
        .iter()
        .map(|(heading, scenario)| section::section(heading, scenario, &palette))
        .collect::<Result<Vec<_>, _>>()?;
    let headings: Vec<_> = scenarios.iter().map(|(heading, _)| heading).collect();
    Ok(html! {
        (DOCTYPE)
        html lang="en" {
            (head())
            body {
                header {
                    h1 { (TITLE) }
                    (about::summary(records))
                    (navigation(&headings))
                }
                main {
                    @for section in sections { (section) }
                    (about::section(records))
                }
            }
        }
    })
}

fn head() -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { (TITLE) }
            style { (PreEscaped(STYLE)) (PreEscaped(dark_rules())) }
        }
    }
}

fn navigation(headings: &[&Heading<'_>]) -> Markup {
    html! {
        nav aria-label="Scenarios" {
            ul {
                @for heading in headings {
                    li { a href={ "#" (heading.name) } { (heading.name) } }
                }
                li { a href={ "#" (about::ANCHOR) } { "machine and method" } }
            }
        }
    }
}

const TITLE: &str = "Benchmarks of message buses";

const STYLE: &str = include_str!("style.css");
