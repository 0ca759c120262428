//! The bus under test: found, started, stopped.

use std::fmt::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::process::{Pid, Signal};

use crate::peer::{PeerStream, ReceivedDescriptors, TestPeer};
use crate::program::{ExternalProgram, FinishedProgram, RunAs, StartedProgram, eventually};
use crate::scratch::ScratchFolder;

/// Which program is under test. Only where the two differ on purpose does a test ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// The reference implementation.
    Reference,
    /// Ours.
    Diligence,
}

impl Flavour {
    /// Which one is under test, by the first line of `--version`.
    ///
    /// # Panics
    ///
    /// When there is none.
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

/// The path of the program under test: `DILIGENCE_BUS`, or `diligence-bus` where this build puts it.
///
/// # Panics
///
/// Panics if the file does not exist.
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

/// The path of the program with the instruments, `diligence`, where this build puts it.
///
/// # Panics
///
/// Panics if the file does not exist.
#[must_use]
pub fn instruments_binary() -> PathBuf {
    let path = built_program("diligence");
    assert!(path.is_file(), "{} does not exist; `cargo build` builds it", path.display());
    path
}

/// Where this build puts a program: the tests are in target/PROFILE/deps, the programs one folder up.
fn built_program(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own path");
    let folder = test.parent().and_then(Path::parent).expect("a test is two folders deep");
    folder.join(name)
}

/// A link to the program under test by the name `dbus-daemon`, in a folder of the test's.
///
/// # Panics
///
/// When the link cannot be made.
#[must_use]
pub fn link_bus(scratch: &ScratchFolder) -> PathBuf {
    let link = scratch.join("dbus-daemon");
    symlink(bus_binary(), &link).expect("a scratch folder is writable");
    link
}

/// A copy of the program under test by the name `dbus-daemon`, in a folder of the test's: another
/// user may not be able to reach the place where it was built.
///
/// # Panics
///
/// When the copy cannot be made.
#[must_use]
pub fn copy_bus(scratch: &ScratchFolder) -> PathBuf {
    let copy = scratch.join("dbus-daemon");
    // Not by this process: programs that other threads start meanwhile would inherit the open file, and a
    // file that is open for writing cannot be executed.
    let _ = ExternalProgram::named("cp", "coreutils").arg(bus_binary()).arg(&copy).run().success();
    copy
}

/// The program under test as [`bus_program`] gives it, but to be run by another user.
#[must_use]
pub fn bus_program_as(user: RunAs) -> ExternalProgram {
    ExternalProgram::linked(copy_bus).user(user)
}

/// The program under test, run under the name `dbus-daemon`, with no argument yet.
#[must_use]
pub fn bus_program() -> ExternalProgram {
    ExternalProgram::linked(link_bus)
}

/// A configuration file in the making: a session bus that allows everything, as the stock one does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestConfig {
    listen: Option<String>,
    elements: String,
    policies: String,
}

impl TestConfig {
    /// What a session bus allows: everything, for its own user.
    #[must_use]
    pub fn session() -> Self {
        Self::closed().policy(
            "context='default'",
            "<allow send_destination='*' eavesdrop='true'/><allow eavesdrop='true'/>\
             <allow own='*'/>",
        )
    }

    /// No policy at all, which allows nothing to anybody.
    #[must_use]
    pub fn closed() -> Self {
        Self { listen: None, elements: String::new(), policies: String::new() }
    }

    /// Listens at this address in place of a socket in the scratch folder.
    #[must_use]
    pub fn listen(mut self, address: &str) -> Self {
        self.listen = Some(address.to_owned());
        self
    }

    /// Sets a limit.
    #[must_use]
    pub fn limit(self, name: &str, value: u64) -> Self {
        self.element(&format!("<limit name='{name}'>{value}</limit>"))
    }

    /// Adds an element.
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

    /// The file, with a socket in `folder`.
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

/// A bus that runs, with a folder of its own for its configuration and its socket.
///
/// Killed on drop; a test that ends well calls [`BusUnderTest::stop`] to see it end well too.
#[derive(Debug)]
pub struct BusUnderTest {
    // In this order: the process ends before its folder goes.
    running: StartedProgram,
    address: String,
    scratch: ScratchFolder,
}

impl BusUnderTest {
    /// Starts a bus with [`TestConfig::session`].
    ///
    /// # Panics
    ///
    /// When it does not start.
    #[must_use]
    pub fn session() -> Self {
        Self::start(&TestConfig::session())
    }

