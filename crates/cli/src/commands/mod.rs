//! The commands of `diligence`, one module each.
//!
//! To add one: a variant of [`Command`], a line in [`Command::run`], a module with a type of
//! arguments (`clap::Args`) and a function from these to an exit status. Help, manual pages and
//! completions follow from the variant; which of its words name something on a bus is told by
//! `completion::meaning`.

mod bench;
mod bus;
mod call;
mod complete;
mod demo;
mod diff;
mod emit;
mod export;
mod generate;
mod get;
mod introspect;
mod lint;
mod list;
mod monitor;
mod own;
mod record;
mod run;
mod set;
mod show;
mod start;
mod stats;
mod status;
mod timeline;
mod top;
mod tree;
mod up;
mod view;
mod wait;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser, Subcommand};

use ::bench::{library, peer};
use bench::Bench;
use call::Call;
use complete::Complete;
use demo::Demo;
use diff::Diff;
use emit::Emit;
use export::Export;
use generate::Generate;
use get::Get;
use introspect::Introspect;
use lint::Lint;
use list::List;
use monitor::Monitor;
use own::Own;
use record::Record;
use run::Run;
use set::Set;
use show::Show;
use start::Start;
use stats::Stats;
use status::Status;
use timeline::Timeline;
use top::Top;
use tree::Objects;
use up::Up;
use view::View;
use wait::Wait;

/// A D-Bus message bus, and the instruments to see what happens on one.
#[derive(Debug, Parser)]
#[command(name = "diligence", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a private bus with a live view of it, ready to point programs at
    Up(Up),
    /// Run a command with a private bus around it
    Run(Run),
    /// Run a message bus, with the options of dbus-daemon
    #[command(disable_help_flag = true, override_help = bus::help())]
    Bus {
        /// The options of dbus-daemon; see `diligence bus --help`
        #[arg(allow_hyphen_values = true, trailing_var_arg = true)]
        options: Vec<OsString>,
    },
    /// Record what goes over buses into a file
    Record(Record),
    /// Show messages as they go over a bus, with names and durations
    Monitor(Monitor),
    /// Show the busiest services of a bus right now, and what is slow
    Top(Top),
    /// List the names on a bus, and who has them
    List(List),
    /// Show the objects of services as trees
    Tree(Objects),
    /// Show what an object has: methods, signals, properties with their values
    Introspect(Introspect),
    /// Tell who has a name, or how a bus is: who talks, what waits, what went wrong
    Status(Status),
    /// Call a method, its arguments in the form of any tool; or show what there is to call
    Call(Call),
    /// Read properties
    #[command(alias = "get-property")]
    Get(Get),
    /// Set a property
    #[command(alias = "set-property")]
    Set(Set),
    /// Emit a signal
    Emit(Emit),
    /// Wait for a signal, or for a name to be owned
    Wait(Wait),
    /// Have a service started
    Start(Start),
    /// Hold a name: answer those who call it with what they said, with errors, or not at all
    Own(Own),
    /// Print statistics of a recording: busiest connections, members, slow calls
    Stats(Stats),
    /// Show where the time went in a recording: who waited for whom, how services started
    Timeline(Timeline),
    /// Look at recordings, or at a bus while it is used, as a page in the browser
    View(View),
    /// Compare two recordings, and check budgets
    Diff(Diff),
    /// Show the messages of a recording, as tools print them or as commands
    Show(Show),
    /// Write the messages of a recording for other programs
    Export(Export),
    /// Find problems in how programs use the bus
    Lint(Lint),
    /// Measure what a bus costs, side by side with others
    Bench(Bench),
    /// Be one of the processes that `bench` measures with
    #[command(hide = true, name = peer::COMMAND)]
    BenchPeer {
        /// What it does, as JSON
        part: String,
    },
    /// Be the program of our own library that `bench clients` measures
    #[command(hide = true, name = library::ours::COMMAND)]
    BenchLibrary {
        /// What it does
        words: Vec<String>,
    },
    /// Be one of the programs that `up --demo` starts
    #[command(hide = true)]
    Demo(Demo),
    /// Write manual pages or completions for shells
    #[command(hide = true)]
    Generate(Generate),
    /// Tell a shell what may come next on a command line
    #[command(hide = true)]
    Complete(Complete),
}

