//! One who talks to the daemon: bytes that are to leave, bytes that have come.

use std::collections::VecDeque;
use std::fs::File;
use std::os::fd::OwnedFd;

use kernel::credentials::Ids;
use kernel::machine::{self, FailedWrite, SocketId};
use wire::Message;

use crate::oracle::{is_retried, whole_message};
use crate::who::SimulatedUser;

/// How far somebody has come.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stage {
    /// These lines of the handshake are to come.
    Greeting {
        /// How they begin.
        lines: &'static [&'static str],
    },
    /// It waits for its name.
    Nameless,
    /// It has a name: that with this number.
    Named(u64),
    /// There was no place for it.
    TurnedAway,
}

/// Whether somebody reads what comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mood {
    /// Whatever comes.
    Reads,
    /// Nothing.
    Deaf,
}

/// What happened to a message that the bus wrote.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ArrivedMessage {
    /// It came.
    Received(Vec<u8>),
    /// The kernel did not take it, so the bus must have dropped it.
    Dropped(Vec<u8>),
}

impl ArrivedMessage {
    /// The message.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Received(bytes) | Self::Dropped(bytes) => bytes,
        }
    }
}

/// Somebody.
#[derive(Debug)]
pub struct SimulatedPeer {
    /// Its connection.
    pub socket: SocketId,
    /// Who it is.
    pub who: SimulatedUser,
    /// How far it has come.
    pub stage: Stage,
    /// Whether it reads.
    pub mood: Mood,
    /// Messages that were written whole and not seen by the oracle yet.
    pub sent: VecDeque<Vec<u8>>,
    /// Messages that came, or that the kernel did not take, and were not compared yet.
    pub received: VecDeque<ArrivedMessage>,
    /// Calls that came and were not answered: who called, and the serial.
    pub calls: Vec<(u64, u32)>,
    /// Messages that it could have got and did not.
    pub lost: Vec<Vec<u8>>,
    /// Whether it has closed its connection.
    pub has_left: bool,
    /// Whether it has sent what ends a connection.
    pub is_rude: bool,
    /// Whether the daemon has closed the connection.
    pub is_closed: bool,
    /// Those of them that nobody has looked at.
    unseen: Vec<Vec<u8>>,
    serial: u32,
    outbox: VecDeque<Chunk>,
    inbox: Vec<u8>,
    /// Bytes that came since it connected.
    read: u64,
    /// Writes that failed, behind what was read so far.
    failed: VecDeque<FailedWrite>,
    descriptors: u64,
    awaited_descriptors: u64,
}

/// Bytes to be sent, descriptors with one of them.
#[derive(Debug)]
struct Chunk {
    bytes: Vec<u8>,
    start: usize,
    descriptors: usize,
    /// With which byte the descriptors go.
    descriptors_at: usize,
    is_message: bool,
}

impl Chunk {
    /// What can be sent at once of what is left.
    fn next_piece(&self, most: usize) -> &[u8] {
        let is_before = self.descriptors > 0 && self.start < self.descriptors_at;
        let end = if is_before { self.descriptors_at } else { self.bytes.len() };
        &self.bytes[self.start..end.min(self.start.saturating_add(most))]
    }

    /// How many descriptors go with the next byte.
    fn next_descriptors(&self) -> usize {
        if self.start == self.descriptors_at { self.descriptors } else { 0 }
    }
}

impl SimulatedPeer {
    /// One who connects, and says who it is. So many bytes may be under way in each direction.
    pub fn connect(pid: u32, who: SimulatedUser, capacity: usize) -> Self {
        let SimulatedUser { uid, passes_descriptors } = who;
        let owner = Ids { pid: Some(pid), uid, gid: uid };
        let socket = machine::with(|machine| machine.connect(owner, capacity));
        let mut peer = Self {
            socket,
            who,
            stage: Stage::Greeting {
                lines: if passes_descriptors { &ANSWERS } else { &ANSWERS[..1] },
            },
            mood: Mood::Reads,
            sent: VecDeque::new(),
            received: VecDeque::new(),
            calls: Vec::new(),
            lost: Vec::new(),
            has_left: false,
            is_rude: false,
            is_closed: false,
            unseen: Vec::new(),
            serial: who.serials(),
            outbox: VecDeque::new(),
            inbox: Vec::new(),
            read: 0,
            failed: VecDeque::new(),
            descriptors: 0,
            awaited_descriptors: 0,
        };
        let uid: String = uid.to_string().bytes().map(|byte| format!("{byte:02x}")).collect();
        let wish = if passes_descriptors { "NEGOTIATE_UNIX_FD\r\n" } else { "" };
        let lines = format!("\0AUTH EXTERNAL {uid}\r\n{wish}BEGIN\r\n");
        peer.say(lines.into_bytes());
        peer
    }

    /// The next serial.
    pub fn next_serial(&mut self) -> u32 {
        self.serial += 1;
        self.serial
    }

    /// The last serial, for one who does not count.
    pub fn last_serial(&self) -> u32 {
        self.serial
    }

    /// Has bytes sent of which nobody must hear.
    pub fn say(&mut self, bytes: Vec<u8>) {
        self.say_with(bytes, 0, 0);
    }

