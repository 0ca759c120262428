//! Connecting: from an address to a connection with a unique name.

mod cookies;
mod dial;
mod error;
mod listening;
mod standard;

use std::os::fd::OwnedFd;
use std::time::Duration;

use cookies::UserCookies;
use dial::{ConnectionCarrier, DialedSocket};
pub use error::{AttemptError, ConnectError, FailedAttempt};
pub(crate) use listening::welcome;
pub use listening::{
    AllowedPeers, BindError, HANDSHAKE_TIME, IncomingPeer, ListenOptions, PeerListener,
    WelcomeError,
};
pub use standard::StandardBus;
use unix::{clock, credentials};
use wire::address::Address;
use wire::sasl::client::{
    AuthenticationAttempt, AuthenticationPlan, DirectAttempt, FdNegotiation, NoCookies,
    TRACE_DEFAULT,
};

use crate::CALL_TIMEOUT;
use crate::core::{
    ClientHandshake, Core, CoreConfig, Ended, Established, HandshakeConfig, HandshakeError,
    HandshakeStage, OtherEnd, Transmit,
};
use crate::link::{
    BusSocket, EstablishedSocket, Reconnect, ReconnectLimits, SendOutcome, SocketReadOutcome,
    WaitStatus, deadline,
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
    /// Whether the connection connects again after the bus went away.
    pub reconnect: Reconnect,
}

impl Default for ConnectOptions {
    /// Anonymous as the last resort, like libdbus and GLib; with descriptors, with [`CALL_TIMEOUT`]
    /// for each address, and without connecting again.
    fn default() -> Self {
        Self {
            anonymous: Anonymous::AsLastResort,
            fds: FdNegotiation::Requested,
            core: CoreConfig::default(),
            timeout: Some(CALL_TIMEOUT),
            reconnect: Reconnect::Never,
        }
    }
}

