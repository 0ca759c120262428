//! Measuring.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;
use std::{env, path};

use bench::buses::{BusList, ProgramPaths};
use bench::placement::Placement;
use bench::report::{Style, html};
use bench::result::Record;
use bench::runner::{self, Output, Plan, Request, RunOutcome, Tables};
use bench::scenario::{Effort, INFOS, Scenario};
use bench::stage::Site;
use clap::Args;
use sys::signals::{Signal, SignalSource};

use super::error::BenchError;
use crate::output::complain;

/// The options of all scenarios.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// The buses: diligence, dbus-daemon, dbus-broker, busd, or the address of one that runs
    /// [default: all that are installed]
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

/// Measures scenarios, and shows and writes what comes of it.
pub(super) fn run(
    scenarios: Vec<Box<dyn Scenario>>,
    options: &Options,
) -> Result<ExitCode, BenchError> {
    let mut files = Files::open(options)?;
    let places = ProgramPaths::of_this_process().map_err(BenchError::Start)?;
    let plan = Plan::new(&request(&scenarios, options, &places), &mut |text| {
        complain(&format!("diligence bench: {text}\n"));
    });
    // Compilers that ran until now must receive these signals; from now on threads begin.
    let signals = SignalSource::block(&[Signal::Interrupt, Signal::Terminate, Signal::HangUp]);
    let signals = Rc::new(signals.map_err(BenchError::Start)?);
    let program = env::current_exe().map_err(BenchError::Start)?;
    let limit = Duration::from_secs(options.deadline.into());
    let site = Site::new(program, options.placement, limit, Some(signals));
    let (outcome, records) = measured(&plan, &site.map_err(BenchError::Start)?, &mut files)?;
    files.report(&records)?;
    verdict(&plan, outcome, options)
}

fn request<'r>(
    scenarios: &'r [Box<dyn Scenario>],
    options: &'r Options,
    places: &'r ProgramPaths,
) -> Request<'r> {
    Request {
        scenarios,
        buses: options.bus.as_ref(),
        places,
        effort: if options.quick { Effort::Quick } else { Effort::Full },
        rounds: options.rounds,
        placement: options.placement,
        command: command_line(),
    }
}

/// Carries the plan out.
fn measured(
    plan: &Plan,
    site: &Site,
    files: &mut Files,
) -> Result<(RunOutcome, Vec<Record>), BenchError> {
    let mut stdout = io::stdout();
    let (tables, json): (_, Option<Box<dyn Write>>) = match &mut files.json {
        None => (Tables::Shown(&mut stdout, Style::of_stdout()), None),
        Some(Json::Stdout) => (Tables::Hidden, Some(Box::new(io::stdout()))),
        Some(Json::File(file)) => {
            (Tables::Shown(&mut stdout, Style::of_stdout()), Some(Box::new(file)))
        }
    };
    let mut output = Output::new(tables, json);
    let outcome = runner::run(plan, site, &mut output).map_err(BenchError::output)?;
    Ok((outcome, output.into_records()))
}

/// What the exit status tells, with a last word if it is not success.
fn verdict(plan: &Plan, outcome: RunOutcome, options: &Options) -> Result<ExitCode, BenchError> {
    if plan.is_empty() {
        return Err(BenchError::NothingToMeasure);
    }
    if outcome.is_interrupted {
        complain("diligence bench: interrupted; this is what was measured so far\n");
    }
    // Those whom nobody has named need not be there.
    let is_incomplete = options.bus.is_some() && !plan.absences.is_empty();
    let is_done = outcome.failures == 0 && !outcome.is_interrupted && !is_incomplete;
    Ok(if is_done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Files that are written, opened before anything is measured for nothing.
struct Files {
    json: Option<Json>,
    report: Option<(PathBuf, File)>,
}

enum Json {
    Stdout,
    File(File),
}

impl Files {
    fn open(options: &Options) -> Result<Self, BenchError> {
        let create = |path: &Path| File::create(path).map_err(BenchError::file(path));
        let json = match options.json.as_deref() {
            None => None,
            Some(path) if path == Path::new("-") => Some(Json::Stdout),
            Some(path) => Some(Json::File(create(path)?)),
        };
        let report = options.report.as_deref().map(|path| Ok((path.to_owned(), create(path)?)));
        Ok(Self { json, report: report.transpose()? })
    }

    fn report(self, records: &[Record]) -> Result<(), BenchError> {
        let Some((path, mut file)) = self.report else { return Ok(()) };
        let page = html(records, &INFOS);
        file.write_all(page.as_bytes()).map_err(BenchError::file(&path))?;
        let path = path::absolute(&path).unwrap_or(path);
        complain(&format!("The page is in {}\n", path.display()));
        Ok(())
    }
}

const HEADING: &str = "Options of all scenarios";

/// The words that this was started with. Where the program is installed is of no interest to others.
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
