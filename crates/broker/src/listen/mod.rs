//! Opens listening sockets for server addresses.
//!
//! ```text
//!  unix:path=, abstract=      bound there
//!  unix:dir=, tmpdir=         bound in that directory under a random name
//!  unix:runtime=yes           bound as "bus" in the user's runtime directory
//!  tcp:host=,port=            bound at each address of the host
//!  nonce-tcp:host=,port=      the same, with a nonce file whose content clients have to send
//!  systemd:                   bound by the service manager, checked here
//! ```
//!
//! A [`Listener`] has the address that clients use, which often differs from the configured one. On
//! drop it removes the files that it created.
//!
//! ```
//! use broker::listen::{ListenEnvironment, listen, parse};
//!
//! let folder = std::env::temp_dir();
//! let list = parse(&format!("unix:tmpdir={}", folder.display()))?;
//! let listeners = listen(&list, &mut ListenEnvironment::default())?;
//! let address = listeners[0].address.to_string();
//! assert!(address.starts_with(&format!("unix:path={}/dbus-", folder.display())), "{address}");
//! # Ok::<(), broker::listen::ListenError>(())
//! ```

mod container;
mod error;
mod nonce;
mod passed;
mod saved;
mod socket_file;
mod tcp;

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use sys::filesystem::{FileOwner, SocketFile, allow_everyone, remove_stale_socket};
use sys::inherited::InheritError;
use sys::socket::{SocketKind, UnixAddress as Place, listen_unix};
use wire::address::{Address, AddressList, TcpAddress, Transport, UnixTransport};
use wire::guid::Guid;

pub(crate) use container::ContainerFolder;
pub use error::{ListenError, PassedSocketProblem};
pub use nonce::Nonce;
pub(crate) use nonce::NonceFile;
pub(crate) use passed::{PassedSocketError, listener_of_program};
pub(crate) use saved::{RestoredListener, SavedListener};
pub(crate) use socket_file::SavedSocketFile;

/// An address that clients can connect to, with its sockets.
#[derive(Debug)]
pub struct Listener {
    /// The listening sockets, non-blocking: one, or one for each network address of a host.
    pub sockets: Vec<OwnedFd>,
    /// The transport of all these sockets.
    pub kind: SocketKind,
    /// The address for clients, without its [`guid`](Self::guid).
    pub address: Address,
    /// The id of this address, unique among all server addresses.
    pub guid: Guid,
    /// The step before the handshake, if the address requires one.
    pub entry: ListenerEntry,
    remains: Remains,
}

impl Listener {
    fn new(
        sockets: Vec<OwnedFd>,
        kind: SocketKind,
        transport: Transport,
        entry: ListenerEntry,
        remains: Remains,
    ) -> Result<Self, ListenError> {
        Self::with_new_guid(sockets, kind, transport, entry, remains)
            .map_err(|error| ListenError::Random(error.into()))
    }

    fn with_new_guid(
        sockets: Vec<OwnedFd>,
        kind: SocketKind,
        transport: Transport,
        entry: ListenerEntry,
        remains: Remains,
    ) -> io::Result<Self> {
        let guid = new_guid()?;
        let address = Address { guid: Some(guid), ..transport.into() };
        Ok(Self { sockets, kind, address, guid, entry, remains })
    }
}

/// Files of the listener.
impl Listener {
    /// The path of the socket, if it is a Unix socket with a path.
    pub(crate) fn socket_path(&self) -> Option<&[u8]> {
        match &self.address.transport {
            Transport::Unix(UnixTransport::Path(path)) => Some(path),
            _ => None,
        }
    }

    /// Hands the secret files over to another user. The socket file keeps its owner, by which
    /// clients recognize whose bus it is.
    pub(crate) fn hand_over(&self, owner: FileOwner) -> io::Result<()> {
        match &self.remains {
            Remains::Nonce { file } => file.hand_over(owner),
            Remains::Nothing | Remains::Socket { .. } => Ok(()),
        }
    }
}

