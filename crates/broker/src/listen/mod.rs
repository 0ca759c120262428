//! From addresses to sockets that clients can connect to.
//!
//! ```text
//!  unix:path=, abstract=      bound there
//!  unix:dir=, tmpdir=         bound in that folder under a random name
//!  unix:runtime=yes           bound as "bus" in the user's runtime folder
//!  tcp:host=,port=            bound there, at each address that the host has
//!  nonce-tcp:host=,port=      the same, and a file with a secret that clients have to send
//!  systemd:                   bound by the service manager, checked here
//! ```
//!
//! A [`Listener`] knows the address that clients are to use, which is seldom the one that was
//! asked for, and removes what it has put into the file system when it is dropped.
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

mod error;
mod nonce;
mod passed;
mod socket_file;
mod tcp;

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use sys::filesystem::{FileOwner, allow_everyone, remove_stale_socket};
use sys::inherited::InheritError;
use sys::socket::{SocketKind, UnixAddress as Place, listen_unix};
use wire::address::{Address, AddressList, TcpAddress, Transport, UnixTransport};
use wire::guid::Guid;

pub use error::{ListenError, PassedSocketProblem};
pub use nonce::Nonce;
pub(crate) use nonce::NonceFile;
pub(crate) use socket_file::SocketFile;

/// An address that clients can connect to.
#[derive(Debug)]
pub struct Listener {
    /// The listening sockets, non-blocking: one, or one for each address of a host on a network.
    pub sockets: Vec<OwnedFd>,
    /// Their transport.
    pub kind: SocketKind,
    /// What clients connect to, with [`guid`](Self::guid).
    pub address: Address,
    /// What tells this address from all others.
    pub guid: Guid,
    /// What a client has to do first.
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
        let guid = new_guid().map_err(|error| ListenError::Random(error.into()))?;
        let address = Address { guid: Some(guid), ..transport.into() };
        Ok(Self { sockets, kind, address, guid, entry, remains })
    }
}

/// Files.
impl Listener {
    /// Lets somebody else remove what is secret of it. The socket stays with who has made it: its
    /// owner is how clients know whose bus it is.
    pub(crate) fn hand_over(&self, owner: FileOwner) -> io::Result<()> {
        match &self.remains {
            Remains::Nonce { file } => file.hand_over(owner),
            Remains::Nothing | Remains::Socket { .. } => Ok(()),
        }
    }
}

/// What a client has to do before it may begin to authenticate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ListenerEntry {
    /// Nothing.
    Open,
    /// Send this, to show that it can read the file.
    Nonce(Nonce),
}

/// What a listener has put into the file system. Removed with it.
#[derive(Debug)]
enum Remains {
    /// Nothing, or what somebody else has put there.
    Nothing,
    /// The file of its socket.
    Socket { _file: SocketFile },
    /// The file of its nonce.
    Nonce { file: NonceFile },
}

/// What some addresses are about: things that this process was started with.
#[derive(Debug)]
pub struct ListenEnvironment {
    /// The folder for sockets of this user, `XDG_RUNTIME_DIR`.
    pub runtime_dir: Option<PathBuf>,
    /// The folder for temporary files, where the secrets of `nonce-tcp:` go.
    pub temp_dir: PathBuf,
    /// The sockets that the service manager passed, or why they could not be taken. They can be
    /// used once.
    pub passed: Result<Vec<OwnedFd>, InheritError>,
}

impl Default for ListenEnvironment {
    /// No runtime folder, no sockets, and temporary files where they are by custom.
    fn default() -> Self {
        Self { runtime_dir: None, temp_dir: "/tmp".into(), passed: Ok(Vec::new()) }
    }
}

/// Reads an address list, with the errors of this module.
///
/// # Errors
///
/// [`ListenError::Address`], [`ListenError::UnknownFamily`] or [`ListenError::UnknownPort`].
pub fn parse(text: &str) -> Result<AddressList, ListenError> {
    AddressList::parse(text).map_err(|error| ListenError::in_text(text, error))
}

/// Listens at the first entry of `list` at which that is possible. That gives one listener, or as
/// many as the service manager passed sockets.
///
/// This waits for the answer when the name of a host has to be looked up.
///
/// # Errors
///
/// When all failed, why the first did of those with a transport that is known.
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

/// Where clients find a bus: at any of the places that it listens at.
pub(crate) fn joined_address(listeners: &[Listener]) -> String {
    let addresses: Vec<_> = listeners.iter().map(|it| it.address.to_string()).collect();
    addresses.join(";")
}

/// Makes an id for a server address, or for a bus.
///
/// # Errors
///
/// Only when a sandbox keeps the process from asking the kernel for random bytes.
pub(crate) fn new_guid() -> io::Result<Guid> {
    let mut random = [0; 16];
    sys::random::fill(&mut random)?;
    // The counter starts again in 2106, which the random bits make up for.
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

/// Listens at `path`, in the place of any socket that is there. Whatever else is there stays, and
/// makes this fail.
fn replace_at(path: &Path) -> Result<Listener, ListenError> {
    let _ = remove_stale_socket(path).map_err(|error| bind_error(path.as_os_str(), error))?;
    listen_path(path)
}

/// Listens in `folder` under a name that nobody has.
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
    let remains = Remains::Socket { _file: file };
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

/// The name of a socket that no other program chooses, nor can guess.
fn random_name() -> io::Result<String> {
    let mut random = [0; RANDOM_NAME_LEN];
    sys::random::fill(&mut random)?;
    let letter = |byte: u8| char::from(LETTERS[usize::from(byte) % LETTERS.len()]);
    Ok(RANDOM_NAME_PREFIX.chars().chain(random.map(letter)).collect())
}

/// The socket of `unix:runtime=yes` in the runtime folder.
const RUNTIME_SOCKET: &str = "bus";

const RANDOM_NAME_PREFIX: &str = "dbus-";
const RANDOM_NAME_LEN: usize = 10;
const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Names to try in one folder. One is taken by chance once in 10^17.
const NAME_ATTEMPTS_MAX: u32 = 8;
