//! The options of the daemon: spelling, kind of value, and help text.
//!
//! The daemon implements each option by matching on its id.

/// An option without a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SwitchOption {
    /// Identifies the option in code.
    pub id: SwitchId,
    /// The long spelling, with its two hyphens.
    pub name: &'static str,
    /// Short spellings, each a hyphen and a character. Help shows the first one.
    pub aliases: &'static [&'static str],
    /// The text that explains the option.
    pub help: &'static str,
}

/// An option with a value, which follows an equals sign or is the next word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ValueOption {
    /// Identifies the option in code.
    pub id: ValueId,
    /// The long spelling, with its two hyphens.
    pub name: &'static str,
    /// Whether the value can be left out, and what it is called.
    pub value: ValueKind,
    /// The text that explains the option.
    pub help: &'static str,
}

/// Whether the value of an option can be left out, with the word that stands for it in help texts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueKind {
    /// The option needs a value.
    Required(&'static str),
    /// The option needs the path of a file.
    RequiredPath(&'static str),
    /// The option also works without a value.
    Optional(&'static str),
}

/// The options without a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "each variant is the name of an option, which has a help text")]
pub enum SwitchId {
    Help,
    Version,
    Introspect,
    Session,
    System,
    NoPidFile,
    NoSyslog,
    Syslog,
    SyslogOnly,
    NoFork,
    Fork,
    SystemdActivation,
    WithoutBodyValidation,
}

/// The options with a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "each variant is the name of an option, which has a help text")]
pub enum ValueId {
    ConfigFile,
    Address,
    MetricsSocket,
    FlightRecorder,
    HelperUnit,
    PrintAddress,
    PrintPid,
}

impl SwitchOption {
    const fn new(id: SwitchId, name: &'static str, help: &'static str) -> Self {
        Self { id, name, aliases: &[], help }
    }
}

impl ValueOption {
    const fn new(id: ValueId, name: &'static str, value: ValueKind, help: &'static str) -> Self {
        Self { id, name, value, help }
    }
}

/// The options without a value. The daemon compares each word with these before it considers
/// [`VALUES`], so none of these words is ever the value of another option.
pub const SWITCHES: &[SwitchOption] = &[
    SwitchOption {
        aliases: &["-h", "-?"],
        ..SwitchOption::new(SwitchId::Help, "--help", "Print help")
    },
    SwitchOption::new(SwitchId::Version, "--version", "Print the version and exit"),
    SwitchOption::new(
        SwitchId::Introspect,
        "--introspect",
        "Print the interfaces of the bus itself as XML and exit",
    ),
    SwitchOption::new(
        SwitchId::Session,
        "--session",
        "Read the configuration of the session bus, /usr/share/dbus-1/session.conf; if there is no such \
         file, use a built-in one",
    ),
    SwitchOption::new(
        SwitchId::System,
        "--system",
        "Read the configuration of the system bus, /usr/share/dbus-1/system.conf",
    ),
    SwitchOption::new(
        SwitchId::NoPidFile,
        "--nopidfile",
        "Write no file with the process id, even if the configuration names one",
    ),
    SwitchOption::new(
        SwitchId::NoSyslog,
        "--nosyslog",
        "Log to standard error only, whatever the configuration says",
    ),
    SwitchOption::new(SwitchId::Syslog, "--syslog", "Log to the system log and standard error"),
    SwitchOption::new(SwitchId::SyslogOnly, "--syslog-only", "Log to the system log only"),
    SwitchOption::new(
        SwitchId::NoFork,
        "--nofork",
        "Stay in the foreground, whatever the configuration says",
    ),
    SwitchOption::new(
        SwitchId::Fork,
        "--fork",
        "Go to the background as soon as clients can connect",
    ),
    SwitchOption::new(
        SwitchId::SystemdActivation,
        "--systemd-activation",
        "Let systemd start the services that have a unit",
    ),
    SwitchOption::new(
        SwitchId::WithoutBodyValidation,
        "--without-body-validation",
        "Pass on the bodies of messages without validation. For measurements; not safe with peers that \
         are not trusted",
    ),
];

/// The options with a value, in the order in which the daemon tries them: for the word after one of
/// these options, the options before it in the table are asked first whether the word is theirs.
pub const VALUES: &[ValueOption] = &[
    ValueOption::new(
        ValueId::ConfigFile,
        "--config-file",
        ValueKind::RequiredPath("FILE"),
        "Read this configuration file",
    ),
    ValueOption::new(
        ValueId::Address,
        "--address",
        ValueKind::Required("ADDRESS"),
        "Listen at this address instead of the configured ones",
    ),
    ValueOption::new(
        ValueId::MetricsSocket,
        "--metrics-socket",
        ValueKind::RequiredPath("PATH"),
        "Serve the counters of the bus as OpenMetrics text over HTTP on a socket at this path, whatever \
         the configuration says. Only the user of the bus and root can connect to it",
    ),
    ValueOption::new(
        ValueId::FlightRecorder,
        "--flight-recorder",
        ValueKind::Required("SIZE"),
        "Keep the last SIZE bytes (64KiB to 1GiB) of the trace of messages in memory, and \
         write them to a file on SIGUSR2, whatever the configuration says; 0 keeps nothing",
    ),
    ValueOption::new(
        ValueId::HelperUnit,
        "--helper-unit",
        ValueKind::Required("TEMPLATE"),
        "Let systemd start all services: services without a unit of their own as instances of this \
         template, such as diligence-helper@.service",
    ),
    ValueOption::new(
        ValueId::PrintAddress,
        "--print-address",
        ValueKind::Optional("DESCRIPTOR"),
        "Print the address to connect to, to standard output or this file descriptor",
    ),
    ValueOption::new(
        ValueId::PrintPid,
        "--print-pid",
        ValueKind::Optional("DESCRIPTOR"),
        "Print the process id, to standard output or this file descriptor",
    ),
];
