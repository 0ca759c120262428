//! The results of a run as a document in Markdown, for the folder of documentation and, in short,
//! for the first page of the project.
//!
//! The document shows every scenario, and lists where the bus of this project is not the best, or
//! far from the floor, with the worst first.

mod headline;
mod markdown;
mod setbacks;

use std::fmt::Write as _;

pub use headline::{HEADLINE_END, HEADLINE_START, MarkerError, headline, replace_headline};

use crate::conclusions::conclusions;
use crate::report::{HEADLINE_SCENARIO, in_order};
use crate::result::{Metric, Record, Run};
use crate::scenario_info::{Heading, ScenarioInfo};
use crate::show::{number, words};
use crate::summary::{Disturbance, OURS, Row, Scenario, Summary, absences, rows, runs};
use markdown::{Columns, Spread, Table, escaped};

/// The document for the records of a run.
#[must_use]
pub fn document(records: &[Record], infos: &[ScenarioInfo]) -> String {
    let summary = Summary::of(records);
    let scenarios = in_order(&summary, infos);
    let has_headline = scenarios.first().is_some_and(|(_, first)| first.name == HEADLINE_SCENARIO);
    let (headline, others) = scenarios.split_at(usize::from(has_headline));
    let mut text = introduction(records);
    for (heading, scenario) in headline {
        text.push_str(&section(heading, scenario));
    }
    text.push_str(&setbacks::section(&scenarios));
    for (heading, scenario) in others {
        text.push_str(&section(heading, scenario));
    }
    text.push_str(&method(records));
    text
}

fn introduction(records: &[Record]) -> String {
    let mut text = format!("# Benchmarks\n\n{DO_NOT_EDIT}\n\n");
    let mut sentences: Vec<_> = runs(records).map(in_a_sentence).collect();
    sentences.dedup();
    for sentence in sentences {
        let _ = writeln!(text, "{sentence}\n");
    }
    if let Some(disturbance) = Disturbance::of(records) {
        let _ = writeln!(text, "{}\n", disturbance.verdict());
    }
    let _ = writeln!(
        text,
        "Figures are medians; behind ± is how far the middle half of the rounds reaches from it. \
         The best bus is bold. *To best* is {OURS} divided by the best other bus. The floor is a \
         process that only reads and writes, which no bus can beat; its share is the part of our \
         time that it takes too.\n"
    );
    let _ = writeln!(text, "{WHAT_IS_MEASURED}\n");
    text
}

fn section(heading: &Heading<'_>, scenario: &Scenario) -> String {
    let mut text = format!("## {}\n\n", escaped(heading.title));
    if !heading.about.is_empty() {
        let _ = writeln!(text, "{}\n", escaped(heading.about));
    }
    if scenario.is_mixed() {
        let comparisons = scenario.comparisons.iter();
        let rows = comparisons.flat_map(|comparison| comparison.rows(&heading.metrics));
        text.push_str(&table(rows.collect(), scenario, Columns::WithMetric));
    } else if let Some((main, others)) = heading.metrics.split_first() {
        let _ = writeln!(text, "{}:\n", described(*main));
        text.push_str(&metric_table(*main, scenario));
        for metric in others {
            let table = metric_table(*metric, scenario);
            let title = described(*metric);
            text.push_str(&markdown::folded(&title, &table));
        }
    }
    for sentence in conclusions(heading, scenario) {
        let _ = writeln!(text, "- {}", escaped(&sentence));
    }
    text.push('\n');
    text + &failures(scenario)
}

fn metric_table(metric: Metric, scenario: &Scenario) -> String {
    table(rows(&scenario.comparisons, metric).collect(), scenario, Columns::Plain)
}

fn table(rows: Vec<Row<'_>>, scenario: &Scenario, columns: Columns) -> String {
    let subjects = &scenario.subjects;
    Table { rows, subjects, columns, spread: Spread::Shown }.to_string() + "\n"
}

fn failures(scenario: &Scenario) -> String {
    let mut text = String::new();
    for comparison in &scenario.comparisons {
        for outcome in &comparison.outcomes {
            let mut reasons = outcome.failures.clone();
            reasons.dedup();
            for reason in reasons {
                let (subject, case) = (&outcome.subject, &comparison.case.label);
                let reason = escaped(&reason);
                let _ =
                    writeln!(text, "- {} failed at {}: {reason}", escaped(subject), escaped(case));
            }
        }
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

fn method(records: &[Record]) -> String {
    let mut text = "## Machine and method\n\n".to_owned();
    for machine in words::distinct(runs(records).map(|run| escaped(&run.machine.to_string()))) {
        let _ = writeln!(text, "- Machine: {machine}");
    }
    let begun = words::distinct(runs(records).map(|run| words::date_and_time(run.started)));
    let _ = writeln!(text, "- Begun: {}", begun.join(", "));
    for conditions in words::distinct(runs(records).map(conditions)) {
        let _ = writeln!(text, "- {conditions}");
    }
    text.push_str("- Compared:\n");
    for subject in
        words::distinct(runs(records).flat_map(|run| &run.subjects).map(markdown::subject))
    {
        let _ = writeln!(text, "  - {subject}");
    }
    if let Some(disturbance) = Disturbance::of(records) {
        let (mean, worst) =
            (number::fine_percent(disturbance.mean), number::fine_percent(disturbance.worst));
        let _ = writeln!(
            text,
            "- Others took {mean} of the processor time on the mean, {worst} in the worst \
             measurement"
        );
    }
    for absence in absences(records) {
        let (subject, remedy) = (escaped(&absence.subject), escaped(&absence.remedy));
        let _ = writeln!(text, "- Not there: {subject}. {remedy}");
    }
    text + &repetition(records)
}

fn repetition(records: &[Record]) -> String {
    let mut text = "\nTo repeat it:\n\n```sh\n".to_owned();
    for run in runs(records) {
        let _ = writeln!(text, "{}", words::command_line(&run.command));
    }
    text + "```\n"
}

fn conditions(run: &Run) -> String {
    format!("{}; {}", words::placement(run.placement), words::rounds(run.rounds))
}

/// Where, when and how, in short.
fn in_a_sentence(run: &Run) -> String {
    let (machine, date) = (escaped(&run.machine.to_string()), words::date(run.started));
    let (placement, rounds) = (words::placement(run.placement), words::rounds(run.rounds));
    format!("Measured {date} with {OURS} {}: {machine}. {placement}, {rounds}.", run.version)
}

fn described(metric: Metric) -> String {
    let text = words::capitalised(&words::metric(metric));
    format!("{text} ({})", words::direction(metric.info().better))
}

/// What figures of calls are of.
const WHAT_IS_MEASURED: &str = "\
A call is an echo, as in dbus-ping-pong: the reply carries the payload of the call back. Sizes are those \
of the payload in each direction; headers come on top, and the sentences under the tables of calls give \
the sizes on the wire. Transfer rates of calls count the payload of both directions. Only *several calls \
at once*, *32 calls in flight* and *what it costs to be watched* have empty replies, and \
`bench ping-pong --reply empty` if it was measured. Streams and signals go one way. The sentences under \
the tables are computed from the figures; a difference that is smaller than the spread of the rounds \
counts as noise.";

/// Whoever wants other figures measures again.
const DO_NOT_EDIT: &str = "<!-- Written by `diligence bench` from the results of a run. -->";
