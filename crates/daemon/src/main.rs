//! The program `diligence-bus`: the message bus, with the command line of dbus-daemon.
//!
//! ```text
//!  argv[0] ─ invocation ─▶ name in the log and in help texts, meaning of SIGINT
//!  words ─ parse ─▶ Request ─▶ run a bus, or print something
//!            │         by the rules of dbus-daemon
//!            └────▶ OptionError ─▶ standard error, status 1
//! ```
//!
//! Called by the name `dbus-daemon`, it replaces that program. `diligence bus` executes it. Called by
//! the name `xdg-dbus-proxy`, it is not a bus, but the program of the crate `proxy`.

#![forbid(unsafe_code)]

mod apply;
mod error;
mod invocation;
mod parse;
mod size;
#[cfg(test)]
mod tests;

use std::env;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;

use broker::startup::{self, RunError, Settings};
use bus::introspection_xml;
use wire::names::ObjectPath;

use daemon_command::help;
use error::OptionError;
use invocation::Invocation;
use parse::{DaemonRequest, parse};

fn main() -> ExitCode {
    let mut words = env::args_os();
    let argv0 = words.next();
    if invocation::is_proxy(argv0.as_deref()) {
        return proxy::run(argv0, words.collect());
    }
    let invocation = Invocation::from_argv0(argv0);
    if env::args_os().skip(1).eq([startup::CHECK_OPTION]) {
        return check_state();
    }
    let request = parse(words);
    // The program before was started with these words. This one may not know all of them.
    let serves = matches!(request, Ok(DaemonRequest::Serve(_)) | Err(_));
    if serves && let Some(state) = startup::PassedState::from_environment() {
        return exit_code(startup::resume(state, invocation.log_name()));
    }
    run(&invocation, request)
}

/// Does what was requested. The exit status is 0 if a signal ended the bus or something was
/// printed, and 1 for everything else.
fn run(invocation: &Invocation, request: Result<DaemonRequest, OptionError>) -> ExitCode {
    match request {
        Ok(DaemonRequest::Serve(settings)) => serve(invocation, settings),
        Ok(DaemonRequest::Version) => print(&version()),
        Ok(DaemonRequest::Introspect) => print(&introspection_xml(BUS_PATH)),
        Ok(DaemonRequest::Help) => match invocation {
            Invocation::Diligence { command } => print(&help::help(command)),
            Invocation::DbusDaemon => {
                complain(&usage(invocation));
                ExitCode::FAILURE
            }
        },
        Err(error) => {
            complain(&format!("{error}\n"));
            if error.calls_for_usage() {
                complain(&usage(invocation));
            }
            ExitCode::FAILURE
        }
    }
}

fn serve(invocation: &Invocation, settings: Settings) -> ExitCode {
    let settings = Settings { interrupt: invocation.interrupt(), ..settings };
    exit_code(startup::run(&settings, invocation.log_name()))
}

fn exit_code(outcome: Result<(), RunError>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        // The broker has logged the error.
        Err(_) => ExitCode::FAILURE,
    }
}

/// Checks the state in standard input, for a running bus that this program is about to replace.
fn check_state() -> ExitCode {
    let state = io::stdin().as_fd().try_clone_to_owned().map(File::from);
    let checked = match state {
        Ok(state) => startup::check_state(state).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    match checked {
        Ok(()) => print(&format!("{}\n", startup::ACCEPTED)),
        Err(reason) => {
            complain(&format!("{reason}\n"));
            ExitCode::FAILURE
        }
    }
}

fn usage(invocation: &Invocation) -> String {
    format!("{}\n", help::usage(invocation.command()))
}

/// Four lines, as from dbus-daemon; the version is the last word of the first line, where programs
/// look for it.
fn version() -> String {
    format!(
        "Diligence Message Bus Daemon {}\n\
         Takes the command line and the configuration files of dbus-daemon 1.14\n\
         This is free software, under the MIT license or the Apache License 2.0, as you like.\n\
         There is no warranty, as far as the law permits.\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// Prints to standard output. It is not an error if the reader has closed the pipe.
fn print(text: &str) -> ExitCode {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("cannot write to standard output: {error}\n"));
            ExitCode::FAILURE
        }
    }
}

/// Prints to standard error. If that fails, there is nowhere to report it.
fn complain(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

const BUS_PATH: ObjectPath<'_> = ObjectPath::literal("/org/freedesktop/DBus");
