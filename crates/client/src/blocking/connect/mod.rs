//! Connecting: from an address to a connection with a unique name.

mod cookies;
mod dial;
mod error;
mod standard;

use std::os::fd::OwnedFd;
use std::time::Duration;

use cookies::UserCookies;
use dial::{ConnectionCarrier, DialedSocket};
pub use error::{AttemptError, ConnectError, FailedAttempt};
pub use standard::StandardBus;
use unix::{clock, credentials};
use wire::address::{Address, AddressList};
use wire::framer::Space;
use wire::sasl::client::{
    AuthenticationAttempt, AuthenticationPlan, DirectAttempt, FdNegotiation, NoCookies,
    TRACE_DEFAULT,
};

use super::connection::{CALL_TIMEOUT, Connection};
use super::link::deadline;
use super::socket::{BusSocket, SendOutcome, SocketReadOutcome, WaitInterest};
use crate::core::{
    ClientHandshake, CoreConfig, Ended, Established, HandshakeConfig, HandshakeError,
    HandshakeStage, Transmit,
};

/// The options of connecting.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConnectOptions {
    /// Whether to try the mechanism `ANONYMOUS` if the others fail.
    pub anonymous: Anonymous,
    /// Whether to request descriptor passing, if the transport supports it.
    pub fds: FdNegotiation,
    /// The limits of the connection.
    pub core: CoreConfig,
    /// The time limit for each address; `None` means no limit.
    pub timeout: Option<Duration>,
}

impl Default for ConnectOptions {
    /// Anonymous as the last resort, like libdbus and GLib; with descriptors, and with
    /// [`CALL_TIMEOUT`] for each address.
    fn default() -> Self {
        Self {
            anonymous: Anonymous::AsLastResort,
            fds: FdNegotiation::Requested,
            core: CoreConfig::default(),
            timeout: Some(CALL_TIMEOUT),
        }
    }
}

/// Whether a client may authenticate anonymously.
///
/// The server decides what an anonymous client may do. No mechanism authenticates the server to the
/// client, so [`Never`](Self::Never) does not protect the client from a false server.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Anonymous {
    /// The client never authenticates anonymously.
    Never,
    /// The client tries `ANONYMOUS` if the server offers it and rejected the other mechanisms.
    AsLastResort,
}

/// Connecting to a bus.
impl Connection {
    /// Connects to the session bus: `DBUS_SESSION_BUS_ADDRESS`, or else `$XDG_RUNTIME_DIR/bus`.
    ///
    /// # Errors
    ///
    /// If all addresses failed; the error states the reason for each address.
    pub fn session() -> Result<Self, ConnectError> {
        Self::standard(StandardBus::Session)
    }

    /// Connects to the system bus: `DBUS_SYSTEM_BUS_ADDRESS`, or else the standard path
    /// `/var/run/dbus/system_bus_socket`.
    ///
    /// # Errors
    ///
    /// As for [`session`](Self::session).
    pub fn system() -> Result<Self, ConnectError> {
        Self::standard(StandardBus::System)
    }

    /// Connects to one of the standard buses.
    ///
    /// # Errors
    ///
    /// As for [`session`](Self::session).
    pub fn standard(bus: StandardBus) -> Result<Self, ConnectError> {
        Self::open_with(&bus.address()?, &ConnectOptions::default())
    }

    /// Connects to an address, or to the first of several that works.
    ///
    /// ```no_run
    /// use diligence_client::Connection;
    /// let bus = Connection::open("unix:path=/run/example/bus")?;
    /// # Ok::<(), diligence_client::ConnectError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ConnectError::Address`] if the text is not a valid list of addresses; otherwise as for
    /// [`session`](Self::session).
    pub fn open(address: &str) -> Result<Self, ConnectError> {
        Self::open_with(&address.parse()?, &ConnectOptions::default())
    }

    /// Connects to the first of several addresses that works.
    ///
    /// # Errors
    ///
    /// [`ConnectError::Failed`] if all addresses failed.
    pub fn open_with(
        addresses: &AddressList,
        options: &ConnectOptions,
    ) -> Result<Self, ConnectError> {
        let mut failed = Vec::new();
        for address in addresses {
            match attempt(address, options) {
                Ok(connection) => return Ok(connection),
                Err(error) => failed.push(FailedAttempt { address: address.clone(), error }),
            }
        }
        Err(ConnectError::Failed(failed))
    }
}

