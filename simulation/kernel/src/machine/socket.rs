//! Connections between peers and the daemon, and the data in transit on them.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, IoSlice};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};

use super::{FailedWrite, SimulatedFile, SimulatedMachine};
use crate::credentials::Ids;
use crate::poll::Ready;
use crate::transfer::{DescriptorDelivery, ReceiveOutcome};

/// The identifier of a connection, which is never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SocketId(u64);

/// A connection between a peer and the daemon.
#[derive(Debug)]
pub struct SimulatedSocket {
    pub(crate) owner: Ids,
    /// The descriptor of the daemon for this connection, once it is accepted.
    pub(super) number: Option<RawFd>,
    to_daemon: SimulatedStream,
    to_peer: SimulatedStream,
    is_closed_by_peer: bool,
    is_closed_by_daemon: bool,
    /// True if the peer closed the connection with unread data in it, until the daemon has received
    /// the resulting error.
    is_reset: bool,
    /// The number of bytes that the daemon has written.
    written: u64,
    /// 1 in this many writes of the daemon fails; `None` if writes never fail.
    pub(super) fails_once_in: Option<usize>,
    /// Failed writes that were not reported to the peer yet.
    pub(super) failed: Vec<FailedWrite>,
    reception: Reception,
}

/// The moment at which data counts as received for the daemon.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reception {
    /// Data is received when the peer reads it.
    ByPeer,
    /// Data is received as soon as the daemon writes it.
    AtOnce,
}

/// The bytes in transit in one direction.
#[derive(Debug, Default)]
struct SimulatedStream {
    pieces: VecDeque<StreamPiece>,
    len: usize,
    capacity: usize,
}

/// The unread rest of the bytes of one write.
#[derive(Debug)]
struct StreamPiece {
    bytes: Vec<u8>,
    /// How many of the bytes were already read.
    start: usize,
    /// Descriptors attached to the first byte.
    descriptors: Vec<OwnedFd>,
}

/// The outcome of one read of a peer.
#[derive(Debug, Default)]
pub struct ReceivedData {
    /// The bytes that were read.
    pub bytes: Vec<u8>,
    /// The descriptors that came with the bytes.
    pub descriptors: Vec<OwnedFd>,
    /// Writes of the daemon that failed since the last read, which a real peer could not see.
    pub failed: Vec<FailedWrite>,
    /// True if the daemon has closed the connection and all data was read.
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

    /// Takes up to `most` bytes. Bytes with descriptors are never returned together with bytes
    /// before or after them (unix(7)).
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
            read: self.to_daemon.len > 0 || self.is_closed_by_peer,
            write: self.to_peer.room() > 0 || self.is_closed_by_peer,
            hangup: self.is_closed_by_peer,
            error: self.is_reset,
        }
    }
}

/// Whether a socket belongs to the simulated machine, or is a real one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Simulated {
    Yes,
    No,
}

/// Operations of the daemon.
impl SimulatedMachine {
    pub(crate) fn socket_of(&self, socket: BorrowedFd<'_>) -> Option<&SimulatedSocket> {
        match self.files.get(&socket.as_raw_fd())?.file {
            SimulatedFile::Socket(id) => self.sockets.get(&id),
            _ => None,
        }
    }

    fn socket_of_mut(&mut self, socket: BorrowedFd<'_>) -> io::Result<&mut SimulatedSocket> {
        let id = self.socket_id(socket)?;
        Ok(self.sockets.get_mut(&id).expect("the daemon has this socket open"))
    }

