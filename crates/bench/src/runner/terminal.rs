//! Shows a run to people while it goes on: tables and a progress bar.

use std::fmt;
use std::io::{self, Write};

use super::progress::Progress;
use super::{Observer, RunEvent};
use crate::conclusions::{WARNING, conclusions};
use crate::report::text::{ScenarioTable, Style, WIDTH, legend};
use crate::report::{number, words};
use crate::result::Record;
use crate::scenario_info::{Heading, ScenarioInfo};
use crate::summary::{LOOSE_SPREAD, RunNoise, Steadiness, Summary};

/// Shows a run on a terminal. The progress bar is on standard error, and only if that is a
/// terminal.
pub struct Terminal<'o> {
    output: TableOutput<'o>,
    progress: Option<Progress>,
    table: Option<ScenarioTable>,
    /// The scenario that is being measured.
    info: Option<&'static ScenarioInfo>,
    /// Those of the case that is being measured.
    case: Vec<Record>,
    /// All so far, the timelines left out.
    all: Vec<Record>,
}

/// Where the tables go.
pub enum TableOutput<'o> {
    /// There, in this style.
    Tables(&'o mut dyn Write, Style),
    /// Nowhere: only what is missing, and how it went, is told on standard error.
    Nowhere,
}

impl<'o> Terminal<'o> {
    /// Shows tables there.
    #[must_use]
    pub const fn new(output: TableOutput<'o>) -> Self {
        let (progress, table, info) = (None, None, None);
        Self { output, progress, table, info, case: Vec::new(), all: Vec::new() }
    }

    fn print(&mut self, text: &str) -> io::Result<()> {
        let TableOutput::Tables(out, _) = &mut self.output else { return Ok(()) };
        if text.is_empty() {
            return Ok(());
        }
        let mut print = || out.write_all(text.as_bytes()).and_then(|()| out.flush());
        match &self.progress {
            Some(progress) => progress.aside(print),
            None => print(),
        }
    }

    /// What everybody should know goes to standard error where the tables go nowhere.
    fn tell(&mut self, text: &str) -> io::Result<()> {
        match self.output {
            TableOutput::Tables(..) => self.print(text),
            TableOutput::Nowhere => {
                let print = || io::stderr().write_all(text.as_bytes());
                match &self.progress {
                    Some(progress) => progress.aside(print),
                    None => print(),
                }
            }
        }
    }

    fn record(&mut self, record: &Record) -> io::Result<()> {
        match record {
            Record::Run(run) => {
                let (placement, rounds) =
                    (words::placement(run.placement), words::rounds(run.rounds));
                self.print(&format!("{}\n{placement}, {rounds}.\n", run.machine))
            }
            Record::Absence(absence) => {
                self.tell(&format!("{} is left out: {}\n", absence.subject, absence.remedy))
            }
            Record::Sample(_) | Record::Failure(_) => {
                self.case.push(record.clone());
                self.all.push(record.clone());
                Ok(())
            }
            Record::Timeline(_) => Ok(()),
        }
    }

    fn begin_table(&mut self, heading: &Heading<'_>, subjects: &[String]) -> io::Result<()> {
        let TableOutput::Tables(_, style) = self.output else { return Ok(()) };
        let table = ScenarioTable::new(heading, subjects, style);
        let text = format!("\n{}", table.heading());
        self.table = Some(table);
        self.print(&text)
    }

    fn end_case(&mut self) -> io::Result<()> {
        let summary = Summary::of(&self.case);
        self.case.clear();
        let comparisons = summary.scenarios.iter().flat_map(|scenario| &scenario.comparisons);
        let Some(table) = &mut self.table else { return Ok(()) };
        let text: String = comparisons.map(|comparison| table.case(comparison)).collect();
        self.print(&text)
    }

    fn end_table(&mut self, left_out: Option<&str>, notes: &[String]) -> io::Result<()> {
        let footnotes = self.table.take().map(|table| table.footnotes()).unwrap_or_default();
        self.print(&footnotes)?;
        let (warnings, mut sentences): (Vec<String>, Vec<String>) =
            self.conclusions().into_iter().partition(|sentence| sentence.starts_with(WARNING));
        sentences.extend(left_out.map(str::to_owned));
        self.print(&words::list(&sentences, WIDTH))?;
        self.tell(&words::list(&warnings, WIDTH))?;
        notes.iter().try_for_each(|note| self.tell(&format!("Not found: {note}\n")))
    }

    /// Those of the scenario that was measured last.
    fn conclusions(&self) -> Vec<String> {
        let summary = Summary::of(&self.all);
        let scenario = self.info.and_then(|info| Some((info, summary.find(info.name)?)));
        let said = scenario.map(|(info, scenario)| conclusions(&Heading::new(info), scenario));
        said.unwrap_or_default()
    }

