//! Reading the words of the command line, by the rules of dbus-daemon:
//!
//! - Words take effect from left to right. A word that asks for help or for the version ends the
//!   reading, so errors after it do not matter.
//! - A value follows an equals sign, or is the word after the option. Only the word right before it
//!   decides whether a word is a value, and some words never are; see [`SWITCHES`] and [`VALUES`].
//! - An empty value counts as a missing one.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use broker::log::LogChoice;
use broker::startup::{
    BackgroundChoice, ConfigSource, DescriptorNumber, PidFileChoice, Settings, UnitActivation,
};
use bus::BodyValidation;
use daemon_command::options::{SWITCHES, SwitchOption, VALUES, ValueOption};

use crate::apply;
use crate::error::OptionError;

/// The action that a command line requests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum DaemonRequest {
    /// Run a message bus.
    Serve(Settings),
    /// Print the help text.
    Help,
    /// Print the version and exit.
    Version,
    /// Print the interfaces of the bus.
    Introspect,
}

/// Reads the words, without the name of the program.
pub(crate) fn parse(
    words: impl IntoIterator<Item = OsString>,
) -> Result<DaemonRequest, OptionError> {
    let mut draft = SettingsDraft::default();
    let mut previous = OsString::new();
    for word in words {
        if let Some(request) = draft.take(&word, &previous)? {
            return Ok(request);
        }
        previous = word;
    }
    draft.finish().map(DaemonRequest::Serve)
}

/// The settings that the words read so far ask for.
#[derive(Debug, Default)]
pub(crate) struct SettingsDraft {
    pub(crate) config: Option<ConfigSource>,
    pub(crate) address: Option<String>,
    pub(crate) print_address: PrintTarget,
    pub(crate) print_pid: PrintTarget,
    pub(crate) background: BackgroundChoice,
    pub(crate) pid_file: PidFileChoice,
    pub(crate) log: LogChoice,
    pub(crate) activation: UnitActivation,
    pub(crate) body_validation: BodyValidation,
    pub(crate) metrics_socket: Option<PathBuf>,
    pub(crate) flight_recorder: Option<u64>,
}

/// Whether and where to print something.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) enum PrintTarget {
    /// It is not printed.
    #[default]
    No,
    /// To standard output, since no descriptor was given so far.
    ToStdout,
    /// To this descriptor. Whether the text is a number is checked after the last word.
    To(OsString),
}

impl PrintTarget {
    pub(crate) fn request(&mut self) {
        if *self == Self::No {
            *self = Self::ToStdout;
        }
    }

    pub(crate) fn set(
        &mut self,
        option: &'static str,
        what: &'static str,
        value: &OsStr,
    ) -> Result<(), OptionError> {
        if let Self::To(first) = self {
            return Err(OptionError::SecondOutput { option, what, first: first.clone() });
        }
        *self = Self::To(value.to_owned());
        Ok(())
    }

    fn number(self) -> Result<Option<DescriptorNumber>, OptionError> {
        match self {
            Self::No => Ok(None),
            Self::ToStdout => Ok(Some(DescriptorNumber::STDOUT)),
            Self::To(text) => match text.to_str().and_then(DescriptorNumber::parse) {
                Some(number) => Ok(Some(number)),
                None => Err(OptionError::InvalidDescriptor(text)),
            },
        }
    }
}

impl SettingsDraft {
    fn take(
        &mut self,
        word: &OsStr,
        previous: &OsStr,
    ) -> Result<Option<DaemonRequest>, OptionError> {
        if let Some(option) = SWITCHES.iter().find(|option| is_switch(option, word)) {
            return apply::switch(self, option.id);
        }
        for option in VALUES {
            match value_of(option, word, previous) {
                Some(value) if !value.is_empty() => {
                    return apply::value(self, option.id, value).map(|()| None);
                }
                None if word != option.name => {}
                Some(_) | None => {
                    apply::without_value(self, option.id);
                    return Ok(None);
                }
            }
        }
        Err(OptionError::Unknown(word.to_owned()))
    }

    pub(crate) fn set_config(
        &mut self,
        option: &'static str,
        config: ConfigSource,
    ) -> Result<(), OptionError> {
        match &self.config {
            Some(first) => {
                Err(OptionError::SecondConfiguration { option, first: first.path().to_owned() })
            }
            None => {
                self.config = Some(config);
                Ok(())
            }
        }
    }

    fn finish(self) -> Result<Settings, OptionError> {
        let settings = Settings::new(self.config.ok_or(OptionError::NoConfiguration)?);
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

fn is_switch(option: &SwitchOption, word: &OsStr) -> bool {
    word == option.name || option.aliases.iter().any(|alias| word == *alias)
}

/// The value for this option that `word` is or contains.
fn value_of<'w>(option: &ValueOption, word: &'w OsStr, previous: &OsStr) -> Option<&'w OsStr> {
    let rest = word.as_bytes().strip_prefix(option.name.as_bytes());
    match rest.and_then(|rest| rest.strip_prefix(b"=")) {
        Some(value) => Some(OsStr::from_bytes(value)),
        None => (previous == option.name).then_some(word),
    }
}
