//! Listening for other programs that connect without a bus.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use unix::clock;
use unix::credentials::{own_credentials, peer_ids, uid_outside_of_peer};
use unix::poll::{Interest, wait_for_any};
use unix::random;
use unix::socket::{Accepted, UnixAddress as SocketAddress, accept, listen_unix};
use wire::address::{Address, AddressError, Transport, UnixTransport};
use wire::guid::Guid;
use wire::sasl::cookie::{CHALLENGE_LEN, Cookie, CookieContext};
use wire::sasl::server::{
    Authority, CookieRequest, FdSupport, PeerIdentity, ServerConfig, Violation,
};
use wire::sasl::{Mechanism, Mechanisms};

use super::{ConnectWaiting, SPACE_LEN, is_over, send_rest};
use crate::core::{CoreConfig, Ended, ServerHandshake, ServerStage, SystemError, Transmit};
use crate::link::{BusSocket, EstablishedSocket, SendOutcome, SocketReadOutcome, deadline};

/// A socket at which other programs connect to this one, without a bus.
///
/// ```no_run
/// use diligence_client::{Connection, ListenOptions, PeerListener};
///
/// let listener = PeerListener::bind("unix:path=/run/example/socket", ListenOptions::default())?;
/// while let Some(peer) = listener.accept(None)? {
///     std::thread::spawn(move || match Connection::accept_peer(peer) {
///         // Here it would add objects first.
///         Ok(connection) => println!("{}", connection.serve()),
///         Err(error) => println!("{error}"),
///     });
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct PeerListener {
    listener: OwnedFd,
    address: Address,
    guid: Guid,
    options: ListenOptions,
    /// Removed when the listener is dropped.
    _file: Option<ListenerFile>,
}

/// The options of a [`PeerListener`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListenOptions {
    /// The users whose programs may connect.
    pub peers: AllowedPeers,
    /// Whether messages can carry file descriptors, if the other program asks for it.
    pub fds: FdSupport,
    /// The limits of each connection.
    pub core: CoreConfig,
    /// The time limit for the authentication of a program.
    pub handshake: Duration,
}

impl Default for ListenOptions {
    /// Programs of the own user, with descriptors, and [`HANDSHAKE_TIME`] for the authentication.
    fn default() -> Self {
        Self {
            peers: AllowedPeers::OwnUser,
            fds: FdSupport::Available,
            core: CoreConfig::default(),
            handshake: HANDSHAKE_TIME,
        }
    }
}

/// The users whose programs may connect to a [`PeerListener`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AllowedPeers {
    /// Only the user of this program.
    OwnUser,
    /// All users that can open the socket. This program decides about their calls itself.
    AnyUser,
}

/// A program that connected to a [`PeerListener`], and is not authenticated yet.
#[derive(Debug)]
pub struct IncomingPeer {
    socket: OwnedFd,
    guid: Guid,
    options: ListenOptions,
}

/// The file of a socket, which is removed on drop.
#[derive(Debug)]
struct ListenerFile(PathBuf);

impl Drop for ListenerFile {
    fn drop(&mut self) {
        // Somebody may have removed it already.
        let _ = fs::remove_file(&self.0);
    }
}

impl PeerListener {
    /// Listens at an address: `unix:path=`, `unix:abstract=`, or `unix:dir=` and `unix:tmpdir=`,
    /// for which the listener chooses a name.
    ///
    /// # Errors
    ///
    /// If the address is malformed or of another kind, or if the system cannot listen there.
    pub fn bind(address: &str, options: ListenOptions) -> Result<Self, BindError> {
        let transport = Address::parse(address)?.transport;
        let (mut bytes, now) = ([0; 16], clock::realtime().as_secs());
        random::fill(&mut bytes)?;
        // The seconds wrap in 2106, which the random bytes tolerate.
        let guid = Guid::from_random(bytes, now as u32);
        let Transport::Unix(transport) = transport else { return Err(BindError::Unsupported) };
        let transport = match transport {
            UnixTransport::Dir(folder) | UnixTransport::Tmpdir(folder) => {
                UnixTransport::Path([&folder[..], format!("/dbus-{guid}").as_bytes()].concat())
            }
            other => other,
        };
        let (listener, file) = match &transport {
            UnixTransport::Path(file) => {
                let file = Path::new(std::ffi::OsStr::from_bytes(file));
                (listen_unix(SocketAddress::Path(file))?, Some(ListenerFile(file.to_owned())))
            }
            UnixTransport::Abstract(name) => (listen_unix(SocketAddress::Abstract(name))?, None),
            _ => return Err(BindError::Unsupported),
        };
        let address = Address { guid: Some(guid), ..Address::from(Transport::Unix(transport)) };
        Ok(Self { listener, address, guid, options, _file: file })
    }

    /// The address for programs that connect, with the GUID of this listener.
    pub const fn address(&self) -> &Address {
        &self.address
    }

    /// Waits until a program connects, for at most `timeout`, or for ever; `None` if none did.
    /// [`Connection::accept_peer`](crate::Connection::accept_peer) authenticates it.
    ///
    /// # Errors
    ///
    /// If this process or the system has no descriptors or memory left.
    pub fn accept(&self, timeout: Option<Duration>) -> io::Result<Option<IncomingPeer>> {
        let deadline = deadline(timeout);
        loop {
            if let Some(peer) = self.accept_now()? {
                return Ok(Some(peer));
            }
            if is_over(deadline) {
                return Ok(None);
            }
            let left = deadline.map(|end| end.saturating_sub(clock::monotonic()));
            wait_for_any(&[(self.listener.as_fd(), Interest::Read)], left)?;
        }
    }

