//! Connections, and what is under way on them.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, IoSlice};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};

use super::{FailedWrite, SimulatedFile, SimulatedMachine};
use crate::credentials::Ids;
use crate::poll::Ready;
use crate::transfer::{DescriptorDelivery, ReceiveOutcome};

/// The number of a connection, which no other gets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SocketId(u64);

/// A connection between somebody and the daemon.
#[derive(Debug)]
pub struct SimulatedSocket {
    pub(crate) owner: Ids,
    /// The number that the daemon has for it, from when it was accepted.
    pub(super) number: Option<RawFd>,
    to_daemon: SimulatedStream,
    to_peer: SimulatedStream,
    is_left_by_peer: bool,
    is_left_by_daemon: bool,
    /// Who left had not read all: that is an error, once.
    is_reset: bool,
    /// Bytes that the daemon has written.
    written: u64,
    /// One in so many writes of the daemon fails; `None` for no write.
    pub(super) fails_once_in: Option<usize>,
    /// Writes that failed and that the peer has not been shown yet.
    pub(super) failed: Vec<FailedWrite>,
    reception: Reception,
}

/// When the daemon sees what it has written as received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reception {
    /// When the peer reads it.
    ByPeer,
    /// As soon as it is written.
    AtOnce,
}

/// Bytes in one direction.
#[derive(Debug, Default)]
struct SimulatedStream {
    pieces: VecDeque<StreamPiece>,
    len: usize,
    capacity: usize,
}

/// Bytes that were written at once, as far as they were not read.
#[derive(Debug)]
struct StreamPiece {
    bytes: Vec<u8>,
    /// How many of them were read.
    start: usize,
    /// They come with the first byte.
    descriptors: Vec<OwnedFd>,
}

/// What was read.
#[derive(Debug, Default)]
pub struct Arrived {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The descriptors.
    pub descriptors: Vec<OwnedFd>,
    /// Writes of the daemon that failed, which the peer itself would not see.
    pub failed: Vec<FailedWrite>,
    /// Whether no more will come.
    pub has_ended: bool,
}

impl SimulatedStream {
    const fn room(&self) -> usize {
        self.capacity.saturating_sub(self.len)
    }

    fn push(&mut self, bytes: &[u8], descriptors: Vec<OwnedFd>) {
        self.len += bytes.len();
        match self.pieces.back_mut() {
            Some(last) if descriptors.is_empty() && last.descriptors.is_empty() => {
                last.bytes.extend_from_slice(bytes);
            }
            _ => {
                self.pieces.push_back(StreamPiece { bytes: bytes.to_vec(), start: 0, descriptors })
            }
        }
    }

    /// Takes up to `most` bytes. What has descriptors is not taken together with what was before or
    /// comes behind (unix(7)).
    fn take(
        &mut self,
        most: usize,
        mut put: impl FnMut(usize, &[u8]),
        descriptors: &mut Vec<OwnedFd>,
    ) -> usize {
        let mut taken = 0;
        while taken < most
            && let Some(piece) = self.pieces.front_mut()
        {
            let had_descriptors = !piece.descriptors.is_empty();
            if had_descriptors && taken > 0 {
                break;
            }
            descriptors.append(&mut piece.descriptors);
            let rest = &piece.bytes[piece.start..];
            let count = rest.len().min(most - taken);
            put(taken, &rest[..count]);
            taken += count;
            piece.start += count;
            if piece.start == piece.bytes.len() {
                self.pieces.pop_front();
            }
            if had_descriptors {
                break;
            }
        }
        self.len -= taken;
        taken
    }
}

impl SimulatedSocket {
    pub(crate) fn ready(&self) -> Ready {
        Ready {
            read: self.to_daemon.len > 0 || self.is_left_by_peer,
            write: self.to_peer.room() > 0 || self.is_left_by_peer,
            hangup: self.is_left_by_peer,
            error: self.is_reset,
        }
    }
}

