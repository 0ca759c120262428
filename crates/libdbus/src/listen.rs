//! Sockets that listen at the address of a server.

use std::ffi::{CStr, OsStr};
use std::fs;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use sys::inherited::{ListenVariables, listen_fds};
use sys::private_directory::PrivateDirectory;
use sys::socket::{
    Ipv6Scope, LocalAddress, UnixAddress, is_listening, listen_tcp, listen_unix, local_address,
};

use crate::addresses::{self, DBusAddressEntry, bad, escape};
use crate::connect::{NONCE_LEN, UNIX_LEN_MAX, missing};
use crate::errors::{LibraryFailure, description, names};
use crate::login::random_bytes;
use crate::resolve::{HostQuery, resolve};

/// Sockets that listen, with their address.
pub(crate) struct ListeningSockets {
    pub(crate) sockets: Vec<OwnedFd>,
    /// The address for clients, without the identifier of the server.
    pub(crate) address: Vec<u8>,
    /// The file of a Unix socket, which is removed at the end.
    pub(crate) path: Option<PathBuf>,
    /// The bytes that a client must send first, with the directory of their file.
    pub(crate) nonce: Option<([u8; NONCE_LEN], PrivateDirectory)>,
    /// Whether connections can carry descriptors.
    pub(crate) passes_fds: bool,
}

/// Listens at the first entry that works. The error is the error of the first entry.
pub(crate) fn listen(address: &CStr) -> Result<ListeningSockets, LibraryFailure> {
    let mut first_failure = None;
    for entry in addresses::parse(address)? {
        let listening = match entry.method.to_bytes() {
            b"unix" => unix(&entry),
            b"tcp" => tcp(&entry, false),
            b"nonce-tcp" => tcp(&entry, true),
            b"systemd" => passed(),
            _ => {
                let method = entry.method.to_string_lossy();
                Err(bad(format!("Unknown address type '{method}'")))
            }
        };
        match listening {
            Ok(listening) => return Ok(listening),
            Err(failure) => drop(first_failure.get_or_insert(failure).name),
        }
    }
    Err(first_failure.unwrap_or_else(|| bad("Empty address ''")))
}

fn unparsable(reason: &str) -> LibraryFailure {
    bad(format!("Could not parse server address: {reason}"))
}

fn unix(entry: &DBusAddressEntry) -> Result<ListeningSockets, LibraryFailure> {
    const KEYS: [&CStr; 5] = [c"path", c"tmpdir", c"abstract", c"runtime", c"dir"];
    let given: Vec<_> = KEYS.iter().filter_map(|key| Some((*key, entry.value(key)?))).collect();
    let (key, value) = match given.as_slice() {
        [] => return Err(missing("unix", "path or tmpdir or abstract or runtime or dir")),
        [one] => *one,
        _ => {
            return Err(unparsable(
                "cannot specify two of \"path\", \"tmpdir\", \"abstract\", \"runtime\" and \
                 \"dir\" at the same time",
            ));
        }
    };
    match key.to_bytes() {
        b"abstract" => abstract_name(value.to_bytes()),
        b"path" => path(Path::new(OsStr::from_bytes(value.to_bytes()))),
        b"runtime" if value != c"yes" => {
            Err(unparsable("if given, the only value allowed for \"runtime\" is \"yes\""))
        }
        b"runtime" => match std::env::var_os("XDG_RUNTIME_DIR") {
            Some(directory) => path(&Path::new(&directory).join("bus")),
            None => {
                Err(LibraryFailure::new(names::NOT_SUPPORTED, "\"XDG_RUNTIME_DIR\" is not set"))
            }
        },
        _ => {
            let directory = Path::new(OsStr::from_bytes(value.to_bytes()));
            path(&directory.join(format!("dbus-{}", random_letters())))
        }
    }
}

/// Ten random letters and digits for the name of a socket.
fn random_letters() -> String {
    const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    random_bytes::<10>().iter().map(|byte| char::from(LETTERS[usize::from(*byte) % 62])).collect()
}

fn path(path: &Path) -> Result<ListeningSockets, LibraryFailure> {
    let bytes = path.as_os_str().as_bytes();
    if bytes.len() > UNIX_LEN_MAX {
        return Err(bad("Socket name too long\n"));
    }
    // A socket that is left over from another process. Other files are not removed.
    let _ = sys::filesystem::remove_stale_socket(path);
    let socket = listen_unix(UnixAddress::Path(path)).map_err(|error| {
        LibraryFailure::system(&format!("Failed to bind socket \"{}\"", path.display()), &error)
    })?;
    sys::filesystem::allow_everyone(path).map_err(|error| {
        LibraryFailure::system(
            &format!("Could not set mode 0777 on socket {}", path.display()),
            &error,
        )
    })?;
    Ok(ListeningSockets {
        sockets: vec![socket],
        address: [b"unix:path=", escape(bytes).as_slice()].concat(),
        path: Some(path.to_owned()),
        nonce: None,
        passes_fds: true,
    })
}

