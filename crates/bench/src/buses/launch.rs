//! The command line of each bus.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use wire::address::AddressList;

use super::directory::BusFiles;
use crate::body_validation::BenchBodyValidation;

/// The way a bus is started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Launch {
    Program(BusCommand),
    Runs(AddressList),
}

/// The program of a bus and its arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum BusCommand {
    Diligence {
        program: PathBuf,
    },
    DbusDaemon {
        program: PathBuf,
    },
    /// The launcher of dbus-broker, started by a program that passes it the socket at the first
    /// connection.
    DbusBroker {
        activator: PathBuf,
        launcher: PathBuf,
    },
    /// The program `busd` of the zbus project.
    Busd {
        program: PathBuf,
    },
}

impl BusCommand {
    pub(super) fn words(&self, files: &BusFiles, validation: BenchBodyValidation) -> Vec<OsString> {
        match self {
            Self::Diligence { program } => {
                let mut words = vec![word(program)];
                words.extend(daemon_options(files));
                if validation == BenchBodyValidation::Off {
                    words.push("--without-body-validation".into());
                }
                words
            }
            Self::DbusDaemon { program } => {
                [word(program)].into_iter().chain(daemon_options(files)).collect()
            }
            Self::DbusBroker { activator, launcher } => broker_words(activator, launcher, files),
            Self::Busd { program } => vec![word(program), with_value("--config=", &files.config())],
        }
    }

    /// The program that prints the version.
    pub(super) fn versioned(&self) -> &Path {
        match self {
            Self::Diligence { program } | Self::DbusDaemon { program } | Self::Busd { program } => {
                program
            }
            Self::DbusBroker { launcher, .. } => launcher,
        }
    }
}

fn daemon_options(files: &BusFiles) -> [OsString; 3] {
    ["--nofork".into(), "--nopidfile".into(), with_value("--config-file=", &files.config())]
}

/// The launcher is also a client of the bus that the environment names. Here that is its own bus,
/// because there may be no other.
fn broker_words(activator: &Path, launcher: &Path, files: &BusFiles) -> Vec<OsString> {
    vec![
        word(activator),
        with_value("--listen=", &files.socket()),
        "--fdname=dbus.socket".into(),
        format!("--setenv=DBUS_SESSION_BUS_ADDRESS={}", files.address()).into(),
        word(launcher),
        "--scope=user".into(),
        with_value("--config-file=", &files.config()),
    ]
}

fn word(path: &Path) -> OsString {
    path.as_os_str().to_owned()
}

fn with_value(option: &str, value: &Path) -> OsString {
    let mut word = OsString::from(option);
    word.push(value);
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_of_each_bus() {
        let check = |start: &BusCommand, validation, expected: &str| {
            let words = start.words(&BusFiles::new_in("D"), validation);
            let words: Vec<_> = words.iter().map(|word| word.to_str().unwrap()).collect();
            assert_eq!(words.join(" "), expected);
        };
        let program = || PathBuf::from("P");
        let on = BenchBodyValidation::On;
        let start = BusCommand::Diligence { program: program() };
        check(&start, on, "P --nofork --nopidfile --config-file=D/bus.conf");
        check(
            &start,
            BenchBodyValidation::Off,
            "P --nofork --nopidfile --config-file=D/bus.conf --without-body-validation",
        );
        let start = BusCommand::DbusDaemon { program: program() };
        check(&start, on, "P --nofork --nopidfile --config-file=D/bus.conf");
        check(&BusCommand::Busd { program: program() }, on, "P --config=D/bus.conf");
        check(
            &BusCommand::DbusBroker { activator: "A".into(), launcher: "L".into() },
            on,
            "A --listen=D/bus --fdname=dbus.socket \
             --setenv=DBUS_SESSION_BUS_ADDRESS=unix:path=D/bus L --scope=user \
             --config-file=D/bus.conf",
        );
    }
}
