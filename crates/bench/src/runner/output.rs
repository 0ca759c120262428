//! What a run shows and writes while it goes on: tables, a progress bar, lines of JSON.

use std::io::{self, Write};

use super::progress::{RunProgress, RunStep};
use crate::conclusions::{WARNING, conclusions};
use crate::report::text::{ScenarioTable, TableStyle, WIDTH, legend};
use crate::result::{self, BenchRecord};
use crate::scenario_info::{ScenarioHeading, ScenarioInfo};
use crate::summary::{LOOSE_SPREAD, RunNoise, RunSummary, Steadiness};
use crate::{number, wording};

/// Where the results of a run go. The progress bar is on standard error, and only if that is a
/// terminal.
pub struct RunOutput<'o> {
    tables: Tables<'o>,
    json: Option<Box<dyn Write + 'o>>,
    records: Vec<BenchRecord>,
    /// Where the records of the current case begin.
    case_start: usize,
    progress: Option<RunProgress>,
    table: Option<ScenarioTable>,
    info: Option<&'static ScenarioInfo>,
}

/// Where the tables go.
pub enum Tables<'o> {
    /// To this writer, in this style.
    Shown(&'o mut dyn Write, TableStyle),
    /// Nowhere. Missing buses and the noise of the run are reported on standard error.
    Hidden,
}

/// The end of a scenario.
pub(super) struct ScenarioEnd<'e> {
    /// A sentence about the cases that a full run would have in addition.
    pub(super) left_out: Option<&'e str>,
    /// What could not be found, each in a sentence.
    pub(super) notes: &'e [String],
}

impl<'o> RunOutput<'o> {
    /// An output that also writes each record to `json`, as soon as it exists.
    #[must_use]
    pub fn new(tables: Tables<'o>, json: Option<Box<dyn Write + 'o>>) -> Self {
        let (records, progress, table, info) = (Vec::new(), None, None, None);
        Self { tables, json, records, case_start: 0, progress, table, info }
    }

    /// All records so far.
    #[must_use]
    pub fn into_records(self) -> Vec<BenchRecord> {
        self.records
    }

    /// A run begins that has so many steps: one for each case, subject and round.
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

    /// Prints what users must see even if the tables are hidden.
    fn report(&mut self, text: &str) -> io::Result<()> {
        match self.tables {
            Tables::Shown(..) => self.print(text),
            Tables::Hidden => print(&mut io::stderr(), text, self.progress.as_ref()),
        }
    }
}

/// Prints a text with the progress bar out of the way.
fn print(out: &mut dyn Write, text: &str, progress: Option<&RunProgress>) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let mut print = || out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match progress {
        Some(progress) => progress.aside(print),
        None => print(),
    }
}

/// How many figures differ much between the rounds; `None` if there was one round.
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
    fn a_run_is_shown_and_written_as_it_goes_on() {
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
