//! A simulated peer: its outgoing queue, its incoming data and its state.

use std::collections::VecDeque;
use std::fs::File;
use std::os::fd::OwnedFd;

use kernel::credentials::Ids;
use kernel::machine::{self, FailedWrite, SocketId};
use wire::Message;

use crate::oracle::{is_retried, whole_message};
use crate::setting::BUS_SOCKET;
use crate::user::SimulatedUser;

/// The progress of a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stage {
    /// The handshake is running.
    Handshake {
        /// The prefixes of the lines that the bus still has to send.
        lines: &'static [&'static str],
    },
    /// The peer has called Hello and has no unique name yet.
    Unnamed,
    /// The peer has the unique name with this number.
    Named(u64),
    /// The bus refused the connection for a limit.
    Refused,
}

/// Whether a peer reads its connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PeerReadState {
    /// The peer reads everything.
    Reading,
    /// The peer reads nothing.
    Stalled,
}

/// The outcome of a message that the bus wrote.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ArrivedMessage {
    /// The message arrived at the peer.
    Received(Vec<u8>),
    /// The kernel rejected the write, so the bus must have dropped the message.
    Dropped(Vec<u8>),
}

impl ArrivedMessage {
    /// Returns the serialized message.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Received(bytes) | Self::Dropped(bytes) => bytes,
        }
    }
}

/// A client of the daemon, simulated.
#[derive(Debug)]
pub struct SimulatedPeer {
    /// The connection to the daemon.
    pub socket: SocketId,
    /// The user that runs the peer.
    pub user: SimulatedUser,
    /// The progress of the connection.
    pub stage: Stage,
    /// Whether the peer reads its connection.
    pub read_state: PeerReadState,
    /// Messages that were written completely, until they are compared with the routed ones.
    pub sent: VecDeque<Vec<u8>>,
    /// Messages that arrived or that the kernel rejected, until they are compared with the expected
    /// ones.
    pub received: VecDeque<ArrivedMessage>,
    /// Unanswered calls: the number of the caller and the serial.
    pub calls: Vec<(u64, u32)>,
    /// Messages that the peer did not receive.
    pub lost: Vec<Vec<u8>>,
    /// True if the peer has closed the connection.
    pub has_left: bool,
    /// True if the peer has sent something for which the bus closes the connection.
    pub is_misbehaving: bool,
    /// True if the daemon has closed the connection.
    pub is_closed: bool,
    /// Received messages that the world has not handled yet.
    unhandled: Vec<Vec<u8>>,
    serial: u32,
    outbox: VecDeque<OutboxChunk>,
    inbox: Vec<u8>,
    /// The number of bytes received since the peer connected.
    read: u64,
    /// Failed writes at positions that the peer has not reached yet.
    failed: VecDeque<FailedWrite>,
    descriptors: u64,
    awaited_descriptors: u64,
}

/// Bytes to send, with descriptors attached to one of them.
#[derive(Debug)]
struct OutboxChunk {
    bytes: Vec<u8>,
    start: usize,
    descriptors: usize,
    /// The index of the byte that carries the descriptors.
    descriptors_at: usize,
    is_message: bool,
}

impl OutboxChunk {
    /// Creates a chunk that is not a message.
    const fn bytes(bytes: Vec<u8>, descriptors: usize, descriptors_at: usize) -> Self {
        Self { bytes, start: 0, descriptors, descriptors_at, is_message: false }
    }

    /// Returns the bytes that one write can send, at most `most`.
    fn next_piece(&self, most: usize) -> &[u8] {
        let is_before = self.descriptors > 0 && self.start < self.descriptors_at;
        let end = if is_before { self.descriptors_at } else { self.bytes.len() };
        &self.bytes[self.start..end.min(self.start.saturating_add(most))]
    }

    /// Returns how many descriptors go with the next byte.
    fn next_descriptors(&self) -> usize {
        if self.start == self.descriptors_at { self.descriptors } else { 0 }
    }
}

impl SimulatedPeer {
    /// Connects a peer to the socket of the bus and queues its handshake. At most `capacity` bytes
    /// are in transit in each direction.
    pub fn connect(pid: u32, user: SimulatedUser, capacity: usize) -> Self {
        Self::connect_to(BUS_SOCKET, pid, user, capacity).expect("the bus listens")
    }