    fn socket_id(&self, socket: BorrowedFd<'_>) -> io::Result<SocketId> {
        match self.files.get(&socket.as_raw_fd()).map(|opened| opened.file) {
            Some(SimulatedFile::Socket(id)) => Ok(id),
            _ => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    pub(crate) fn daemon_receive(
        &mut self,
        socket: BorrowedFd<'_>,
        room: usize,
        put: impl FnMut(usize, &[u8]),
        descriptors: &mut Vec<OwnedFd>,
    ) -> io::Result<ReceiveOutcome> {
        let most = self.chance.portion(room);
        let is_spurious = self.chance.once_in(SPURIOUS_ONCE_IN);
        let socket = self.socket_of_mut(socket)?;
        if is_spurious && socket.to_daemon.len > 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        if socket.to_daemon.len == 0 {
            return match (std::mem::take(&mut socket.is_reset), socket.is_closed_by_peer) {
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

    pub(crate) fn daemon_send(
        &mut self,
        socket: BorrowedFd<'_>,
        slices: &[IoSlice<'_>],
        descriptors: &[BorrowedFd<'_>],
    ) -> io::Result<usize> {
        let asked = slices.iter().map(|slice| slice.len()).sum();
        let portion = self.chance.portion(asked);
        let id = self.socket_id(socket)?;
        let shortage = self.next_shortage(id, descriptors.len());
        let socket = self.sockets.get_mut(&id).expect("the daemon has this socket open");
        if socket.is_closed_by_peer {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let count = portion.min(socket.to_peer.room());
        if count == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        if let Some(error) = shortage {
            let bytes = slices.iter().flat_map(|slice| slice.iter().copied()).collect();
            let position = socket.written;
            self.record_failed(FailedWrite { socket: id, position, bytes });
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

    /// Returns how many bytes of the daemon in a socket were not received yet.
    pub(crate) fn unreceived(&self, socket: BorrowedFd<'_>) -> u64 {
        match self.socket_of(socket) {
            Some(socket) if socket.reception == Reception::ByPeer => socket.to_peer.len as u64,
            _ => 0,
        }
    }

    pub(crate) fn shut_down(&mut self, socket: BorrowedFd<'_>) -> Simulated {
        match self.socket_id(socket) {
            Ok(id) => {
                self.closed_by_daemon(id);
                Simulated::Yes
            }
            Err(_) => Simulated::No,
        }
    }

    pub(super) fn closed_by_daemon(&mut self, id: SocketId) {
        if let Some(socket) = self.sockets.get_mut(&id) {
            socket.is_closed_by_daemon = true;
            socket.to_daemon = SimulatedStream::default();
            if socket.is_closed_by_peer {
                self.sockets.remove(&id);
            }
        }
    }
}

/// Operations of the world.
impl SimulatedMachine {
    /// Connects a peer to the daemon's listener at this path or abstract name. At most `capacity`
    /// bytes are in transit in each direction. Returns `None` if the daemon does not listen there.
    pub fn connect(&mut self, place: &str, owner: Ids, capacity: usize) -> Option<SocketId> {
        let listener = self.listeners.at(place)?;
        let id = SocketId(self.next_socket);
        self.next_socket += 1;
        let stream = || SimulatedStream { capacity, ..SimulatedStream::default() };
        let (to_daemon, to_peer) = (stream(), stream());
        let socket = SimulatedSocket {
            owner,
            number: None,
            to_daemon,
            to_peer,
            is_closed_by_peer: false,
            is_closed_by_daemon: false,
            is_reset: false,
            written: 0,
            fails_once_in: None,
            failed: Vec::new(),
            reception: Reception::ByPeer,
        };
        self.sockets.insert(id, socket);
        self.listeners.wait(listener, id);
        self.mark_candidates(|file| file == SimulatedFile::Listener(listener));
        Some(id)
    }

    /// Sends bytes, with the descriptors attached to the first, and returns how many bytes were
    /// accepted: none if the daemon has closed the connection.
    pub fn send(&mut self, id: SocketId, bytes: &[u8], descriptors: Vec<OwnedFd>) -> usize {
        let Some(socket) = self.sockets.get_mut(&id) else { return 0 };
        let count = bytes.len().min(socket.to_daemon.room());
        if count > 0 && !socket.is_closed_by_daemon {
            socket.to_daemon.push(&bytes[..count], descriptors);
            self.mark_socket(id);
            return count;
        }
        0
    }

    /// Reads up to `most` bytes.
    pub fn receive(&mut self, id: SocketId, most: usize) -> ReceivedData {
        let mut arrived = ReceivedData::default();
        let Some(socket) = self.sockets.get_mut(&id) else {
            return ReceivedData { has_ended: true, ..arrived };
        };
        let bytes = &mut arrived.bytes;
        let put = |_: usize, piece: &[u8]| bytes.extend_from_slice(piece);
        socket.to_peer.take(most, put, &mut arrived.descriptors);
        arrived.failed = std::mem::take(&mut socket.failed);
        arrived.has_ended = socket.is_closed_by_daemon && socket.to_peer.len == 0;
        self.mark_socket(id);
        arrived
    }

    /// Closes the peer's end. The daemon can still read what the peer sent.
    pub fn close(&mut self, id: SocketId) {
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        socket.is_closed_by_peer = true;
        socket.is_reset = socket.to_peer.len > 0;
        socket.to_peer = SimulatedStream::default();
        if socket.is_closed_by_daemon {
            self.sockets.remove(&id);
        }
        self.mark_socket(id);
    }

    /// Changes the capacity of a connection, in bytes per direction.
    pub fn set_capacity(&mut self, id: SocketId, capacity: usize) {
        if let Some(socket) = self.sockets.get_mut(&id) {
            (socket.to_daemon.capacity, socket.to_peer.capacity) = (capacity, capacity);
            self.mark_socket(id);
        }
    }

    /// Counts everything that the daemon writes to this connection as received immediately, from
    /// now on.
    pub fn receive_at_once(&mut self, id: SocketId) {
        if let Some(socket) = self.sockets.get_mut(&id) {
            socket.reception = Reception::AtOnce;
        }
    }

    /// Returns, for each user, how many descriptors sent by the daemon its peers have not received.
    /// The kernel counts them until the peer closes its end, even if the daemon has closed the
    /// connection.
    pub fn unreceived_descriptors(&self) -> BTreeMap<u32, usize> {
        let mut users = BTreeMap::new();
        let is_counted = |socket: &&SimulatedSocket| socket.reception == Reception::ByPeer;
        for socket in self.sockets.values().filter(is_counted) {
            let count = socket.to_peer.pieces.iter().map(|piece| piece.descriptors.len());
            *users.entry(socket.owner.uid).or_default() += count.sum::<usize>();
        }
        users
    }

    /// Returns the number of connections with at least one open end.
    pub fn connection_count(&self) -> usize {
        self.sockets.len()
    }

    fn mark_socket(&mut self, id: SocketId) {
        self.candidates.extend(self.sockets.get(&id).and_then(|socket| socket.number));
    }
}

/// The inverse of the probability that a read finds nothing, although the poller has reported data:
/// epoll(7) allows that.
const SPURIOUS_ONCE_IN: usize = 500;
