//! `diligence bus`: executes the separate program `diligence-bus`.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use clap::{Arg, ArgAction, ValueHint};
use daemon_command::locate::DaemonMissing;
use daemon_command::options::{SWITCHES, SwitchOption, VALUES, ValueKind, ValueOption};
use daemon_command::{help, locate};

use crate::exit::ExitError;

/// Replaces this process by the daemon with these arguments. Returns only if that fails.
pub(crate) fn run(words: impl IntoIterator<Item = OsString>) -> Result<(), DaemonError> {
    let program = locate::daemon()?;
    // The daemon shows this name in its help and errors.
    let error = Command::new(&program).arg0(COMMAND).args(words).exec();
    Err(DaemonError::Execute { program, error })
}

/// The daemon could not be executed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DaemonError {
    #[error(transparent)]
    Missing(#[from] DaemonMissing),
    #[error("cannot execute {}: {error}", program.display())]
    Execute { program: PathBuf, error: io::Error },
}

impl ExitError for DaemonError {}

/// The help text of the daemon.
pub(crate) fn help() -> String {
    help::help(COMMAND)
}

/// The command and its options, for manual pages and completions.
pub(crate) fn description() -> clap::Command {
    let switches = SWITCHES.iter().map(switch_argument);
    let values = VALUES.iter().map(value_argument);
    clap::Command::new("bus")
        .bin_name(COMMAND)
        .about(help::ABOUT)
        .long_about(help::LONG_ABOUT)
        .disable_help_flag(true)
        .override_usage(format!("{COMMAND} {}", help::PATTERN))
        .args(values.chain(switches))
}

fn switch_argument(option: &SwitchOption) -> Arg {
    let name = long_name(option.name);
    let letter = option.aliases.iter().find_map(|alias| alias.chars().nth(1));
    Arg::new(name).long(name).short(letter).help(option.help).action(ArgAction::SetTrue)
}

fn value_argument(option: &ValueOption) -> Arg {
    let name = long_name(option.name);
    let arg = Arg::new(name).long(name).help(option.help);
    match option.value {
        ValueKind::Required(value) => arg.value_name(value),
        ValueKind::RequiredPath(value) => arg.value_name(value).value_hint(ValueHint::FilePath),
        ValueKind::Optional(value) => arg.value_name(value).num_args(0..=1).require_equals(true),
    }
}

fn long_name(name: &'static str) -> &'static str {
    name.strip_prefix("--").expect("the names in the table begin with --")
}

/// The command as users type it.
const COMMAND: &str = "diligence bus";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_of_bus_is_valid() {
        description().debug_assert();
    }

    /// The daemon prints its help without clap, but in the same layout as all other commands.
    #[test]
    fn the_help_of_bus_has_the_layout_of_other_commands() {
        let by_clap = description().term_width(80).render_long_help().to_string();
        assert_eq!(help(), format!("{}\n", by_clap.trim_end()));
    }
}
