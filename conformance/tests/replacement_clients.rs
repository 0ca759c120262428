//! Programs with common client libraries exchange messages while the bus is replaced many times.
//! No message may be lost, repeated, reordered or changed, and no connection may end.
//!
//! `DILIGENCE_REPLACEMENTS` sets the number of replacements. With it, zbus is tested, too.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use conformance::differential::number;
use conformance::{
    BusUnderTest, ExternalProgram, PlainMessage, ScratchFolder, build_rust_client, client_source,
    diligence, kind, note, run_tests, test_case,
};

fn main() -> ExitCode {
    run_tests([
        test_case!(gio).requires(diligence()).requires(python("from gi.repository import Gio")),
        test_case!(dbus_python).requires(diligence()).requires(python("import dbus, gi")),
        test_case!(sd_bus).requires(diligence()).requires(headers("libsystemd")),
        test_case!(libdbus).requires(diligence()).requires(headers("dbus-1")),
        test_case!(zbus).requires(diligence()).requires(long_form()),
    ])
}

/// The number of replacements for each library.
const REPLACEMENTS: u64 = 30;

/// The pause between two replacements, in which the clients exchange messages.
const PAUSE: Duration = Duration::from_millis(5);

/// The time limit of a client for each replacement.
const LIMIT: Duration = Duration::from_secs(2);

const PYTHON: &str = "/usr/bin/python3";

/// The requirement that Debian's Python can execute this statement.
fn python(statement: &str) -> Result<(), String> {
    let script = format!("{PYTHON} -c '{statement}'");
    succeeds(&script, || format!("needs {PYTHON} with {statement}"))
}

/// The requirement that a C program can be compiled for this package of pkg-config.
fn headers(package: &str) -> Result<(), String> {
    let script = format!("command -v cc && pkg-config --exists {package}");
    succeeds(&script, || format!("needs a C compiler and pkg-config with {package}"))
}

/// The requirement that the number of replacements is set.
fn long_form() -> Result<(), String> {
    let count = number("DILIGENCE_REPLACEMENTS");
    count.map(drop).ok_or_else(|| "it builds zbus: set DILIGENCE_REPLACEMENTS".to_owned())
}

fn succeeds(script: &str, reason: impl FnOnce() -> String) -> Result<(), String> {
    ExternalProgram::shell(script).run().succeeded().then_some(()).ok_or_else(reason)
}

fn gio() {
    stream_through_replacements(|| script("gio.py"));
}

fn dbus_python() {
    stream_through_replacements(|| script("dbus-python.py"));
}

fn sd_bus() {
    let folder = ScratchFolder::new();
    let program = compiled(&folder, "sd-bus.c", "libsystemd");
    stream_through_replacements(|| ExternalProgram::at(&program));
}

fn libdbus() {
    let folder = ScratchFolder::new();
    let program = compiled(&folder, "libdbus.c", "dbus-1");
    stream_through_replacements(|| ExternalProgram::at(&program));
}

fn zbus() {
    let folder = ScratchFolder::new();
    let program = build_rust_client(&folder, "zbus", "stream-zbus");
    stream_through_replacements(|| ExternalProgram::at(&program));
}

fn script(name: &str) -> ExternalProgram {
    ExternalProgram::at(PYTHON).env("PYTHONDONTWRITEBYTECODE", "1").arg(client_source(name))
}

/// Compiles a program into the folder, and returns its path.
fn compiled(folder: &ScratchFolder, name: &str, package: &str) -> PathBuf {
    let program = folder.join("program");
    let script = format!(
        "cc -std=c11 -O2 -Wall -Werror -o \"$1\" \"$2\" $(pkg-config --cflags --libs {package})"
    );
    let _ = ExternalProgram::shell(&script).arg(&program).arg(client_source(name)).run().success();
    program
}

/// Replaces the bus while two processes of this program exchange messages.
fn stream_through_replacements(program: impl Fn() -> ExternalProgram) {
    let replacements = number("DILIGENCE_REPLACEMENTS").unwrap_or(REPLACEMENTS);
    let limit = LIMIT * u32::try_from(replacements + 10).expect("the bus is replaced less often");
    let mut bus = BusUnderTest::session();
    let process = bus.process().id();
    let mut service = program().args(["serve", bus.address()]).limit(limit).start();
    service.wait_for_stdout("ready\n");
    let (input, end_of_input) = std::io::pipe().expect("a pipe");
    let client = program().args(["stream", bus.address()]).stdin(input).limit(limit);
    let mut client = client.start();

    let mut caller = bus.peer();
    for _ in 0..replacements {
        std::thread::sleep(PAUSE);
        if service.ended().is_some() || client.ended().is_some() {
            break;
        }
        let call = PlainMessage::call(
            "org.freedesktop.DBus",
            "/org/freedesktop/DBus",
            "org.diligence.Daemon1",
            "Reexecute",
        );
        let reply = caller.call(call);
        assert_eq!(reply.kind, kind::RETURN, "{}", reply.summary());
    }
    drop(end_of_input);

    let client = client.finish();
    // If the client failed, the service would wait for its last signal forever.
    let service = if client.succeeded() { service.finish() } else { service.terminate() };
    assert!(client.succeeded() && service.succeeded(), "{client}\n{service}");
    let count = service.stdout.strip_prefix("ready\nok ").and_then(|rest| rest.trim().parse().ok());
    let count: u64 = count.unwrap_or_else(|| panic!("no count: {service}"));
    note(&format!("{count} signals and calls, {replacements} replacements"));
    assert!(count > replacements, "only {count} messages of each kind");
    let pid = bus.peer().ask_bus("GetConnectionUnixProcessID", "org.freedesktop.DBus");
    assert_eq!(pid.first_u32(), Some(process));
    let ran = bus.stop();
    let lines = ran.stderr.matches(" replaced version ").count();
    assert_eq!(u64::try_from(lines), Ok(replacements), "{}", ran.stderr);
}
