//! The bus under test: finding, starting and stopping it.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::process::{Pid, Signal};

use crate::peer::{PeerStream, ReceivedDescriptors, TestPeer};
use crate::program::{ExternalProgram, FinishedProgram, RunAs, StartedProgram, eventually};
use crate::scratch::ScratchFolder;

/// The program under test. A test checks this only where the two programs differ on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// dbus-daemon, the reference implementation.
    Reference,
    /// The bus of this project.
    Diligence,
}

impl Flavour {
    /// The program under test, by the first line of `--version`.
    ///
    /// # Panics
    ///
    /// If the program does not exist.
    #[must_use]
    pub fn under_test() -> Self {
        static FLAVOUR: OnceLock<Flavour> = OnceLock::new();
        *FLAVOUR.get_or_init(|| {
            let version = bus_program().arg("--version").run().success().stdout;
            let reference = version.starts_with("D-Bus Message Bus Daemon 1.");
            if reference { Self::Reference } else { Self::Diligence }
        })
    }
}

/// The path of the program under test: `DILIGENCE_BUS`, or `diligence-bus` in the folder of this
/// build.
///
/// # Panics
///
/// If the file does not exist.
#[must_use]
pub fn bus_binary() -> PathBuf {
    let chosen = std::env::var_os("DILIGENCE_BUS").map(PathBuf::from);
    let path = chosen.unwrap_or_else(|| built_program("diligence-bus"));
    assert!(
        path.is_file(),
        "there is no bus to test: {} does not exist. Build it with `cargo build`, or set \
         DILIGENCE_BUS to a program that takes the options of dbus-daemon",
        path.display()
    );
    path
}

/// The path of `diligence`, the program with the instruments, in the folder of this build.
///
/// # Panics
///
/// If the file does not exist.
#[must_use]
pub fn instruments_binary() -> PathBuf {
    let path = built_program("diligence");
    assert!(path.is_file(), "{} does not exist; `cargo build` builds it", path.display());
    path
}

/// The path of a built program: the tests are in target/PROFILE/deps, the programs one folder up.
fn built_program(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own path");
    let folder = test.parent().and_then(Path::parent).expect("a test is two folders deep");
    folder.join(name)
}

/// A link named `dbus-daemon` to the program under test, in a folder of the test.
///
/// # Panics
///
/// If the link cannot be created.
#[must_use]
pub fn link_bus(scratch: &ScratchFolder) -> PathBuf {
    let link = scratch.join("dbus-daemon");
    symlink(bus_binary(), &link).expect("a scratch folder is writable");
    link
}

/// A copy of the program under test, named `dbus-daemon`, in a folder of the test: another user may
/// not be able to access the folder of the build.
///
/// # Panics
///
/// If the copy cannot be created.
#[must_use]
pub fn copy_bus(scratch: &ScratchFolder) -> PathBuf {
    let copy = scratch.join("dbus-daemon");
    copy_program(bus_binary(), &copy);
    copy
}

/// Copies an executable file.
///
/// A child process copies it: programs that other threads start meanwhile would inherit the open
/// file, and a file that is open for writing cannot be executed.
pub fn copy_program(from: impl AsRef<OsStr>, to: &Path) {
    let _ = ExternalProgram::named("cp", "coreutils").arg(from).arg(to).run().success();
}

/// The program under test like [`bus_program`], but for another user.
#[must_use]
pub fn bus_program_as(user: RunAs) -> ExternalProgram {
    ExternalProgram::linked(copy_bus).user(user)
}

/// The program under test, under the name `dbus-daemon`, without arguments.
#[must_use]
pub fn bus_program() -> ExternalProgram {
    ExternalProgram::linked(link_bus)
}

/// Builds a configuration file. The default is a session bus that allows everything, like the stock
/// configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestConfig {
    listen: Option<String>,
    elements: String,
    policies: String,
}

impl TestConfig {
    /// The policy of a session bus: everything is allowed for its own user.
    #[must_use]
    pub fn session() -> Self {
        Self::closed().policy(
            "context='default'",
            "<allow send_destination='*' eavesdrop='true'/><allow eavesdrop='true'/>\
             <allow own='*'/>",
        )
    }

