//! When connections are accepted.
//!
//! The number of descriptors of a process is limited. The bus stops accepting connections before it
//! has used all of them, because it also needs descriptors to receive messages with descriptors and to
//! read files. New connections then wait in the queue of the kernel until another one closes.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

use bus::ContainerId;
use sys::filesystem::FileIdentity;
use sys::poll::Interest;
use sys::rlimit::open_files_max;
use sys::socket::Accepted;

use super::entrance::Entrance;
use super::loop_state::LoopState;
use super::source::EventSource;
use crate::fault::{DescriptorShortage, Fault};
use crate::listen::{Listener, PassedSocketError, PassedSocketProblem};
use crate::os_error::OsError;

/// Whether the poller watches the listeners.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Listening {
    Watched,
    /// The loop has not started.
    NotYet,
    /// There is no descriptor for another connection. The bus checks again when a connection
    /// closes, and periodically, because other descriptors may have been closed.
    OutOfRoom {
        retry_at: Duration,
    },
}

/// The limit of descriptors, and whether they are short.
#[derive(Debug)]
struct DescriptorReserve {
    /// Descriptors from this number on are reserved for other uses than new connections.
    reserved: u64,
    /// When they were last short, until the log reports the end of the shortage.
    short: Option<Duration>,
}

impl DescriptorReserve {
    /// The limits of this process.
    fn of_this_process() -> Self {
        let max = open_files_max();
        Self { reserved: max - RESERVE.min(max / 4), short: None }
    }

    /// Whether unreserved descriptors are left. The kernel always assigns the lowest free number.
    fn are_left(&self, latest: impl AsFd) -> bool {
        let number = latest.as_fd().as_raw_fd();
        u64::try_from(number).is_ok_and(|number| number < self.reserved)
    }
}

/// The listening sockets, and whether they are watched.
#[derive(Debug)]
pub(super) struct ListenerWatch {
    listeners: Vec<Listener>,
    /// The listeners of containers.
    containers: BTreeMap<ContainerId, Listener>,
    listening: Listening,
    descriptors: DescriptorReserve,
}

impl ListenerWatch {
    pub(super) fn new(listeners: Vec<Listener>) -> Self {
        let descriptors = DescriptorReserve::of_this_process();
        let containers = BTreeMap::new();
        Self { listeners, containers, listening: Listening::NotYet, descriptors }
    }

    /// Creates the state before the first turn of a restored bus, in which descriptors were last
    /// short at this time.
    pub(super) fn restored(
        listeners: Vec<Listener>,
        containers: BTreeMap<ContainerId, Listener>,
        short: Option<Duration>,
    ) -> Self {
        let mut restored = Self { containers, ..Self::new(listeners) };
        restored.descriptors.short = short;
        restored
    }

    /// When descriptors were last short.
    pub(super) const fn short_since(&self) -> Option<Duration> {
        self.descriptors.short
    }

    pub(super) fn listeners(&self) -> &[Listener] {
        &self.listeners
    }

    /// The listeners of containers.
    pub(super) const fn containers(&self) -> &BTreeMap<ContainerId, Listener> {
        &self.containers
    }

    /// The listener at an entrance; `None` if the container does not accept connections any more.
    pub(super) fn listener(&self, entrance: Entrance) -> Option<&Listener> {
        match entrance {
            Entrance::Configured(index) => self.listeners.get(index),
            Entrance::Container(container) => self.containers.get(&container),
        }
    }

    /// Checks that a socket that a program has passed does not belong to a listener.
    pub(super) fn check_new(&self, socket: &OwnedFd) -> Result<(), PassedSocketError> {
        let identity = |socket: &OwnedFd| FileIdentity::of_descriptor(socket).ok();
        let passed = identity(socket);
        let mut sockets = self.all().flat_map(|(_, listener)| &listener.sockets);
        match sockets.any(|known| identity(known) == passed) {
            true => Err(PassedSocketError(PassedSocketProblem::InUse)),
            false => Ok(()),
        }
    }

    /// Adds the listener of a new container.
    pub(super) fn add_container(
        &mut self,
        state: &mut LoopState,
        container: ContainerId,
        added: Listener,
    ) -> io::Result<()> {
        if self.listening == Listening::Watched {
            watch(state, Entrance::Container(container), &added)?;
        }
        self.containers.insert(container, added);
        Ok(())
    }

    /// Closes the listener of a container.
    pub(super) fn close_container(&mut self, state: &LoopState, container: ContainerId) {
        let Some(listener) = self.containers.remove(&container) else { return };
        // Closing a descriptor removes it, too, unless another process has a copy.
        if self.listening == Listening::Watched {
            for socket in &listener.sockets {
                let _ = state.poller.remove(socket);
            }
        }
    }

