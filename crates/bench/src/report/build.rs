//! Builds a report from the records of runs.

use super::losses;
use super::model::{
    BenchReport, ListItem, MarkedSpan, MarkedText, ReportBlock, ReportSection, ReportTable,
    RowLabels, Spread, described,
};
use super::plot::{self, Plot};
use crate::conclusions::conclusions;
use crate::number;
use crate::result::{BenchRecord, BenchRun, SubjectInfo};
use crate::scenario_info::{ScenarioHeading, ScenarioInfo};
use crate::summary::{OURS, RunNoise, RunSummary, ScenarioSummary, absences, rows, runs};
use crate::wording;

/// Builds the report of records and their `summary`.
///
/// Scenarios keep the order of the records, except that [`HEADLINE_SCENARIO`] comes first. The
/// section about cases in which this project's bus does worse follows it.
pub(super) fn report<'a>(
    records: &[BenchRecord],
    summary: &'a RunSummary,
    infos: &'a [ScenarioInfo],
) -> BenchReport<'a> {
    let mut scenarios: Vec<_> = summary.scenarios.iter().collect();
    scenarios.sort_by_key(|scenario| scenario.name != HEADLINE_SCENARIO);
    let scenarios: Vec<_> = scenarios
        .into_iter()
        .map(|scenario| (ScenarioHeading::of(scenario, infos), scenario))
        .collect();
    let mut sections: Vec<_> =
        scenarios.iter().map(|(heading, scenario)| section(heading, scenario)).collect();
    let has_headline = scenarios.first().is_some_and(|(_, first)| first.name == HEADLINE_SCENARIO);
    sections.insert(usize::from(has_headline), losses::section(&scenarios));
    sections.push(method(records));
    BenchReport { title: "Benchmarks", introduction: introduction(records), sections }
}

/// Builds a table of a scenario and its explanation; `None` if that scenario was not run. The table
/// has the one metric of each row, or the most informative metrics. Rows of a single subject, which
/// compare nothing, are left out.
pub(super) fn summary_table<'a>(
    records: &[BenchRecord],
    summary: &'a RunSummary,
    infos: &[ScenarioInfo],
    name: &str,
) -> Option<Vec<ReportBlock<'a>>> {
    let scenario = summary.find(name)?;
    let mut metrics = ScenarioHeading::of(scenario, infos).metrics;
    if !scenario.is_mixed() {
        metrics.truncate(SUMMARY_METRICS_MAX);
    }
    let mut rows = scenario.rows(&metrics);
    if scenario.subjects.len() > 1 {
        rows.retain(|row| row.comparison.outcomes.len() > 1);
    }
    let table = ReportTable::of_figures(
        &rows,
        &scenario.subjects,
        RowLabels::CaseAndMetric,
        Spread::Hidden,
    );
    let runs = wording::distinct(runs(records).map(in_a_sentence)).join(" ");
    let mut text = MarkedText::marked(&format!(
        "Medians; ↓ lower is better, ↑ higher is better; *to best* is {OURS} divided by the best \
         other bus. "
    ));
    text.0.push(MarkedSpan::Plain(runs));
    Some(vec![ReportBlock::Table(table), ReportBlock::Paragraph(text)])
}

fn introduction<'a>(records: &[BenchRecord]) -> Vec<ReportBlock<'a>> {
    let runs =
        wording::distinct(runs(records).map(in_a_sentence)).into_iter().map(MarkedText::from);
    let noise = RunNoise::of(records).map(|noise| MarkedText::from(noise.verdict()));
    let figures = MarkedText::marked(&format!(
        "Figures are medians over all rounds; ± is the largest distance of the middle half of the \
         rounds from the median. The best bus is bold. *To best* is {OURS} divided by the best other bus. The \
         floor is a process that only reads and writes, a lower bound for any bus; the floor's \
         share is its time divided by the time of diligence."
    ));
    let texts = runs.chain(noise).chain([figures, MarkedText::marked(WHAT_IS_MEASURED)]);
    texts.map(ReportBlock::Paragraph).collect()
}

fn section<'a>(heading: &ScenarioHeading<'_>, scenario: &'a ScenarioSummary) -> ReportSection<'a> {
    let mut blocks = Vec::new();
    if !heading.about.is_empty() {
        blocks.push(ReportBlock::Paragraph(heading.about.into()));
    }
    push_plots(&mut blocks, plot::lines(heading, scenario));
    let table = |rows: &[_], labels| {
        ReportTable::of_figures(rows, &scenario.subjects, labels, Spread::Shown)
    };
    if scenario.is_mixed() {
        let rows = scenario.rows(&heading.metrics);
        blocks.push(ReportBlock::Table(table(&rows, RowLabels::CaseAndMetric)));
    } else {
        for (index, metric) in heading.metrics.iter().enumerate() {
            let rows: Vec<_> = rows(&scenario.comparisons, *metric).collect();
            let (title, table) = (described(*metric), table(&rows, RowLabels::Case));
            if index == 0 {
                blocks.push(ReportBlock::Paragraph(format!("{title}:").into()));
                blocks.push(ReportBlock::Table(table));
            } else {
                blocks.push(ReportBlock::FoldedTable { title, table });
            }
        }
    }
    push_list(&mut blocks, conclusions(heading, scenario));
    push_list(&mut blocks, failures(scenario));
    push_plots(&mut blocks, plot::timelines(scenario));
    ReportSection { name: heading.name.to_owned(), title: heading.title.to_owned(), blocks }
}