/// What the daemon does.
impl SimulatedMachine {
    pub(crate) fn socket_of(&self, socket: BorrowedFd<'_>) -> Option<&SimulatedSocket> {
        match self.files.get(&socket.as_raw_fd())?.file {
            SimulatedFile::Socket(id) => self.sockets.get(&id),
            _ => None,
        }
    }

    fn socket_of_mut(&mut self, socket: BorrowedFd<'_>) -> io::Result<&mut SimulatedSocket> {
        let id = self.socket_id(socket)?;
        Ok(self.sockets.get_mut(&id).expect("the daemon has it"))
    }

    fn socket_id(&self, socket: BorrowedFd<'_>) -> io::Result<SocketId> {
        match self.files.get(&socket.as_raw_fd()).map(|opened| opened.file) {
            Some(SimulatedFile::Socket(id)) => Ok(id),
            _ => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    pub(crate) fn take(
        &mut self,
        socket: BorrowedFd<'_>,
        room: usize,
        put: impl FnMut(usize, &[u8]),
        descriptors: &mut Vec<OwnedFd>,
    ) -> io::Result<ReceiveOutcome> {
        let most = self.chance.portion(room);
        let socket = self.socket_of_mut(socket)?;
        if socket.to_daemon.len == 0 {
            return match (std::mem::take(&mut socket.is_reset), socket.is_left_by_peer) {
                (true, _) => Err(io::ErrorKind::ConnectionReset.into()),
                (false, true) => {
                    Ok(ReceiveOutcome { bytes: 0, descriptors: DescriptorDelivery::Complete })
                }
                (false, false) => Err(io::ErrorKind::WouldBlock.into()),
            };
        }
        let bytes = socket.to_daemon.take(most, put, descriptors);
        Ok(ReceiveOutcome { bytes, descriptors: DescriptorDelivery::Complete })
    }

    pub(crate) fn give(
        &mut self,
        socket: BorrowedFd<'_>,
        slices: &[IoSlice<'_>],
        descriptors: &[BorrowedFd<'_>],
    ) -> io::Result<usize> {
        let asked = slices.iter().map(|slice| slice.len()).sum();
        let portion = self.chance.portion(asked);
        let id = self.socket_id(socket)?;
        let shortage = self.next_shortage(id, descriptors.len());
        let socket = self.sockets.get_mut(&id).expect("the daemon has it");
        if socket.is_left_by_peer {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let count = portion.min(socket.to_peer.room());
        if count == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        if let Some(error) = shortage {
            let bytes = slices.iter().flat_map(|slice| slice.iter().copied()).collect();
            let position = socket.written;
            self.note_failed(FailedWrite { socket: id, position, bytes });
            return Err(error);
        }
        socket.written += count as u64;
        let descriptors = descriptors.iter().map(|one| one.try_clone_to_owned());
        let mut descriptors = descriptors.collect::<io::Result<_>>()?;
        let mut left = count;
        for slice in slices {
            let piece = &slice[..slice.len().min(left)];
            left -= piece.len();
            if !piece.is_empty() {
                socket.to_peer.push(piece, std::mem::take(&mut descriptors));
            }
        }
        Ok(count)
    }

    /// How many bytes the daemon has written to a socket that were not received.
    pub(crate) fn unreceived(&self, socket: BorrowedFd<'_>) -> u64 {
        match self.socket_of(socket) {
            Some(socket) if socket.reception == Reception::ByPeer => socket.to_peer.len as u64,
            _ => 0,
        }
    }

    pub(crate) fn shut_down(&mut self, socket: BorrowedFd<'_>) {
        if let Ok(id) = self.socket_id(socket) {
            self.closed_by_daemon(id);
        }
    }

    pub(super) fn closed_by_daemon(&mut self, id: SocketId) {
        if let Some(socket) = self.sockets.get_mut(&id) {
            socket.is_left_by_daemon = true;
            socket.to_daemon = SimulatedStream::default();
            if socket.is_left_by_peer {
                self.sockets.remove(&id);
            }
        }
    }
}

/// What others do.
impl SimulatedMachine {
    /// Connects. So many bytes may be under way in each direction.
    pub fn connect(&mut self, owner: Ids, capacity: usize) -> SocketId {
        let id = SocketId(self.next_socket);
        self.next_socket += 1;
        let stream = || SimulatedStream { capacity, ..SimulatedStream::default() };
        let (to_daemon, to_peer) = (stream(), stream());
        let socket = SimulatedSocket {
            owner,
            number: None,
            to_daemon,
            to_peer,
            is_left_by_peer: false,
            is_left_by_daemon: false,
            is_reset: false,
            written: 0,
            fails_once_in: None,
            failed: Vec::new(),
            reception: Reception::ByPeer,
        };
        self.sockets.insert(id, socket);
        self.waiting.push_back(id);
        self.note_all(|file| file == SimulatedFile::Listener);
        id
    }

    /// Sends bytes, descriptors with the first of them; tells how many were taken. None are if the
    /// daemon has closed the connection.
    pub fn send(&mut self, id: SocketId, bytes: &[u8], descriptors: Vec<OwnedFd>) -> usize {
        let Some(socket) = self.sockets.get_mut(&id) else { return 0 };
        let count = bytes.len().min(socket.to_daemon.room());
        if count > 0 && !socket.is_left_by_daemon {
            socket.to_daemon.push(&bytes[..count], descriptors);
            self.note_socket(id);
            return count;
        }
        0
    }

    /// Reads up to `most` bytes.
    pub fn receive(&mut self, id: SocketId, most: usize) -> Arrived {
        let mut arrived = Arrived::default();
        let Some(socket) = self.sockets.get_mut(&id) else {
            return Arrived { has_ended: true, ..arrived };
        };
        let bytes = &mut arrived.bytes;
        let put = |_: usize, piece: &[u8]| bytes.extend_from_slice(piece);
        socket.to_peer.take(most, put, &mut arrived.descriptors);
        arrived.failed = std::mem::take(&mut socket.failed);
        arrived.has_ended = socket.is_left_by_daemon && socket.to_peer.len == 0;
        self.note_socket(id);
        arrived
    }

    /// Closes the connection. What was sent is still there for the daemon.
    pub fn leave(&mut self, id: SocketId) {
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        socket.is_left_by_peer = true;
        socket.is_reset = socket.to_peer.len > 0;
        socket.to_peer = SimulatedStream::default();
        if socket.is_left_by_daemon {
            self.sockets.remove(&id);
        }
        self.note_socket(id);
    }

    /// From now on so many bytes may be under way in each direction.
    pub fn set_capacity(&mut self, id: SocketId, capacity: usize) {
        if let Some(socket) = self.sockets.get_mut(&id) {
            (socket.to_daemon.capacity, socket.to_peer.capacity) = (capacity, capacity);
            self.note_socket(id);
        }
    }

    /// From now on the daemon sees what it writes to a connection as received.
    pub fn receive_at_once(&mut self, id: SocketId) {
        if let Some(socket) = self.sockets.get_mut(&id) {
            socket.reception = Reception::AtOnce;
        }
    }

    /// How many descriptors the daemon has sent that were not received, by the user of the peer. The
    /// kernel counts them until the peer has left, also if the daemon has closed the connection.
    pub fn unreceived_descriptors(&self) -> BTreeMap<u32, usize> {
        let mut users = BTreeMap::new();
        let is_counted = |socket: &&SimulatedSocket| socket.reception == Reception::ByPeer;
        for socket in self.sockets.values().filter(is_counted) {
            let count = socket.to_peer.pieces.iter().map(|piece| piece.descriptors.len());
            *users.entry(socket.owner.uid).or_default() += count.sum::<usize>();
        }
        users
    }

    /// How many connections there are of which one end is not closed, at least.
    pub fn connection_count(&self) -> usize {
        self.sockets.len()
    }

    fn note_socket(&mut self, id: SocketId) {
        self.candidates.extend(self.sockets.get(&id).and_then(|socket| socket.number));
    }
}