/// Tries one address. On a Unix socket the whole handshake is pipelined first; only if that fails,
/// a second socket is opened to try the mechanisms one after the other.
fn attempt(address: &Address, options: &ConnectOptions) -> Result<Connection, AttemptError> {
    let deadline = deadline(options.timeout);
    let dial = || dial::dial(&address.transport, options.timeout);
    let ask = |dialed| log_in(dialed, sequential_plan(options)?, options, deadline);
    let dialed = dial()?;
    let connection = match dialed.carrier {
        ConnectionCarrier::Network => ask(dialed)?,
        ConnectionCarrier::Local => {
            match log_in(
                dialed,
                AuthenticationPlan::Pipelined(DirectAttempt::ExternalWithoutUid),
                options,
                deadline,
            ) {
                Err(error) if error.suggests_sequential_login() => ask(dial()?)?,
                done => done?,
            }
        }
    };
    checked(connection, address)
}

/// Checks that the server has the GUID in the address.
fn checked(connection: Connection, address: &Address) -> Result<Connection, AttemptError> {
    match (address.guid, connection.server_guid()) {
        (Some(expected), Some(found)) if expected != found => {
            Err(AttemptError::OtherServer { expected, found })
        }
        _ => Ok(connection),
    }
}

/// A plan that tries all mechanisms one after the other.
fn sequential_plan(options: &ConnectOptions) -> Result<AuthenticationPlan, AttemptError> {
    let uid = credentials::own_credentials().map_err(AttemptError::system)?.uid;
    let mut then = vec![AuthenticationAttempt::Cookie { user: uid.to_string() }];
    if options.anonymous == Anonymous::AsLastResort {
        then.push(DirectAttempt::Anonymous { trace: TRACE_DEFAULT.into() }.into());
    }
    Ok(AuthenticationPlan::Sequential { first: DirectAttempt::External { uid }.into(), then })
}

fn log_in(
    dialed: DialedSocket,
    plan: AuthenticationPlan,
    options: &ConnectOptions,
    deadline: Option<Duration>,
) -> Result<Connection, AttemptError> {
    let DialedSocket { socket, carrier } = dialed;
    let fds = match carrier {
        ConnectionCarrier::Local => options.fds,
        ConnectionCarrier::Network => FdNegotiation::NotRequested,
    };
    let cookies = match plan {
        AuthenticationPlan::Pipelined(_) => None,
        AuthenticationPlan::Sequential { .. } => UserCookies::find(),
    };
    let handshake = ClientHandshake::start(HandshakeConfig { plan, fds, core: options.core });
    let established = match cookies {
        Some(mut cookies) => exchange(handshake, &socket, &mut cookies, deadline)?,
        None => exchange(handshake, &socket, &mut NoCookies, deadline)?,
    };
    Ok(Connection::new(established, socket))
}

/// Exchanges bytes until the handshake completes.
fn exchange(
    mut handshake: ClientHandshake<OwnedFd>,
    socket: &BusSocket,
    cookies: &mut impl wire::sasl::client::Cookies,
    deadline: Option<Duration>,
) -> Result<Established<OwnedFd>, AttemptError> {
    let mut space = [0; 4096];
    loop {
        send_all(&mut handshake, socket, deadline)?;
        let timeout = deadline.map(|deadline| deadline.saturating_sub(clock::monotonic()));
        // Descriptors that arrive before they are negotiated are discarded.
        let received = match socket.receive(Space::Scratch(&mut space), &mut Vec::new(), timeout)? {
            SocketReadOutcome::Bytes(count) => &space[..count],
            SocketReadOutcome::Nothing if timeout == Some(Duration::ZERO) => {
                return Err(AttemptError::TimedOut);
            }
            SocketReadOutcome::Nothing => continue,
        };
        match handshake.handle_received(received, cookies)? {
            HandshakeStage::Unfinished(next) => handshake = next,
            HandshakeStage::Established(established) => return Ok(established),
        }
    }
}

fn send_all(
    handshake: &mut ClientHandshake<OwnedFd>,
    socket: &BusSocket,
    deadline: Option<Duration>,
) -> Result<(), AttemptError> {
    while !handshake.poll_transmit().is_empty() {
        let transmit = Transmit { bytes: handshake.poll_transmit(), descriptors: &[] };
        match socket.send(&transmit)? {
            SendOutcome::Bytes(count) => handshake.transmitted(count),
            SendOutcome::Full => {
                let timeout = deadline.map(|deadline| deadline.saturating_sub(clock::monotonic()));
                if timeout == Some(Duration::ZERO) {
                    return Err(AttemptError::TimedOut);
                }
                socket.wait_for(WaitInterest::Writable, timeout)?;
            }
        }
    }
    Ok(())
}

impl AttemptError {
    /// True if a sequential login may succeed: the server may not support pipelining, or accept
    /// only another mechanism.
    fn suggests_sequential_login(&self) -> bool {
        matches!(
            self,
            Self::Handshake(HandshakeError::Authentication(_)) | Self::Ended(Ended::Closed)
        )
    }
}
