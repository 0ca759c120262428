//! Notifications to the service manager (sd_notify(3)).

use std::ffi::OsString;
use std::io;

use sys::notify;

/// The notification socket of the service manager that started this process, if there is one.
#[derive(Clone, Debug)]
pub(super) struct ManagerNotifier {
    socket: Option<OsString>,
}

impl ManagerNotifier {
    /// Reads the socket from the environment variable.
    pub(super) fn from_environment() -> Self {
        Self { socket: std::env::var_os("NOTIFY_SOCKET") }
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

    fn tell(&self, state: &str) -> io::Result<()> {
        notify::notify(self.socket.as_deref(), state).map(|_| ())
    }
}
