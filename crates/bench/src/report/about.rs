//! What was measured, where and how, and how to read it.

use maud::{Markup, html};

use crate::result::{Record, Run, SubjectInfo};
use crate::show::{number, words};
use crate::summary::{Disturbance, OURS, absences, runs};

/// The run in two sentences, for the top of the page.
pub(super) fn summary(records: &[Record]) -> Markup {
    html! {
        @for sentence in words::distinct(runs(records).map(in_short)) {
            p.lead { (sentence) }
        }
        @if let Some(disturbance) = Disturbance::of(records) {
            p.lead { (disturbance.verdict()) }
        }
        p.note {
            "Figures are medians over the rounds; ± is how far the middle half of the rounds "
            "reaches from them. The best bus is bold. “To best” is " (OURS) " divided by the best "
            "other bus, and green where " (OURS) " is the better one. The floor is a process that "
            "only reads and writes, which no bus can beat; its share is the part of our time that "
            "it takes too."
        }
    }
}

fn in_short(run: &Run) -> String {
    let (date, placement) = (words::date(run.started), words::placement(run.placement));
    format!("{date}, {}. {placement}, {}.", run.machine, words::rounds(run.rounds))
}

/// Everything there is to know about the run.
pub(super) fn section(records: &[Record]) -> Markup {
    html! {
        section id=(ANCHOR) {
            h2 { "Machine and method" }
            @for run in runs(records) {
                (facts(run))
                (subjects(&run.subjects))
            }
            @if let Some(disturbance) = Disturbance::of(records) {
                p {
                    (disturbance.verdict()) " Others took "
                    (number::fine_percent(disturbance.mean)) " of the processor time on the mean, "
                    (number::fine_percent(disturbance.worst)) " in the worst measurement."
                }
            }
            (not_there(records))
        }
    }
}

fn facts(run: &Run) -> Markup {
    html! {
        dl {
            dt { "When" } dd { (words::date_and_time(run.started)) }
            dt { "Machine" } dd.lines { (run.machine) }
            dt { "Processors" } dd { (words::placement(run.placement)) }
            dt { "Rounds" } dd { (words::rounds(run.rounds)) ", in which the subjects take turns" }
            dt { "Version" } dd { (OURS) " " (run.version) }
            dt { "Command" } dd { code { (words::command_line(&run.command)) } }
        }
    }
}

fn subjects(subjects: &[SubjectInfo]) -> Markup {
    html! {
        div.scroll {
            table.texts {
                thead { tr { th { "Subject" } th { "Version" } th { "Command" } } }
                tbody {
                    @for SubjectInfo { name, version, command } in subjects {
                        tr {
                            th scope="row" { (name) }
                            td { (version) }
                            td { code { (words::command_line(command)) } }
                        }
                    }
                }
            }
        }
    }
}

fn not_there(records: &[Record]) -> Markup {
    html! {
        @if absences(records).next().is_some() {
            h3 { "Not there" }
            ul {
                @for absence in absences(records) {
                    li { b { (absence.subject) } ": " (absence.remedy) }
                }
            }
        }
    }
}

/// The anchor of the section.
pub(super) const ANCHOR: &str = "machine-and-method";
