//! What is wrong with a command line, in the words that callers of dbus-daemon know.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

/// What is wrong with a command line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Mistake {
    /// No option is spelled like this.
    Unknown(OsString),
    /// No option says which configuration to read.
    NoConfiguration,
    /// A second option says which configuration to read.
    SecondConfiguration { option: &'static str, first: PathBuf },
    /// A second option says where to listen.
    SecondAddress { first: String },
    /// A second option says where to print something.
    SecondOutput { option: &'static str, what: &'static str, first: OsString },
    /// This is no number of a descriptor.
    BadDescriptor(OsString),
    /// This is no template of units.
    BadTemplate(OsString),
    /// This is no amount of memory.
    BadSize(OsString),
}

impl Mistake {
    /// Whether it helps to see which options there are.
    pub(super) const fn calls_for_usage(&self) -> bool {
        matches!(self, Self::Unknown(_) | Self::NoConfiguration)
    }
}

impl fmt::Display for Mistake {
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
            Self::BadSize(text) => {
                let text = text.display();
                write!(f, "Invalid size: \"{text}\". Expected a number of bytes, or as in 16MiB")
            }
            Self::BadTemplate(text) => {
                let text = text.display();
                write!(f, "Invalid template: \"{text}\". Expected the name of a unit as x@.service")
            }
            Self::BadDescriptor(text) => {
                write!(f, "Invalid file descriptor: \"{}\"", text.display())
            }
        }
    }
}
