//! Unmodified programs with this library, connected to a bus.

mod common;

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use common::{compile, folder, link_library, package, succeed};

/// A private bus, which ends with the value.
struct SessionDaemon {
    daemon: Child,
    address: String,
}

impl SessionDaemon {
    fn start() -> Self {
        let mut command = Command::new("dbus-daemon");
        command.args(["--session", "--nofork", "--print-address=1"]).stdout(Stdio::piped());
        let mut daemon = command.spawn().expect("dbus-daemon is installed");
        let mut address = String::new();
        let output = daemon.stdout.as_mut().expect("a pipe");
        BufReader::new(output).read_line(&mut address).expect("the address");
        Self { daemon, address: address.trim_end().to_owned() }
    }

    /// A command that uses this bus, with our library in `library` or the library of the system.
    fn command(&self, program: impl AsRef<Path>, library: Option<&Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.env("DBUS_SESSION_BUS_ADDRESS", &self.address);
        match library {
            Some(folder) => command.env("LD_LIBRARY_PATH", folder),
            None => command.env_remove("LD_LIBRARY_PATH"),
        };
        command
    }
}

impl Drop for SessionDaemon {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn python_programs_have_the_same_results() {
    let folder = folder();
    link_library(folder.path());
    let script = package().join("tests/programs/bindings.py");
    let run = |library: Option<&Path>| {
        let bus = SessionDaemon::start();
        text(&succeed(bus.command("/usr/bin/python3", library).arg(&script)))
    };
    let ours = run(Some(folder.path()));
    assert!(ours.ends_with("OK\n"), "{ours}");
    assert_eq!(ours, run(None));
}

#[test]
fn calls_of_the_bus_have_the_same_results() {
    let folder = folder();
    link_library(folder.path());
    let program = compile("calls", folder.path());
    let run = |library: Option<&Path>| {
        let bus = SessionDaemon::start();
        text(&succeed(&mut bus.command(&program, library)))
    };
    let ours = run(Some(folder.path()));
    assert!(ours.contains("signals 1\n"), "{ours}");
    assert_eq!(ours, run(None));
}

#[test]
fn command_line_tools_have_the_same_results() {
    let folder = folder();
    link_library(folder.path());
    let run = |library: Option<&Path>| {
        let bus = SessionDaemon::start();
        let names = ["--print-reply=literal", "--dest=org.freedesktop.DBus", "/"];
        let mut send = bus.command("dbus-send", library);
        let listed = succeed(send.args(names).arg("org.freedesktop.DBus.ListNames"));
        let mut send = bus.command("dbus-send", library);
        let failed = send.args(names).arg("org.freedesktop.DBus.Nothing").output();
        let failed = failed.expect("dbus-send is installed");
        let mut qdbus = bus.command("qdbus", library);
        let objects = succeed(qdbus.arg("org.freedesktop.DBus"));
        let mut tool = bus.command("dbus-test-tool", library);
        let mut echo = tool.args(["echo", "--name=com.example.Echo"]).spawn().expect("installed");
        let mut wait = bus.command("gdbus", None);
        succeed(wait.args(["wait", "--session", "--timeout=10", "com.example.Echo"]));
        let mut tool = bus.command("dbus-test-tool", library);
        succeed(tool.args(["spam", "--dest=com.example.Echo", "--count=3000", "--queue=20"]));
        let _ = echo.kill();
        let _ = echo.wait();
        let errors = String::from_utf8_lossy(&failed.stderr).into_owned();
        (text(&listed), failed.status.code(), errors, text(&objects))
    };
    let ours = run(Some(folder.path()));
    assert!(ours.0.contains("org.freedesktop.DBus"), "{ours:?}");
    assert_eq!(ours, run(None));
}

#[test]
fn dbus_run_session_starts_a_bus() {
    use std::os::unix::fs::PermissionsExt;

    let folder = folder();
    link_library(folder.path());
    // dbus-daemon needs private functions of its own library.
    let daemon = folder.path().join("daemon");
    std::fs::write(&daemon, "#!/bin/sh\nunset LD_LIBRARY_PATH\nexec dbus-daemon \"$@\"\n").unwrap();
    std::fs::set_permissions(&daemon, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new("dbus-run-session");
    command.env("LD_LIBRARY_PATH", folder.path()).arg("--dbus-daemon").arg(daemon);
    command.args(["--", "dbus-send", "--session", "--print-reply=literal"]);
    command.args(["--dest=org.freedesktop.DBus", "/", "org.freedesktop.DBus.ListNames"]);
    let names = text(&succeed(&mut command));
    assert!(names.contains("org.freedesktop.DBus"), "{names}");
}

#[test]
fn threads_share_a_connection_and_the_end_of_the_bus_ends_the_program() {
    let folder = folder();
    link_library(folder.path());
    let program = compile("threads", folder.path());
    let bus = SessionDaemon::start();
    let mut command = bus.command(program, Some(folder.path()));
    let mut child = command.stdout(Stdio::piped()).spawn().expect("the program starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    lines.read_line(&mut line).expect("text");
    assert_eq!(line, "1200 calls\n");
    drop(bus);
    let mut rest = String::new();
    lines.read_to_string(&mut rest).expect("text");
    assert_eq!((rest.as_str(), child.wait().expect("the program ends").code()), ("", Some(1)));
}
