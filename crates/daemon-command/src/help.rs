//! The usage line and the help text of the daemon.

use crate::options::{SWITCHES, SwitchOption, VALUES, ValueKind, ValueOption};

/// A one-line description of the command.
pub const ABOUT: &str = "Run a message bus, with the options of dbus-daemon";

/// The description of the command and of the rules that its options share. Each paragraph is one
/// line.
pub const LONG_ABOUT: &str = "\
Run a message bus: programs connect to its address, own names, and send each other messages. \
`diligence bus` executes the program diligence-bus, which can also be called directly.

The options are the same as in dbus-daemon and are read by the same rules: the value of an option follows \
an equals sign or is the next word, and the last of --fork and --nofork wins. One of --session, \
--system and --config-file is required.

SIGTERM and SIGINT end the bus, SIGHUP makes it read its configuration again, and SIGUSR2 makes it \
write the flight recorder to a file, if it has one. The exit status is 0 if a signal ended the bus, \
and 1 if the bus could not start or the command line is wrong. Called by the name dbus-daemon, the \
program replaces dbus-daemon: SIGINT then kills it at once, and --help prints one line to standard \
error.";

/// The argument pattern of the usage line.
pub const PATTERN: &str = "(--session | --system | --config-file=FILE) [OPTION]...";

/// The help text for the command with this name.
#[must_use]
pub fn help(command: &str) -> String {
    let mut text = String::new();
    for paragraph in LONG_ABOUT.lines() {
        wrap(&mut text, "", paragraph);
    }
    text += &format!("\nUsage: {command} {PATTERN}\n\nOptions:\n");
    let values = VALUES.iter().map(|option| (value_spelling(option), option.help));
    let switches = SWITCHES.iter().map(|option| (switch_spelling(option), option.help));
    let entries: Vec<_> = values.chain(switches).collect();
    for (index, (spelling, about)) in entries.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        text += &format!("  {spelling}\n");
        wrap(&mut text, "          ", about);
    }
    text
}

/// The command and all its options in one line, in the order of dbus-daemon.
#[must_use]
pub fn usage(command: &str) -> String {
    let switch = |name| SWITCHES.iter().find(|it| it.name == name).map(switch_usage);
    let value = |name| VALUES.iter().find(|it| it.name == name).map(value_usage);
    let options = USAGE_ORDER.into_iter().filter_map(|name| switch(name).or_else(|| value(name)));
    [command.to_owned()].into_iter().chain(options).collect::<Vec<_>>().join(" ")
}

/// Appends a paragraph, wrapped at word boundaries and indented.
fn wrap(text: &mut String, indent: &str, paragraph: &str) {
    let mut column = 0;
    for word in paragraph.split(' ').filter(|word| !word.is_empty()) {
        if column > 0 && column + 1 + word.len() > COLUMNS {
            text.push('\n');
            column = 0;
        }
        let separator = if column == 0 { indent } else { " " };
        *text += separator;
        *text += word;
        column += separator.len() + word.len();
    }
    text.push('\n');
}

fn switch_spelling(option: &SwitchOption) -> String {
    match option.aliases {
        [] => format!("    {}", option.name),
        [alias, ..] => format!("{alias}, {}", option.name),
    }
}

fn value_spelling(option: &ValueOption) -> String {
    let name = option.name;
    match option.value {
        ValueKind::Required(value) | ValueKind::RequiredPath(value) => {
            format!("    {name} <{value}>")
        }
        ValueKind::Optional(value) => format!("    {name}[=<{value}>]"),
    }
}

fn switch_usage(option: &SwitchOption) -> String {
    format!("[{}]", option.name)
}

fn value_usage(option: &ValueOption) -> String {
    let name = option.name;
    match option.value {
        ValueKind::Required(value) | ValueKind::RequiredPath(value) => format!("[{name}={value}]"),
        ValueKind::Optional(value) => format!("[{name}[={value}]]"),
    }
}

/// The width of the help text, which fits the narrowest usual terminal.
const COLUMNS: usize = 80;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_is_in_the_usage_and_in_the_help() {
        let (usage, help) = (usage("x"), help("x"));
        assert!(!usage.contains('\n'));
        let names = SWITCHES.iter().map(|it| it.name).chain(VALUES.iter().map(|it| it.name));
        for name in names {
            let in_usage = usage.contains(&format!("[{name}"));
            assert!(in_usage || name == "--help", "{name} is missing in {usage}");
            assert!(help.contains(name), "{name} is missing in {help}");
        }
    }

    #[test]
    fn the_help_fits_into_a_terminal() {
        let help = help("diligence-bus");
        let widest = help.lines().map(str::len).max();
        assert!(widest.is_some_and(|widest| (70..=COLUMNS).contains(&widest)), "{help}");
        assert!(help.contains("\n      --print-pid[=<DESCRIPTOR>]\n          Print "), "{help}");
        assert!(help.contains("\n  -h, --help\n          Print help\n"), "{help}");
    }
}