/// The step that a client has to take before the handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ListenerEntry {
    /// The handshake starts at once.
    Open,
    /// The client first sends this nonce, to prove that it can read the file.
    Nonce(Nonce),
}

/// The files that a listener created, removed with it.
#[derive(Debug)]
enum Remains {
    /// No file, or a socket file of another program.
    Nothing,
    /// The file of a Unix socket.
    Socket { file: SocketFile },
    /// The nonce file of a TCP socket.
    Nonce { file: NonceFile },
}

/// The parts of the process environment that server addresses refer to.
#[derive(Debug)]
pub struct ListenEnvironment {
    /// The runtime directory of this user, `XDG_RUNTIME_DIR`.
    pub runtime_dir: Option<PathBuf>,
    /// The directory for temporary files, where nonce files are created.
    pub temp_dir: PathBuf,
    /// The sockets that the service manager passed, or why they could not be taken. They can be
    /// used once.
    pub passed: Result<Vec<OwnedFd>, InheritError>,
}

impl Default for ListenEnvironment {
    /// No runtime directory, no passed sockets, and the usual directory for temporary files.
    fn default() -> Self {
        Self { runtime_dir: None, temp_dir: "/tmp".into(), passed: Ok(Vec::new()) }
    }
}

/// Parses an address list, with the errors of this module.
///
/// # Errors
///
/// [`ListenError::Address`], [`ListenError::UnknownFamily`] or [`ListenError::UnknownPort`].
pub fn parse(text: &str) -> Result<AddressList, ListenError> {
    AddressList::parse(text).map_err(|error| ListenError::in_text(text, error))
}

/// Listens at the first entry of `list` that works. Returns one listener, or for `systemd:` one for
/// each passed socket.
///
/// Blocks while a host name is looked up.
///
/// # Errors
///
/// If all entries fail, the error of the first entry with a known transport.
pub fn listen(
    list: &AddressList,
    environment: &mut ListenEnvironment,
) -> Result<Vec<Listener>, ListenError> {
    let mut errors = Vec::new();
    for address in list {
        match listen_at(&address.transport, environment) {
            Ok(listeners) => return Ok(listeners),
            Err(error) => errors.push(error),
        }
    }
    let is_known = |error: &ListenError| !matches!(error, ListenError::UnknownTransport { .. });
    let telling = errors.iter().position(is_known).unwrap_or(0);
    Err(errors.swap_remove(telling))
}

/// The address list for clients, with the addresses of all listeners.
pub(crate) fn joined_address(listeners: &[Listener]) -> String {
    let addresses: Vec<_> = listeners.iter().map(|it| it.address.to_string()).collect();
    addresses.join(";")
}

/// Creates an id for a server address or a bus.
///
/// # Errors
///
/// Fails only if a sandbox forbids the system call for random bytes.
pub(crate) fn new_guid() -> io::Result<Guid> {
    let mut random = [0; 16];
    sys::random::fill(&mut random)?;
    // The seconds wrap around in 2106; the random bits still keep ids unique.
    Ok(Guid::from_random(random, sys::clock::realtime().as_secs() as u32))
}

fn listen_at(
    transport: &Transport,
    environment: &mut ListenEnvironment,
) -> Result<Vec<Listener>, ListenError> {
    match transport {
        Transport::Unix(unix) => listen_unix_at(unix, environment).map(|listener| vec![listener]),
        Transport::Systemd => passed::listeners(environment),
        Transport::Tcp(tcp) => listen_tcp_at(tcp).map(|listener| vec![listener]),
        Transport::NonceTcp { tcp, .. } => {
            listen_nonce_tcp_at(tcp, &environment.temp_dir).map(|listener| vec![listener])
        }
        _ => Err(ListenError::UnknownTransport { name: transport.name().to_owned() }),
    }
}

fn listen_unix_at(
    address: &UnixTransport,
    environment: &ListenEnvironment,
) -> Result<Listener, ListenError> {
    match address {
        UnixTransport::Path(path) => replace_at(to_path(path)),
        UnixTransport::Abstract(name) => listen_abstract(name),
        UnixTransport::Dir(folder) | UnixTransport::Tmpdir(folder) => listen_in(to_path(folder)),
        UnixTransport::Runtime => {
            let folder = environment.runtime_dir.as_ref().ok_or(ListenError::NoRuntimeDir)?;
            replace_at(&folder.join(RUNTIME_SOCKET))
        }
    }
}