    /// Like [`Self::connect`], to any socket. Returns `None` if the bus does not listen there.
    pub fn connect_to(place: &str, pid: u32, user: SimulatedUser, capacity: usize) -> Option<Self> {
        let SimulatedUser { uid, passes_descriptors, .. } = user;
        let owner = Ids { pid: Some(pid), uid, gid: uid };
        let socket = machine::with(|machine| machine.connect(place, owner, capacity))?;
        let mut peer = Self {
            socket,
            user,
            stage: Stage::Handshake {
                lines: if passes_descriptors {
                    &HANDSHAKE_REPLIES
                } else {
                    &HANDSHAKE_REPLIES[..1]
                },
            },
            read_state: PeerReadState::Reading,
            sent: VecDeque::new(),
            received: VecDeque::new(),
            calls: Vec::new(),
            lost: Vec::new(),
            has_left: false,
            is_misbehaving: false,
            is_closed: false,
            unhandled: Vec::new(),
            serial: user.serials(),
            outbox: VecDeque::new(),
            inbox: Vec::new(),
            read: 0,
            failed: VecDeque::new(),
            descriptors: 0,
            awaited_descriptors: 0,
        };
        let uid: String = uid.to_string().bytes().map(|byte| format!("{byte:02x}")).collect();
        let negotiation = if passes_descriptors { "NEGOTIATE_UNIX_FD\r\n" } else { "" };
        let lines = format!("\0AUTH EXTERNAL {uid}\r\n{negotiation}BEGIN\r\n");
        peer.send_raw(lines.into_bytes());
        Some(peer)
    }

    /// Returns a new serial.
    pub fn next_serial(&mut self) -> u32 {
        self.serial += 1;
        self.serial
    }

    /// Returns the latest serial again, for a peer that reuses serials.
    pub fn last_serial(&self) -> u32 {
        self.serial
    }

    /// Queues bytes that are not a message for the monitor to see.
    pub fn send_raw(&mut self, bytes: Vec<u8>) {
        self.send_raw_with_fds(bytes, 0, 0);
    }

    /// Like [`Self::send_raw`], with descriptors attached to the byte at `at`.
    pub fn send_raw_with_fds(&mut self, bytes: Vec<u8>, descriptors: usize, at: usize) {
        self.outbox.push_back(OutboxChunk::bytes(bytes, descriptors, at));
    }

    /// Queues a message to be sent.
    pub fn send(&mut self, message: Vec<u8>) {
        self.send_with_fds(message, 0, 0);
    }

    /// Like [`Self::send`], with descriptors attached to the byte at `at`.
    pub fn send_with_fds(&mut self, bytes: Vec<u8>, descriptors: usize, at: usize) {
        let chunk = OutboxChunk::bytes(bytes, descriptors, at);
        self.outbox.push_back(OutboxChunk { is_message: true, ..chunk });
    }

    /// Returns the number of queued messages and other chunks.
    pub fn backlog(&self) -> usize {
        self.outbox.len()
    }

    /// Sends up to `most` bytes and returns true if any were sent.
    pub fn flush(&mut self, most: usize) -> bool {
        let mut left = most;
        while left > 0
            && let Some(chunk) = self.outbox.front_mut()
        {
            let piece = chunk.next_piece(left);
            let open = || OwnedFd::from(File::open("/dev/null").expect("/dev/null exists"));
            let descriptors = (0..chunk.next_descriptors()).map(|_| open()).collect();
            let sent = machine::with(|machine| machine.send(self.socket, piece, descriptors));
            if sent == 0 {
                break;
            }
            chunk.start += sent;
            left -= sent;
            if chunk.start == chunk.bytes.len()
                && let Some(OutboxChunk { bytes, is_message: true, .. }) = self.outbox.pop_front()
            {
                self.sent.push_back(bytes);
            }
        }
        left < most
    }

