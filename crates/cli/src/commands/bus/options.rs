//! The options of the bus: spelling, meaning and explanation, in one table.

use std::ffi::OsStr;
use std::path::PathBuf;

use broker::log::{LogChoice, Target};
use broker::startup::{Activation, BackgroundChoice, ConfigSource, PidFileChoice, UnitTemplate};
use bus::BodyValidation;
use capture::text::amount::Scale;
use clap::{Arg, ArgAction, ValueHint};

use super::mistake::Mistake;
use super::parse::{Draft, Request};

/// An option that is a word of its own.
pub(super) struct Switch {
    pub(super) name: &'static str,
    /// The same in one letter; the first of them is shown.
    aliases: &'static [&'static str],
    help: &'static str,
    /// What it does to what the words before it have said; a request ends the reading.
    pub(super) apply: fn(&mut Draft) -> Result<Option<Request>, Mistake>,
}

/// An option with a value, after an equals sign or in the next word.
pub(super) struct ValueOption {
    pub(super) name: &'static str,
    value: Value,
    help: &'static str,
    /// What the option does with its value, which is not empty.
    pub(super) set: fn(&mut Draft, &OsStr) -> Result<(), Mistake>,
    /// What the option does without one.
    pub(super) mention: fn(&mut Draft),
}

enum Value {
    Required(&'static str),
    Optional(&'static str),
}

impl Switch {
    pub(super) fn is(&self, word: &OsStr) -> bool {
        word == self.name || self.aliases.iter().any(|alias| word == *alias)
    }

    fn usage(&self) -> String {
        format!("[{}]", self.name)
    }

    pub(super) fn describe(&self) -> Arg {
        let name = long_name(self.name);
        let letter = self.aliases.iter().find_map(|alias| alias.chars().nth(1));
        Arg::new(name).long(name).short(letter).help(self.help).action(ArgAction::SetTrue)
    }
}

impl ValueOption {
    fn usage(&self) -> String {
        match self.value {
            Value::Required(value) => format!("[{}={value}]", self.name),
            Value::Optional(value) => format!("[{}[={value}]]", self.name),
        }
    }

    pub(super) fn describe(&self) -> Arg {
        let name = long_name(self.name);
        let arg = Arg::new(name).long(name).help(self.help);
        match self.value {
            Value::Required(value @ (FILE | PATH)) => {
                arg.value_name(value).value_hint(ValueHint::FilePath)
            }
            Value::Required(value) => arg.value_name(value),
            Value::Optional(value) => arg.value_name(value).num_args(0..=1).require_equals(true),
        }
    }
}

/// What is a file.
const FILE: &str = "FILE";
const PATH: &str = "PATH";

fn long_name(name: &'static str) -> &'static str {
    name.strip_prefix("--").expect("the names in the table begin with --")
}

/// All options in one line, in the order that users of dbus-daemon know.
pub(super) fn usage() -> String {
    let switch = |name| SWITCHES.iter().find(|it| it.name == name).map(Switch::usage);
    let value = |name| VALUES.iter().find(|it| it.name == name).map(ValueOption::usage);
    let options: Vec<_> =
        USAGE_ORDER.into_iter().filter_map(|name| switch(name).or_else(|| value(name))).collect();
    options.join(" ")
}

/// Read before the options with values, so none of these words is ever the value of another.
pub(super) const SWITCHES: &[Switch] = &[
    Switch {
        name: "--help",
        aliases: &["-h", "-?"],
        help: "Print help",
        apply: |_| Ok(Some(Request::Help)),
    },
    Switch {
        name: "--version",
        aliases: &[],
        help: "Print the version and exit",
        apply: |_| Ok(Some(Request::Version)),
    },
    Switch {
        name: "--introspect",
        aliases: &[],
        help: "Print the interfaces of the bus itself as XML and exit",
        apply: |_| Ok(Some(Request::Introspect)),
    },
    Switch {
        name: "--session",
        aliases: &[],
        help: "Read the configuration of the session bus, /usr/share/dbus-1/session.conf; where \
               there is none, use a built-in one",
        apply: |draft| draft.set_config("--session", ConfigSource::Session).map(|()| None),
    },
    Switch {
        name: "--system",
        aliases: &[],
        help: "Read the configuration of the system bus, /usr/share/dbus-1/system.conf",
        apply: |draft| draft.set_config("--system", ConfigSource::System).map(|()| None),
    },
    Switch {
        name: "--nopidfile",
        aliases: &[],
        help: "Write no file with the process number, whatever the configuration says",
        apply: |draft| {
            draft.pid_file = PidFileChoice::Never;
            Ok(None)
        },
    },
    Switch {
        name: "--nosyslog",
        aliases: &[],
        help: "Log to standard error only, whatever the configuration says",
        apply: |draft| {
            draft.log = LogChoice::Always(Target::Stderr);
            Ok(None)
        },
    },
    Switch {
        name: "--syslog",
        aliases: &[],
        help: "Log to the system log and standard error",
        apply: |draft| {
            // It does not take back an earlier --syslog-only.
            if draft.log != LogChoice::Always(Target::Syslog) {
                draft.log = LogChoice::Always(Target::Both);
            }
            Ok(None)
        },
    },
    Switch {
        name: "--syslog-only",
        aliases: &[],
        help: "Log to the system log only",
        apply: |draft| {
            draft.log = LogChoice::Always(Target::Syslog);
            Ok(None)
        },
    },
    Switch {
        name: "--nofork",
        aliases: &[],
        help: "Stay in the foreground, whatever the configuration says",
        apply: |draft| {
            draft.background = BackgroundChoice::Stay;
            Ok(None)
        },
    },
    Switch {
        name: "--fork",
        aliases: &[],
        help: "Go to the background as soon as clients can connect",
        apply: |draft| {
            draft.background = BackgroundChoice::Go;
            Ok(None)
        },
    },
    Switch {
        name: "--systemd-activation",
        aliases: &[],
        help: "Let systemd start the services that have a unit",
        apply: |draft| {
            // It does not take back an earlier --helper-unit.
            if draft.activation == Activation::Direct {
                draft.activation = Activation::Systemd;
            }
            Ok(None)
        },
    },
    Switch {
        name: "--without-body-validation",
        aliases: &[],
        help: "Pass on the bodies of messages unchecked. For measurements; not for peers that are \
               not trusted",
        apply: |draft| {
            draft.body_validation = BodyValidation::Off;
            Ok(None)
        },
    },
];

/// In the order in which they are tried: for the word after one of these options, those before it
/// in the table ask first whether the word is theirs.
pub(super) const VALUES: &[ValueOption] = &[
    ValueOption {
        name: "--config-file",
        value: Value::Required(FILE),
        help: "Read this configuration file",
        set: |draft, value| {
            draft.set_config("--config-file", ConfigSource::File(PathBuf::from(value)))
        },
        mention: |_| (),
    },
    ValueOption {
        name: "--address",
        value: Value::Required("ADDRESS"),
        help: "Listen at this address, not at those of the configuration",
        set: |draft, value| match draft.address.take() {
            Some(first) => Err(Mistake::SecondAddress { first }),
            None => {
                draft.address = Some(value.to_string_lossy().into_owned());
                Ok(())
            }
        },
        mention: |_| (),
    },
    ValueOption {
        name: "--metrics-socket",
        value: Value::Required(PATH),
        help: "Listen at this path for those who collect numbers, and tell them what is counted, as \
               OpenMetrics text over HTTP, whatever the configuration says of it. Only the owner of the \
               file can connect to it",
        set: |draft, value| {
            draft.metrics_socket = Some(PathBuf::from(value));
            Ok(())
        },
        mention: |_| (),
    },
    ValueOption {
        name: "--flight-recorder",
        value: Value::Required("SIZE"),
        help: "Keep the last SIZE bytes (64KiB to 1GiB) of what the bus does with messages in memory, and \
               write them to a file on SIGUSR2, whatever the configuration says of it; 0 keeps nothing",
        set: |draft, value| {
            let bytes = value.to_str().and_then(|text| Scale::BYTES.read(text).ok());
            draft.flight_recorder = Some(bytes.ok_or_else(|| Mistake::BadSize(value.into()))?);
            Ok(())
        },
        mention: |_| (),
    },
    ValueOption {
        name: "--helper-unit",
        value: Value::Required("TEMPLATE"),
        help: "Let systemd start all services: those without a unit of their own as instances of this \
               one, as diligence-helper@.service",
        set: |draft, value| {
            let template = value.to_str().and_then(UnitTemplate::parse);
            let template = template.ok_or_else(|| Mistake::BadTemplate(value.into()))?;
            draft.activation = Activation::SystemdAlone(template);
            Ok(())
        },
        mention: |_| (),
    },
    ValueOption {
        name: "--print-address",
        value: Value::Optional("DESCRIPTOR"),
        help: "Print the address to connect to, to standard output or this file descriptor",
        set: |draft, value| draft.print_address.set("--print-address", "address", value),
        mention: |draft| draft.print_address.mention(),
    },
    ValueOption {
        name: "--print-pid",
        value: Value::Optional("DESCRIPTOR"),
        help: "Print the process number, to standard output or this file descriptor",
        set: |draft, value| draft.print_pid.set("--print-pid", "pid", value),
        mention: |draft| draft.print_pid.mention(),
    },
];

const USAGE_ORDER: [&str; 19] = [
    "--version",
    "--session",
    "--system",
    "--config-file",
    "--print-address",
    "--print-pid",
    "--introspect",
    "--address",
    "--nopidfile",
    "--nosyslog",
    "--syslog",
    "--syslog-only",
    "--nofork",
    "--fork",
    "--systemd-activation",
    "--helper-unit",
    "--without-body-validation",
    "--metrics-socket",
    "--flight-recorder",
];