    fn end(&mut self) -> io::Result<()> {
        if let Some(progress) = self.progress.take() {
            progress.finish();
        }
        if let TableOutput::Tables(_, style) = self.output
            && !self.all.is_empty()
        {
            self.print(&format!("\n{}", legend(style)))?;
        }
        let Some(noise) = RunNoise::of(&self.all) else { return Ok(()) };
        let (mean, worst) = (number::fine_percent(noise.mean), number::fine_percent(noise.worst));
        let spread = spread(&Summary::of(&self.all)).unwrap_or_default();
        self.tell(&format!(
            "{} Others took {mean} of the processor time on the mean, {worst} at worst.{spread}\n",
            noise.verdict(),
        ))
    }
}

/// How many figures differ much between the rounds; `None` if there was one round.
fn spread(summary: &Summary) -> Option<String> {
    let comparisons = summary.scenarios.iter().flat_map(|scenario| &scenario.comparisons);
    let outcomes = comparisons.flat_map(|comparison| &comparison.outcomes);
    let repeated = outcomes.flat_map(|outcome| outcome.figures.values());
    let repeated: Vec<_> = repeated.filter(|figure| figure.rounds > 1).collect();
    let loose = repeated.iter().filter(|figure| figure.steadiness() != Steadiness::Steady).count();
    let (all, percent) = (repeated.len(), number::percent(LOOSE_SPREAD));
    (all > 0)
        .then(|| format!(" Figures whose rounds are more than {percent} apart: {loose} of {all}."))
}

impl Observer for Terminal<'_> {
    fn see(&mut self, event: &RunEvent<'_>) -> io::Result<()> {
        match event {
            RunEvent::Begins { steps } => self.progress = Some(Progress::new(*steps)),
            RunEvent::Record(record) => return self.record(record),
            RunEvent::ScenarioBegins { info, subjects } => {
                self.info = Some(info);
                return self.begin_table(&Heading::new(info), subjects);
            }
            RunEvent::Step(step) => self.progress.iter().for_each(|progress| progress.at(*step)),
            RunEvent::StepDone => self.progress.iter().for_each(Progress::done),
            RunEvent::CaseEnds => return self.end_case(),
            RunEvent::ScenarioEnds { left_out, notes } => return self.end_table(*left_out, notes),
            RunEvent::Ends => return self.end(),
        }
        Ok(())
    }
}

impl fmt::Debug for Terminal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terminal").field("table", &self.table).finish_non_exhaustive()
    }
}

impl fmt::Debug for TableOutput<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tables(..) => "Tables",
            Self::Nowhere => "Nowhere",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{Absence, Case, Failure, Metric, Sample};

    static INFO: ScenarioInfo = ScenarioInfo {
        name: "connect",
        title: "Connecting",
        about: "One connection after the other.",
        metrics: &[Metric::ConnectUs],
    };

    fn sample(round: u32, figure: f64) -> Record {
        Record::Sample(Sample {
            scenario: "connect".to_owned(),
            case: Case::new("connect", []),
            subject: "diligence".to_owned(),
            round,
            figures: [(Metric::ConnectUs, figure)].into(),
            disturbance: 0.001,
        })
    }

    #[test]
    fn a_run_is_told_as_it_goes_on() {
        let mut out = Vec::new();
        let mut terminal = Terminal::new(TableOutput::Tables(&mut out, Style::Plain));
        let absence = Absence { subject: "busd".to_owned(), remedy: "build it".to_owned() };
        let failure = Failure {
            scenario: "connect".to_owned(),
            case: Case::new("connect", []),
            subject: "dbus-daemon".to_owned(),
            round: 1,
            reason: "the bus ended".to_owned(),
        };
        let records = [sample(1, 70.0), Record::Failure(failure), sample(2, 90.0)];
        let subjects = ["diligence", "dbus-daemon"].map(str::to_owned);
        let mut see = |event: &RunEvent<'_>| terminal.see(event).expect("memory takes everything");
        see(&RunEvent::Begins { steps: 4 });
        see(&RunEvent::Record(&Record::Absence(absence)));
        see(&RunEvent::ScenarioBegins { info: &INFO, subjects: &subjects });
        for record in &records {
            see(&RunEvent::Record(record));
            see(&RunEvent::StepDone);
        }
        see(&RunEvent::CaseEnds);
        see(&RunEvent::ScenarioEnds {
            left_out: None,
            notes: &["the weather: no window".to_owned()],
        });
        see(&RunEvent::Ends);
        let text = String::from_utf8(out).expect("it is text");
        let expected = "busd is left out: build it\n\n\
            connect: Connecting (connection set-up, µs, lower is better)\n";
        assert!(text.starts_with(expected), "{text}");
        for expected in [
            "\nconnect                                   80±     failed¹        -\n",
            "\n¹ the bus ended\nNot found: the weather: no window\n",
            "\nThe machine was quiet. Others took 0.1 % of the processor time on the mean, 0.1 % at \
             worst. Figures whose rounds are more than 10 % apart: 1 of 1.\n",
        ] {
            assert!(text.contains(expected), "{expected}{text}");
        }
    }
}