    /// The same, with so many descriptors, which go with this byte.
    pub fn say_with(&mut self, bytes: Vec<u8>, descriptors: usize, at: usize) {
        let (start, descriptors_at, is_message) = (0, at, false);
        self.outbox.push_back(Chunk { bytes, start, descriptors, descriptors_at, is_message });
    }

    /// Has a message sent.
    pub fn send(&mut self, message: Vec<u8>) {
        self.send_with(message, 0, 0);
    }

    /// The same, with so many descriptors, which go with this byte.
    pub fn send_with(&mut self, bytes: Vec<u8>, descriptors: usize, at: usize) {
        let (start, descriptors_at, is_message) = (0, at, true);
        self.outbox.push_back(Chunk { bytes, start, descriptors, descriptors_at, is_message });
    }

    /// How many chunks are to be sent.
    pub fn backlog(&self) -> usize {
        self.outbox.len()
    }

    /// Sends up to so many bytes; tells whether any left.
    pub fn flush(&mut self, most: usize) -> bool {
        let mut left = most;
        while left > 0
            && let Some(chunk) = self.outbox.front_mut()
        {
            let piece = chunk.next_piece(left);
            let open = || OwnedFd::from(File::open("/dev/null").expect("it is always there"));
            let descriptors = (0..chunk.next_descriptors()).map(|_| open()).collect();
            let sent = machine::with(|machine| machine.send(self.socket, piece, descriptors));
            if sent == 0 {
                break;
            }
            chunk.start += sent;
            left -= sent;
            if chunk.start == chunk.bytes.len()
                && let Some(Chunk { bytes, is_message: true, .. }) = self.outbox.pop_front()
            {
                self.sent.push_back(bytes);
            }
        }
        left < most
    }

    /// Reads up to so many bytes; tells whether any came.
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
        while let Stage::Greeting { lines } = &mut self.stage
            && let Some(end) = self.inbox.windows(2).position(|two| two == b"\r\n")
        {
            let line: Vec<u8> = self.inbox.drain(..end + 2).collect();
            let (expected, rest) = lines.split_first().expect("one is to come");
            assert!(line.starts_with(expected.as_bytes()), "{}", String::from_utf8_lossy(&line));
            *lines = rest;
            if rest.is_empty() {
                self.stage = Stage::Nameless;
            }
        }
    }

    fn take_messages(&mut self) {
        if matches!(self.stage, Stage::Greeting { .. }) {
            return;
        }
        let mut start = 0;
        self.take_failed(start);
        while let Some(len) = message_len(&self.inbox[start..])
            && self.inbox.len() >= start + len
        {
            let bytes = self.inbox[start..start + len].to_vec();
            start += len;
            let message = Message::parse(&bytes).expect("the daemon sends what is valid");
            message.validate_body().expect("the daemon sends what is valid");
            self.awaited_descriptors += u64::from(message.unix_fds());
            assert!(
                self.awaited_descriptors <= self.descriptors,
                "descriptors come with a message"
            );
            self.unseen.push(bytes.clone());
            self.received.push_back(ArrivedMessage::Received(bytes));
            self.take_failed(start);
        }
        self.inbox.drain(..start);
    }

    /// A message ends at this place of the inbox: a write that failed there was to begin the next.
    /// A write that failed in the middle of a message is made again, and nothing is missing.
    fn take_failed(&mut self, start: usize) {
        let position = self.read - (self.inbox.len() - start) as u64;
        while self.failed.front().is_some_and(|write| write.position <= position)
            && let Some(write) = self.failed.pop_front()
        {
            if write.position < position {
                continue;
            }
            let bytes = whole_message(&write.bytes).expect("the bus writes whole messages");
            if !is_retried(&Message::parse(bytes).expect("it is whole")) {
                self.received.push_back(ArrivedMessage::Dropped(bytes.to_vec()));
            }
        }
    }

    /// Reads from now on, and has room for much.
    pub fn hurry(&mut self) {
        self.mood = Mood::Reads;
        machine::with(|machine| machine.set_capacity(self.socket, HURRY_CAPACITY));
    }

    /// Messages that came since this was asked last.
    pub fn take_unseen(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.unseen)
    }

    /// Closes the connection.
    pub fn leave(&mut self) {
        self.has_left = true;
        machine::with(|machine| machine.leave(self.socket));
    }

    /// Whether it is there, and the bus has a place for it.
    pub fn is_welcome(&self) -> bool {
        self.is_there() && self.stage != Stage::TurnedAway
    }

    /// Whether it is there, as far as it knows.
    pub fn is_there(&self) -> bool {
        !self.has_left && !self.is_closed
    }
}

/// What the bus says while somebody comes, if it agrees to everything.
const ANSWERS: [&str; 2] = ["OK ", "AGREE_UNIX_FD"];

/// Bytes that may be under way to one who is in a hurry.
const HURRY_CAPACITY: usize = 1 << 20;

/// How long a message is of which this is the begin.
pub fn message_len(bytes: &[u8]) -> Option<usize> {
    let number = |at: usize| {
        let four = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(if bytes[0] == b'l' { u32::from_le_bytes(four) } else { u32::from_be_bytes(four) })
    };
    let (body, fields) = (number(4)? as usize, number(12)? as usize);
    Some((16 + fields).next_multiple_of(8) + body)
}
