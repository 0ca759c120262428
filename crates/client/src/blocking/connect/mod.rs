//! From an address to a connection with a name.

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
use sys::{clock, credentials};
use wire::address::{Address, AddressList};
use wire::framer::Space;
use wire::sasl::client::{
    AuthenticationAttempt, AuthenticationPlan, DirectAttempt, FdNegotiation, NoCookies,
    TRACE_DEFAULT,
};

use super::connection::{CALL_TIMEOUT, Connection};
use super::link::deadline;
use super::socket::{BusSocket, ReceiveOutcome, SendOutcome, WaitInterest};
use crate::core::{
    ClientHandshake, CoreConfig, Ended, Established, HandshakeConfig, HandshakeError,
    HandshakeStage, Transmit,
};

/// How to connect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConnectOptions {
    /// Whether to connect without saying who one is, if nothing else works.
    pub anonymous: Anonymous,
    /// Whether to ask for file descriptors, where the transport can carry them.
    pub fds: FdNegotiation,
    /// How much the connection keeps.
    pub core: CoreConfig,
    /// How long one address may take.
    pub timeout: Option<Duration>,
}

impl Default for ConnectOptions {
    /// Anonymous as the last resort, as with the reference's library and GLib; with descriptors, and
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

/// Whether a program may connect without saying who it is.
///
/// The server decides what an anonymous client may do. No mechanism proves to the client which server it
/// talks to, so a client that refuses this one is no safer from a false server.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Anonymous {
    /// It must not.
    Never,
    /// It may, if the server offers it and has rejected the other mechanisms that it offers.
    AsLastResort,
}

/// Connecting.
impl Connection {
    /// Connects to the user's bus: `DBUS_SESSION_BUS_ADDRESS`, or else `$XDG_RUNTIME_DIR/bus`.
    ///
    /// # Errors
    ///
    /// If no address could be connected to; the error names each address and what failed.
    pub fn session() -> Result<Self, ConnectError> {
        Self::standard(StandardBus::Session)
    }

    /// Connects to the machine's bus: `DBUS_SYSTEM_BUS_ADDRESS`, or else its standard place,
    /// `/var/run/dbus/system_bus_socket`.
    pub fn system() -> Result<Self, ConnectError> {
        Self::standard(StandardBus::System)
    }

    /// Connects to one of the buses whose place is agreed on.
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
    pub fn open(address: &str) -> Result<Self, ConnectError> {
        Self::open_with(&address.parse()?, &ConnectOptions::default())
    }

    /// Connects to the first of several addresses that works.
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

/// Tries one address. Where the system vouches for us, everything is sent at once; only if that
/// fails, a second socket is used to ask what else the server accepts.
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

/// Makes sure that the server is the one that the address means.
fn checked(connection: Connection, address: &Address) -> Result<Connection, AttemptError> {
    match (address.guid, connection.server_guid()) {
        (Some(expected), Some(found)) if expected != found => {
            Err(AttemptError::OtherServer { expected, found })
        }
        _ => Ok(connection),
    }
}

/// All mechanisms, one after the other.
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

/// Moves bytes until the connection has its name.
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
        // Descriptors that come before they were agreed on are of no use to anybody.
        let received = match socket.receive(Space::Scratch(&mut space), &mut Vec::new(), timeout)? {
            ReceiveOutcome::Bytes(count) => &space[..count],
            ReceiveOutcome::Nothing if timeout == Some(Duration::ZERO) => {
                return Err(AttemptError::TimedOut);
            }
            ReceiveOutcome::Nothing => continue,
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
    /// Whether a server that wants to be asked first might still accept us.
    fn suggests_sequential_login(&self) -> bool {
        matches!(
            self,
            Self::Handshake(HandshakeError::Authentication(_)) | Self::Ended(Ended::Closed)
        )
    }
}
