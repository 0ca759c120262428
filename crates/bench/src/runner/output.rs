//! The output of a run in progress: tables, a progress bar, and lines of JSON.

use std::io::{self, Write};

use super::progress::{RunProgress, RunStep};
use crate::conclusions::{WARNING, conclusions};
use crate::report::text::{ScenarioTable, TableStyle, WIDTH, legend};
use crate::result::{self, BenchRecord};
use crate::scenario_info::{ScenarioHeading, ScenarioInfo};
use crate::summary::{LOOSE_SPREAD, RunNoise, RunSummary, Steadiness};
use crate::{number, wording};

/// The destination of the results of a run. The progress bar appears on standard error, if that is
/// a terminal.
pub struct RunOutput<'o> {
    tables: Tables<'o>,
    json: Option<Box<dyn Write + 'o>>,
    records: Vec<BenchRecord>,
    /// The index of the first record of the current case.
    case_start: usize,
    progress: Option<RunProgress>,
    table: Option<ScenarioTable>,
    info: Option<&'static ScenarioInfo>,
}

/// The destination of the tables.
pub enum Tables<'o> {
    /// Tables go to this writer, in this style.
    Shown(&'o mut dyn Write, TableStyle),
    /// Tables are not shown. Missing buses and the noise of the run are reported on standard error.
    Hidden,
}

/// The text after the last case of a scenario.
pub(super) struct ScenarioEnd<'e> {
    /// A sentence about the cases that only a full run has.
    pub(super) left_out: Option<&'e str>,
    /// The results that could not be obtained, one sentence each.
    pub(super) notes: &'e [String],
}

impl<'o> RunOutput<'o> {
    /// Creates an output that also writes each record to `json` as soon as it exists.
    #[must_use]
    pub fn new(tables: Tables<'o>, json: Option<Box<dyn Write + 'o>>) -> Self {
        let (records, progress, table, info) = (Vec::new(), None, None, None);
        Self { tables, json, records, case_start: 0, progress, table, info }
    }

    /// Returns all records of the run.
    #[must_use]
    pub fn into_records(self) -> Vec<BenchRecord> {
        self.records
    }

    /// Starts a run with this number of steps: one for each case, subject and round.
    pub(super) fn begin(&mut self, steps: u64) {
        self.progress = Some(RunProgress::new(steps));
    }

    pub(super) fn record(&mut self, record: BenchRecord) -> io::Result<()> {
        if let Some(json) = &mut self.json {
            result::write(json, &record)?;
            json.flush()?;
        }
        match &record {
            BenchRecord::Run(run) => {
                let (placement, rounds) =
                    (wording::placement(run.placement), wording::rounds(run.rounds));
                self.print(&format!("{}\n{placement}, {rounds}.\n", run.machine))?;
            }
            BenchRecord::Absence(absence) => {
                self.report(&format!("{} is left out: {}\n", absence.subject, absence.remedy))?;
            }
            BenchRecord::Sample(_) | BenchRecord::Failure(_) | BenchRecord::Timeline(_) => {}
        }
        self.records.push(record);
        Ok(())
    }

    pub(super) fn begin_scenario(
        &mut self,
        info: &'static ScenarioInfo,
        subjects: &[String],
    ) -> io::Result<()> {
        self.info = Some(info);
        self.case_start = self.records.len();
        let Tables::Shown(_, style) = self.tables else { return Ok(()) };
        let table = ScenarioTable::new(&ScenarioHeading::new(info), subjects, style);
        let text = format!("\n{}", table.heading());
        self.table = Some(table);
        self.print(&text)
    }

    pub(super) fn begin_step(&self, step: RunStep<'_>) {
        self.progress.iter().for_each(|progress| progress.at(step));
    }

    pub(super) fn end_step(&self) {
        self.progress.iter().for_each(RunProgress::done);
    }

    pub(super) fn end_case(&mut self) -> io::Result<()> {
        let summary = RunSummary::of(&self.records[self.case_start..]);
        self.case_start = self.records.len();
        let comparisons = summary.scenarios.iter().flat_map(|scenario| &scenario.comparisons);
        let Some(table) = &mut self.table else { return Ok(()) };
        let text: String = comparisons.map(|comparison| table.case(comparison)).collect();
        self.print(&text)
    }

    pub(super) fn end_scenario(&mut self, end: &ScenarioEnd<'_>) -> io::Result<()> {
        let footnotes = self.table.take().map(|table| table.footnotes()).unwrap_or_default();
        self.print(&footnotes)?;
        let summary = RunSummary::of(&self.records);
        let scenario = self.info.and_then(|info| Some((info, summary.find(info.name)?)));
        let conclusions =
            scenario.map(|(info, scenario)| conclusions(&ScenarioHeading::new(info), scenario));
        let (warnings, mut sentences): (Vec<String>, Vec<String>) = conclusions
            .unwrap_or_default()
            .into_iter()
            .partition(|sentence| sentence.starts_with(WARNING));
        sentences.extend(end.left_out.map(str::to_owned));
        self.print(&wording::list(&sentences, WIDTH))?;
        self.report(&wording::list(&warnings, WIDTH))?;
        end.notes.iter().try_for_each(|note| self.report(&format!("Not found: {note}\n")))
    }

