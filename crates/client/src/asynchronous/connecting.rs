//! Connecting in a task.

use wire::address::AddressList;

use super::connection::Connection;
use super::dialing::{open_in, welcome_in};
use super::runtime::{Reactor, Runtime};
use super::tasks::{ConnectionTasks, TaskRedial};
use crate::blocking;
use crate::connect::{
    ConnectError, ConnectOptions, IncomingPeer, StandardBus, WelcomeError, redial_plan,
};
use crate::link::{EstablishedSocket, Reconnect};

/// Connecting to a bus.
impl Connection {
    /// Connects to the session bus: `DBUS_SESSION_BUS_ADDRESS`, or else `$XDG_RUNTIME_DIR/bus`.
    ///
    /// # Errors
    ///
    /// If all addresses failed; the error states the reason for each address.
    pub async fn session(runtime: &(impl Runtime + Sync)) -> Result<Self, ConnectError> {
        Self::standard(StandardBus::Session, runtime).await
    }

    /// Connects to the system bus: `DBUS_SYSTEM_BUS_ADDRESS`, or else the standard path
    /// `/var/run/dbus/system_bus_socket`.
    ///
    /// # Errors
    ///
    /// As for [`session`](Self::session).
    pub async fn system(runtime: &(impl Runtime + Sync)) -> Result<Self, ConnectError> {
        Self::standard(StandardBus::System, runtime).await
    }

    /// Connects to one of the standard buses.
    ///
    /// # Errors
    ///
    /// As for [`session`](Self::session).
    pub async fn standard(
        bus: StandardBus,
        runtime: &(impl Runtime + Sync),
    ) -> Result<Self, ConnectError> {
        Self::open_with(&bus.address()?, &ConnectOptions::default(), runtime).await
    }

    /// Connects to an address, or to the first of several that works.
    ///
    /// # Errors
    ///
    /// [`ConnectError::Address`] if the text is not a valid list of addresses; otherwise as for
    /// [`session`](Self::session).
    pub async fn open(
        address: &str,
        runtime: &(impl Runtime + Sync),
    ) -> Result<Self, ConnectError> {
        Self::open_with(&address.parse()?, &ConnectOptions::default(), runtime).await
    }

    /// Connects to the first of several addresses that works. Looking up the name of a host, and
    /// connecting to it, block the thread.
    ///
    /// # Errors
    ///
    /// [`ConnectError::Failed`] if all addresses failed.
    pub async fn open_with(
        addresses: &AddressList,
        options: &ConnectOptions,
        runtime: &(impl Runtime + Sync),
    ) -> Result<Self, ConnectError> {
        let (connected, reactor) = open_in(runtime, addresses.entries(), options).await?;
        let redial = match options.reconnect {
            Reconnect::Never => None,
            Reconnect::WhenLost(limits) => {
                let (addresses, options) = redial_plan(addresses.entries(), options, limits);
                Some(TaskRedial::new(addresses, options))
            }
        };
        let tasks = ConnectionTasks::new(reactor, redial);
        Ok(Self::new(tasks, blocking::Connection::new(connected, options.reconnect, None)))
    }
}

/// Connections to other programs without a bus.
impl Connection {
    /// Connects to another program that listens, without a bus between them; see
    /// [`Connection::open_peer`](crate::Connection::open_peer).
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open).
    pub async fn open_peer(
        address: &str,
        runtime: &(impl Runtime + Sync),
    ) -> Result<Self, ConnectError> {
        Self::open_peer_with(&address.parse()?, &ConnectOptions::default(), runtime).await
    }

    /// Connects to another program, at the first of several addresses that works. Such a connection
    /// is not restored after its end.
    ///
    /// # Errors
    ///
    /// [`ConnectError::Failed`] if all addresses failed.
    pub async fn open_peer_with(
        addresses: &AddressList,
        options: &ConnectOptions,
        runtime: &(impl Runtime + Sync),
    ) -> Result<Self, ConnectError> {
        let options = options.for_peer();
        let (connected, reactor) = open_in(runtime, addresses.entries(), &options).await?;
        Ok(Self::of_peer(connected, reactor))
    }

    /// Authenticates another program that connected to a [`PeerListener`](super::PeerListener).
    ///
    /// # Errors
    ///
    /// If the program does not authenticate in time as a user that is allowed.
    pub async fn accept_peer(
        peer: IncomingPeer,
        runtime: &(impl Runtime + Sync),
    ) -> Result<Self, WelcomeError> {
        let (connected, reactor) = welcome_in(runtime, peer).await?;
        Ok(Self::of_peer(connected, reactor))
    }

    fn of_peer(connected: EstablishedSocket, reactor: Box<dyn Reactor>) -> Self {
        let inner = blocking::Connection::new(connected, Reconnect::Never, None);
        Self::new(ConnectionTasks::new(reactor, None), inner)
    }
}
