//! Runs other programs: with a time limit, with captured output, as another user.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, File};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Gid, Pid, Signal, Uid, WaitId, WaitIdOptions};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};

use crate::scratch::ScratchFolder;

/// The default time limit of a program.
pub const USUAL_LIMIT: Duration = Duration::from_secs(20);

/// The interval between checks of a condition that has no event.
const POLL: Duration = Duration::from_millis(5);

/// The time between asking a process group to end and killing it.
const GRACE: Duration = Duration::from_secs(2);

/// A program to run.
///
/// Output goes to files, not to pipes: no thread has to read it, and a process that the program
/// leaves behind cannot block the test.
///
/// ```
/// use conformance::ExternalProgram;
///
/// let ran = ExternalProgram::named("echo", "coreutils").arg("hello").run();
/// assert!(ran.succeeded());
/// assert_eq!(ran.stdout, "hello\n");
/// ```
#[derive(Debug)]
pub struct ExternalProgram {
    command: Command,
    limit: Duration,
    output: ScratchFolder,
    shown: String,
}

impl ExternalProgram {
    /// A program at a path.
    #[must_use]
    pub fn at(path: impl AsRef<Path>) -> Self {
        Self::new(path.as_ref(), ScratchFolder::new())
    }

    /// A program at a path that `link` creates in the folder of the program.
    #[must_use]
    pub fn linked(link: impl FnOnce(&ScratchFolder) -> PathBuf) -> Self {
        let output = ScratchFolder::new();
        Self::new(&link(&output), output)
    }

    fn new(path: &Path, output: ScratchFolder) -> Self {
        // `env` resets signals that the caller of the tests ignores, as nohup(1) does, so that
        // signals end the program. It also ends the program if the test run is interrupted. All
        // three programs have the same process.
        let mut command = Command::new(installed("env", "coreutils"));
        command.arg("--default-signal=HUP,INT,QUIT").arg(installed("setpriv", "util-linux"));
        command.args(["--pdeathsig", "TERM"]).arg(path);
        for name in FOREIGN_VARIABLES {
            command.env_remove(name);
        }
        command.stdin(Stdio::null()).process_group(0);
        let shown = path.display().to_string();
        Self { command, limit: USUAL_LIMIT, output, shown }
    }

    /// A program of the system, found where Debian installs programs.
    ///
    /// # Panics
    ///
    /// If the program is missing; the message names the Debian package that contains it.
    #[must_use]
    pub fn named(name: &str, package: &str) -> Self {
        Self::at(installed(name, package))
    }

    /// A shell script; `"$@"` are the arguments that are added later.
    #[must_use]
    pub fn shell(script: &str) -> Self {
        Self::named("sh", "dash").arg("-c").arg(script).arg("sh")
    }

    /// A Python script; `sys.argv[1:]` are the arguments that are added later. It runs in Debian's
    /// Python, which has `dbus` and `gi`.
    #[must_use]
    pub fn python(script: &str) -> Self {
        require("/usr/lib/python3/dist-packages/dbus", "python3-dbus");
        require("/usr/lib/python3/dist-packages/gi", "python3-gi");
        Self::at(require("/usr/bin/python3", "python3")).arg("-c").arg(script)
    }