    /// A configuration without a policy, which allows nothing.
    #[must_use]
    pub fn closed() -> Self {
        Self { listen: None, elements: String::new(), policies: String::new() }
    }

    /// Listens at this address instead of a socket in the scratch folder.
    #[must_use]
    pub fn listen(mut self, address: &str) -> Self {
        self.listen = Some(address.to_owned());
        self
    }

    /// Sets a limit of the bus.
    #[must_use]
    pub fn limit(self, name: &str, value: u64) -> Self {
        self.element(&format!("<limit name='{name}'>{value}</limit>"))
    }

    /// Adds an element at the top level.
    #[must_use]
    pub fn element(mut self, xml: &str) -> Self {
        self.elements.push_str(xml);
        self
    }

    /// Adds a policy: the attributes of the element, and its rules.
    #[must_use]
    pub fn policy(mut self, attributes: &str, rules: &str) -> Self {
        // Writing to a string cannot fail.
        let _ = write!(self.policies, "<policy {attributes}>{rules}</policy>");
        self
    }

    /// The text of the file, with a socket in `folder`.
    #[must_use]
    pub fn text(&self, folder: &Path) -> String {
        let own = || format!("unix:path={}/bus", folder.display());
        let listen = self.listen.clone().unwrap_or_else(own);
        format!(
            "<!DOCTYPE busconfig PUBLIC \"-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN\"\n \
             \"http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd\">\n<busconfig>\
             <type>session</type><listen>{listen}</listen>{}{}</busconfig>\n",
            self.elements, self.policies
        )
    }
}

/// A running bus, with a separate folder for its configuration and its socket.
///
/// The process is killed on drop; a test that succeeds calls [`BusUnderTest::stop`] to check its
/// regular end.
#[derive(Debug)]
pub struct BusUnderTest {
    _replacing: Option<ReplacementLoop>,
    // The fields are dropped in this order: the process before its folder.
    running: StartedProgram,
    address: String,
    scratch: ScratchFolder,
}

impl BusUnderTest {
    /// Starts a bus with [`TestConfig::session`].
    ///
    /// # Panics
    ///
    /// If the bus does not start.
    #[must_use]
    pub fn session() -> Self {
        Self::start(&TestConfig::session())
    }

    /// Starts a bus with this configuration.
    ///
    /// # Panics
    ///
    /// If the bus does not start.
    #[must_use]
    pub fn start(config: &TestConfig) -> Self {
        Self::start_with(config, |program| program)
    }

    /// Starts a bus with this configuration as this user.
    ///
    /// # Panics
    ///
    /// If the bus does not start, or the tests do not run as root.
    #[must_use]
    pub fn start_as(user: RunAs, config: &TestConfig) -> Self {
        Self::start_with(config, |_| bus_program_as(user))
    }

    /// Starts a bus with this configuration after `change` has modified the command.
    ///
    /// # Panics
    ///
    /// If the bus does not start.
    #[must_use]
    pub fn start_with(
        config: &TestConfig,
        change: impl FnOnce(ExternalProgram) -> ExternalProgram,
    ) -> Self {
        let scratch = ScratchFolder::new();
        // The bus may run as another user, or change to one.
        crate::scratch::set_mode(scratch.path(), 0o777);
        let file = scratch.file("bus.conf", &config.text(scratch.path()));
        let program = change(bus_program()).arg("--config-file").arg(file).arg("--nofork");
        let program = program.arg("--print-address=1");
        let mut running = program.limit(LIFE_LIMIT).start();
        let address = running.wait_for("address", |stdout, _| first_line(stdout));
        // The bus prints its address before it enters its main loop; a signal in between would kill
        // it.
        PeerStream::knock(&address);
        let replacing = ReplacementLoop::of_environment(running.id());
        Self { _replacing: replacing, running, address, scratch }
    }

    /// The address that the bus printed.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The running process of the bus.
    #[must_use]
    pub fn process(&mut self) -> &mut StartedProgram {
        &mut self.running
    }