impl Command {
    fn run(self) -> ExitCode {
        match self {
            Self::Up(up) => up::run(up),
            Self::Run(run) => run::run(run),
            Self::Bus { options } => bus::run(options),
            Self::Record(record) => record::run(record),
            Self::Monitor(monitor) => monitor::run(monitor),
            Self::Top(top) => top::run(top),
            Self::List(list) => list::run(&list),
            Self::Tree(objects) => tree::run(&objects),
            Self::Introspect(introspect) => introspect::run(&introspect),
            Self::Status(status) => status::run(&status),
            Self::Call(call) => call::run(&call),
            Self::Get(get) => get::run(&get),
            Self::Set(set) => set::run(&set),
            Self::Emit(emit) => emit::run(&emit),
            Self::Wait(wait) => wait::run(&wait),
            Self::Start(start) => start::run(&start),
            Self::Own(own) => own::run(&own),
            Self::Stats(stats) => stats::run(&stats),
            Self::Timeline(timeline) => timeline::run(&timeline),
            Self::View(view) => view::run(&view),
            Self::Diff(diff) => diff::run(&diff),
            Self::Show(show) => show::run(&show),
            Self::Export(export) => export::run(&export),
            Self::Lint(lint) => lint::run(&lint),
            Self::Bench(bench) => bench::run(bench),
            Self::BenchPeer { part } => peer::run(&part),
            Self::BenchLibrary { words } => library::ours::main(&words),
            Self::Demo(demo) => demo::run(demo),
            Self::Generate(what) => generate::run(&what),
            Self::Complete(complete) => complete::run(&complete),
        }
    }
}

/// Runs what the words of the command line ask for. The first word is the name of the program.
///
/// The exit status is 0 when it was done, 1 when it failed and 2 when the command line is wrong;
/// `bus` has those of dbus-daemon.
pub(crate) fn run(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    match Cli::try_parse_from(words) {
        Ok(cli) => cli.command.run(),
        Err(error) => explain(&error),
    }
}

/// All commands, for what is made from their definitions.
fn description() -> clap::Command {
    // clap passes the options of the bus on unread, so they are described separately.
    Cli::command().mut_subcommand("bus", |_| bus::description())
}

/// Prints help and version to standard output, mistakes to standard error.
fn explain(error: &clap::Error) -> ExitCode {
    // A reader that has seen enough and left is fine.
    let _ = error.print();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => ExitCode::SUCCESS,
        _ => ExitCode::from(WRONG_COMMAND_LINE),
    }
}

const WRONG_COMMAND_LINE: u8 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of a command line, as a shell takes them apart.
    fn words(line: &str) -> Vec<String> {
        let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
        for c in line.chars() {
            match (quote, c) {
                (Some(open), c) if c == open => quote = None,
                (None, '"' | '\'') => {
                    quote = Some(c);
                    word.get_or_insert_default();
                }
                (None, ' ') => words.extend(word.take()),
                (_, c) => word.get_or_insert_default().push(c),
            }
        }
        words.extend(word);
        words
    }

    #[test]
    fn what_is_told_to_those_who_come_from_other_tools_is_taken() {
        let document = include_str!("../../../../docs/coming-from.md");
        let inline = document.split('`').skip(1).step_by(2);
        let commands =
            inline.filter(|code| code.starts_with("diligence ") && !code.contains("..."));
        let mut count = 0;
        for command in commands {
            // "The same words behind `diligence emit`" names the begin of one.
            let is_begin = |error: &clap::Error| error.kind() == ErrorKind::MissingRequiredArgument;
            let taken = Cli::try_parse_from(words(command)).map(drop);
            let taken = taken.or_else(|error| if is_begin(&error) { Ok(()) } else { Err(error) });
            taken.unwrap_or_else(|error| panic!("{command}: {error}"));
            count += 1;
        }
        assert!(count > 40, "{count}");
    }
}