fn abstract_name(name: &[u8]) -> Result<ListeningSockets, LibraryFailure> {
    if name.len() > UNIX_LEN_MAX {
        return Err(bad("Abstract socket name too long\n"));
    }
    let socket = listen_unix(UnixAddress::Abstract(name)).map_err(|error| {
        let name = String::from_utf8_lossy(name);
        LibraryFailure::system(&format!("Failed to bind socket \"{name}\""), &error)
    })?;
    Ok(ListeningSockets {
        sockets: vec![socket],
        address: [b"unix:abstract=", escape(name).as_slice()].concat(),
        path: None,
        nonce: None,
        passes_fds: true,
    })
}

fn tcp(entry: &DBusAddressEntry, has_nonce: bool) -> Result<ListeningSockets, LibraryFailure> {
    let host = entry.text(c"host").unwrap_or_else(|| "localhost".into());
    let bind = entry.text(c"bind").unwrap_or_else(|| host.clone());
    let bind = if bind == "*" { "0.0.0.0".into() } else { bind };
    let port = entry.text(c"port").unwrap_or_else(|| "0".into());
    let query = HostQuery { host: &bind, port: &port, family: entry.text(c"family") };
    let mut sockets = Vec::new();
    let mut chosen: Option<SocketAddr> = None;
    for mut address in resolve(&query, true)? {
        // All sockets have the port that the system has chosen for the first one.
        if let Some(first) = chosen.filter(|_| address.port() == 0) {
            address.set_port(first.port());
        }
        let listening = listen_tcp(address, Ipv6Scope::Only);
        let socket = match listening {
            Ok(socket) => socket,
            Err(_) if !sockets.is_empty() => continue,
            Err(error) => {
                let text =
                    format!("Failed to bind socket \"{host}:{port}\": {}", description(&error));
                return Err(LibraryFailure::new(crate::errors::name_of(&error), text));
            }
        };
        if let Ok(LocalAddress::Internet(local)) = local_address(&socket) {
            chosen.get_or_insert(local);
        }
        sockets.push(socket);
    }
    let Some(local) = chosen else {
        return Err(LibraryFailure::new(names::FAILED, "Failed to bind socket"));
    };
    // The text of a port that the program has chosen is repeated as it was.
    let port = if port.parse() == Ok(0) { local.port().to_string() } else { port };
    let method = if has_nonce { "nonce-tcp" } else { "tcp" };
    let mut address =
        [method.as_bytes(), b":host=", &escape(host.as_bytes()), b",port=", port.as_bytes()]
            .concat();
    let family = if local.is_ipv4() { "ipv4" } else { "ipv6" };
    address.extend_from_slice(format!(",family={family}").as_bytes());
    let nonce = if has_nonce { Some(nonce(&mut address)?) } else { None };
    Ok(ListeningSockets { sockets, address, path: None, nonce, passes_fds: false })
}

/// The sockets that the service manager has passed.
fn passed() -> Result<ListeningSockets, LibraryFailure> {
    let [pid, count] = ["LISTEN_PID", "LISTEN_FDS"].map(|name| std::env::var(name).ok());
    let variables = ListenVariables { pid: pid.as_deref(), count: count.as_deref(), names: None };
    let descriptors = listen_fds(variables)
        .map_err(|error| bad(format!("Failed to acquire systemd socket: {error}")))?;
    let sockets: Vec<OwnedFd> = descriptors.into_iter().map(|found| found.descriptor).collect();
    let mut addresses = Vec::new();
    let mut passes_fds = true;
    for socket in &sockets {
        if !is_listening(socket).unwrap_or(false) {
            return Err(bad("Passed socket has wrong type."));
        }
        let address = match local_address(socket) {
            Ok(LocalAddress::Path(path)) => {
                [b"unix:path=", escape(path.as_os_str().as_bytes()).as_slice()].concat()
            }
            Ok(LocalAddress::Abstract(name)) => {
                [b"unix:abstract=", escape(&name).as_slice()].concat()
            }
            Ok(LocalAddress::Internet(local)) => {
                passes_fds = false;
                let family = if local.is_ipv4() { "ipv4" } else { "ipv6" };
                let (port, host) = (local.port(), escape(local.ip().to_string().as_bytes()));
                let host = String::from_utf8_lossy(&host);
                format!("tcp:family={family},port={port},host={host}").into_bytes()
            }
            _ => return Err(bad("Passed socket has wrong type.")),
        };
        // Accepting must not block, whatever the service manager has set.
        rustix::io::ioctl_fionbio(socket, true).map_err(|error| {
            LibraryFailure::system("Failed to set nonblocking flag", &error.into())
        })?;
        addresses.push(address);
    }
    if sockets.is_empty() {
        return Err(bad("No socket received."));
    }
    let address = addresses.join(&b';');
    Ok(ListeningSockets { sockets, address, path: None, nonce: None, passes_fds })
}

/// Creates the file with the bytes that a client must send, and adds it to the address.
fn nonce(address: &mut Vec<u8>) -> Result<([u8; NONCE_LEN], PrivateDirectory), LibraryFailure> {
    let failed = |error| LibraryFailure::system("Could not create nonce file", &error);
    let directory = PrivateDirectory::new("dbus_nonce-").map_err(failed)?;
    let nonce = random_bytes();
    let file = directory.path().join("nonce");
    fs::write(&file, nonce).map_err(failed)?;
    address.extend_from_slice(b",noncefile=");
    address.extend_from_slice(&escape(file.as_os_str().as_bytes()));
    Ok((nonce, directory))
}
