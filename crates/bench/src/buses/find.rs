//! Finds the programs of buses.

use std::env;
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use daemon_command::locate::{self, DaemonMissing};
use sys::credentials;

use super::BusKind;
use super::directory::BusFiles;
use super::journal::{self, JournalReader};
use super::launch::{BusCommand, Launch};
use crate::body_validation::BenchBodyValidation;
use crate::result::{Absence, SubjectInfo};

/// Places that are searched for the programs of buses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramPaths {
    /// The program of this project's bus.
    daemon: Result<PathBuf, DaemonMissing>,
    /// The folders that are searched for other programs.
    folders: Vec<PathBuf>,
}

impl ProgramPaths {
    /// Returns the default places. For this project's bus, that is the daemon that belongs to this
    /// program. For the others, they are the folder to which `scripts/bench-peers` installs (if
    /// this program is in the folder of a build), then `PATH`, then `~/.cargo/bin`.
    ///
    /// # Errors
    ///
    /// Fails if the system does not provide the path of this program.
    pub fn of_this_process() -> io::Result<Self> {
        let mut folders = peers_of(&env::current_exe()?);
        if let Some(path) = env::var_os("PATH") {
            folders.extend(env::split_paths(&path).filter(|folder| folder.is_absolute()));
        }
        folders.extend(env::home_dir().map(|home| home.join(".cargo/bin")));
        Ok(Self { daemon: locate::daemon(), folders })
    }

    /// Replaces the program of this project's bus.
    #[must_use]
    pub fn with_daemon(self, program: PathBuf) -> Self {
        Self { daemon: Ok(program), ..self }
    }

    /// Adds a folder before all other folders.
    #[must_use]
    pub fn with_folder(mut self, folder: PathBuf) -> Self {
        self.folders.insert(0, folder);
        self
    }

    fn program(&self, name: &str) -> Option<PathBuf> {
        self.folders.iter().map(|folder| folder.join(name)).find(|path| is_executable(path))
    }
}

/// A bus that can be started, or that runs already.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InstalledBus {
    pub(super) kind: BusKind,
    pub(super) launch: Launch,
    version: String,
}

impl BusKind {
    /// Searches for the programs of the bus, and asks them for their version. An address is not
    /// checked; [`InstalledBus::start`] fails if no bus listens there.
    ///
    /// # Errors
    ///
    /// Returns the first missing requirement.
    pub fn find(&self, places: &ProgramPaths) -> Result<InstalledBus, MissingBus> {
        let launch = self.find_launch(places)?;
        let version = match &launch {
            Launch::Program(start) => version_of(start),
            Launch::Runs(_) => String::new(),
        };
        Ok(InstalledBus { kind: self.clone(), launch, version })
    }

    fn find_launch(&self, places: &ProgramPaths) -> Result<Launch, MissingBus> {
        let find = |name, missing| places.program(name).ok_or(missing);
        Ok(Launch::Program(match self {
            Self::Diligence => {
                let program = places.daemon.clone().map_err(MissingBus::Diligence)?;
                BusCommand::Diligence { program }
            }
            Self::DbusDaemon => {
                BusCommand::DbusDaemon { program: find("dbus-daemon", MissingBus::DbusDaemon)? }
            }
            Self::DbusBroker => find_broker(places)?,
            Self::Busd => BusCommand::Busd { program: find("busd", MissingBus::Busd)? },
            Self::Address(addresses) => return Ok(Launch::Runs(addresses.clone())),
        }))
    }
}

impl InstalledBus {
    /// Returns which bus this is.
    #[must_use]
    pub fn kind(&self) -> &BusKind {
        &self.kind
    }

    /// The version that the program reports: `1.14.10`. Empty if it reports none, or if the bus
    /// runs already.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns the facts about the bus for the record. In the command, `DIRECTORY` stands for a
    /// directory that is created for every start.
    #[must_use]
    pub fn info(&self) -> SubjectInfo {
        let command = match &self.launch {
            Launch::Program(start) => {
                start.words(&BusFiles::new_in("DIRECTORY"), BenchBodyValidation::default())
            }
            Launch::Runs(_) => Vec::new(),
        };
        SubjectInfo {
            name: self.kind.to_string(),
            version: self.version.clone(),
            command: command.into_iter().map(lossy).collect(),
        }
    }
}

/// A requirement of a bus that is missing.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MissingBus {
    /// The program `diligence-bus` is missing.
    #[error(transparent)]
    Diligence(DaemonMissing),
    /// The program `dbus-daemon` is missing.
    #[error("dbus-daemon is not installed; get it with: apt install dbus-daemon")]
    DbusDaemon,
    /// The program `dbus-broker-launch` is missing.
    #[error("dbus-broker is not installed; get it with: apt install dbus-broker")]
    DbusBroker,
    /// The program that passes a socket to the launcher of dbus-broker.
    #[error(
        "systemd-socket-activate, which starts dbus-broker, is not installed; get it with: \
         apt install systemd"
    )]
    SocketActivation,
    /// A process that reads the messages that dbus-broker writes to the journal.
    #[error(
        "dbus-broker needs a process that reads {}, like systemd's journal; run this where \
         systemd runs, or as root",
        journal::SOCKET
    )]
    Journal,
    /// The program `busd` is missing.
    #[error(
        "busd is not installed; get it with: cargo install busd --version {BUSD_VERSION} --locked"
    )]
    Busd,
}

