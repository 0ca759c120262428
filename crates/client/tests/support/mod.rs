//! A private bus for a test, services in threads, and programs of other D-Bus implementations.

#![expect(dead_code, reason = "each test program uses its own part of this")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use diligence_client::Connection;

/// A private bus, which is killed when dropped. `DILIGENCE_BUS` is the program; the default is
/// dbus-daemon.
pub(crate) struct PrivateTestBus {
    daemon: Child,
    pub(crate) address: String,
}

impl PrivateTestBus {
    pub(crate) fn start() -> Self {
        Self::start_with(&["--session"])
    }

    pub(crate) fn start_with(arguments: &[&str]) -> Self {
        Self::start_program(&program(), arguments)
    }

    /// Starts the bus of this project, or dbus-daemon, whatever `DILIGENCE_BUS` is.
    pub(crate) fn start_this(program: BusProgram) -> Self {
        Self::start_program(&program.path(), &["--session"])
    }

    fn start_program(program: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(program);
        command.args(arguments).args(["--nofork", "--nopidfile", "--print-address"]);
        let mut daemon = command
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("{program}: {e}; the Debian package is dbus-daemon"));
        let mut address = String::new();
        let output = daemon.stdout.take().expect("stdout is a pipe");
        BufReader::new(output).read_line(&mut address).expect("an address");
        Self { daemon, address: address.trim_end().into() }
    }

    /// Starts a bus that listens at `listen`; `more` is inserted into its configuration.
    pub(crate) fn at(directory: &TestDirectory, listen: &str, more: &str) -> Self {
        Self::configured(&program(), directory, listen, more)
    }

    /// Starts one of the buses at the socket `bus` in a directory, also again.
    pub(crate) fn start_this_in(program: BusProgram, directory: &TestDirectory) -> Self {
        let listen = format!("unix:path={}", directory.file("bus"));
        Self::configured(&program.path(), directory, &listen, "")
    }

    fn configured(program: &str, directory: &TestDirectory, listen: &str, more: &str) -> Self {
        let config = directory.file("bus.conf");
        let text = format!(
            r#"<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
                "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <listen>{listen}</listen>
              {more}
              <allow_anonymous/>
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
              </policy>
            </busconfig>"#
        );
        fs::write(&config, text).expect("the directory is writable");
        Self::start_program(program, &["--config-file", &config])
    }

    pub(crate) fn connect(&self) -> Connection {
        Connection::open(&self.address).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Kills the bus while clients are connected.
    pub(crate) fn kill(&mut self) {
        self.daemon.kill().expect("the bus is running");
        self.daemon.wait().expect("the bus is a child process");
    }

    /// Suspends the bus with SIGSTOP, so that it reads no more messages.
    pub(crate) fn stop(&self) {
        self.signal("STOP");
    }

    /// Lets a suspended bus go on.
    pub(crate) fn resume(&self) {
        self.signal("CONT");
    }

    fn signal(&self, signal: &str) {
        let command = format!("kill -{signal} {}", self.daemon.id());
        let done = Command::new("sh").args(["-c", &command]).status().expect("a shell");
        assert!(done.success());
    }

    /// Runs another D-Bus program on this bus, and returns its output.
    pub(crate) fn run(&self, program: &str, package: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new(program);
        command.args(arguments).env("DBUS_SESSION_BUS_ADDRESS", &self.address);
        command.env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
        let output = command.output();
        output.unwrap_or_else(|e| panic!("{program}: {e}; the Debian package is {package}"))
    }

    pub(crate) fn gdbus(&self, arguments: &[&str]) -> String {
        successful(&self.run("gdbus", "libglib2.0-bin", arguments))
    }

    pub(crate) fn busctl(&self, arguments: &[&str]) -> String {
        let arguments = [&["--user", "--no-pager"], arguments].concat();
        successful(&self.run("busctl", "systemd", &arguments))
    }

    pub(crate) fn dbus_send(&self, arguments: &[&str]) -> String {
        successful(&self.run("dbus-send", "dbus-bin", arguments))
    }

    pub(crate) fn python(&self, script: &str) -> String {
        successful(&self.run("/usr/bin/python3", "python3-dbus", &["-c", script]))
    }

    /// Starts a script that prints `ready` once it serves.
    pub(crate) fn python_service(&self, script: &str) -> TestService {
        let mut command = Command::new("/usr/bin/python3");
        command.args(["-u", "-c", script]).env("DBUS_SESSION_BUS_ADDRESS", &self.address);
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("python3: {e}; the Debian package is python3-dbus"));
        let mut line = String::new();
        let output = child.stdout.take().expect("stdout is a pipe");
        BufReader::new(output).read_line(&mut line).expect("a line");
        assert_eq!(line, "ready\n");
        TestService::Program(child)
    }

    /// Serves the objects that `set_up` adds, in a thread, and returns once they are added.
    pub(crate) fn serve(&self, set_up: impl FnOnce(&Connection) + Send + 'static) -> TestService {
        self.run_thread(move |connection, ready, stop| {
            set_up(&connection);
            ready.send(()).expect("the test waits");
            while !stop.load(Ordering::Relaxed) {
                if connection.process(Some(Duration::from_millis(20))).is_err() {
                    break;
                }
            }
        })
    }

    /// Runs a service in a thread. It sends a message when it is ready, and stops when the flag is
    /// set.
    pub(crate) fn run_thread(
        &self,
        run: impl FnOnce(Connection, mpsc::Sender<()>, Arc<AtomicBool>) + Send + 'static,
    ) -> TestService {
        let (ready, is_ready) = mpsc::channel();
        let stop = Arc::new(AtomicBool::new(false));
        let (address, stop_flag) = (self.address.clone(), stop.clone());
        let thread = thread::spawn(move || {
            let connection = Connection::open(&address).expect("the bus runs");
            run(connection, ready, stop_flag);
        });
        is_ready.recv().expect("the service is ready");
        TestService::Thread { stop, thread: Some(thread) }
    }
}

