//! Errors of the command line, with the texts of dbus-daemon.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

/// An error of the command line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum OptionError {
    /// No option is spelled like this.
    Unknown(OsString),
    /// No option names a configuration.
    NoConfiguration,
    /// A second option names a configuration.
    SecondConfiguration { option: &'static str, first: PathBuf },
    /// A second option names an address to listen at.
    SecondAddress { first: String },
    /// A second option names a descriptor for the same output.
    SecondOutput { option: &'static str, what: &'static str, first: OsString },
    /// The value is not the number of a descriptor.
    InvalidDescriptor(OsString),
    /// The value is not the name of a template unit.
    InvalidTemplate(OsString),
    /// The value is not a number of bytes.
    InvalidSize(OsString),
}

impl OptionError {
    /// Whether the usage line is printed after this error.
    pub(crate) const fn calls_for_usage(&self) -> bool {
        matches!(self, Self::Unknown(_) | Self::NoConfiguration)
    }
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(word) => write!(f, "There is no option {word:?}. The options are:"),
            Self::NoConfiguration => f.write_str("No configuration file specified."),
            Self::SecondConfiguration { option, first } => {
                let first = first.display();
                write!(f, "{option} specified but configuration file {first} already requested")
            }
            Self::SecondAddress { first } => {
                write!(f, "--address specified but address {first} already requested")
            }
            Self::SecondOutput { option, what, first } => {
                let first = first.display();
                write!(f, "{option} specified but printing {what} to {first} already requested")
            }
            Self::InvalidSize(text) => {
                let text = text.display();
                write!(f, "Invalid size: \"{text}\". Expected a number of bytes, such as 16MiB")
            }
            Self::InvalidTemplate(text) => {
                let text = text.display();
                write!(
                    f,
                    "Invalid template: \"{text}\". Expected the name of a template unit, such as x@.service"
                )
            }
            Self::InvalidDescriptor(text) => {
                write!(f, "Invalid file descriptor: \"{}\"", text.display())
            }
        }
    }
}
