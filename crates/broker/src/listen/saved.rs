//! Saves and restores listeners.

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sys::socket::SocketKind;
use wire::address::Address;
use wire::guid::Guid;

use super::socket_file::SavedSocketFile;
use super::{Listener, ListenerEntry, Nonce, NonceFile, Remains, SocketFile};
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
            Remains::Socket { file } => (Some(file.save()), None),
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

    /// The listener, which now owns its files.
    pub(crate) fn adopt(self) -> Listener {
        let Self { sockets, address, saved } = self;
        let remains = match (saved.file, saved.nonce_file) {
            (Some(file), _) => Remains::Socket { file: SocketFile::adopt(file) },
            (None, Some(SavedNonceFile { nonce, path })) => {
                Remains::Nonce { file: NonceFile::adopt(nonce, path) }
            }
            (None, None) => Remains::Nothing,
        };
        Listener {
            sockets,
            kind: if saved.is_tcp { SocketKind::Tcp } else { SocketKind::Unix },
            address,
            guid: saved.guid,
            entry: saved.nonce.map_or(ListenerEntry::Open, ListenerEntry::Nonce),
            remains,
        }
    }
}