impl MissingBus {
    /// Converts the missing requirement to a record of the results.
    #[must_use]
    pub fn absence(&self) -> Absence {
        Absence { subject: self.kind().to_string(), remedy: self.to_string() }
    }

    fn kind(&self) -> BusKind {
        match self {
            Self::Diligence(_) => BusKind::Diligence,
            Self::DbusDaemon => BusKind::DbusDaemon,
            Self::DbusBroker | Self::SocketActivation | Self::Journal => BusKind::DbusBroker,
            Self::Busd => BusKind::Busd,
        }
    }
}

fn find_broker(places: &ProgramPaths) -> Result<BusCommand, MissingBus> {
    let launcher = places.program("dbus-broker-launch").ok_or(MissingBus::DbusBroker)?;
    let activator =
        places.program("systemd-socket-activate").ok_or(MissingBus::SocketActivation)?;
    if JournalReader::is_read() || is_root() {
        Ok(BusCommand::DbusBroker { activator, launcher })
    } else {
        Err(MissingBus::Journal)
    }
}

/// The folder to which `scripts/bench-peers` installs, if `own` is `target/release/diligence`.
fn peers_of(own: &Path) -> Vec<PathBuf> {
    own.ancestors().nth(2).map(|target| target.join("peers/bin")).into_iter().collect()
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

fn is_root() -> bool {
    credentials::own_credentials().is_ok_and(|own| own.uid == 0)
}

/// Returns the version that the program prints: the last word of the first line.
fn version_of(start: &BusCommand) -> String {
    let output = Command::new(start.versioned()).arg("--version").stdin(Stdio::null()).output();
    output.map_or_else(|_| String::new(), |output| version_in(&output.stdout))
}

fn version_in(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let line = text.lines().next().unwrap_or_default();
    line.split_whitespace().next_back().unwrap_or_default().to_owned()
}

fn lossy(word: OsString) -> String {
    word.to_string_lossy().into_owned()
}

/// The version that `scripts/bench-peers` installs, too.
const BUSD_VERSION: &str = "0.6.1";

#[cfg(test)]
mod tests {
    use super::super::directory::private_directory;
    use super::*;

    fn nowhere() -> ProgramPaths {
        let daemon = locate::daemon_in(Some("/nowhere".into()), None);
        ProgramPaths { daemon, folders: vec!["/nowhere".into()] }
    }

    #[test]
    fn missing_buses_are_reported_with_installation_hints() {
        let check = |kind: BusKind, expected: &str| {
            let absence = kind.find(&nowhere()).unwrap_err().absence();
            assert_eq!(absence.subject, kind.to_string());
            assert!(absence.remedy.contains(expected), "{absence:?}");
        };
        check(BusKind::Diligence, "diligence-bus is missing: it is neither in /nowhere, next");
        check(BusKind::DbusDaemon, "apt install dbus-daemon");
        check(BusKind::DbusBroker, "apt install dbus-broker");
        check(BusKind::Busd, "cargo install busd --version 0.6.1 --locked");
        let missing =
            [MissingBus::SocketActivation, MissingBus::Journal].map(|missing| missing.absence());
        assert!(missing.iter().all(|absence| absence.subject == "dbus-broker"));
        assert!(missing[0].remedy.contains("apt install systemd"));
        assert!(missing[1].remedy.contains("or as root"));
    }

    #[test]
    fn installed_programs_are_found_with_their_version() {
        let directory = private_directory().unwrap();
        let folder = directory.path().join("log");
        std::fs::create_dir(&folder).unwrap();
        let program = folder.join("busd");
        std::fs::copy("/bin/true", &program).unwrap();
        let places = nowhere().with_folder(folder).with_daemon(program.clone());
        let found = BusKind::Busd.find(&places).unwrap();
        let info = found.info();
        assert_eq!(info.name, "busd");
        assert_eq!(info.version, found.version());
        assert_eq!(info.command, [program.to_str().unwrap(), "--config=DIRECTORY/bus.conf"]);
        let own = BusKind::Diligence.find(&places).unwrap();
        assert_eq!(own.version(), found.version());
    }

    #[test]
    fn bus_addresses_require_no_programs() {
        let kind: BusKind = "unix:path=/nowhere/bus".parse().unwrap();
        let info = kind.find(&nowhere()).unwrap().info();
        assert_eq!((info.version.as_str(), info.command.len()), ("", 0));
        assert_eq!(info.name, "unix:path=/nowhere/bus");
    }

    #[test]
    fn versions_are_read() {
        let check = |output: &str, expected| assert_eq!(version_in(output.as_bytes()), expected);
        check("D-Bus Message Bus Daemon 1.14.10\nCopyright\n", "1.14.10");
        check("dbus-broker-launch 33\n", "33");
        check("busd 0.6.1", "0.6.1");
        check("\nbusd", "");
        check("", "");
    }

    #[test]
    fn peer_programs_are_searched_next_to_this_program() {
        let check = |own: &str, expected: &[&str]| {
            let expected: Vec<_> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(peers_of(Path::new(own)), expected);
        };
        check("/src/target/release/diligence", &["/src/target/peers/bin"]);
        check("/usr/bin/diligence", &["/usr/peers/bin"]);
        check("/diligence", &[]);
    }
}
