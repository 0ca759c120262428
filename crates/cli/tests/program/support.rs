//! Running the programs, in a folder of the test's own.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

/// A folder that is gone with the test.
pub(crate) struct ProgramFolder(PathBuf);

impl ProgramFolder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("diligence-cli-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).expect("the temporary folder is writable");
        Self(path)
    }

    /// A folder in this one.
    pub(crate) fn inside(&self, name: &str) -> Self {
        let path = self.join(name);
        fs::create_dir(&path).expect("the folder is ours");
        Self(path)
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
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
        fs::write(&path, text).expect("the folder is ours");
        path
    }

    /// The daemon by the name `dbus-daemon`.
    pub(crate) fn dbus_daemon(&self) -> Command {
        let link = self.join("dbus-daemon");
        if !link.exists() {
            symlink(daemon(), &link).expect("the folder is ours");
        }
        at(&link, &self.0)
    }

    /// The daemon by its own name.
    pub(crate) fn diligence_bus(&self) -> Command {
        at(&daemon(), &self.0)
    }

    /// The program `diligence`.
    pub(crate) fn diligence(&self) -> Command {
        at(Path::new(PROGRAM), &self.0)
    }

    /// Any program.
    pub(crate) fn program(&self, path: &Path) -> Command {
        at(path, &self.0)
    }

    /// A shell script; `$0` and the words after it are the command `program` and its arguments.
    pub(crate) fn shell(&self, script: &str, program: &Command) -> Command {
        let mut shell = at(Path::new("/bin/sh"), &self.0);
        shell.args(["-c", script]).arg(program.get_program()).args(program.get_args());
        shell
    }

    /// The command `program`, with signals as a terminal leaves them, whoever started the tests:
    /// nohup(1) ignores some of them, and a shell ignores others in a background job.
    pub(crate) fn with_usual_signals(&self, program: &Command) -> Command {
        let mut env = at(Path::new("/usr/bin/env"), &self.0);
        env.arg("--default-signal=HUP,INT,QUIT")
            .arg(program.get_program())
            .args(program.get_args());
        env
    }
}

impl Drop for ProgramFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A command that finds nothing of the machine's own buses and service manager.
fn at(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    for name in ["XDG_RUNTIME_DIR", "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "JOURNAL_STREAM"] {
        command.env_remove(name);
    }
    command.current_dir(folder).stdin(Stdio::null());
    command
}

/// A program that was started, killed if the test ends before it.
pub(crate) struct SpawnedProgram(Option<Child>);

impl SpawnedProgram {
    pub(crate) fn start(command: &mut Command) -> Self {
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Self(Some(command.spawn().expect("the program exists")))
    }

    /// The same, but what it prints goes into a file.
    pub(crate) fn start_into(command: &mut Command, out: fs::File) -> Self {
        let command = command.stdout(out).stderr(Stdio::piped());
        Self(Some(command.spawn().expect("the program exists")))
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.as_ref().expect("not ended").id()
    }

    /// The first line that it prints.
    pub(crate) fn line(&mut self) -> String {
        let stdout = self.0.as_mut().and_then(|child| child.stdout.as_mut()).expect("it is piped");
        // No more than the line is taken.
        let line = BufReader::with_capacity(1, stdout).lines().next();
        line.expect("it prints something").expect("an address is ASCII")
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.id()).ok().and_then(Pid::from_raw).expect("a process");
        rustix::process::kill_process(pid, signal).expect("it is our child");
    }

    /// Asks it to end with `signal`, and tells what came of it.
    pub(crate) fn end(mut self, signal: Signal) -> Output {
        self.signal(signal);
        let mut child = self.0.take().expect("not ended");
        // The end of its input must not be what ends it.
        let _input = child.stdin.take();
        child.wait_with_output().expect("it is our child")
    }
}

impl SpawnedProgram {
    /// Waits until it ends by itself.
    pub(crate) fn ended(mut self) -> Output {
        let child = self.0.take().expect("not ended");
        child.wait_with_output().expect("it is our child")
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

/// Waits until `found` gives something.
pub(crate) fn eventually<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(Instant::now() < end, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The daemon, which `cargo build --workspace --bins` puts next to the program.
pub(crate) fn daemon() -> PathBuf {
    let path = Path::new(PROGRAM).with_file_name("diligence-bus");
    assert!(path.is_file(), "{} is missing; build it with `cargo build`", path.display());
    path
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_diligence");
