//! Command lines and their settings, as found by running dbus-daemon.

use std::ffi::OsString;

use crate::error::OptionError;
use crate::parse::{DaemonRequest, parse};
use broker::log::{LogChoice, LogTarget};
use broker::startup::{
    BackgroundChoice, ConfigSource, DescriptorNumber, PidFileChoice, Settings, UnitActivation,
    UnitTemplate,
};

fn words(line: &str) -> Vec<OsString> {
    // `''` stands for an empty word.
    line.split_whitespace().map(|word| OsString::from(word.trim_matches('\''))).collect()
}

fn file(path: &str) -> Settings {
    Settings::new(ConfigSource::File(path.into()))
}

fn number(text: &str) -> Option<DescriptorNumber> {
    DescriptorNumber::parse(text)
}

#[test]
fn command_lines_are_parsed_into_settings() {
    let check = |line: &str, expected: Settings| {
        assert_eq!(parse(words(line)), Ok(DaemonRequest::Serve(expected)), "{line}");
    };
    let session = || Settings::new(ConfigSource::Session);
    let log = |target| Settings { log: LogChoice::Always(target), ..session() };
    let stdout = number("1");

    check("--session", session());
    check("--system", Settings::new(ConfigSource::System));
    check("--config-file=/x", file("/x"));
    check("--config-file /x", file("/x"));
    check("--config-file=a=b", file("a=b"));

    // Empty values and missing values.
    check("--config-file= --config-file=/x", file("/x"));
    check("--config-file '' --session", session());
    check("--config-file --session", session());
    check("--address= --session --address", session());
    check("--address '' --session", session());
    check("--print-address= --session", Settings { print_address: stdout, ..session() });
    check("--print-address '' --session", Settings { print_address: stdout, ..session() });
    check("--session --print-address", Settings { print_address: stdout, ..session() });

    // Words that are values, and words that are not.
    check("--config-file --print-address", file("--print-address"));
    check("--config-file --address=unix:", file("--address=unix:"));
    check("--print-address --config-file=/x", Settings { print_address: stdout, ..file("/x") });
    check(
        "--print-address --address unix: --session",
        Settings { print_address: stdout, address: Some("unix:".into()), ..session() },
    );
    check(
        "--address --print-address --session",
        Settings { address: Some("--print-address".into()), ..session() },
    );
    check(
        "--print-pid --print-address --session",
        Settings { print_pid: stdout, print_address: stdout, ..session() },
    );
    check(
        "--config-file --address foo",
        Settings { address: Some("foo".into()), ..file("--address") },
    );

    // Values that are descriptor numbers.
    check(
        "--print-address 8 --print-pid=9 --session",
        Settings { print_address: number("8"), print_pid: number("9"), ..session() },
    );
    check(
        "--print-address --nofork --print-address=7 --session --print-address",
        Settings { print_address: number("7"), background: BackgroundChoice::Stay, ..session() },
    );

    // Options that contradict each other.
    let in_background = |background| Settings { background, ..session() };
    check("--session --fork", in_background(BackgroundChoice::Go));
    check("--fork --session --nofork", in_background(BackgroundChoice::Stay));
    check("--nofork --session --fork", in_background(BackgroundChoice::Go));
    check("--session --syslog", log(LogTarget::Both));
    check("--session --syslog-only", log(LogTarget::Syslog));
    check("--session --syslog-only --nosyslog", log(LogTarget::Stderr));
    check("--session --syslog-only --syslog", log(LogTarget::Syslog));
    check("--session --syslog-only --nosyslog --syslog", log(LogTarget::Both));

    check(
        "--session --nopidfile --systemd-activation",
        Settings {
            pid_file: PidFileChoice::Never,
            activation: UnitActivation::Systemd,
            ..session()
        },
    );
    let template = UnitTemplate::parse("x@.service").expect("a template");
    let alone = Settings { activation: UnitActivation::SystemdAlone(template), ..session() };
    check("--session --helper-unit=x@.service", alone.clone());
    check("--session --helper-unit x@.service --systemd-activation", alone);
}

#[test]
fn help_and_version_end_the_parsing() {
    let check = |line: &str, expected: DaemonRequest| {
        assert_eq!(parse(words(line)), Ok(expected), "{line}")
    };
    check("--help", DaemonRequest::Help);
    check("-h --bogus", DaemonRequest::Help);
    check("-?", DaemonRequest::Help);
    check("--config-file --help", DaemonRequest::Help);
    check("--version --bogus", DaemonRequest::Version);
    check("--session --version --help", DaemonRequest::Version);
    check("--introspect --version", DaemonRequest::Introspect);
}

#[test]
fn errors_have_the_texts_of_dbus_daemon() {
    let check = |line: &str, expected: &str| {
        let error = parse(words(line)).expect_err(line);
        assert_eq!(error.to_string(), expected, "{line}");
    };
    check("", "No configuration file specified.");
    check("--config-file=", "No configuration file specified.");
    check("--config-file", "No configuration file specified.");
    check("--address unix: --nofork", "No configuration file specified.");
    check("--print-address=x", "No configuration file specified.");
    check(
        "--session --helper-unit=x.service",
        "Invalid template: \"x.service\". Expected the name of a template unit, such as x@.service",
    );
    check(
        "--session --system",
        "--system specified but configuration file /usr/share/dbus-1/session.conf already requested",
    );
    check(
        "--system --session",
        "--session specified but configuration file /usr/share/dbus-1/system.conf already requested",
    );
    check(
        "--config-file /x --config-file=/y",
        "--config-file specified but configuration file /x already requested",
    );
    check(
        "--config-file --config-file /y",
        "--config-file specified but configuration file --config-file already requested",
    );
    check("--address=a --address=b", "--address specified but address a already requested");
    check(
        "--print-address=1 --print-address=1",
        "--print-address specified but printing address to 1 already requested",
    );
    check(
        "--print-pid 1 --print-pid 2",
        "--print-pid specified but printing pid to 1 already requested",
    );
    check("--session --print-address=x", "Invalid file descriptor: \"x\"");
    check("--session --print-address=-1", "Invalid file descriptor: \"-1\"");
    check("--session --print-address foo", "Invalid file descriptor: \"foo\"");
    check("--session --print-address=99999999999", "Invalid file descriptor: \"99999999999\"");
    check("--session --print-address --print-pid", "Invalid file descriptor: \"--print-pid\"");
    check("--session --print-pid --print-pid", "Invalid file descriptor: \"--print-pid\"");
    check(
        "--session --print-address --print-address",
        "Invalid file descriptor: \"--print-address\"",
    );
}

#[test]
fn unknown_options_print_the_usage_line() {
    let unknown = [
        "--bogus",
        "stray",
        "--session=x",
        "--print-addressx",
        "--",
        "''",
        "--print-address 1 1",
        "--print-address= 1",
        "--config-file --nofork /x",
    ];
    for line in unknown {
        let last = words(line).pop().unwrap();
        let error = parse(words(line)).unwrap_err();
        assert_eq!(error, OptionError::Unknown(last), "{line}");
        assert!(error.calls_for_usage());
    }
    assert!(OptionError::NoConfiguration.calls_for_usage());
    assert!(!OptionError::SecondAddress { first: "a".into() }.calls_for_usage());
}
