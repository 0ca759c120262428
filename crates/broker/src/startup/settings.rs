//! The settings of a start, as read from the command line.

use std::path::{Path, PathBuf};

use bus::BodyValidation;
use serde::{Deserialize, Serialize};

use crate::activation::UnitActivation;
use crate::busconfig::{ConfigError, drain_pipe};
use crate::log::LogChoice;

/// A parsed command line. The configuration decides what it leaves open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The configuration to read.
    pub config: ConfigSource,
    /// An address list that replaces the addresses of the configuration. It is parsed after the
    /// configuration, and an invalid list keeps the bus from starting.
    pub address: Option<String>,
    /// The descriptor to print the addresses to.
    pub print_address: Option<DescriptorNumber>,
    /// The descriptor to print the process id to.
    pub print_pid: Option<DescriptorNumber>,
    /// Whether to go to the background.
    pub background: BackgroundChoice,
    /// Whether to write the pid file that the configuration names.
    pub pid_file: PidFileChoice,
    /// The destination of log lines.
    pub log: LogChoice,
    /// How services are activated.
    pub activation: UnitActivation,
    /// The effect of SIGINT.
    pub interrupt: Interrupt,
    /// Whether message bodies are validated.
    pub body_validation: BodyValidation,
    /// The path of the metrics socket, if the command line names one.
    pub metrics_socket: Option<PathBuf>,
    /// The size of the flight recorder in bytes, if the command line sets it; 0 disables it.
    pub flight_recorder: Option<u64>,
}

impl Settings {
    /// Creates the settings of a command line that only names a configuration.
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

/// The source of the configuration.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ConfigSource {
    /// The file of the session bus, or a built-in configuration if that file does not exist.
    Session,
    /// The file of the system bus.
    System,
    /// The file at this path.
    File(#[serde(with = "services::saved_path")] PathBuf),
    /// A pipe, which can be read only once, with its content.
    Pipe {
        /// The path of the pipe.
        #[serde(with = "services::saved_path")]
        path: PathBuf,
        /// Everything that was read from the pipe.
        #[serde(with = "serde_bytes")]
        content: Vec<u8>,
    },
}

impl ConfigSource {
    /// The same source in a form that can be read more than once.
    pub(super) fn rereadable(&self) -> Result<Self, ConfigError> {
        let Self::File(path) = self else { return Ok(self.clone()) };
        Ok(match drain_pipe(path)? {
            Some(content) => Self::Pipe { path: path.clone(), content },
            None => self.clone(),
        })
    }

    /// The path of the configuration file.
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

/// The number of an inherited descriptor to write to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DescriptorNumber(i32);

impl DescriptorNumber {
    /// The descriptor of standard output.
    pub const STDOUT: Self = Self(1);

    /// Parses a number in decimal digits; `None` if it cannot be a descriptor.
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

    /// Returns the number of the descriptor.
    #[must_use]
    pub const fn get(self) -> i32 {
        self.0
    }
}

/// Whether to go to the background, according to the command line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BackgroundChoice {
    /// Use the value of the configuration.
    #[default]
    AsConfigured,
    /// Always go to the background.
    Go,
    /// Always stay in the foreground.
    Stay,
}

/// Whether to write a pid file, according to the command line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PidFileChoice {
    /// Use the value of the configuration.
    #[default]
    AsConfigured,
    /// Write no pid file, and start even if one exists.
    Never,
}

/// The effect of SIGINT on the bus.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Interrupt {
    /// SIGINT kills the bus, the default action; sockets and the pid file remain.
    #[default]
    Kills,
    /// SIGINT stops the bus cleanly, like SIGTERM.
    Stops,
}