/// Listens at `path` and replaces an existing socket there. Fails if the path is another kind of
/// file, which remains.
fn replace_at(path: &Path) -> Result<Listener, ListenError> {
    let _ = remove_stale_socket(path).map_err(|error| bind_error(path.as_os_str(), error))?;
    listen_path(path)
}

/// Listens in `folder` under an unused random name.
fn listen_in(folder: &Path) -> Result<Listener, ListenError> {
    let mut attempts = 1;
    loop {
        let name = random_name().map_err(|error| ListenError::Random(error.into()))?;
        match listen_path(&folder.join(name)) {
            Err(error) if error.is_taken() && attempts < NAME_ATTEMPTS_MAX => attempts += 1,
            outcome => return outcome,
        }
    }
}

fn listen_path(path: &Path) -> Result<Listener, ListenError> {
    let failed = |error| bind_error(path.as_os_str(), error);
    let socket = listen_unix(Place::Path(path)).map_err(failed)?;
    let file = SocketFile::of(path).map_err(failed)?;
    allow_everyone(path).map_err(failed)?;
    let transport = Transport::Unix(UnixTransport::Path(path.as_os_str().as_bytes().to_vec()));
    let remains = Remains::Socket { file };
    Listener::new(vec![socket], SocketKind::Unix, transport, ListenerEntry::Open, remains)
}

fn listen_abstract(name: &[u8]) -> Result<Listener, ListenError> {
    let socket = listen_unix(Place::Abstract(name))
        .map_err(|error| bind_error(OsStr::from_bytes(name), error))?;
    let transport = Transport::Unix(UnixTransport::Abstract(name.to_vec()));
    Listener::new(vec![socket], SocketKind::Unix, transport, ListenerEntry::Open, Remains::Nothing)
}

fn listen_tcp_at(wanted: &TcpAddress) -> Result<Listener, ListenError> {
    let tcp::Bound { sockets, address } = tcp::listen_at(wanted)?;
    let transport = Transport::Tcp(address);
    Listener::new(sockets, SocketKind::Tcp, transport, ListenerEntry::Open, Remains::Nothing)
}

fn listen_nonce_tcp_at(wanted: &TcpAddress, temp_dir: &Path) -> Result<Listener, ListenError> {
    let tcp::Bound { sockets, address } = tcp::listen_at(wanted)?;
    let file = NonceFile::new_in(temp_dir).map_err(|error| ListenError::NonceFile {
        folder: temp_dir.to_owned(),
        error: error.into(),
    })?;
    let noncefile = Some(file.path.as_os_str().as_bytes().to_vec());
    let transport = Transport::NonceTcp { tcp: address, noncefile };
    let entry = ListenerEntry::Nonce(file.nonce);
    Listener::new(sockets, SocketKind::Tcp, transport, entry, Remains::Nonce { file })
}

fn bind_error(name: &OsStr, error: io::Error) -> ListenError {
    ListenError::Bind { name: name.to_owned(), error: error.into() }
}

fn to_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// A random socket name that other programs cannot guess.
fn random_name() -> io::Result<String> {
    let mut random = [0; RANDOM_NAME_LEN];
    sys::random::fill(&mut random)?;
    let letter = |byte: u8| char::from(LETTERS[usize::from(byte) % LETTERS.len()]);
    Ok(RANDOM_NAME_PREFIX.chars().chain(random.map(letter)).collect())
}

/// The file name of the `unix:runtime=yes` socket in the runtime directory.
const RUNTIME_SOCKET: &str = "bus";

const RANDOM_NAME_PREFIX: &str = "dbus-";
const RANDOM_NAME_LEN: usize = 10;
const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// How many names to try in one directory. A name is in use by chance once in 10^17.
const NAME_ATTEMPTS_MAX: u32 = 8;
