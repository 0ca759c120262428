//! Starts the program, and observes its child processes.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// The path of the program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_diligence");

/// Deadline of each wait. It is long because other tests may keep the machine busy.
pub(crate) const WAIT_TIMEOUT: Duration = Duration::from_secs(20);

/// A temporary directory for the program's runtime files. It is removed on drop.
pub(crate) struct ProcessFolder(TempDir);

impl ProcessFolder {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().expect("the temporary folder is writable"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns a command for the program, with an empty standard input and piped outputs.
    pub(crate) fn diligence(&self, words: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(words).env("XDG_RUNTIME_DIR", self.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Returns the number of private bus directories in the folder.
    pub(crate) fn buses(&self) -> usize {
        let entries = fs::read_dir(self.path()).expect("a writable folder").flatten();
        entries
            .filter(|entry| entry.file_name().to_string_lossy().starts_with("diligence-"))
            .count()
    }
}

/// A child process that is killed on drop.
pub(crate) struct RunningProcess(pub(crate) Child);

impl RunningProcess {
    pub(crate) fn start(command: &mut Command) -> Self {
        Self(command.spawn().expect("the program can be started"))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Starts a thread that reads the lines of standard output.
    pub(crate) fn lines(&mut self) -> ProcessLines {
        ProcessLines::of(self.0.stdout.take().expect("a pipe that was not taken before"))
    }

    pub(crate) fn signal(&self, signal: Signal) {
        send(self.pid(), signal);
    }

    /// Waits until the process exits.
    pub(crate) fn status(&mut self) -> ExitStatus {
        let mut status = None;
        wait_until("the program ends", || {
            status = self.0.try_wait().expect("a child process");
            status.is_some()
        });
        status.expect("the process exited")
    }
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Lines that a thread reads from a stream.
pub(crate) struct ProcessLines(Receiver<String>);

impl ProcessLines {
    pub(crate) fn of(source: impl Read + Send + 'static) -> Self {
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let lines = BufReader::new(source).lines().map_while(Result::ok);
            lines.for_each(|line| drop(sender.send(line)));
        });
        Self(receiver)
    }

    /// Waits for a line for which `wanted` is true, and skips others.
    pub(crate) fn find(&self, what: &str, wanted: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + WAIT_TIMEOUT;
        let mut seen = Vec::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(line) = self.0.recv_timeout(left) else {
                panic!("no line with {what} among {seen:#?}")
            };
            if wanted(&line) {
                return line;
            }
            seen.push(line);
        }
    }
}

pub(crate) fn send(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(pid.cast_signed()).expect("the number of a process");
    kill_process(pid, signal).expect("a running process");
}

/// Returns the children of a process, with their command lines.
pub(crate) fn children_of(parent: u32) -> Vec<(u32, String)> {
    let processes = fs::read_dir("/proc").expect("proc(5) is mounted");
    let pids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter(|pid| parent_of(*pid) == Some(parent))
        .map(|pid| (pid, command_line(pid).unwrap_or_default()))
        .collect()
}

/// Returns true if a process exists and is not a zombie.
pub(crate) fn is_alive(pid: u32) -> bool {
    matches!(stat(pid), Some((state, _)) if state != "Z")
}

pub(crate) fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + WAIT_TIMEOUT;
    while !done() {
        assert!(Instant::now() < deadline, "waited too long until {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

fn parent_of(pid: u32) -> Option<u32> {
    stat(pid)?.1.parse().ok()
}

/// Returns the state and the parent from `/proc/PID/stat`: the fields after the parentheses.
fn stat(pid: u32) -> Option<(String, String)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = text.rsplit_once(')')?.1.split_whitespace().map(str::to_owned);
    Some((fields.next()?, fields.next()?))
}

fn command_line(pid: u32) -> Option<String> {
    Some(fs::read_to_string(format!("/proc/{pid}/cmdline")).ok()?.replace('\0', " "))
}
