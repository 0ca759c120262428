//! Runs the programs in a temporary folder for each test.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use tempfile::TempDir;

/// A temporary folder that is removed on drop.
pub(crate) struct ProgramFolder(TempDir);

impl ProgramFolder {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().expect("the temporary folder is writable"))
    }

    /// Creates a folder in this one.
    pub(crate) fn inside(&self, name: &str) -> PathBuf {
        let path = self.join(name);
        fs::create_dir(&path).expect("a writable folder");
        path
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes the configuration of a session bus that listens at `bus` in this folder.
    pub(crate) fn config(&self, elements: &str) -> PathBuf {
        let path = self.join("bus.conf");
        let socket = self.join("bus");
        let text = format!(
            "<busconfig><type>session</type><listen>unix:path={}</listen>{elements}\
             <policy context='default'><allow send_destination='*' eavesdrop='true'/>\
             <allow eavesdrop='true'/><allow own='*'/></policy></busconfig>",
            socket.display()
        );
        fs::write(&path, text).expect("a writable folder");
        path
    }

    /// Returns a command for the daemon under the name `dbus-daemon`.
    pub(crate) fn dbus_daemon(&self) -> Command {
        let link = self.join("dbus-daemon");
        if !link.exists() {
            symlink(daemon(), &link).expect("a writable folder");
        }
        at(&link, self.0.path())
    }

    /// Returns a command for the daemon under its own name.
    pub(crate) fn diligence_bus(&self) -> Command {
        at(&daemon(), self.0.path())
    }

    /// Returns a command for `diligence`.
    pub(crate) fn diligence(&self) -> Command {
        at(Path::new(PROGRAM), self.0.path())
    }

    /// Returns a command for any program.
    pub(crate) fn program(&self, path: &Path) -> Command {
        at(path, self.0.path())
    }

    /// Returns a command for a shell script. `$0` and the arguments are the command `program`.
    pub(crate) fn shell(&self, script: &str, program: &Command) -> Command {
        let mut shell = at(Path::new("/bin/sh"), self.0.path());
        shell.args(["-c", script]).arg(program.get_program()).args(program.get_args());
        shell
    }

    /// Returns a command that runs `program` with default signal handling. If nohup(1) or a
    /// background job started the tests, some signals are ignored.
    pub(crate) fn with_usual_signals(&self, program: &Command) -> Command {
        let mut env = at(Path::new("/usr/bin/env"), self.0.path());
        env.arg("--default-signal=HUP,INT,QUIT")
            .arg(program.get_program())
            .args(program.get_args());
        env
    }
}

/// Returns a command whose environment has no access to the user's buses and service manager.
fn at(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    for name in ["XDG_RUNTIME_DIR", "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "JOURNAL_STREAM"] {
        command.env_remove(name);
    }
    command.current_dir(folder).stdin(Stdio::null());
    command
}

/// A child process that is killed on drop.
pub(crate) struct SpawnedProgram(Option<Child>);

impl SpawnedProgram {
    pub(crate) fn start(command: &mut Command) -> Self {
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Self(Some(command.spawn().expect("the program exists")))
    }

    /// Starts a program whose standard output goes into a file.
    pub(crate) fn start_into(command: &mut Command, out: fs::File) -> Self {
        let command = command.stdout(out).stderr(Stdio::piped());
        Self(Some(command.spawn().expect("the program exists")))
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.as_ref().expect("a running process").id()
    }

    /// Reads the next line of standard output.
    pub(crate) fn line(&mut self) -> String {
        let stdout = self.0.as_mut().and_then(|child| child.stdout.as_mut()).expect("a pipe");
        // A larger buffer would take the following lines from `end` and `ended`.
        let line = BufReader::with_capacity(1, stdout).lines().next();
        line.expect("a line of output").expect("an address is ASCII")
    }

    /// Reads standard error until a line contains `part`, and returns the lines that were read.
    pub(crate) fn errors_until(&mut self, part: &str) -> String {
        let stderr = self.0.as_mut().and_then(|child| child.stderr.as_mut()).expect("a pipe");
        // A larger buffer would take the following lines from `end` and `ended`.
        let mut lines = BufReader::with_capacity(1, stderr).lines().map_while(Result::ok);
        let mut read = String::new();
        while !read.contains(part) {
            let line = lines.next().unwrap_or_else(|| panic!("no line has {part:?}: {read}"));
            read += &format!("{line}\n");
        }
        read
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.id()).ok().and_then(Pid::from_raw).expect("a process");
        rustix::process::kill_process(pid, signal).expect("a child process");
    }

    /// Sends a signal, waits until the process exits, and returns its output.
    pub(crate) fn end(mut self, signal: Signal) -> Output {
        self.signal(signal);
        let mut child = self.0.take().expect("a running process");
        // The process must exit because of the signal, so its input stays open.
        let _input = child.stdin.take();
        child.wait_with_output().expect("a child process")
    }
}

impl SpawnedProgram {
    /// Waits until the process exits by itself, and returns its output.
    pub(crate) fn ended(mut self) -> Output {
        let child = self.0.take().expect("a running process");
        child.wait_with_output().expect("a child process")
    }
}

impl Drop for SpawnedProgram {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Calls `found` until it returns a value, and panics after 10 s.
pub(crate) fn eventually<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(Instant::now() < end, "timed out waiting for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns the path of the daemon, which `cargo build --workspace --bins` puts next to the program.
pub(crate) fn daemon() -> PathBuf {
    let path = Path::new(PROGRAM).with_file_name("diligence-bus");
    assert!(path.is_file(), "{} is missing; build it with `cargo build`", path.display());
    path
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_diligence");