    /// Adds an argument to the command line.
    #[must_use]
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.shown.push(' ');
        self.shown.push_str(&argument.as_ref().to_string_lossy());
        self.command.arg(argument);
        self
    }

    /// Adds arguments to the command line.
    #[must_use]
    pub fn args<I: IntoIterator<Item: AsRef<OsStr>>>(self, arguments: I) -> Self {
        arguments.into_iter().fold(self, Self::arg)
    }

    /// Sets a variable of its environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.command.env(name, value.into());
        self
    }

    /// Sets the standard input of the program.
    #[must_use]
    pub fn stdin(mut self, input: impl Into<Stdio>) -> Self {
        self.command.stdin(input);
        self
    }

    /// Sets the working folder of the program.
    #[must_use]
    pub fn folder(mut self, path: &Path) -> Self {
        self.command.current_dir(path);
        self
    }

    /// Sets the time limit of the program.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Runs the program as this user. Only root may do this, see [`RunAs::is_root`].
    #[must_use]
    pub fn user(mut self, user: RunAs) -> Self {
        // If the user is set, the standard library also drops the supplementary groups.
        self.command.uid(user.uid).gid(user.gid);
        self
    }

    /// Starts the program and returns immediately.
    ///
    /// # Panics
    ///
    /// If it cannot be started.
    #[must_use]
    pub fn start(mut self) -> StartedProgram {
        let stdout = File::create(self.output.join("stdout")).expect("scratch is writable");
        let stderr = File::create(self.output.join("stderr")).expect("scratch is writable");
        self.command.stdout(stdout).stderr(stderr);
        let child = self.command.spawn();
        let child = child.unwrap_or_else(|error| panic!("cannot start {}: {error}", self.shown));
        StartedProgram {
            child,
            ends: Instant::now() + self.limit,
            output: self.output,
            shown: self.shown,
        }
    }

    /// Runs the program until it ends.
    ///
    /// # Panics
    ///
    /// If it cannot be started, or exceeds its time limit.
    #[must_use]
    pub fn run(self) -> FinishedProgram {
        self.start().finish()
    }
}

/// A running program; killed with its process group on drop.
#[derive(Debug)]
pub struct StartedProgram {
    child: Child,
    ends: Instant,
    output: ScratchFolder,
    shown: String,
}

impl StartedProgram {
    /// The process id of the program.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The standard output of the program so far.
    #[must_use]
    pub fn stdout(&self) -> String {
        read_lossy(&self.output.join("stdout"))
    }

    /// The standard error of the program so far.
    #[must_use]
    pub fn stderr(&self) -> String {
        read_lossy(&self.output.join("stderr"))
    }

    /// The bytes on standard output so far.
    #[must_use]
    pub fn stdout_bytes(&self) -> Vec<u8> {
        fs::read(self.output.join("stdout")).unwrap_or_default()
    }

    /// The process id of the program.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal to the program.
    pub fn signal(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.child.id().cast_signed()) {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }

    /// Its exit status, if it has ended.
    ///
    /// # Panics
    ///
    /// Never: the process is a child of this one.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("the process is our child")
    }

    /// Waits until `wanted` returns a value for the output so far: standard output, then standard
    /// error.
    ///
    /// # Panics
    ///
    /// If the program ends or exceeds its time limit before; the message contains its output.
    pub fn wait_for<T>(&mut self, what: &str, wanted: impl Fn(&str, &str) -> Option<T>) -> T {
        loop {
            let ended = self.ended();
            if let Some(found) = wanted(&self.stdout(), &self.stderr()) {
                return found;
            }
            if ended.is_some() || Instant::now() > self.ends {
                panic!("{}: no {what}\n{}", self.shown, self.describe(ended));
            }
            std::thread::sleep(POLL);
        }
    }

    /// Waits until standard output contains this text.
    ///
    /// # Panics
    ///
    /// Like [`StartedProgram::wait_for`].
    pub fn wait_for_stdout(&mut self, text: &str) {
        self.wait_for(text, |stdout, _| stdout.contains(text).then_some(()));
    }

    /// Waits until the program ends.
    ///
    /// # Panics
    ///
    /// If it exceeds its time limit. It is killed then.
    #[must_use]
    pub fn finish(mut self) -> FinishedProgram {
        loop {
            if let Some(status) = self.ended() {
                return FinishedProgram {
                    status,
                    stdout: self.stdout(),
                    stderr: self.stderr(),
                    shown: std::mem::take(&mut self.shown),
                };
            }
            if Instant::now() > self.ends {
                panic!("{}: still running at its limit\n{}", self.shown, self.describe(None));
            }
            std::thread::sleep(POLL);
        }
    }

    /// Waits until the program ends or exceeds its limit, then ends the remaining processes of its
    /// process group. `None` if it was still running at its limit.
    #[must_use]
    pub fn finish_with_group(self) -> Option<FinishedProgram> {
        while !self.has_ended_unseen() && Instant::now() < self.ends {
            std::thread::sleep(POLL);
        }
        let in_time = self.has_ended_unseen();
        self.end_group();
        in_time.then(|| self.finish())
    }

    /// Asks the program to end (SIGTERM), and waits for its end.
    ///
    /// # Panics
    ///
    /// If it does not end within the default time limit. It is killed then.
    #[must_use]
    pub fn terminate(self) -> FinishedProgram {
        self.end_by(Signal::TERM)
    }

    /// Interrupts the program (SIGINT), and waits for its end.
    ///
    /// # Panics
    ///
    /// If it does not end within the default time limit. It is killed then.
    #[must_use]
    pub fn interrupt(self) -> FinishedProgram {
        self.end_by(Signal::INT)
    }

    fn end_by(mut self, signal: Signal) -> FinishedProgram {
        self.signal(signal);
        // The program may already have used all of its time.
        self.ends = self.ends.max(Instant::now() + USUAL_LIMIT);
        self.finish()
    }

    /// Returns true if the program has ended. Its id stays reserved, so its process group cannot
    /// belong to other processes.
    fn has_ended_unseen(&self) -> bool {
        let pid = Pid::from_raw(self.child.id().cast_signed()).expect("a child has an id");
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(rustix::process::waitid(WaitId::Pid(pid), look), Ok(None))
    }

    fn end_group(&self) {
        let id = self.child.id();
        let group = Pid::from_raw(id.cast_signed()).expect("a child has an id");
        let _ = rustix::process::kill_process_group(group, Signal::TERM);
        // A bus needs a moment to remove its socket.
        let ends = Instant::now() + GRACE;
        while group_lives(id) && Instant::now() < ends {
            std::thread::sleep(POLL);
        }
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
    }

    fn describe(&self, status: Option<ExitStatus>) -> String {
        let status = status.map_or_else(|| "still runs".to_owned(), |status| status.to_string());
        format!("{status}\nstdout: {}\nstderr: {}", self.stdout(), self.stderr())
    }
}

impl Drop for StartedProgram {
    fn drop(&mut self) {
        let group = Pid::from_raw(self.child.id().cast_signed());
        if let (Ok(None), Some(group)) = (self.child.try_wait(), group) {
            // The group was created for this program, so it contains only its descendants.
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

/// The result of a program that has ended.
#[derive(Debug)]
pub struct FinishedProgram {
    /// The exit status or signal.
    pub status: ExitStatus,
    /// The complete standard output.
    pub stdout: String,
    /// The complete standard error.
    pub stderr: String,
    shown: String,
}

impl FinishedProgram {
    /// Returns true if the exit status is 0.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.status.success()
    }

    /// The exit status; 128 plus the signal number if a signal ended it, as in a shell.
    ///
    /// # Panics
    ///
    /// Never: a process ends in one of these two ways.
    #[must_use]
    pub fn code(&self) -> i32 {
        let signal = || 128 + self.status.signal().expect("no exit status, so a signal");
        self.status.code().unwrap_or_else(signal)
    }

    /// Returns the output of a program that must succeed.
    ///
    /// # Panics
    ///
    /// If the program failed.
    #[must_use]
    pub fn success(self) -> Self {
        assert!(self.succeeded(), "{self}");
        self
    }
}

impl fmt::Display for FinishedProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.shown, self.status)?;
        write!(f, "stdout: {}\nstderr: {}", self.stdout, self.stderr)
    }
}

/// A user of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunAs {
    /// The numeric user id.
    pub uid: u32,
    /// The primary group id of the user.
    pub gid: u32,
}

impl RunAs {
    /// Debian's user `nobody`, which is neither root nor the owner of a bus here.
    pub const NOBODY: Self = Self { uid: 65534, gid: 65534 };

