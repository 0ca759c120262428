//! The program `diligence`: instruments that show what happens on a D-Bus message bus.
//!
//! The bus is a separate program, `diligence-bus`, which `bus`, `up` and `run` execute.

// The examples of the client library, which `demo` runs, import the library by its published name.
extern crate client as diligence_client;

mod amount;
mod bus_choice;
mod children;
mod choices;
mod commands;
mod completion;
mod exit;
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
mod user_command;

use std::env;
use std::process::ExitCode;

fn main() -> ExitCode {
    commands::run(env::args_os())
}
