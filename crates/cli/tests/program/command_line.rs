//! Tests of the command lines of both programs: which command runs, the output stream of each text,
//! and the exit status.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use rustix::process::Signal;

use crate::support::{ProgramFolder, SpawnedProgram, daemon, text};

struct ProgramOutput {
    code: i32,
    stdout: String,
    stderr: String,
}

fn run(command: &mut Command) -> ProgramOutput {
    let output = command.output().expect("the program exists");
    ProgramOutput {
        code: output.status.code().expect("no signal"),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    }
}

/// The output stream on which a text is expected.
#[derive(Clone, Copy)]
enum ExpectedStream {
    Stdout(&'static str),
    Stderr(&'static str),
}

fn check(command: &mut Command, code: i32, wanted: ExpectedStream) {
    let printed = run(command);
    let ProgramOutput { stdout, stderr, .. } = &printed;
    assert_eq!(printed.code, code, "{command:?}: {stdout}{stderr}");
    let (empty, full, part) = match wanted {
        ExpectedStream::Stdout(part) => (stderr, stdout, part),
        ExpectedStream::Stderr(part) => (stdout, stderr, part),
    };
    assert_eq!(empty, "", "{command:?}");
    assert!(full.contains(part) && full.ends_with('\n'), "{command:?}: {full}");
}

#[test]
fn the_daemon_is_dbus_daemon_if_called_by_that_name() {
    let folder = ProgramFolder::new();
    let check =
        |words: &[&str], code, wanted| check(folder.dbus_daemon().args(words), code, wanted);
    check(&["--version"], 0, ExpectedStream::Stdout("Diligence Message Bus Daemon "));
    check(
        &["--introspect"],
        0,
        ExpectedStream::Stdout("<interface name=\"org.freedesktop.DBus\">"),
    );
    check(
        &["--help"],
        1,
        ExpectedStream::Stderr("dbus-daemon [--version] [--session] [--system] "),
    );
    check(
        &["bus"],
        1,
        ExpectedStream::Stderr("There is no option \"bus\". The options are:\ndbus-daemon ["),
    );
    check(&[], 1, ExpectedStream::Stderr("No configuration file specified.\ndbus-daemon ["));
    check(&["--config-file=/none"], 1, ExpectedStream::Stderr("]: Failed to start message bus: "));
}

#[test]
fn the_daemon_has_its_own_help_if_called_diligence_bus() {
    let folder = ProgramFolder::new();
    let check =
        |words: &[&str], code, wanted| check(folder.diligence_bus().args(words), code, wanted);
    check(&["--help"], 0, ExpectedStream::Stdout("Usage: diligence-bus (--session"));
    check(&["--bogus"], 1, ExpectedStream::Stderr("The options are:\ndiligence-bus [--version] "));
    check(&["--config-file=/none"], 1, ExpectedStream::Stderr("diligence["));
}

#[test]
fn bus_executes_the_daemon_in_the_same_process() {
    let folder = ProgramFolder::new();
    let config = folder.config("");
    let mut command = folder.diligence();
    command.args(["bus", "--print-pid", "--nofork", "--config-file"]).arg(config);
    let mut running = SpawnedProgram::start(&mut command);
    assert_eq!(running.line(), running.id().to_string());
    let process = format!("/proc/{}", running.id());
    let program = fs::read_link(format!("{process}/exe")).expect("a running process");
    assert_eq!(program, fs::canonicalize(daemon()).expect("the file exists"));
    let words = fs::read_to_string(format!("{process}/cmdline")).expect("a running process");
    assert!(words.starts_with("diligence bus\0--print-pid\0"), "{words:?}");
    assert!(running.end(Signal::TERM).status.success());
}

#[test]
fn the_daemon_is_found_in_path_or_reported_as_missing() {
    let folder = ProgramFolder::new();
    let alone = folder.join("diligence");
    fs::copy(folder.diligence().get_program(), &alone).expect("a writable folder");
    let run_with =
        |path: &str, words: &[&str]| run(folder.program(&alone).env("PATH", path).args(words));
    let place = folder.join("bin");
    fs::create_dir(&place).expect("a writable folder");
    let path = place.display().to_string();
    for words in [&["bus", "--session"][..], &["run", "true"], &["up"]] {
        let printed = run_with(&path, words);
        assert_eq!(printed.code, 1, "{words:?}: {}", printed.stderr);
        let expected = format!(
            "the program diligence-bus is missing: it is neither in {}, next to this program, nor in \
             a directory of PATH; install it there",
            folder.join("").display().to_string().trim_end_matches('/')
        );
        assert!(printed.stderr.contains(&expected), "{words:?}: {}", printed.stderr);
    }
    symlink(daemon(), place.join("diligence-bus")).expect("a writable folder");
    let printed = run_with(&path, &["bus", "--version"]);
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    assert!(printed.stdout.starts_with("Diligence Message Bus Daemon "), "{}", printed.stdout);
    let printed = run_with(&path, &["run", "/bin/sh", "-c", "echo $DBUS_SESSION_BUS_ADDRESS"]);
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    assert!(printed.stdout.starts_with("unix:path="), "{}", printed.stdout);
}

#[test]
fn diligence_prints_help_versions_and_usage_errors() {
    let folder = ProgramFolder::new();
    let check = |words: &[&str], code, wanted| check(folder.diligence().args(words), code, wanted);
    check(&["--version"], 0, ExpectedStream::Stdout("diligence "));
    check(&["--help"], 0, ExpectedStream::Stdout("Usage: diligence <COMMAND>"));
    check(&["help", "bus"], 0, ExpectedStream::Stdout("--print-address[=<DESCRIPTOR>]"));
    check(&[], 2, ExpectedStream::Stderr("Usage: diligence <COMMAND>"));
    check(&["frobnicate"], 2, ExpectedStream::Stderr("unrecognized subcommand 'frobnicate'"));
    check(&["--session"], 2, ExpectedStream::Stderr("unexpected argument '--session'"));
    check(&["generate", "man"], 2, ExpectedStream::Stderr("<DIRECTORY>"));
}

#[test]
fn bus_has_the_options_of_dbus_daemon() {
    let folder = ProgramFolder::new();
    let bus = |words: &[&str], code, wanted| {
        check(folder.diligence().arg("bus").args(words), code, wanted);
    };
    bus(&["--help"], 0, ExpectedStream::Stdout("Usage: diligence bus (--session"));
    bus(&["-h"], 0, ExpectedStream::Stdout("--print-pid[=<DESCRIPTOR>]"));
    bus(&["--version", "--bogus"], 0, ExpectedStream::Stdout("Diligence Message Bus Daemon "));
    bus(&["--introspect"], 0, ExpectedStream::Stdout("</node>\n"));
    bus(
        &["--bogus"],
        1,
        ExpectedStream::Stderr("There is no option \"--bogus\". The options are:\ndiligence bus ["),
    );
    bus(&["--config-file", "/none"], 1, ExpectedStream::Stderr("diligence["));
}

#[test]
fn version_output_has_four_lines_and_ends_its_first_with_the_version() {
    let printed = run(ProgramFolder::new().dbus_daemon().arg("--version"));
    let lines: Vec<_> = printed.stdout.lines().collect();
    assert_eq!(lines.len(), 4);
    let version = lines[0].rsplit(' ').next().expect("a word");
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
}

#[test]
fn a_closed_standard_output_is_not_a_failure() {
    let folder = ProgramFolder::new();
    for words in [&["bus", "--introspect"][..], &["bus", "--help"], &["--help"]] {
        let mut child = folder
            .diligence()
            .args(words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program exists");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("a child process");
        assert!(output.status.success(), "{words:?}");
        assert_eq!(text(&output.stderr), "", "{words:?}");
    }
}

#[test]
fn manual_pages_and_completions_are_written() {
    let folder = ProgramFolder::new();
    for (what, files) in [
        ("man", &["diligence.1", "diligence-bus.1"][..]),
        ("completions", &["diligence.bash", "diligence.fish", "_diligence"]),
    ] {
        let place = folder.join(what);
        let printed = run(folder.diligence().args(["generate", what]).arg(&place));
        assert_eq!(printed.code, 0, "{}", printed.stderr);
        for file in files {
            let written = fs::read_to_string(place.join(file)).expect(file);
            assert!(written.contains("bus"), "{file}");
        }
    }
    let page = fs::read_to_string(folder.join("man/diligence-bus.1")).expect("written above");
    assert!(page.contains("systemd\\-activation"), "the options of the bus are described: {page}");
    let blocked = folder.join("file");
    fs::write(&blocked, "").expect("a writable folder");
    let printed = run(folder.diligence().args(["generate", "man"]).arg(&blocked));
    assert_eq!(printed.code, 1);
    assert!(printed.stderr.starts_with("diligence: cannot write to "), "{}", printed.stderr);
}
