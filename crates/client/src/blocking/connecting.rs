//! Connecting in the current thread.

use std::future::Future;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use unix::clock;
use wire::address::{Address, AddressList};
use wire::framer::Space;

use super::connection::Connection;
use crate::connect::{
    ConnectError, ConnectOptions, ConnectWaiting, IncomingPeer, StandardBus, WelcomeError, open,
    redial_plan, welcome,
};
use crate::core::Ended;
use crate::link::{
    BusSocket, EstablishedSocket, Reconnect, Redial, SocketReadOutcome, WaitInterest, WaitStatus,
};

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
        let connected = open_now(addresses.entries(), options)?;
        let redial = match options.reconnect {
            Reconnect::Never => None,
            Reconnect::WhenLost(limits) => {
                let (addresses, options) = redial_plan(addresses.entries(), options, limits);
                Some(Box::new(BlockingRedial { addresses, options }) as Box<dyn Redial>)
            }
        };
        Ok(Self::new(connected, options.reconnect, redial))
    }
}

/// Connections to other programs without a bus.
impl Connection {
    /// Connects to another program that [listens](crate::PeerListener), without a bus between them:
    /// nobody has a name, and each side gets all signals of the other. Both can call and serve.
    ///
    /// ```no_run
    /// use diligence_client::Connection;
    ///
    /// let peer = Connection::open_peer("unix:path=/run/example/socket")?;
    /// let player = peer.peer_proxy("/org/example/Player", "org.example.Player")?;
    /// player.call("Play", &("a song",))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open).
    pub fn open_peer(address: &str) -> Result<Self, ConnectError> {
        Self::open_peer_with(&address.parse()?, &ConnectOptions::default())
    }

    /// Connects to another program, at the first of several addresses that works. Such a connection
    /// is not restored after its end.
    ///
    /// # Errors
    ///
    /// [`ConnectError::Failed`] if all addresses failed.
    pub fn open_peer_with(
        addresses: &AddressList,
        options: &ConnectOptions,
    ) -> Result<Self, ConnectError> {
        let connected = open_now(addresses.entries(), &options.for_peer())?;
        Ok(Self::new(connected, Reconnect::Never, None))
    }

    /// Authenticates another program that connected to a [`PeerListener`](crate::PeerListener).
    /// Waits for at most the time in its [`ListenOptions`](crate::ListenOptions).
    ///
    /// # Errors
    ///
    /// If the program does not authenticate in time as a user that is allowed.
    pub fn accept_peer(peer: IncomingPeer) -> Result<Self, WelcomeError> {
        let welcomed = finish(welcome(peer, &mut BlockingWaiting))?;
        Ok(Self::new(welcomed, Reconnect::Never, None))
    }
}

/// Connects in the current thread.
fn open_now(
    addresses: &[Address],
    options: &ConnectOptions,
) -> Result<EstablishedSocket, ConnectError> {
    finish(open(addresses, options, &mut BlockingWaiting))
}

/// Runs a future that waits only by means of [`BlockingWaiting`], which blocks this thread.
fn finish<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("the future blocks instead of waiting"),
    }
}

/// Connects again after the bus went away.
struct BlockingRedial {
    addresses: Vec<Address>,
    options: ConnectOptions,
}

impl Redial for BlockingRedial {
    fn redial(&self) -> Option<EstablishedSocket> {
        open_now(&self.addresses, &self.options).ok()
    }
}

/// Waits by blocking the current thread, so its futures are ready at once.
struct BlockingWaiting;

impl ConnectWaiting for BlockingWaiting {
    fn watch(&mut self, _: &BusSocket) -> Result<(), Ended> {
        Ok(())
    }

    async fn receive(
        &mut self,
        socket: &BusSocket,
        space: &mut [u8],
        descriptors: &mut Vec<OwnedFd>,
        deadline: Option<Duration>,
    ) -> Result<SocketReadOutcome, Ended> {
        socket.receive(Space::Scratch(space), descriptors, timeout(deadline))
    }

    async fn wait_for_room(
        &mut self,
        socket: &BusSocket,
        deadline: Option<Duration>,
    ) -> Result<WaitStatus, Ended> {
        socket.wait_for(WaitInterest::Writable, &[], timeout(deadline))
    }
}

fn timeout(deadline: Option<Duration>) -> Option<Duration> {
    deadline.map(|deadline| deadline.saturating_sub(clock::monotonic()))
}
