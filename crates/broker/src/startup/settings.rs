//! What the command line says of a start, once it was read.

use std::path::{Path, PathBuf};

use bus::BodyValidation;

use crate::activation::UnitActivation;
use crate::busconfig::{ConfigError, drain_pipe};
use crate::log::LogChoice;

/// A command line, as types. What it leaves open, the configuration decides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// What to read.
    pub config: ConfigSource,
    /// An address list in place of those of the configuration. It is read after the configuration,
    /// and a mistake in it is a reason not to start like any in there.
    pub address: Option<String>,
    /// Where to print the addresses to connect to.
    pub print_address: Option<DescriptorNumber>,
    /// Where to print the process number.
    pub print_pid: Option<DescriptorNumber>,
    /// Whether to leave the terminal.
    pub background: BackgroundChoice,
    /// Whether to write the file that the configuration names.
    pub pid_file: PidFileChoice,
    /// Where the log goes.
    pub log: LogChoice,
    /// Who starts the services.
    pub activation: UnitActivation,
    /// What SIGINT does.
    pub interrupt: Interrupt,
    /// Whether the bodies of messages are checked.
    pub body_validation: BodyValidation,
    /// Where to listen for those who want to know what is counted, if anywhere.
    pub metrics_socket: Option<PathBuf>,
    /// Bytes of the flight recorder, if anything is said of it; 0 is none.
    pub flight_recorder: Option<u64>,
}

impl Settings {
    /// The settings of a command line that names a configuration and nothing else.
    #[must_use]
    pub fn new(config: ConfigSource) -> Self {
        Self {
            config,
            address: None,
            print_address: None,
            print_pid: None,
            background: BackgroundChoice::default(),
            pid_file: PidFileChoice::default(),
            log: LogChoice::default(),
            activation: UnitActivation::default(),
            interrupt: Interrupt::default(),
            body_validation: BodyValidation::default(),
            metrics_socket: None,
            flight_recorder: None,
        }
    }
}

/// Which configuration to read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ConfigSource {
    /// That of the session bus; where the system has none, a built-in one.
    Session,
    /// That of the system bus.
    System,
    /// This file.
    File(PathBuf),
    /// This pipe, from which this content came.
    Pipe {
        /// Where the pipe was found.
        path: PathBuf,
        /// All that came out of it.
        content: Vec<u8>,
    },
}

impl ConfigSource {
    /// The same source, in a form that can be read more than once.
    pub(super) fn rereadable(&self) -> Result<Self, ConfigError> {
        let Self::File(path) = self else { return Ok(self.clone()) };
        Ok(match drain_pipe(path)? {
            Some(content) => Self::Pipe { path: path.clone(), content },
            None => self.clone(),
        })
    }

    /// The file that is read.
    ///
    /// ```
    /// use broker::startup::ConfigSource;
    /// use std::path::Path;
    ///
    /// assert_eq!(ConfigSource::System.path(), Path::new("/usr/share/dbus-1/system.conf"));
    /// ```
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Session => Path::new("/usr/share/dbus-1/session.conf"),
            Self::System => Path::new("/usr/share/dbus-1/system.conf"),
            Self::File(path) | Self::Pipe { path, .. } => path,
        }
    }
}

/// The number of a descriptor that whoever started this process left open to be written to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DescriptorNumber(i32);

impl DescriptorNumber {
    /// Standard output.
    pub const STDOUT: Self = Self(1);

    /// Reads a number in decimal digits; `None` for anything that cannot be a descriptor.
    ///
    /// ```
    /// use broker::startup::DescriptorNumber;
    ///
    /// assert_eq!(DescriptorNumber::parse("1"), Some(DescriptorNumber::STDOUT));
    /// assert_eq!(DescriptorNumber::parse("-1"), None);
    /// assert_eq!(DescriptorNumber::parse("1x"), None);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        text.parse().ok().filter(|&number| number >= 0).map(Self)
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> i32 {
        self.0
    }
}

/// What the command line says of the background.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BackgroundChoice {
    /// Nothing: the configuration has it.
    #[default]
    AsConfigured,
    /// Go there.
    Go,
    /// Do not.
    Stay,
}

/// What the command line says of the file with the process number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PidFileChoice {
    /// Nothing: the configuration has it.
    #[default]
    AsConfigured,
    /// None is written, and one that is there is no reason not to start.
    Never,
}

/// What SIGINT does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Interrupt {
    /// It kills the bus, as it does by default; sockets and pid file stay behind.
    #[default]
    Kills,
    /// It ends the bus in an orderly way, like SIGTERM.
    Stops,
}