    /// Reads up to `most` bytes and returns true if any arrived.
    pub fn read(&mut self, most: usize) -> bool {
        let arrived = machine::with(|machine| machine.receive(self.socket, most));
        self.descriptors += arrived.descriptors.len() as u64;
        self.is_closed |= arrived.has_ended;
        self.read += arrived.bytes.len() as u64;
        self.failed.extend(arrived.failed);
        self.inbox.extend_from_slice(&arrived.bytes);
        self.take_lines();
        self.take_messages();
        !arrived.bytes.is_empty()
    }

    fn take_lines(&mut self) {
        while let Stage::Handshake { lines } = &mut self.stage
            && let Some(end) = self.inbox.windows(2).position(|two| two == b"\r\n")
        {
            let line: Vec<u8> = self.inbox.drain(..end + 2).collect();
            let (expected, rest) = lines.split_first().expect("a handshake line is expected");
            assert!(line.starts_with(expected.as_bytes()), "{}", String::from_utf8_lossy(&line));
            *lines = rest;
            if rest.is_empty() {
                self.stage = Stage::Unnamed;
            }
        }
    }

    fn take_messages(&mut self) {
        if matches!(self.stage, Stage::Handshake { .. }) {
            return;
        }
        let mut start = 0;
        self.take_failed(start);
        while let Some(len) = message_len(&self.inbox[start..])
            && self.inbox.len() >= start + len
        {
            let bytes = self.inbox[start..start + len].to_vec();
            start += len;
            let message = Message::parse(&bytes).expect("the daemon sends valid messages");
            message.validate_body().expect("the daemon sends valid messages");
            self.awaited_descriptors += u64::from(message.unix_fds());
            assert!(
                self.awaited_descriptors <= self.descriptors,
                "a message arrives with all its descriptors"
            );
            self.unhandled.push(bytes.clone());
            self.received.push_back(ArrivedMessage::Received(bytes));
            self.take_failed(start);
        }
        self.inbox.drain(..start);
    }

    /// Takes the failed writes at this position of the inbox, where a message ends. Such a write
    /// contained the next message. A write that failed in the middle of a message is retried, so no
    /// message is lost.
    fn take_failed(&mut self, start: usize) {
        let position = self.read - (self.inbox.len() - start) as u64;
        while self.failed.front().is_some_and(|write| write.position <= position)
            && let Some(write) = self.failed.pop_front()
        {
            if write.position < position {
                continue;
            }
            let bytes = whole_message(&write.bytes).expect("the bus writes whole messages");
            if !is_retried(&Message::parse(bytes).expect("a whole message is valid")) {
                self.received.push_back(ArrivedMessage::Dropped(bytes.to_vec()));
            }
        }
    }

    /// Makes the peer read from now on, with a large capacity.
    pub fn read_fast(&mut self) {
        self.read_state = PeerReadState::Reading;
        machine::with(|machine| machine.set_capacity(self.socket, FAST_CAPACITY));
    }

    /// Returns the messages that arrived since the previous call.
    pub fn take_unhandled(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.unhandled)
    }

    /// Closes the connection to the daemon.
    pub fn leave(&mut self) {
        self.has_left = true;
        machine::with(|machine| machine.close(self.socket));
    }

    /// True if the peer is connected and the bus has not refused it.
    pub fn is_admitted(&self) -> bool {
        self.is_connected() && self.stage != Stage::Refused
    }

    /// True if neither side has closed the connection.
    pub fn is_connected(&self) -> bool {
        !self.has_left && !self.is_closed
    }
}

/// The lines of the bus during the handshake.
const HANDSHAKE_REPLIES: [&str; 2] = ["OK ", "AGREE_UNIX_FD"];

/// The capacity, in bytes, of a peer that reads fast.
const FAST_CAPACITY: usize = 1 << 20;

/// Returns the length of the message that starts with `bytes`, in bytes; `None` if the fixed header
/// is incomplete.
pub fn message_len(bytes: &[u8]) -> Option<usize> {
    let number = |at: usize| {
        let four = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(if bytes[0] == b'l' { u32::from_le_bytes(four) } else { u32::from_be_bytes(four) })
    };
    let (body, fields) = (number(4)? as usize, number(12)? as usize);
    Some((16 + fields).next_multiple_of(8) + body)
}