fn push_plots<'a>(blocks: &mut Vec<ReportBlock<'a>>, plots: Vec<Plot<'a>>) {
    if !plots.is_empty() {
        blocks.push(ReportBlock::Plots(plots));
    }
}

pub(super) fn push_list(blocks: &mut Vec<ReportBlock<'_>>, items: Vec<String>) {
    if !items.is_empty() {
        blocks.push(ReportBlock::List(items.into_iter().map(ListItem::from).collect()));
    }
}

fn failures(scenario: &ScenarioSummary) -> Vec<String> {
    let mut failures = Vec::new();
    for comparison in &scenario.comparisons {
        for outcome in &comparison.outcomes {
            for reason in wording::distinct(outcome.failures.iter().cloned()) {
                let (subject, case) = (&outcome.subject, &comparison.case.label);
                failures.push(format!("{subject} failed at {case}: {reason}"));
            }
        }
    }
    failures
}

fn method<'a>(records: &[BenchRecord]) -> ReportSection<'a> {
    let of_runs = |text: fn(&BenchRun) -> String| wording::distinct(runs(records).map(text));
    let mut items: Vec<ListItem> = Vec::new();
    let machines = of_runs(|run| run.machine.to_string());
    items.extend(machines.into_iter().map(|machine| format!("Machine: {machine}").into()));
    let begun = of_runs(|run| wording::date_and_time(run.started)).join(", ");
    items.push(format!("Started: {begun}").into());
    let requirements = of_runs(|run| {
        format!("{}; {}", wording::placement(run.placement), wording::rounds(run.rounds))
    });
    items.extend(requirements.into_iter().map(ListItem::from));
    let subjects = runs(records).flat_map(|run| &run.subjects).map(subject);
    items.push(ListItem { text: "Compared:".into(), nested: wording::distinct(subjects) });
    if let Some(noise) = RunNoise::of(records) {
        let [mean, worst] = [noise.mean, noise.worst].map(number::fine_percent);
        let text = format!(
            "Other processes took {mean} of the processor time on average, {worst} in the worst measurement"
        );
        items.push(text.into());
    }
    let absences = absences(records)
        .map(|absence| format!("Missing: {}. {}", absence.subject, absence.remedy).into());
    items.extend(absences);
    let commands = runs(records).map(|run| wording::command_line(&run.command)).collect();
    let blocks = vec![
        ReportBlock::List(items),
        ReportBlock::Paragraph("To repeat the run:".into()),
        ReportBlock::Commands(commands),
    ];
    let title = "Machine and method".to_owned();
    ReportSection { name: "machine-and-method".to_owned(), title, blocks }
}

/// Formats a subject with its version and its command.
fn subject(subject: &SubjectInfo) -> MarkedText {
    let SubjectInfo { name, version, command } = subject;
    let text = format!("{name} {version}").trim_end().to_owned();
    let Some((program, arguments)) = command.split_first() else { return text.into() };
    let program = without_private_folder(program).to_owned();
    let command: Vec<String> = [program].into_iter().chain(arguments.iter().cloned()).collect();
    let command = MarkedSpan::Code(wording::command_line(&command));
    MarkedText(vec![MarkedSpan::Plain(text + ": "), command])
}

/// Returns the path of a program that is installed for all users, or else its file name: the folder
/// of a private build means nothing on other machines.
fn without_private_folder(program: &str) -> &str {
    match program.rsplit_once('/') {
        Some((folder, name)) if !folder.starts_with("/usr") => name,
        _ => program,
    }
}

/// States when, where and how a run was measured.
fn in_a_sentence(run: &BenchRun) -> String {
    let (date, machine) = (wording::date(run.started), &run.machine);
    let (placement, rounds) = (wording::placement(run.placement), wording::rounds(run.rounds));
    format!("Measured {date} with {OURS} {}: {machine}. {placement}, {rounds}.", run.version)
}

/// The number of metrics in a short table of one scenario.
const SUMMARY_METRICS_MAX: usize = 2;

/// The scenario with a row of each of the others.
const HEADLINE_SCENARIO: &str = "compare";

const WHAT_IS_MEASURED: &str = "\
A call is an echo, as in dbus-ping-pong: the reply carries the payload of the call back. Sizes \
are payload bytes in each direction, without headers; the sentences under the tables of calls \
state the sizes on the wire. Transfer rates of calls count the payload of both directions. Only *pipelined \
calls*, *32 calls in flight* and *cost of observation* have empty replies, as does `bench \
ping-pong --reply empty` if it was measured. Streams and signals go one way. The sentences under \
the tables are computed from the figures; a difference smaller than the spread of the rounds \
counts as noise.";