impl ConnectOptions {
    /// The same options for a connection to another program without a bus.
    pub(crate) fn for_peer(&self) -> Self {
        let core = CoreConfig { other_end: OtherEnd::Peer, ..self.core };
        Self { core, reconnect: Reconnect::Never, ..self.clone() }
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

/// How a front end waits while it connects.
pub(crate) trait ConnectWaiting {
    /// Prepares to wait for a new socket.
    fn watch(&mut self, socket: &BusSocket) -> Result<(), Ended>;

    /// Receives once, and waits for bytes until the deadline.
    async fn receive(
        &mut self,
        socket: &BusSocket,
        space: &mut [u8],
        descriptors: &mut Vec<OwnedFd>,
        deadline: Option<Duration>,
    ) -> Result<SocketReadOutcome, Ended>;

    /// Waits for room in the socket until the deadline.
    async fn wait_for_room(
        &mut self,
        socket: &BusSocket,
        deadline: Option<Duration>,
    ) -> Result<WaitStatus, Ended>;
}

/// Connects to the first of several addresses that works.
pub(crate) async fn open(
    addresses: &[Address],
    options: &ConnectOptions,
    waiting: &mut impl ConnectWaiting,
) -> Result<EstablishedSocket, ConnectError> {
    let mut failed = Vec::new();
    for address in addresses {
        match attempt(address, options, waiting).await {
            Ok(connected) => return Ok(connected),
            Err(error) => failed.push(FailedAttempt { address: address.clone(), error }),
        }
    }
    Err(ConnectError::Failed(failed))
}

/// The addresses and options for connecting again. A bus that was started again has a new GUID.
pub(crate) fn redial_plan(
    addresses: &[Address],
    options: &ConnectOptions,
    limits: ReconnectLimits,
) -> (Vec<Address>, ConnectOptions) {
    let addresses = addresses.iter().map(|address| Address { guid: None, ..address.clone() });
    (addresses.collect(), ConnectOptions { timeout: Some(limits.attempt), ..options.clone() })
}

/// Tries one address. On a Unix socket the whole handshake is pipelined first; only if that fails,
/// a second socket is opened to try the mechanisms one after the other.
async fn attempt(
    address: &Address,
    options: &ConnectOptions,
    waiting: &mut impl ConnectWaiting,
) -> Result<EstablishedSocket, AttemptError> {
    let deadline = deadline(options.timeout);
    let dial = || dial::dial(&address.transport, options.timeout);
    let dialed = dial()?;
    let dialed = if dialed.carrier == ConnectionCarrier::Local {
        let plan = AuthenticationPlan::Pipelined(DirectAttempt::ExternalWithoutUid);
        match log_in(dialed, plan, options, deadline, waiting).await {
            Err(error) if error.suggests_sequential_login() => dial()?,
            done => return checked(done?, address),
        }
    } else {
        dialed
    };
    let plan = sequential_plan(options)?;
    checked(log_in(dialed, plan, options, deadline, waiting).await?, address)
}

/// Checks that the server has the GUID in the address.
fn checked(
    connected: EstablishedSocket,
    address: &Address,
) -> Result<EstablishedSocket, AttemptError> {
    match (address.guid, connected.established.guid) {
        (Some(expected), Some(found)) if expected != found => {
            Err(AttemptError::OtherServer { expected, found })
        }
        _ => Ok(connected),
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

async fn log_in(
    dialed: DialedSocket,
    plan: AuthenticationPlan,
    options: &ConnectOptions,
    deadline: Option<Duration>,
    waiting: &mut impl ConnectWaiting,
) -> Result<EstablishedSocket, AttemptError> {
    let DialedSocket { socket, carrier } = dialed;
    waiting.watch(&socket)?;
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
        Some(mut cookies) => exchange(handshake, &socket, &mut cookies, deadline, waiting).await?,
        None => exchange(handshake, &socket, &mut NoCookies, deadline, waiting).await?,
    };
    Ok(EstablishedSocket { established, socket })
}

/// Exchanges bytes until the handshake completes.
async fn exchange(
    mut handshake: ClientHandshake<OwnedFd>,
    socket: &BusSocket,
    cookies: &mut impl wire::sasl::client::Cookies,
    deadline: Option<Duration>,
    waiting: &mut impl ConnectWaiting,
) -> Result<Established<OwnedFd>, AttemptError> {
    let (mut space, mut descriptors) = ([0; SPACE_LEN], Vec::new());
    loop {
        send_all(&mut handshake, socket, deadline, waiting).await?;
        let receiving = waiting.receive(socket, &mut space, &mut descriptors, deadline);
        let received = match receiving.await? {
            SocketReadOutcome::Bytes(count) => &space[..count],
            SocketReadOutcome::Nothing if is_over(deadline) => return Err(AttemptError::TimedOut),
            SocketReadOutcome::Nothing => continue,
        };
        match handshake.handle_received(received, descriptors.drain(..), cookies)? {
            HandshakeStage::Unfinished(next) => handshake = next,
            HandshakeStage::Established(mut established) => {
                send_rest(&mut established.core, socket)?;
                return Ok(established);
            }
        }
    }
}

/// Sends the last line of a handshake after which a peer sends nothing.
fn send_rest(core: &mut Core<OwnedFd>, socket: &BusSocket) -> Result<(), Ended> {
    while let Some(transmit) = core.poll_transmit() {
        match socket.send(&transmit)? {
            SendOutcome::Bytes(count) => core.transmitted(count),
            // The rest is sent with the first message.
            SendOutcome::Full => break,
        }
    }
    Ok(())
}

async fn send_all(
    handshake: &mut ClientHandshake<OwnedFd>,
    socket: &BusSocket,
    deadline: Option<Duration>,
    waiting: &mut impl ConnectWaiting,
) -> Result<(), AttemptError> {
    while !handshake.poll_transmit().is_empty() {
        let transmit = Transmit { bytes: handshake.poll_transmit(), descriptors: &[] };
        match socket.send(&transmit)? {
            SendOutcome::Bytes(count) => handshake.transmitted(count),
            SendOutcome::Full if is_over(deadline) => return Err(AttemptError::TimedOut),
            SendOutcome::Full => drop(waiting.wait_for_room(socket, deadline).await?),
        }
    }
    Ok(())
}

/// Number of bytes that are read at once during a handshake.
const SPACE_LEN: usize = 4096;

fn is_over(deadline: Option<Duration>) -> bool {
    deadline.is_some_and(|deadline| deadline <= clock::monotonic())
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
