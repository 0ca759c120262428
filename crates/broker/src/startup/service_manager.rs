//! What the service manager is told, if there is one that wants to know (sd_notify(3)).

use std::ffi::OsString;
use std::io;

use sys::notify;

/// The service manager that started this process, or none.
#[derive(Clone, Debug)]
pub(super) struct ManagerNotifier {
    socket: Option<OsString>,
}

impl ManagerNotifier {
    /// The one that the environment names.
    pub(super) fn from_environment() -> Self {
        Self { socket: std::env::var_os("NOTIFY_SOCKET") }
    }

    /// The bus serves, with the configuration that it read last.
    pub(super) fn ready(&self) -> io::Result<()> {
        self.tell("READY=1")
    }

    /// The bus reads its configuration again. The time lets the service manager tell this reload
    /// from an earlier one.
    pub(super) fn reloading(&self) -> io::Result<()> {
        let now = sys::clock::monotonic().as_micros();
        self.tell(&format!("RELOADING=1\nMONOTONIC_USEC={now}"))
    }

    /// The bus ends.
    pub(super) fn stopping(&self) -> io::Result<()> {
        self.tell("STOPPING=1")
    }

    fn tell(&self, state: &str) -> io::Result<()> {
        notify::notify(self.socket.as_deref(), state).map(|_| ())
    }
}
