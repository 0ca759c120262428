//! The launch helper program; see the library of this crate.

#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use launch_helper::{CONFIG_FILE, run};

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let failure = run(&arguments, Path::new(CONFIG_FILE));
    eprintln!("dbus-daemon-launch-helper: {failure}");
    ExitCode::from(failure.exit_status())
}
