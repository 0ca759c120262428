//! The program `diligence`: a D-Bus message bus, and the instruments to see what happens on one.
//!
//! Called by the name `dbus-daemon`, it takes the command line of that program and is that bus.

mod aligned;
mod amount;
mod bus_choice;
mod children;
mod commands;
mod completion;
mod guest;
mod inspection;
mod json_choice;
mod live;
mod output;
mod poke;
mod private_bus;
mod progress;
mod recording;
mod rule;
mod saving;
mod screen;
mod style;
mod table_options;

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use capture::text::{columns, units};
use commands::bus::Caller;

fn main() -> ExitCode {
    let mut words = env::args_os();
    let name = program_name(words.next());
    if name == DBUS_DAEMON {
        return commands::bus::run(Caller::DbusDaemon, words);
    }
    commands::run(&name, words)
}

/// The last part of the path that the program was called by.
fn program_name(called: Option<OsString>) -> String {
    let name = called.as_deref().and_then(|path| Path::new(path).file_name());
    name.unwrap_or(OsStr::new("diligence")).to_string_lossy().into_owned()
}

/// The name of the program whose place this one can take.
const DBUS_DAEMON: &str = "dbus-daemon";
