//! A dbus-daemon for one test.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

/// A session bus that is stopped on drop.
pub(crate) struct ReferenceBus {
    process: Child,
    address: String,
}

impl ReferenceBus {
    pub(crate) fn start() -> Self {
        // As root or in a container, the default directory of the socket may not exist.
        let address = format!("--address=unix:dir={}", std::env::temp_dir().display());
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "TERM", "dbus-daemon", "--session", "--nofork"]);
        command.args([&address, "--print-address"]).stdout(Stdio::piped());
        let mut process = command.spawn().expect("util-linux is installed");
        let mut address = String::new();
        let stdout = process.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut address).expect("text");
        assert!(!address.is_empty(), "dbus-daemon has not started; is it installed?");
        Self { process, address: address.trim_end().to_owned() }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for ReferenceBus {
    fn drop(&mut self) {
        // SIGTERM, so that the bus removes its socket.
        let id = self.process.id().to_string();
        let _ = Command::new("kill").args(["-TERM", &id]).status();
        let _ = self.process.wait();
    }
}