    /// All listeners: the configured ones, then the containers.
    fn all(&self) -> impl Iterator<Item = (Entrance, &Listener)> {
        let configured = self.listeners.iter().enumerate();
        let configured = configured.map(|(index, it)| (Entrance::Configured(index), it));
        let contained = self.containers.iter();
        configured.chain(contained.map(|(&id, listener)| (Entrance::Container(id), listener)))
    }

    /// Accepts one connection, unless descriptors are short. Further waiting connections are
    /// reported in the next turn, so a single connection needs no second system call.
    pub(super) fn accept(
        &mut self,
        state: &mut LoopState,
        entrance: Entrance,
        socket: usize,
    ) -> io::Result<Option<OwnedFd>> {
        if self.listening != Listening::Watched {
            return Ok(None);
        }
        let Some(listener) = self.listener(entrance) else { return Ok(None) };
        match sys::socket::accept(&listener.sockets[socket])? {
            Accepted::Connection(socket) => {
                self.note_accepted(state, &socket)?;
                Ok(Some(socket))
            }
            Accepted::NoneWaiting => Ok(None),
            Accepted::OutOfRoom(error) => {
                let shortage = DescriptorShortage::System(OsError::from(error));
                self.out_of_room(state, shortage)?;
                Ok(None)
            }
        }
    }

    /// Watches the listeners, unless descriptors are short.
    pub(super) fn update(&mut self, state: &mut LoopState) -> io::Result<()> {
        match self.listening {
            Listening::Watched => Ok(()),
            Listening::NotYet => self.start_listening(state),
            Listening::OutOfRoom { retry_at } if retry_at <= state.now => self.retry(state),
            Listening::OutOfRoom { retry_at } => {
                state.alarm.no_later_than(retry_at);
                Ok(())
            }
        }
    }

    /// Notes that a connection was accepted, of which `descriptor` is the latest descriptor.
    fn note_accepted(&mut self, state: &mut LoopState, descriptor: impl AsFd) -> io::Result<()> {
        if !self.descriptors.are_left(descriptor) {
            return self.out_of_room(state, DescriptorShortage::Reserved);
        }
        if let Some(short) = self.descriptors.short
            && state.now.saturating_sub(short) > SHORTAGE_OVER
        {
            self.descriptors.short = None;
            state.reporter.accepting_again(&state.log);
        }
        Ok(())
    }

    /// Notes that there is no descriptor for another connection.
    fn out_of_room(
        &mut self,
        state: &mut LoopState,
        shortage: DescriptorShortage,
    ) -> io::Result<()> {
        let earlier = self.descriptors.short.replace(state.now);
        // If a closed connection is replaced at once, it is still the same shortage.
        if earlier.is_none_or(|earlier| state.now.saturating_sub(earlier) > SHORTAGE_OVER) {
            state.fault(Fault::NoDescriptors(shortage));
        }
        self.stop_listening(state, Listening::OutOfRoom { retry_at: state.now + RETRY_AFTER })
    }

    /// Notes that a connection closed, so that a descriptor is free.
    pub(super) fn note_closed(&mut self, now: Duration) {
        if let Listening::OutOfRoom { retry_at } = &mut self.listening {
            *retry_at = now;
        }
    }

    fn retry(&mut self, state: &mut LoopState) -> io::Result<()> {
        match state.poller.as_fd().try_clone_to_owned() {
            Ok(next) if self.descriptors.are_left(&next) => self.start_listening(state),
            _ => {
                // The shortage continues, even if no connection was attempted for long.
                self.descriptors.short = Some(state.now);
                let retry_at = state.now + RETRY_AFTER;
                state.alarm.no_later_than(retry_at);
                self.listening = Listening::OutOfRoom { retry_at };
                Ok(())
            }
        }
    }

    fn start_listening(&mut self, state: &mut LoopState) -> io::Result<()> {
        self.all().try_for_each(|(entrance, listener)| watch(state, entrance, listener))?;
        self.listening = Listening::Watched;
        Ok(())
    }

    fn stop_listening(&mut self, state: &mut LoopState, listening: Listening) -> io::Result<()> {
        if self.listening == Listening::Watched {
            for socket in self.all().flat_map(|(_, listener)| &listener.sockets) {
                state.poller.remove(socket)?;
            }
        }
        self.listening = listening;
        Ok(())
    }
}

/// Watches the sockets of a listener.
fn watch(state: &LoopState, entrance: Entrance, listener: &Listener) -> io::Result<()> {
    listener.sockets.iter().enumerate().try_for_each(|(socket, listening)| {
        let token = EventSource::Listener { entrance, socket }.token();
        state.poller.add(listening, token, Interest::Read)
    })
}

/// Maximum number of reserved descriptors; a quarter of the limit of open files if that is less.
const RESERVE: u64 = 64;

/// The interval of checks for free descriptors.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The shortage is over if descriptors were not short for this long.
const SHORTAGE_OVER: Duration = Duration::from_secs(5);
