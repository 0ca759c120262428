//! Starting the two proxies that are compared.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use conformance::{
    ExternalProgram, ScratchFolder, StartedProgram, bus_binary, eventually, installed,
};

/// The program of a proxy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ProxyProgram {
    /// The program under test, between the programs and the bus.
    Ours,
    /// The program under test, which lets the bus do its work.
    InBus,
    /// The original xdg-dbus-proxy, as installed.
    Original,
}

impl ProxyProgram {
    /// The program without arguments.
    pub(crate) fn program(self) -> ExternalProgram {
        match self {
            Self::Ours | Self::InBus => ExternalProgram::linked(link_proxy),
            Self::Original => ExternalProgram::at(original()),
        }
    }

    /// Starts a proxy for the bus at an address.
    pub(crate) fn start(self, bus: &str, options: &[&str]) -> RunningProxy {
        let scratch = ScratchFolder::new();
        let path = scratch.join("proxy");
        let program = self.program().arg(bus).arg(&path).args(options).limit(LIFE_LIMIT);
        // A proxy that prints messages does not let the bus do its work.
        let program = match self {
            Self::Ours => program.arg("--log"),
            Self::InBus | Self::Original => program,
        };
        let process = program.start();
        eventually("a proxy that listens", || UnixStream::connect(&path).ok());
        RunningProxy {
            process,
            address: format!("unix:path={}", path.display()),
            _scratch: scratch,
        }
    }
}

/// A link to the program under test, whose name makes it a proxy.
pub(crate) fn link_proxy(scratch: &ScratchFolder) -> PathBuf {
    let link = scratch.join("xdg-dbus-proxy");
    symlink(bus_binary(), &link).expect("a scratch folder is writable");
    link
}

/// The path of the original.
pub(crate) fn original() -> PathBuf {
    let chosen = std::env::var_os("DILIGENCE_ORIGINAL_PROXY").map(PathBuf::from);
    chosen.unwrap_or_else(|| installed("xdg-dbus-proxy", "xdg-dbus-proxy"))
}

/// Returns true if the original is older than 0.1.6. Then its patterns of call and broadcast rules
/// also select the broadcast signals that pass, and it confuses serials after a second Hello.
pub(crate) fn original_is_old() -> bool {
    static OLD: OnceLock<bool> = OnceLock::new();
    *OLD.get_or_init(|| {
        let version = ProxyProgram::Original.program().arg("--version").run().success().stdout;
        let patch = version.trim().strip_prefix("xdg-dbus-proxy 0.1.");
        patch.and_then(|patch| patch.parse::<u32>().ok()).is_some_and(|patch| patch < 6)
    })
}

/// A running proxy, which is killed on drop.
pub(crate) struct RunningProxy {
    // The process is dropped before its folder.
    pub(crate) process: StartedProgram,
    address: String,
    _scratch: ScratchFolder,
}

impl RunningProxy {
    /// The address at which programs connect.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// The path of its socket.
    pub(crate) fn path(&self) -> &Path {
        Path::new(self.address.strip_prefix("unix:path=").expect("the address has a path"))
    }
}

/// The time limit for a proxy, which serves one test.
const LIFE_LIMIT: Duration = Duration::from_secs(120);
