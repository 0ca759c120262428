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

/// Runs a program with our library, but not the programs that it starts: dbus-daemon needs private
/// functions of its own library.
fn only_this(folder: &Path, program: &str) -> Command {
    let mut read = Command::new("readelf");
    let output = succeed(read.args(["--program-headers", "/bin/sh"]));
    let headers = text(&output);
    let marker = "program interpreter: ";
    let start = headers.find(marker).expect("an interpreter") + marker.len();
    let end = start + headers[start..].find(']').expect("the end of the line");
    let mut command = Command::new(&headers[start..end]);
    command.arg("--library-path").arg(folder).arg(format!("/usr/bin/{program}"));
    command
}

const LIST_NAMES: [&str; 6] = [
    "dbus-send",
    "--session",
    "--print-reply=literal",
    "--dest=org.freedesktop.DBus",
    "/",
    "org.freedesktop.DBus.ListNames",
];

#[test]
fn dbus_run_session_and_dbus_launch_start_a_bus() {
    let folder = folder();
    link_library(folder.path());
    let mut command = only_this(folder.path(), "dbus-run-session");
    let names = text(&succeed(command.arg("--").args(LIST_NAMES)));
    assert!(names.contains("org.freedesktop.DBus"), "{names}");
    let mut command = only_this(folder.path(), "dbus-launch");
    let variables = text(&succeed(command.args(["--sh-syntax", "--close-stderr"])));
    let value = |name: &str| {
        let start = variables.find(name).expect("the variable is printed") + name.len();
        let rest = variables[start..].trim_start_matches('\'');
        rest[..rest.find(['\'', ';']).expect("the end of the value")].to_owned()
    };
    let mut command = Command::new(LIST_NAMES[0]);
    command.env("DBUS_SESSION_BUS_ADDRESS", value("DBUS_SESSION_BUS_ADDRESS="));
    let called = command.args(&LIST_NAMES[1..]).output().expect("dbus-send is installed");
    succeed(Command::new("kill").arg(value("DBUS_SESSION_BUS_PID=")));
    assert!(text(&called).contains("org.freedesktop.DBus"), "{variables}{called:?}");
}

#[test]
fn dbus_uuidgen_has_the_same_results() {
    let folder = folder();
    link_library(folder.path());
    let run = |library: Option<&Path>| {
        let files = tempfile::tempdir().expect("the folder can be created");
        let write = |name: &str, content: &str| {
            std::fs::write(files.path().join(name), content).expect("the folder can be written");
        };
        write("short", "12");
        write("lines", "0123456789abcdef0123456789abcdef\n\n");
        write("capitals", "0123456789ABCDEF0123456789ABCDEF ");
        let uuidgen = |arguments: &[&str]| {
            let mut command = Command::new("dbus-uuidgen");
            command.args(arguments).current_dir(files.path());
            match library {
                Some(folder) => command.env("LD_LIBRARY_PATH", folder),
                None => command.env_remove("LD_LIBRARY_PATH"),
            };
            let output = command.output().expect("dbus-uuidgen is installed");
            (
                output.status.code(),
                text(&output),
                String::from_utf8_lossy(&output.stderr).into_owned(),
            )
        };
        let new = uuidgen(&[]);
        assert!(new.0 == Some(0) && new.1.trim_end().len() == 32, "{new:?}");
        let mut results: Vec<_> = [
            "--get",
            "--get=none",
            "--get=short",
            "--ensure=short",
            "--get=lines",
            "--get=capitals",
            "--ensure=lines",
            "--get=.",
            "--ensure=new",
        ]
        .iter()
        .map(|argument| uuidgen(&[argument]))
        .collect();
        let created = std::fs::read_to_string(files.path().join("new")).expect("a new file");
        assert_eq!(uuidgen(&["--get=new"]).1, created);
        let failed = uuidgen(&["--ensure=none/new"]);
        assert!(failed.2.starts_with("Could not create none/new."), "{failed:?}");
        results.push((failed.0, failed.1, String::new()));
        results
    };
    assert_eq!(run(Some(folder.path())), run(None));
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