    /// Starts a bus with this configuration.
    ///
    /// # Panics
    ///
    /// When it does not start.
    #[must_use]
    pub fn start(config: &TestConfig) -> Self {
        Self::start_with(config, |program| program)
    }

    /// Starts a bus with this configuration as this user.
    ///
    /// # Panics
    ///
    /// When it does not start, or the tests do not run as root.
    #[must_use]
    pub fn start_as(user: RunAs, config: &TestConfig) -> Self {
        Self::start_with(config, |_| bus_program_as(user))
    }

    /// Starts a bus with this configuration and whatever `change` does to the program.
    ///
    /// # Panics
    ///
    /// When it does not start.
    #[must_use]
    pub fn start_with(
        config: &TestConfig,
        change: impl FnOnce(ExternalProgram) -> ExternalProgram,
    ) -> Self {
        let scratch = ScratchFolder::new();
        // For a bus that runs as another user, or changes to one.
        crate::scratch::set_mode(scratch.path(), 0o777);
        let file = scratch.file("bus.conf", &config.text(scratch.path()));
        let program = change(bus_program()).arg("--config-file").arg(file).arg("--nofork");
        let program = program.arg("--print-address=1");
        let mut running = program.limit(LIFE_LIMIT).start();
        let address = running.wait_for("address", |stdout, _| first_line(stdout));
        // The address comes before the main loop; a signal in between would end it badly.
        PeerStream::knock(&address);
        Self { running, address, scratch }
    }

    /// The address that it printed.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The process.
    #[must_use]
    pub fn process(&mut self) -> &mut StartedProgram {
        &mut self.running
    }

    /// The folder that it was started with; `bus.conf` in it is its configuration.
    #[must_use]
    pub fn scratch(&self) -> &ScratchFolder {
        &self.scratch
    }

    /// A raw client, which takes descriptors.
    #[must_use]
    pub fn peer(&self) -> TestPeer {
        TestPeer::connect(&self.address)
    }

    /// A raw client, which takes no descriptors.
    #[must_use]
    pub fn peer_without_descriptors(&self) -> TestPeer {
        TestPeer::connect_with(&self.address, ReceivedDescriptors::Unwanted)
    }

    /// Ends it with SIGTERM.
    ///
    /// # Panics
    ///
    /// When it does not end with exit status 0, or leaves its socket behind.
    pub fn stop(self) -> FinishedProgram {
        let Self { running, address, scratch } = self;
        let ran = running.terminate().success();
        let left = socket_path(&address).filter(|path| path.exists());
        assert_eq!(left, None, "the bus ended and left its socket behind");
        drop(scratch);
        ran
    }
}

/// A bus that went to the background, known by the two lines that it printed before; killed on drop.
#[derive(Debug)]
pub struct Daemon {
    address: String,
    pid: u32,
}

impl Daemon {
    /// Reads the address and the process id, a line each.
    ///
    /// # Panics
    ///
    /// When there are not exactly these two lines.
    #[must_use]
    pub fn from_output(stdout: &str) -> Self {
        let lines: Vec<_> = stdout.lines().collect();
        let [address, pid] = lines[..] else { panic!("two lines, not {stdout:?}") };
        Self { address: address.to_owned(), pid: pid.parse().expect("the second is the pid") }
    }

    /// The address.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.pid
    }

    /// Ends it with SIGTERM, and waits until its socket is gone.
    ///
    /// # Panics
    ///
    /// When the socket stays.
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
        // Only if the id is still that of a bus: after a good end it may be anybody's.
        let name = std::fs::read_to_string(format!("/proc/{}/comm", self.pid));
        if name.is_ok_and(|name| name.trim() == "dbus-daemon") {
            self.signal(Signal::KILL);
        }
    }
}

/// The path of the socket of an address, when it is one in the file system.
#[must_use]
pub fn socket_path(address: &str) -> Option<PathBuf> {
    let keys = address.strip_prefix("unix:")?;
    crate::peer::key(keys, "path").map(PathBuf::from)
}

/// The first line of a text, when it is complete.
#[must_use]
pub fn first_line(text: &str) -> Option<String> {
    text.split_once('\n').map(|(line, _)| line.to_owned())
}

/// A bus serves one test, and no test takes longer.
const LIFE_LIMIT: std::time::Duration = std::time::Duration::from_secs(120);
