//! Saves and restores listeners.

use std::io;
use std::mem;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sys::socket::{SocketKind, local_address};
use wire::address::Address;
use wire::guid::Guid;

use super::passed::without_blocking;
use super::socket_file::SavedSocketFile;
use super::{Listener, ListenerEntry, Nonce, NonceFile, Remains};
use crate::saved_state::{FdCollector, FdIndex, RestoredFds, StateError};

/// A listener in a saved state.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedListener {
    sockets: Vec<FdIndex>,
    is_tcp: bool,
    address: String,
    guid: Guid,
    nonce: Option<Nonce>,
    file: Option<SavedSocketFile>,
    nonce_file: Option<SavedNonceFile>,
}

/// The nonce file of a listener in a saved state.
#[derive(Debug, Serialize, Deserialize)]
struct SavedNonceFile {
    nonce: Nonce,
    #[serde(with = "services::saved_path")]
    path: PathBuf,
}

/// A listener whose files still belong to the program that it was saved by.
#[derive(Debug)]
pub(crate) struct RestoredListener {
    sockets: Vec<OwnedFd>,
    address: Address,
    saved: SavedListener,
}

impl Listener {
    /// Saves the listener with its files.
    pub(crate) fn save<'f>(&'f self, fds: &mut FdCollector<'f>) -> SavedListener {
        let (file, nonce_file) = match &self.remains {
            Remains::Nothing => (None, None),
            Remains::Socket { file } => (Some(SavedSocketFile::of(file)), None),
            Remains::Nonce { file: NonceFile { nonce, path, .. } } => {
                (None, Some(SavedNonceFile { nonce: *nonce, path: path.clone() }))
            }
        };
        SavedListener {
            sockets: self.sockets.iter().map(|socket| fds.add(socket)).collect(),
            is_tcp: self.kind == SocketKind::Tcp,
            address: self.address.to_string(),
            guid: self.guid,
            nonce: match self.entry {
                ListenerEntry::Open => None,
                ListenerEntry::Nonce(nonce) => Some(nonce),
            },
            file,
            nonce_file,
        }
    }
}

impl RestoredListener {
    /// Takes the sockets of a listener.
    pub(crate) fn new(saved: SavedListener, fds: &mut RestoredFds) -> Result<Self, StateError> {
        let address = Address::parse(&saved.address);
        let address = address.map_err(|_| StateError::Inconsistent("an address is invalid"))?;
        let sockets = saved.sockets.iter().map(|socket| fds.take(*socket));
        Ok(Self { sockets: sockets.collect::<Result<_, _>>()?, address, saved })
    }

    /// Uses a socket that the service manager has passed to this process, if it has the address of
    /// this listener. Otherwise returns it. The service manager may have opened it after the old
    /// process ended.
    pub(crate) fn replace_socket(&mut self, passed: OwnedFd) -> Option<OwnedFd> {
        let Ok(address) = local_address(&passed) else { return Some(passed) };
        let has_address =
            |socket: &&mut OwnedFd| local_address(socket).is_ok_and(|it| it == address);
        match self.sockets.iter_mut().find(has_address) {
            Some(socket) => {
                *socket = passed;
                None
            }
            None => Some(passed),
        }
    }

    /// Sets all sockets non-blocking: a service manager sets a socket blocking when it passes it to
    /// a process.
    pub(crate) fn set_nonblocking(&mut self) -> io::Result<()> {
        let kind = self.kind();
        let sockets = mem::take(&mut self.sockets).into_iter();
        self.sockets =
            sockets.map(|socket| without_blocking(socket, kind)).collect::<Result<_, _>>()?;
        Ok(())
    }

    const fn kind(&self) -> SocketKind {
        if self.saved.is_tcp { SocketKind::Tcp } else { SocketKind::Unix }
    }

    /// The listener, which now owns its files.
    pub(crate) fn adopt(self) -> Listener {
        let kind = self.kind();
        let Self { sockets, address, saved } = self;
        let remains = match (saved.file, saved.nonce_file) {
            (Some(file), _) => Remains::Socket { file: file.adopt() },
            (None, Some(SavedNonceFile { nonce, path })) => {
                Remains::Nonce { file: NonceFile::adopt(nonce, path) }
            }
            (None, None) => Remains::Nothing,
        };
        Listener {
            sockets,
            kind,
            address,
            guid: saved.guid,
            entry: saved.nonce.map_or(ListenerEntry::Open, ListenerEntry::Nonce),
            remains,
        }
    }
}
