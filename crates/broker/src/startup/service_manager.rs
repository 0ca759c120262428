//! Notifications to the service manager (sd_notify(3)).

use std::env;
use std::ffi::OsString;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use sys::notify;

/// The notification socket of the service manager that started this process, if there is one.
#[derive(Clone, Debug)]
pub(super) struct ManagerNotifier {
    socket: Option<OsString>,
    /// The number of descriptors that the service manager keeps for the next start.
    store_len: usize,
}

impl ManagerNotifier {
    /// Reads the socket from the environment variable.
    pub(super) fn from_environment() -> Self {
        let socket = env::var_os("NOTIFY_SOCKET");
        let store_len = env::var(STORE_VARIABLE).ok().and_then(|len| len.parse().ok());
        // A child of a unit inherits all these variables, but only the main process is kept.
        let main = env::var(MAIN_PROCESS_VARIABLE).ok();
        let is_main = main.is_none_or(|main| main == std::process::id().to_string());
        Self { socket, store_len: store_len.filter(|_| is_main).unwrap_or(0) }
    }

    /// Reports that the bus serves clients with the configuration that it read last.
    pub(super) fn ready(&self) -> io::Result<()> {
        self.tell("READY=1")
    }

    /// Reports that the bus reloads its configuration. The timestamp lets the service manager tell
    /// this reload from an earlier one.
    pub(super) fn reloading(&self) -> io::Result<()> {
        let now = sys::clock::monotonic().as_micros();
        self.tell(&format!("RELOADING=1\nMONOTONIC_USEC={now}"))
    }

    /// Reports that the bus is stopping.
    pub(super) fn stopping(&self) -> io::Result<()> {
        self.tell("STOPPING=1")
    }

    /// Whether the service manager keeps at least this number of descriptors for the next start.
    pub(super) const fn can_store(&self, count: usize) -> bool {
        self.socket.is_some() && self.store_len >= count
    }

    /// Puts descriptors with these names into the file descriptor store, and waits until the service
    /// manager has them.
    pub(super) fn store(&self, descriptors: &[(&str, BorrowedFd<'_>)]) -> io::Result<()> {
        let Some(socket) = &self.socket else { return Err(io::ErrorKind::NotFound.into()) };
        for (name, descriptor) in descriptors {
            // Without FDPOLL=0, the service manager closes a descriptor with EPOLLHUP.
            let state = format!("FDSTORE=1\nFDNAME={name}\nFDPOLL=0");
            notify::pass(socket, &state, &[*descriptor], WAIT_MAX)?;
        }
        notify::barrier(socket, WAIT_MAX)
    }

    /// Removes the descriptors with this name from the file descriptor store.
    pub(super) fn remove_stored(&self, name: &str) -> io::Result<()> {
        self.tell(&format!("FDSTOREREMOVE=1\nFDNAME={name}"))
    }

    fn tell(&self, state: &str) -> io::Result<()> {
        notify::notify(self.socket.as_deref(), state).map(|_| ())
    }
}

/// The variable with the size of the file descriptor store. systemd sets it from version 254; for
/// earlier versions, the unit sets it.
const STORE_VARIABLE: &str = "FDSTORE";

/// The variable in which systemd 248 and later announce the process that they have executed.
const MAIN_PROCESS_VARIABLE: &str = "SYSTEMD_EXEC_PID";

/// How long the bus waits at its end until the service manager takes a notification.
const WAIT_MAX: Duration = Duration::from_secs(5);
