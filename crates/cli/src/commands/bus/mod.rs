//! `diligence bus`: the message bus, with the command line of dbus-daemon.
//!
//! ```text
//!  words ─ parse ─▶ Request ─▶ serve, or print something
//!            │         the rules of dbus-daemon, to its last quirk: options
//!            └────▶ Mistake ─▶ standard error, status 1
//! ```

mod mistake;
mod options;
mod parse;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::process::ExitCode;

use broker::startup::{self, Interrupt, Settings};
use bus::introspection_xml;
use wire::names::ObjectPath;

use crate::output::{complain, print};
use options::{SWITCHES, Switch, VALUES, ValueOption, usage};
use parse::{Request, parse};

/// By which name the bus was called, which decides what is usual.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Caller {
    /// As `dbus-daemon`, by programs that expect exactly that.
    DbusDaemon,
    /// As `diligence bus`, probably by a person.
    Diligence,
}

impl Caller {
    /// The name in the log.
    const fn program(self) -> &'static str {
        match self {
            Self::DbusDaemon => "dbus-daemon",
            Self::Diligence => "diligence",
        }
    }

    /// The words with which the command line begins.
    const fn command(self) -> &'static str {
        match self {
            Self::DbusDaemon => "dbus-daemon",
            Self::Diligence => "diligence bus",
        }
    }

    /// Who interrupts a bus from a terminal wants it gone, with its sockets.
    const fn interrupt(self) -> Interrupt {
        match self {
            Self::DbusDaemon => Interrupt::Kills,
            Self::Diligence => Interrupt::Stops,
        }
    }
}

/// Does what the words ask for. The exit status is 0 when a bus ended in an orderly way or
/// something was printed, and 1 for everything else.
pub(crate) fn run(caller: Caller, words: impl IntoIterator<Item = OsString>) -> ExitCode {
    match (parse(words), caller) {
        (Ok(Request::Serve(settings)), _) => serve(caller, settings),
        (Ok(Request::Version), _) => print(&version()),
        (Ok(Request::Introspect), _) => print(&introspection_xml(BUS_PATH)),
        (Ok(Request::Help), Caller::Diligence) => print(&help()),
        (Ok(Request::Help), Caller::DbusDaemon) => {
            complain(&format!("{} {}\n", caller.command(), usage()));
            ExitCode::FAILURE
        }
        (Err(mistake), _) => {
            complain(&format!("{mistake}\n"));
            if mistake.calls_for_usage() {
                complain(&format!("{} {}\n", caller.command(), usage()));
            }
            ExitCode::FAILURE
        }
    }
}

/// Everything that is to be known about the options, for people.
pub(crate) fn help() -> String {
    format!("{}\n", description().render_long_help())
}

/// The command as the tools for help, manual pages and completions want it described.
pub(crate) fn description() -> clap::Command {
    let switches = SWITCHES.iter().map(Switch::describe);
    let values = VALUES.iter().map(ValueOption::describe);
    clap::Command::new("bus")
        .bin_name("diligence bus")
        .about("Be a message bus, with the options of dbus-daemon")
        .long_about(LONG_ABOUT)
        .disable_help_flag(true)
        .override_usage("diligence bus (--session | --system | --config-file=FILE) [OPTION]...")
        .args(values.chain(switches))
}

fn serve(caller: Caller, settings: Settings) -> ExitCode {
    let settings = Settings { interrupt: caller.interrupt(), ..settings };
    match startup::run(&settings, caller.program()) {
        Ok(()) => ExitCode::SUCCESS,
        // The log has it already.
        Err(_) => ExitCode::FAILURE,
    }
}

/// The version stands where that of dbus-daemon does, at the end of the first line of four.
fn version() -> String {
    format!(
        "Diligence Message Bus Daemon {}\n\
         Takes the command line and the configuration files of dbus-daemon 1.14\n\
         This is free software, under the MIT licence or the Apache License 2.0, as you like.\n\
         There is no warranty, as far as the law permits.\n",
        env!("CARGO_PKG_VERSION")
    )
}

const BUS_PATH: ObjectPath<'_> = ObjectPath::literal("/org/freedesktop/DBus");

const LONG_ABOUT: &str = "\
Be a message bus: programs connect to its address, own names, and send each other messages.

The options are those of dbus-daemon, and are read by its rules: an option that takes a value takes \
it after an equals sign or as the next word, and of --fork and --nofork the last one holds. One of \
--session, --system and --config-file is needed.

SIGTERM and SIGINT end the bus, SIGHUP makes it read its configuration again, SIGUSR2 makes it \
write the flight recorder to a file, if it has one. The exit status is 0 when a signal ended it, and \
1 when it could not start or the command line is wrong. Under the name dbus-daemon the same program \
is a replacement for that one; SIGINT then ends it at once, and --help prints one line to standard \
error.";
