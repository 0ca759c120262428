//! Sends requests to the page of `diligence view`.

use std::process::{Command, Stdio};

use crate::support::text;

/// A script for bash, which can open TCP connections. It sends a GET request to the port `$1`, for the
/// path `$2` and with the header fields `$3`, and prints the response.
pub(crate) const GET: &str = "exec 3<>/dev/tcp/127.0.0.1/$1 && \
    printf 'GET %s HTTP/1.1\\r\\nHost: 127.0.0.1:%s\\r\\n%bConnection: close\\r\\n\\r\\n' \
    \"$2\" \"$1\" \"$3\" >&3 && timeout 5 cat <&3";

/// An address of the page, as the program prints it.
pub(crate) struct PageAddress {
    pub(crate) port: String,
    pub(crate) path: String,
}

impl PageAddress {
    pub(crate) fn of(line: &str) -> Self {
        let rest = line.strip_prefix("http://127.0.0.1:").expect("an address");
        let (port, path) = rest.split_once('/').expect("an address with a path");
        Self { port: port.to_owned(), path: format!("/{path}") }
    }

    /// Returns a command that requests a path and prints the response.
    pub(crate) fn get(&self, path: &str, fields: &str) -> Command {
        let mut command = Command::new("bash");
        command.args(["-c", GET, "get", &self.port, path, fields]).stdin(Stdio::null());
        command
    }
}

/// Runs a command that prints a response, and returns the response.
pub(crate) fn response(command: &mut Command) -> String {
    text(&command.output().expect("bash is installed").stdout)
}

/// Returns the cookie that a response sets.
pub(crate) fn cookie_of(response: &str) -> String {
    let field = response.lines().find_map(|line| line.strip_prefix("set-cookie: "));
    let cookie = field.unwrap_or_else(|| panic!("no cookie: {response}"));
    cookie.split(';').next().unwrap_or_default().to_owned()
}