    /// The folder of the bus; `bus.conf` in it is its configuration.
    #[must_use]
    pub fn scratch(&self) -> &ScratchFolder {
        &self.scratch
    }

    /// Connects a raw client with support for descriptors.
    #[must_use]
    pub fn peer(&self) -> TestPeer {
        TestPeer::connect(&self.address)
    }

    /// Connects a raw client without support for descriptors.
    #[must_use]
    pub fn peer_without_descriptors(&self) -> TestPeer {
        TestPeer::connect_with(&self.address, ReceivedDescriptors::Unwanted)
    }

    /// Ends the bus with SIGTERM.
    ///
    /// # Panics
    ///
    /// If it does not end with exit status 0, or leaves its socket behind.
    pub fn stop(self) -> FinishedProgram {
        let Self { _replacing: replacing, running, address, scratch } = self;
        drop(replacing);
        let ran = running.terminate().success();
        let left = socket_path(&address).filter(|path| path.exists());
        assert_eq!(left, None, "the bus ended and left its socket behind");
        drop(scratch);
        ran
    }
}

/// A process that replaces a bus again and again, if the environment variable
/// `DILIGENCE_REPLACE_EVERY` has an interval in seconds. So all tests can check that nobody notices.
#[derive(Debug)]
struct ReplacementLoop {
    _process: StartedProgram,
}

impl ReplacementLoop {
    fn of_environment(bus: u32) -> Option<Self> {
        let interval = std::env::var("DILIGENCE_REPLACE_EVERY").ok()?;
        // The signal would kill the reference bus.
        let program = std::fs::read_link(format!("/proc/{bus}/exe")).ok()?;
        if program == Path::new("/usr/bin/dbus-daemon") {
            return None;
        }
        let script = "sleep $2; while kill -$1 $3 2>/dev/null; do sleep $2; done";
        let program = ExternalProgram::shell(script).limit(LIFE_LIMIT);
        let words = [REEXECUTE, &interval, &bus.to_string()];
        Some(Self { _process: program.args(words).start() })
    }
}

/// The number of the signal that replaces a bus, `SIGRTMIN+25` of the C library.
const REEXECUTE: &str = "59";

/// A bus in the background, known by the two lines that it printed; killed on drop.
#[derive(Debug)]
pub struct Daemon {
    address: String,
    pid: u32,
}

impl Daemon {
    /// Parses the address and the process id, one per line.
    ///
    /// # Panics
    ///
    /// If the text does not have exactly these two lines.
    #[must_use]
    pub fn from_output(stdout: &str) -> Self {
        let lines: Vec<_> = stdout.lines().collect();
        let [address, pid] = lines[..] else { panic!("two lines, not {stdout:?}") };
        Self { address: address.to_owned(), pid: pid.parse().expect("the second is the pid") }
    }

    /// The address that the bus printed.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The process id that the bus printed.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.pid
    }

    /// Ends the bus with SIGTERM, and waits until its socket is gone.
    ///
    /// # Panics
    ///
    /// If the socket remains.
    pub fn stop(self) {
        let socket = socket_path(&self.address).expect("a socket with a path");
        self.signal(Signal::TERM);
        eventually("the end of the bus", || (!socket.exists()).then_some(()));
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.pid.cast_signed()) {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // The process is killed only if it is still a bus: after a regular end, the id may belong
        // to another process.
        let name = std::fs::read_to_string(format!("/proc/{}/comm", self.pid));
        if name.is_ok_and(|name| name.trim() == "dbus-daemon") {
            self.signal(Signal::KILL);
        }
    }
}

/// The path of the socket in an address, if it is in the file system.
#[must_use]
pub fn socket_path(address: &str) -> Option<PathBuf> {
    let keys = address.strip_prefix("unix:")?;
    crate::peer::key(keys, "path").map(PathBuf::from)
}

/// The first line of a text, if it is complete.
#[must_use]
pub fn first_line(text: &str) -> Option<String> {
    text.split_once('\n').map(|(line, _)| line.to_owned())
}

/// The time limit for a bus, which serves one test.
const LIFE_LIMIT: std::time::Duration = std::time::Duration::from_secs(120);