    pub(super) fn end(&mut self) -> io::Result<()> {
        if let Some(progress) = self.progress.take() {
            progress.finish();
        }
        let is_measured = |record: &BenchRecord| {
            matches!(record, BenchRecord::Sample(_) | BenchRecord::Failure(_))
        };
        if let Tables::Shown(_, style) = self.tables
            && self.records.iter().any(is_measured)
        {
            self.print(&format!("\n{}", legend(style)))?;
        }
        let Some(noise) = RunNoise::of(&self.records) else { return Ok(()) };
        let [mean, worst] = [noise.mean, noise.worst].map(number::fine_percent);
        let spread = spread(&RunSummary::of(&self.records)).unwrap_or_default();
        self.report(&format!(
            "{} Other processes took {mean} of the processor time on average, {worst} at worst.{spread}\n",
            noise.verdict(),
        ))
    }

    fn print(&mut self, text: &str) -> io::Result<()> {
        match &mut self.tables {
            Tables::Shown(out, _) => print(*out, text, self.progress.as_ref()),
            Tables::Hidden => Ok(()),
        }
    }

    /// Prints a text that users must see even if the tables are hidden.
    fn report(&mut self, text: &str) -> io::Result<()> {
        match self.tables {
            Tables::Shown(..) => self.print(text),
            Tables::Hidden => print(&mut io::stderr(), text, self.progress.as_ref()),
        }
    }
}

/// Prints a text while the progress bar is hidden.
fn print(out: &mut dyn Write, text: &str, progress: Option<&RunProgress>) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let mut print = || out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match progress {
        Some(progress) => progress.without_bar(print),
        None => print(),
    }
}

/// Counts the figures with a large spread between the rounds; `None` if there was one round.
fn spread(summary: &RunSummary) -> Option<String> {
    let comparisons = summary.scenarios.iter().flat_map(|scenario| &scenario.comparisons);
    let outcomes = comparisons.flat_map(|comparison| &comparison.outcomes);
    let repeated = outcomes.flat_map(|outcome| outcome.figures.values());
    let repeated: Vec<_> = repeated.filter(|figure| figure.rounds > 1).collect();
    let loose = repeated.iter().filter(|figure| figure.steadiness() != Steadiness::Steady).count();
    let (all, percent) = (repeated.len(), number::percent(LOOSE_SPREAD));
    (all > 0)
        .then(|| format!(" Figures whose rounds are more than {percent} apart: {loose} of {all}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{Absence, BenchCase, BenchFailure, BenchSample, Metric};

    static INFO: ScenarioInfo = ScenarioInfo {
        name: "connect",
        title: "Connecting",
        about: "One connection after the other.",
        metrics: &[Metric::ConnectUs],
    };

    fn sample(round: u32, figure: f64) -> BenchRecord {
        BenchRecord::Sample(BenchSample {
            scenario: "connect".to_owned(),
            case: BenchCase::new("connect", []),
            subject: "diligence".to_owned(),
            round,
            figures: [(Metric::ConnectUs, figure)].into(),
            disturbance: 0.001,
        })
    }

    fn run_to(output: &mut RunOutput<'_>) -> io::Result<()> {
        let absence = Absence { subject: "busd".to_owned(), remedy: "build it".to_owned() };
        let failure = BenchFailure {
            scenario: "connect".to_owned(),
            case: BenchCase::new("connect", []),
            subject: "dbus-daemon".to_owned(),
            round: 1,
            reason: "the bus ended".to_owned(),
        };
        output.begin(4);
        output.record(BenchRecord::Absence(absence))?;
        output.begin_scenario(&INFO, &["diligence", "dbus-daemon"].map(str::to_owned))?;
        for record in [sample(1, 70.0), BenchRecord::Failure(failure), sample(2, 90.0)] {
            output.record(record)?;
            output.end_step();
        }
        output.end_case()?;
        let notes = &["the weather: no window".to_owned()];
        output.end_scenario(&ScenarioEnd { left_out: None, notes })?;
        output.end()
    }

    #[test]
    fn run_output_is_shown_and_written_during_the_run() {
        let (mut out, mut json) = (Vec::new(), Vec::new());
        let tables = Tables::Shown(&mut out, TableStyle::Plain);
        let mut output = RunOutput::new(tables, Some(Box::new(&mut json)));
        run_to(&mut output).expect("memory takes everything");
        let records = output.into_records();
        assert_eq!(result::read(&*json).expect("they are records"), records);
        let text = String::from_utf8(out).expect("it is text");
        let expected = "busd is left out: build it\n\n\
            connect: Connecting (connection set-up, µs, lower is better)\n";
        assert!(text.starts_with(expected), "{text}");
        for expected in [
            "\nconnect                                   80±     failed¹        -\n",
            "\n¹ the bus ended\nNot found: the weather: no window\n",
            "\nThe machine was quiet. Other processes took 0.1 % of the processor time on average, 0.1 % at \
             worst. Figures whose rounds are more than 10 % apart: 1 of 1.\n",
        ] {
            assert!(text.contains(expected), "{expected}{text}");
        }
    }
}