impl Drop for PrivateTestBus {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

/// One of the buses that a test can run on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BusProgram {
    /// The bus of this project, from the folder in which the tests were built.
    Diligence,
    DbusDaemon,
}

impl BusProgram {
    fn path(self) -> String {
        match self {
            Self::Diligence => {
                let tests = std::env::current_exe().expect("the path of the test");
                let program = tests.parent().expect("a folder").join("../diligence-bus");
                assert!(program.exists(), "cargo build -p diligence-daemon makes {program:?}");
                program.to_str().expect("ASCII").into()
            }
            Self::DbusDaemon => REFERENCE.into(),
        }
    }
}

/// A temporary directory that is removed on drop.
pub(crate) struct TestDirectory(pub(crate) PathBuf);

impl TestDirectory {
    pub(crate) fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("diligence-client-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary directory");
        Self(path)
    }

    pub(crate) fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("ASCII").into()
    }
}

impl Drop for TestDirectory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A service that runs until it is dropped.
pub(crate) enum TestService {
    Thread { stop: Arc<AtomicBool>, thread: Option<JoinHandle<()>> },
    Program(Child),
}

impl Drop for TestService {
    fn drop(&mut self) {
        match self {
            Self::Thread { stop, thread } => {
                stop.store(true, Ordering::Relaxed);
                let result = thread.take().map(JoinHandle::join);
                assert!(
                    thread::panicking() || matches!(result, Some(Ok(()))),
                    "the service panicked"
                );
            }
            Self::Program(child) => {
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    }
}

pub(crate) fn successful(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {text}{errors}", output.status);
    text
}

fn program() -> String {
    std::env::var("DILIGENCE_BUS").unwrap_or(REFERENCE.into())
}

/// How long a test waits for something that must happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

const REFERENCE: &str = "/usr/bin/dbus-daemon";
