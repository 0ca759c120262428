//! Reading the words of the command line, by the rules of dbus-daemon:
//!
//! - Words take effect from left to right, and one that asks for help or the version ends the
//!   reading, so what is wrong after it does not matter.
//! - A value stands after an equals sign, or is the word after the option. Whether a word is a value
//!   is decided by the word right before it alone; and some words never are, see [`SWITCHES`] and
//!   [`VALUES`].
//! - An empty value is none.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use broker::log::LogChoice;
use broker::startup::{
    Activation, BackgroundChoice, ConfigSource, DescriptorNumber, PidFileChoice, Settings,
};
use bus::BodyValidation;

use super::mistake::Mistake;
use super::options::{SWITCHES, VALUES, ValueOption};

/// What a command line asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Request {
    /// To be a bus.
    Serve(Settings),
    /// To explain the options.
    Help,
    /// To tell the version.
    Version,
    /// To print the interfaces of the bus.
    Introspect,
}

/// Reads the words, without the name of the program.
pub(super) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Request, Mistake> {
    let mut draft = Draft::default();
    let mut previous = OsString::new();
    for word in words {
        if let Some(request) = draft.take(&word, &previous)? {
            return Ok(request);
        }
        previous = word;
    }
    draft.finish().map(Request::Serve)
}

/// What the words so far have said.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) config: Option<ConfigSource>,
    pub(super) address: Option<String>,
    pub(super) print_address: Printing,
    pub(super) print_pid: Printing,
    pub(super) background: BackgroundChoice,
    pub(super) pid_file: PidFileChoice,
    pub(super) log: LogChoice,
    pub(super) activation: Activation,
    pub(super) body_validation: BodyValidation,
    pub(super) metrics_socket: Option<PathBuf>,
    pub(super) flight_recorder: Option<u64>,
}

/// Whether and where to print something.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) enum Printing {
    #[default]
    No,
    /// No number was given, so far.
    ToStdout,
    /// To the descriptor of this number; whether it is one is seen when all words are read.
    To(OsString),
}

impl Printing {
    pub(super) fn mention(&mut self) {
        if *self == Self::No {
            *self = Self::ToStdout;
        }
    }

    pub(super) fn set(
        &mut self,
        option: &'static str,
        what: &'static str,
        value: &OsStr,
    ) -> Result<(), Mistake> {
        if let Self::To(first) = self {
            return Err(Mistake::SecondOutput { option, what, first: first.clone() });
        }
        *self = Self::To(value.to_owned());
        Ok(())
    }

    fn number(self) -> Result<Option<DescriptorNumber>, Mistake> {
        match self {
            Self::No => Ok(None),
            Self::ToStdout => Ok(Some(DescriptorNumber::STDOUT)),
            Self::To(text) => match text.to_str().and_then(DescriptorNumber::parse) {
                Some(number) => Ok(Some(number)),
                None => Err(Mistake::BadDescriptor(text)),
            },
        }
    }
}

impl Draft {
    fn take(&mut self, word: &OsStr, previous: &OsStr) -> Result<Option<Request>, Mistake> {
        if let Some(switch) = SWITCHES.iter().find(|switch| switch.is(word)) {
            return (switch.apply)(self);
        }
        for option in VALUES {
            match value_of(option, word, previous) {
                Some(value) if !value.is_empty() => {
                    return (option.set)(self, value).map(|()| None);
                }
                None if word != option.name => {}
                Some(_) | None => {
                    (option.mention)(self);
                    return Ok(None);
                }
            }
        }
        Err(Mistake::Unknown(word.to_owned()))
    }

    pub(super) fn set_config(
        &mut self,
        option: &'static str,
        config: ConfigSource,
    ) -> Result<(), Mistake> {
        match &self.config {
            Some(first) => {
                Err(Mistake::SecondConfiguration { option, first: first.path().to_owned() })
            }
            None => {
                self.config = Some(config);
                Ok(())
            }
        }
    }

    fn finish(self) -> Result<Settings, Mistake> {
        let settings = Settings::new(self.config.ok_or(Mistake::NoConfiguration)?);
        Ok(Settings {
            address: self.address,
            print_address: self.print_address.number()?,
            print_pid: self.print_pid.number()?,
            background: self.background,
            pid_file: self.pid_file,
            log: self.log,
            activation: self.activation,
            body_validation: self.body_validation,
            metrics_socket: self.metrics_socket,
            flight_recorder: self.flight_recorder,
            ..settings
        })
    }
}

/// The value that `word` is, or has, for this option.
fn value_of<'w>(option: &ValueOption, word: &'w OsStr, previous: &OsStr) -> Option<&'w OsStr> {
    let rest = word.as_bytes().strip_prefix(option.name.as_bytes());
    match rest.and_then(|rest| rest.strip_prefix(b"=")) {
        Some(value) => Some(OsStr::from_bytes(value)),
        None => (previous == option.name).then_some(word),
    }
}
