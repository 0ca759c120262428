//! The commands of `diligence`, one module each.
//!
//! To add one: a variant of [`CliCommand`], a line in [`CliCommand::run`], a module with a type of
//! arguments (`clap::Args`) and its method `run`. Help, manual pages and completions follow from
//! the variant; `completion::meaning` defines which of its words are names on a bus.

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
mod reexec;
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

use crate::exit::conclude;
use ::bench::{library, peer};

/// A D-Bus message bus, and tools that record and show the traffic of any bus.
#[derive(Debug, Parser)]
#[command(name = "diligence", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: CliCommand,
}

#[derive(Debug, Subcommand)]
enum CliCommand {
    /// Run a private bus and show its traffic live
    Up(up::Up),
    /// Run a command with its own private bus
    Run(run::RunArgs),
    /// Run a message bus, with the options of dbus-daemon
    #[command(disable_help_flag = true, override_help = bus::help())]
    Bus {
        /// The options of dbus-daemon; see `diligence bus --help`
        #[arg(allow_hyphen_values = true, trailing_var_arg = true)]
        options: Vec<OsString>,
    },
    /// Record the messages of buses into a file
    Record(record::RecordArgs),
    /// Show messages while they cross a bus, with names and durations
    Monitor(monitor::MonitorArgs),
    /// Show the busiest services of a bus, and slow calls, continuously
    Top(top::Top),
    /// List the names on a bus, and their owners
    List(list::ListArgs),
    /// Show the objects of services as trees
    Tree(tree::TreeArgs),
    /// Show the methods, signals and properties of an object, with values
    Introspect(introspect::Introspect),
    /// Show the owner of a name, or the state of a bus: busiest peers, queues, incidents
    Status(status::StatusArgs),
    /// Call a method, with arguments in the notation of busctl, gdbus, dbus-send or JSON; or list services, objects and members
    Call(call::CallArgs),
    /// Read properties of an object
    #[command(alias = "get-property")]
    Get(get::GetArgs),
    /// Set a property of an object
    #[command(alias = "set-property")]
    Set(set::SetArgs),
    /// Emit a signal from an object
    Emit(emit::Emit),
    /// Wait for a signal, or until a name has an owner
    Wait(wait::WaitArgs),
    /// Start the service of a name
    Start(start::StartArgs),
    /// Replace the program of a running bus by the installed one; connections stay
    Reexec(reexec::Reexec),
    /// Own a name, and reply to calls with their own arguments, with errors, or never
    Own(own::Own),
    /// Print statistics of a recording: busiest connections, members, slow calls
    Stats(stats::Stats),
    /// Show where the time in a recording went: waiting callers, starting services
    Timeline(timeline::TimelineArgs),
    /// View recordings, or a running bus, as a page in the browser
    View(view::ViewArgs),
    /// Compare two recordings, and check limits on durations and counts
    Diff(diff::Diff),
    /// Show the messages of a recording, in the formats of other tools or as commands
    Show(show::Show),
    /// Write the messages of a recording in formats of other programs
    Export(export::Export),
    /// Find problems in how programs use the bus
    Lint(lint::Lint),
    /// Measure the speed of buses, side by side
    Bench(bench::BenchArgs),
    /// Be one of the processes with which `bench` measures
    #[command(hide = true, name = peer::COMMAND)]
    BenchPeer {
        /// The task of the process, as JSON
        part: String,
    },
    /// Be the program with this project's library that `bench clients` measures
    #[command(hide = true, name = library::ours::COMMAND)]
    BenchLibrary {
        /// The task of the program
        words: Vec<String>,
    },
    /// Be one of the programs that `up --demo` starts
    #[command(hide = true)]
    Demo(demo::Demo),
    /// Write manual pages, or completions for shells
    #[command(hide = true)]
    Generate(generate::Generate),
    /// Answer the completion requests of a shell
    #[command(hide = true)]
    Complete(complete::Complete),
}

impl CliCommand {
    fn run(self) -> ExitCode {
        match self {
            Self::Up(up) => conclude("up", up.run()),
            Self::Run(run) => conclude("run", run.run()),
            Self::Bus { options } => conclude("bus", bus::run(options)),
            Self::Record(record) => conclude("record", record.run()),
            Self::Monitor(monitor) => conclude("monitor", monitor.run()),
            Self::Top(top) => conclude("top", top.run()),
            Self::List(list) => conclude("list", list.run()),
            Self::Tree(tree) => conclude("tree", tree.run()),
            Self::Introspect(introspect) => conclude("introspect", introspect.run()),
            Self::Status(status) => conclude("status", status.run()),
            Self::Call(call) => conclude("call", call.run()),
            Self::Get(get) => conclude("get", get.run()),
            Self::Set(set) => conclude("set", set.run()),
            Self::Emit(emit) => conclude("emit", emit.run()),
            Self::Wait(wait) => conclude("wait", wait.run()),
            Self::Start(start) => conclude("start", start.run()),
            Self::Reexec(reexec) => conclude("reexec", reexec.run()),
            Self::Own(own) => conclude("own", own.run()),
            Self::Stats(stats) => conclude("stats", stats.run()),
            Self::Timeline(timeline) => conclude("timeline", timeline.run()),
            Self::View(view) => conclude("view", view.run()),
            Self::Diff(diff) => conclude("diff", diff.run()),
            Self::Show(show) => conclude("show", show.run()),
            Self::Export(export) => conclude("export", export.run()),
            Self::Lint(lint) => conclude("lint", lint.run()),
            Self::Bench(bench) => conclude("bench", bench.run()),
            Self::BenchPeer { part } => peer::run(&part),
            Self::BenchLibrary { words } => library::ours::main(&words),
            Self::Demo(demo) => demo::run(demo),
            Self::Generate(what) => generate::run(&what),
            Self::Complete(complete) => complete::run(&complete),
        }
    }
}

/// Runs the command of a command line. The first word is the name of the program.
///
/// The exit status is 0 for success, 1 for a failure and 2 if the command line is wrong; `bus` has
/// the exit status of dbus-daemon.
pub(crate) fn run(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    match Cli::try_parse_from(words) {
        Ok(cli) => cli.command.run(),
        Err(error) => explain(&error),
    }
}

/// The definitions of all commands, for help, manual pages and completions.
fn description() -> clap::Command {
    // clap does not parse the options of `bus`, so they are defined separately.
    Cli::command().mut_subcommand("bus", |_| bus::description())
}

/// Prints help and version to standard output, and errors to standard error.
fn explain(error: &clap::Error) -> ExitCode {
    // A closed pipe is not an error here.
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
    use crate::completion::words_of_line;

    #[test]
    fn commands_for_users_of_other_tools_parse() {
        let document = include_str!("../../../../docs/coming-from.md");
        let inline = document.split('`').skip(1).step_by(2);
        let commands =
            inline.filter(|code| code.starts_with("diligence ") && !code.contains("..."));
        let mut count = 0;
        for command in commands {
            // The page also contains a hint to replace the command by `diligence emit`, which is
            // incomplete.
            let is_begin = |error: &clap::Error| error.kind() == ErrorKind::MissingRequiredArgument;
            let taken = Cli::try_parse_from(words_of_line(command)).map(drop);
            let taken = taken.or_else(|error| if is_begin(&error) { Ok(()) } else { Err(error) });
            taken.unwrap_or_else(|error| panic!("{command}: {error}"));
            count += 1;
        }
        assert!(count > 40, "{count}");
    }
}