    /// Accepts a program that has connected already, without waiting.
    ///
    /// # Errors
    ///
    /// As for [`accept`](Self::accept).
    pub fn accept_now(&self) -> io::Result<Option<IncomingPeer>> {
        let socket = match accept(&self.listener)? {
            Accepted::Connection(socket) => UnixStream::from(socket),
            Accepted::NoneWaiting => return Ok(None),
            Accepted::OutOfRoom(error) => return Err(error),
        };
        socket.set_nonblocking(false)?;
        let (guid, options) = (self.guid, self.options.clone());
        Ok(Some(IncomingPeer { socket: socket.into(), guid, options }))
    }
}

impl AsFd for PeerListener {
    /// The listening socket, for an event loop. It is readable when a program connects.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

/// Authenticates a program that connected.
pub(crate) async fn welcome(
    peer: IncomingPeer,
    waiting: &mut impl ConnectWaiting,
) -> Result<EstablishedSocket, WelcomeError> {
    let IncomingPeer { socket, guid, options } = peer;
    let deadline = deadline(Some(options.handshake));
    let uid = peer_ids(&socket)?.uid;
    if options.peers == AllowedPeers::OwnUser && uid != own_credentials()?.uid {
        return Err(WelcomeError::OtherUser { uid });
    }
    let config = ServerConfig {
        guid,
        mechanisms: Mechanisms::NONE.with(Mechanism::External),
        peer: PeerIdentity { uid: Some(uid) },
        fds: options.fds,
        cookie_context: CookieContext::default(),
    };
    let mut authority = PeerAuthority { socket: socket.try_clone()? };
    let socket = BusSocket::new(socket, None);
    waiting.watch(&socket)?;
    let mut handshake = ServerHandshake::start(config, options.core);
    let (mut space, mut descriptors) = ([0; SPACE_LEN], Vec::new());
    loop {
        while !handshake.poll_transmit().is_empty() {
            let transmit = Transmit { bytes: handshake.poll_transmit(), descriptors: &[] };
            match socket.send(&transmit)? {
                SendOutcome::Bytes(count) => handshake.transmitted(count),
                SendOutcome::Full if is_over(deadline) => return Err(WelcomeError::TimedOut),
                SendOutcome::Full => drop(waiting.wait_for_room(&socket, deadline).await?),
            }
        }
        let receiving = waiting.receive(&socket, &mut space, &mut descriptors, deadline);
        let received = match receiving.await? {
            SocketReadOutcome::Bytes(count) => &space[..count],
            SocketReadOutcome::Nothing if is_over(deadline) => return Err(WelcomeError::TimedOut),
            SocketReadOutcome::Nothing => continue,
        };
        let now = clock::realtime().as_secs();
        match handshake.handle_received(received, descriptors.drain(..), now, &mut authority)? {
            ServerStage::Unfinished(next) => handshake = next,
            ServerStage::Established(mut established) => {
                send_rest(&mut established.core, &socket)?;
                return Ok(EstablishedSocket { established, socket });
            }
        }
    }
}

/// Translates user ids of programs in other user namespaces. Cookies are not offered.
struct PeerAuthority {
    socket: OwnedFd,
}

impl Authority for PeerAuthority {
    fn uid_outside(&mut self, inside: u32) -> Option<u32> {
        uid_outside_of_peer(&self.socket, inside).ok().flatten()
    }

    fn uid_of(&mut self, _: &str) -> Option<u32> {
        None
    }

    fn cookie(&mut self, _: CookieRequest<'_>) -> Option<Cookie> {
        None
    }

    fn random(&mut self) -> [u8; CHALLENGE_LEN] {
        [0; CHALLENGE_LEN]
    }
}

/// The reason why a program cannot listen at an address.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// The address is malformed.
    #[error("the address is malformed: {0}")]
    Address(AddressError),
    /// The transport is not a Unix socket with a path or an abstract name.
    #[error("only unix:path, unix:abstract, unix:dir and unix:tmpdir can be listened at")]
    Unsupported,
    /// The operating system cannot listen there.
    #[error("cannot listen: {0}")]
    System(SystemError),
}

impl From<AddressError> for BindError {
    fn from(error: AddressError) -> Self {
        Self::Address(error)
    }
}

impl From<io::Error> for BindError {
    fn from(error: io::Error) -> Self {
        Self::System(error.into())
    }
}

/// The reason why a program that connected was not authenticated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WelcomeError {
    /// The program belongs to a user that is not allowed.
    #[error("programs of the user {uid} are not allowed")]
    OtherUser {
        /// The user id that the kernel reports.
        uid: u32,
    },
    /// The program violated the protocol.
    #[error("the peer violated the protocol: {0}")]
    Violation(Violation),
    /// The connection ended during the authentication, for example because it was rejected.
    #[error("the connection ended during the authentication: {0}")]
    Ended(#[from] Ended),
    /// The program did not authenticate in time.
    #[error("the peer did not authenticate in time")]
    TimedOut,
    /// The operating system has no credentials of the program, or no descriptors left.
    #[error(transparent)]
    System(SystemError),
}

impl From<Violation> for WelcomeError {
    fn from(violation: Violation) -> Self {
        Self::Violation(violation)
    }
}

impl From<io::Error> for WelcomeError {
    fn from(error: io::Error) -> Self {
        Self::System(error.into())
    }
}

/// The default time limit for the authentication of a program that connected.
pub const HANDSHAKE_TIME: Duration = Duration::from_secs(10);
