//! The options of all scenarios, and the run of measurements.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;
use std::{env, path};

use bench::buses::{BusList, ProgramPaths};
use bench::placement::Placement;
use bench::report::{TableStyle, html};
use bench::result::BenchRecord;
use bench::runner::{self, RunOutcome, RunOutput, RunPlan, RunRequest, Tables};
use bench::scenario::{Effort, INFOS, Scenario};
use bench::stage::MeasurementSite;
use clap::Args;
use sys::signals::{ProcessSignal, SignalSource};

use super::error::BenchError;
use crate::output::print_to_stderr;

/// The options of all scenarios.
#[derive(Debug, Args)]
pub(super) struct MeasureOptions {
    /// The buses: diligence, dbus-daemon, dbus-broker, busd, or the address of a running bus
    /// [default: all installed buses]
    #[arg(long, value_name = "BUS,...", help_heading = HEADING)]
    bus: Option<BusList>,
    /// Which processors are used
    #[arg(long, value_name = "WHERE", value_enum, default_value_t, help_heading = HEADING)]
    placement: Placement,
    /// The number of rounds [default: 5]
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=1000),
        help_heading = HEADING
    )]
    rounds: Option<u32>,
    /// The time limit of one measurement
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "120",
        value_parser = clap::value_parser!(u32).range(1..),
        help_heading = HEADING
    )]
    deadline: u32,
    /// Measure little, in one round, to see that everything works
    #[arg(long, help_heading = HEADING)]
    quick: bool,
    /// Write the results as lines of JSON: to a file, or to standard output in place of the tables
    #[arg(
        long,
        visible_alias = "save",
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "-",
        help_heading = HEADING
    )]
    json: Option<PathBuf>,
    /// Write an HTML page with tables and plots
    #[arg(long, value_name = "FILE.html", help_heading = HEADING)]
    report: Option<PathBuf>,
}

/// Measures scenarios, and shows and writes the results.
pub(super) fn run(
    scenarios: Vec<Box<dyn Scenario>>,
    options: &MeasureOptions,
) -> Result<ExitCode, BenchError> {
    let mut files = ResultFiles::open(options)?;
    let places = ProgramPaths::of_this_process().map_err(BenchError::Start)?;
    let plan = RunPlan::new(&request(&scenarios, options, &places), &mut |text| {
        print_to_stderr(&format!("diligence bench: {text}\n"));
    });
    // Compilers that ran until now must receive these signals; the first threads start after this.
    let signals = SignalSource::block(&[
        ProcessSignal::Interrupt,
        ProcessSignal::Terminate,
        ProcessSignal::HangUp,
    ]);
    let signals = Rc::new(signals.map_err(BenchError::Start)?);
    let program = env::current_exe().map_err(BenchError::Start)?;
    let limit = Duration::from_secs(options.deadline.into());
    let site = MeasurementSite::new(program, options.placement, limit, Some(signals));
    let (outcome, records) = measured(&plan, &site.map_err(BenchError::Start)?, &mut files)?;
    files.report(&records)?;
    verdict(&plan, outcome, options)
}

fn request<'r>(
    scenarios: &'r [Box<dyn Scenario>],
    options: &'r MeasureOptions,
    places: &'r ProgramPaths,
) -> RunRequest<'r> {
    RunRequest {
        scenarios,
        buses: options.bus.as_ref(),
        places,
        effort: if options.quick { Effort::Quick } else { Effort::Full },
        rounds: options.rounds,
        placement: options.placement,
        command: command_line(),
    }
}

/// Runs the plan and returns its outcome and records.
fn measured(
    plan: &RunPlan,
    site: &MeasurementSite,
    files: &mut ResultFiles,
) -> Result<(RunOutcome, Vec<BenchRecord>), BenchError> {
    let mut stdout = io::stdout();
    let (tables, json): (_, Option<Box<dyn Write>>) = match &mut files.json {
        None => (Tables::Shown(&mut stdout, TableStyle::of_stdout()), None),
        Some(JsonTarget::Stdout) => (Tables::Hidden, Some(Box::new(io::stdout()))),
        Some(JsonTarget::File(file)) => {
            (Tables::Shown(&mut stdout, TableStyle::of_stdout()), Some(Box::new(file)))
        }
    };
    let mut output = RunOutput::new(tables, json);
    let outcome = runner::run(plan, site, &mut output).map_err(BenchError::output)?;
    Ok((outcome, output.into_records()))
}

/// Determines the exit status, and prints a message if the run was interrupted.
fn verdict(
    plan: &RunPlan,
    outcome: RunOutcome,
    options: &MeasureOptions,
) -> Result<ExitCode, BenchError> {
    if plan.is_empty() {
        return Err(BenchError::NothingToMeasure);
    }
    if outcome.is_interrupted {
        print_to_stderr("diligence bench: interrupted; these are the results so far\n");
    }
    // A missing bus is a failure only if the user named it.
    let is_incomplete = options.bus.is_some() && !plan.absences.is_empty();
    let is_done = outcome.failures == 0 && !outcome.is_interrupted && !is_incomplete;
    Ok(if is_done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Output files, opened before the measurements so that no measurement is wasted.
struct ResultFiles {
    json: Option<JsonTarget>,
    report: Option<(PathBuf, File)>,
}

enum JsonTarget {
    Stdout,
    File(File),
}

impl ResultFiles {
    fn open(options: &MeasureOptions) -> Result<Self, BenchError> {
        let create = |path: &Path| File::create(path).map_err(BenchError::file(path));
        let json = match options.json.as_deref() {
            None => None,
            Some(path) if path == Path::new("-") => Some(JsonTarget::Stdout),
            Some(path) => Some(JsonTarget::File(create(path)?)),
        };
        let report = options.report.as_deref().map(|path| Ok((path.to_owned(), create(path)?)));
        Ok(Self { json, report: report.transpose()? })
    }

    fn report(self, records: &[BenchRecord]) -> Result<(), BenchError> {
        let Some((path, mut file)) = self.report else { return Ok(()) };
        let page = html(records, &INFOS);
        file.write_all(page.as_bytes()).map_err(BenchError::file(&path))?;
        let path = path::absolute(&path).unwrap_or(path);
        print_to_stderr(&format!("The page is in {}\n", path.display()));
        Ok(())
    }
}

const HEADING: &str = "Options of all scenarios";

/// The command line as recorded in the results, without the directory of the program.
fn command_line() -> Vec<String> {
    let mut words: Vec<_> =
        env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(program) = words.first_mut()
        && let Some((_, name)) = program.rsplit_once('/')
    {
        *program = name.to_owned();
    }
    words
}