    /// Runs `body` as this user. Its connections have the credentials of this user. Only root may
    /// do this; the other threads of the tests stay root.
    ///
    /// # Panics
    ///
    /// If the kernel refuses, or `body` panics.
    pub fn act<T: Send>(self, body: impl FnOnce() -> T + Send) -> T {
        self.act_in(&[], body)
    }

    /// Runs `body` as this user, with these supplementary groups.
    ///
    /// # Panics
    ///
    /// If the kernel refuses, or `body` panics.
    pub fn act_in<T: Send>(self, groups: &[u32], body: impl FnOnce() -> T + Send) -> T {
        let groups: Vec<Gid> = groups.iter().map(|&gid| Gid::from_raw(gid)).collect();
        let (uid, gid) = (Uid::from_raw(self.uid), Gid::from_raw(self.gid));
        // The kernel keeps credentials per thread, and this thread ends here.
        std::thread::scope(|scope| {
            let act = scope.spawn(move || {
                set_thread_groups(&groups).expect("only root acts as others");
                set_thread_res_gid(gid, gid, gid).expect("only root acts as others");
                set_thread_res_uid(None, uid, None).expect("only root acts as others");
                body()
            });
            act.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// The user id of the tests.
    #[must_use]
    pub fn own_uid() -> u32 {
        rustix::process::geteuid().as_raw()
    }

    /// Returns true if these tests run as root, so that they can act as other users.
    #[must_use]
    pub fn is_root() -> bool {
        rustix::process::geteuid().is_root()
    }
}

/// Waits until `found` returns a value, for the default time limit.
///
/// # Panics
///
/// If it returns no value in that time.
pub fn eventually<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let ends = Instant::now() + USUAL_LIMIT;
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(Instant::now() < ends, "waited {USUAL_LIMIT:?} in vain for {what}");
        std::thread::sleep(POLL);
    }
}

/// The path of an installed program.
///
/// # Panics
///
/// If the program is missing; the message names the Debian package that contains it.
#[must_use]
pub fn installed(name: &str, package: &str) -> PathBuf {
    let candidates = PROGRAM_FOLDERS.iter().map(|folder| Path::new(folder).join(name));
    let found = candidates.into_iter().find(|path| path.exists());
    found.unwrap_or_else(|| panic!("{name} is missing: install the Debian package {package}"))
}

/// Checks that a path exists.
///
/// # Panics
///
/// If it is missing; the message names the Debian package that contains it.
pub fn require<'a>(path: &'a str, package: &str) -> &'a Path {
    let path = Path::new(path);
    let shown = path.display();
    assert!(path.exists(), "{shown} is missing: install the Debian package {package}");
    path
}

/// Returns true if a process of the group runs; zombies do not count.
fn group_lives(group: u32) -> bool {
    let Ok(entries) = fs::read_dir("/proc") else { return false };
    let stats =
        entries.filter_map(|entry| fs::read_to_string(entry.ok()?.path().join("stat")).ok());
    let mut of_group = stats.filter_map(|stat| {
        // The fields after the name in parentheses: state, parent, group.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let (state, _, found) = (fields.next()?, fields.next()?, fields.next()?);
        (found.parse() == Ok(group)).then(|| state.to_owned())
    });
    of_group.any(|state| state != "Z")
}

fn read_lossy(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}

const PROGRAM_FOLDERS: [&str; 4] = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];

/// Variables that would lead a program to a bus, a service manager or a configuration outside of
/// the test.
const FOREIGN_VARIABLES: [&str; 14] = [
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_SESSION_BUS_PID",
    "DBUS_STARTER_ADDRESS",
    "DBUS_STARTER_BUS_TYPE",
    "DBUS_SYSTEM_BUS_ADDRESS",
    "DBUS_TEST_DAEMON_ADDRESS",
    "DBUS_VERBOSE",
    "DISPLAY",
    "LISTEN_FDNAMES",
    "LISTEN_FDS",
    "LISTEN_PID",
    "NOTIFY_SOCKET",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
];
