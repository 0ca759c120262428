//! Listening sockets of the daemon, and their files.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use super::{SimulatedFile, SimulatedMachine, SocketId};

/// The identifier of a listener, which is never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ListenerId(u64);

/// All listeners, and the files of sockets.
#[derive(Debug, Default)]
pub(super) struct Listeners {
    open: BTreeMap<ListenerId, SimulatedListener>,
    next: u64,
    /// The paths of sockets that were not removed.
    files: BTreeSet<String>,
    /// True while the daemon executes another program, which drops everything but removes nothing.
    keeps_files: bool,
}

#[derive(Debug)]
struct SimulatedListener {
    /// The path or the abstract name.
    place: String,
    /// Connections that the daemon has not accepted yet, oldest first.
    waiting: VecDeque<SocketId>,
}

impl Listeners {
    /// The listener at a place. If the file of a socket was removed, nobody can find its listener.
    pub(super) fn at(&self, place: &str) -> Option<ListenerId> {
        let is_reachable = |listener: &SimulatedListener| {
            listener.place == place && (!place.starts_with('/') || self.files.contains(place))
        };
        self.open.iter().find(|(_, listener)| is_reachable(listener)).map(|(id, _)| *id)
    }

    pub(super) fn has_waiting(&self, id: ListenerId) -> bool {
        self.open.get(&id).is_some_and(|listener| !listener.waiting.is_empty())
    }

    pub(super) fn wait(&mut self, id: ListenerId, socket: SocketId) {
        self.open.get_mut(&id).expect("it is open").waiting.push_back(socket);
    }
}

impl SimulatedMachine {
    /// Opens a listener at a path, whose file is created, or at an abstract name.
    pub(crate) fn listen(&mut self, place: String) -> io::Result<OwnedFd> {
        if place.starts_with('/') && !self.listeners.files.insert(place.clone()) {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        let id = ListenerId(self.listeners.next);
        self.listeners.next += 1;
        let listener = SimulatedListener { place, waiting: VecDeque::new() };
        self.listeners.open.insert(id, listener);
        self.open(SimulatedFile::Listener(id))
    }

    /// Opens the oldest waiting connection of a listener, if there is one.
    pub(crate) fn accept_from(&mut self, listener: BorrowedFd<'_>) -> Option<io::Result<OwnedFd>> {
        let SimulatedFile::Listener(id) = self.files.get(&listener.as_raw_fd())?.file else {
            return None;
        };
        let socket = *self.listeners.open.get(&id)?.waiting.front()?;
        let opened = self.open(SimulatedFile::Socket(socket));
        if opened.is_ok() {
            self.listeners.open.get_mut(&id)?.waiting.pop_front();
        }
        Some(opened)
    }

    /// The kernel closes the connections that the daemon has not accepted.
    pub(super) fn stop_listening(&mut self, id: ListenerId) {
        let closed = self.listeners.open.remove(&id);
        for socket in closed.into_iter().flat_map(|listener| listener.waiting) {
            self.closed_by_daemon(socket);
        }
    }

    /// Removes the file of a socket and returns whether it existed.
    pub(crate) fn remove_file(&mut self, path: &str) -> bool {
        self.listeners.files.remove(path)
    }

    /// Removes the file of a socket whose owner was dropped.
    pub(crate) fn drop_file(&mut self, path: &str) {
        if !self.listeners.keeps_files {
            self.remove_file(path);
        }
    }

    /// Sets whether the daemon is executing another program: then the files of dropped sockets stay.
    pub fn set_executing(&mut self, is_executing: bool) {
        self.listeners.keeps_files = is_executing;
    }

    /// Returns the paths of all sockets that the daemon has not removed.
    pub fn socket_files(&self) -> impl Iterator<Item = &str> {
        self.listeners.files.iter().map(String::as_str)
    }
}
