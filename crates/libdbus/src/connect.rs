//! Connecting to the address of a server.

use std::env;
use std::ffi::{CStr, OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use sys::socket::{UnixAddress, connect_unix, socket_pair};
use wire::guid::Guid;

use crate::addresses::{self, DBusAddressEntry, bad};
use crate::errors::{LibraryFailure, description, name_of, names};
use crate::resolve::{HostQuery, resolve};

/// A socket that is connected to a server.
pub(crate) struct ConnectedSocket {
    pub(crate) socket: OwnedFd,
    /// Whether the socket can carry descriptors.
    pub(crate) passes_fds: bool,
    /// The identifier that the server must have.
    pub(crate) guid: Option<Guid>,
}

/// Connects to the first entry that works. The error is the error of the first entry.
pub(crate) fn connect(address: &CStr) -> Result<ConnectedSocket, LibraryFailure> {
    let mut first_failure = None;
    for entry in addresses::parse(address)? {
        match connect_entry(&entry) {
            Ok(connected) => return Ok(connected),
            Err(failure) => drop(first_failure.get_or_insert(failure).name),
        }
    }
    Err(first_failure.unwrap_or_else(|| bad("Empty address ''")))
}

fn connect_entry(entry: &DBusAddressEntry) -> Result<ConnectedSocket, LibraryFailure> {
    let guid = entry.value(c"guid").and_then(|text| Guid::parse(text.to_bytes()).ok());
    let (socket, passes_fds) = match entry.method.to_bytes() {
        b"unix" => (unix(entry)?, true),
        b"tcp" => (tcp(entry)?, false),
        b"nonce-tcp" => (nonce_tcp(entry)?, false),
        b"unixexec" => (unixexec(entry)?, true),
        b"autolaunch" => return autolaunch(),
        _ => return Err(unparsable(UNKNOWN_TRANSPORT)),
    };
    Ok(ConnectedSocket { socket, passes_fds, guid })
}

const UNKNOWN_TRANSPORT: &str =
    "Unknown address type (examples of valid types are \"tcp\" and on UNIX \"unix\")";

fn unparsable(reason: &str) -> LibraryFailure {
    bad(format!("Could not parse server address: {reason}"))
}

/// The error for a key that the transport requires.
pub(crate) fn missing(transport: &str, key: &str) -> LibraryFailure {
    bad(format!("Server address of type {transport} was missing argument {key}"))
}

fn unix(entry: &DBusAddressEntry) -> Result<OwnedFd, LibraryFailure> {
    if entry.value(c"tmpdir").is_some() {
        return Err(unparsable(
            "cannot use the \"tmpdir\" option for an address to connect to, only in an address to \
             listen on",
        ));
    }
    let address = match (entry.value(c"path"), entry.value(c"abstract")) {
        (Some(_), Some(_)) => {
            let text = "can't specify both \"path\" and \"abstract\" options in an address";
            return Err(unparsable(text));
        }
        (None, None) => return Err(missing("unix", "path or abstract")),
        (Some(path), None) => UnixAddress::Path(Path::new(OsStr::from_bytes(path.to_bytes()))),
        (None, Some(name)) => UnixAddress::Abstract(name.to_bytes()),
    };
    let (text, limit) = match address {
        UnixAddress::Path(path) => (path.to_string_lossy().into_owned(), "Socket name too long\n"),
        UnixAddress::Abstract(name) => {
            (String::from_utf8_lossy(name).into_owned(), "Abstract socket name too long\n")
        }
    };
    if text.len() > UNIX_LEN_MAX {
        return Err(bad(limit));
    }
    let failed =
        |error| LibraryFailure::system(&format!("Failed to connect to socket {text}"), &error);
    connect_unix(address).map_err(failed)
}

/// Bytes in the address of a Unix socket.
pub(crate) const UNIX_LEN_MAX: usize = 107;

fn tcp(entry: &DBusAddressEntry) -> Result<OwnedFd, LibraryFailure> {
    let port = entry.text(c"port").ok_or_else(|| missing("tcp", "port"))?;
    let host = entry.text(c"host").unwrap_or_else(|| "localhost".into());
    let query = HostQuery { host: &host, port: &port, family: entry.text(c"family") };
    let mut failure = None;
    for address in resolve(&query, false)? {
        match std::net::TcpStream::connect(address) {
            Ok(stream) => {
                // Messages are sent at once even without this option, only later.
                let _ = stream.set_nodelay(true);
                return Ok(stream.into());
            }
            Err(error) => {
                let text = format!(
                    "Failed to connect to socket \"{}\" port {}: {}",
                    address.ip(),
                    address.port(),
                    description(&error)
                );
                failure.get_or_insert(LibraryFailure::new(name_of(&error), text));
            }
        }
    }
    Err(failure
        .unwrap_or_else(|| LibraryFailure::new(names::FAILED, "Failed to connect to socket")))
}

fn nonce_tcp(entry: &DBusAddressEntry) -> Result<OwnedFd, LibraryFailure> {
    if entry.value(c"port").is_none() {
        return Err(missing("nonce-tcp", "port"));
    }
    let file = entry.value(c"noncefile").ok_or_else(|| missing("nonce-tcp", "noncefile"))?;
    let socket = tcp(entry)?;
    let path = Path::new(OsStr::from_bytes(file.to_bytes()));
    let nonce = std::fs::read(path).map_err(|error| {
        LibraryFailure::system(&format!("Failed to open {} for read", path.display()), &error)
    })?;
    if nonce.len() != NONCE_LEN {
        let text = format!("Could not read nonce from file {}", path.display());
        return Err(LibraryFailure::new(names::FILE_NOT_FOUND, text));
    }
    let mut stream = std::net::TcpStream::from(socket);
    io::Write::write_all(&mut stream, &nonce)
        .map_err(|error| LibraryFailure::system("Failed to send nonce", &error))?;
    Ok(stream.into())
}

/// Bytes in the file that a client of a `nonce-tcp` address must read.
pub(crate) const NONCE_LEN: usize = 16;

fn unixexec(entry: &DBusAddressEntry) -> Result<OwnedFd, LibraryFailure> {
    let path = entry.value(c"path").ok_or_else(|| unparsable("No process path specified"))?;
    let os = |text: &CStr| OsString::from(OsStr::from_bytes(text.to_bytes()));
    let mut command = Command::new(os(path));
    command.arg0(entry.value(c"argv0").map_or_else(|| os(path), os));
    for index in 1.. {
        let key = std::ffi::CString::new(format!("argv{index}")).unwrap_or_default();
        let Some(argument) = entry.value(&key) else { break };
        command.arg(os(argument));
    }
    let failed = |error: io::Error| {
        let text = format!("Failed to execute process {}", path.to_string_lossy());
        LibraryFailure { name: names::SPAWN_EXEC_FAILED, ..LibraryFailure::system(&text, &error) }
    };
    let (here, there) = socket_pair().map_err(failed)?;
    let input = there.try_clone().map_err(failed)?;
    command.stdin(Stdio::from(input)).stdout(Stdio::from(there));
    // The program is a child of a process that ends at once, so that the caller gets no signal and
    // no status when it ends. SAFETY: the functions may be called between fork(2) and execve(2) in
    // a process with threads.
    unsafe {
        command.pre_exec(|| match libc::fork() {
            0 => Ok(()),
            -1 => Err(io::Error::last_os_error()),
            _ => libc::_exit(0),
        });
    }
    let mut child = command.spawn().map_err(failed)?;
    child.wait().map_err(failed)?;
    Ok(here)
}

/// Asks dbus-launch for the session bus of the display, which it starts if it is missing.
fn autolaunch() -> Result<ConnectedSocket, LibraryFailure> {
    if crate::misc::is_privileged() {
        let text = "Unable to autolaunch when setuid";
        return Err(LibraryFailure::new(names::NOT_SUPPORTED, text));
    }
    if env::var_os("DISPLAY").is_none_or(|display| display.is_empty()) {
        let text = "Unable to autolaunch a dbus-daemon without a $DISPLAY for X11";
        return Err(LibraryFailure::new(names::NOT_SUPPORTED, text));
    }
    let machine = crate::misc::machine_id()?;
    let output = Command::new("dbus-launch")
        .args(["--autolaunch", &machine, "--binary-syntax", "--close-stderr"])
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .output();
    let output = output.map_err(|error| {
        let text = "Failed to execute process dbus-launch";
        LibraryFailure { name: names::SPAWN_EXEC_FAILED, ..LibraryFailure::system(text, &error) }
    })?;
    let address = CStr::from_bytes_until_nul(&output.stdout).unwrap_or_default();
    if !output.status.success() || address.is_empty() {
        let errors = String::from_utf8_lossy(&output.stderr);
        let text = match errors.trim_end() {
            "" => "/usr/bin/dbus-launch terminated abnormally without any error message".into(),
            errors => format!(
                "/usr/bin/dbus-launch terminated abnormally with the following error: {errors}"
            ),
        };
        return Err(LibraryFailure::new(names::SPAWN_EXEC_FAILED, text));
    }
    connect(address)
}
