//! A raw client: the test determines every byte that it sends.

use std::io::{self, ErrorKind, IoSlice, IoSliceMut, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

use crate::message::{PlainMessage, field, kind};
use crate::wire::PlainValue;

/// The time that a peer waits for an expected message.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The maximum number of bytes in one read.
const READ_CHUNK: usize = 64 * 1024;

/// The maximum number of descriptors in one read or write: the kernel's limit.
const MOST_DESCRIPTORS: usize = 253;

/// A byte stream to a bus, before the handshake.
#[derive(Debug)]
pub enum PeerStream {
    /// A stream over a Unix socket.
    Unix(UnixStream),
    /// A stream over a TCP socket.
    Tcp(TcpStream),
}

impl PeerStream {
    /// Connects to the first entry of an address, and sends the nonce if there is one.
    ///
    /// # Errors
    ///
    /// The error of the system if the connection fails.
    ///
    /// # Panics
    ///
    /// If these tests do not support the address.
    pub fn dial(address: &str) -> io::Result<Self> {
        let first = address.split(';').next().unwrap_or_default();
        let stream = match first.split_once(':') {
            Some(("unix", keys)) => Self::Unix(dial_unix(keys)?),
            Some(("tcp", keys)) => Self::Tcp(dial_tcp(keys)?),
            Some(("nonce-tcp", keys)) => {
                let nonce = std::fs::read(key(keys, "noncefile").expect("a file"))?;
                let mut stream = dial_tcp(keys)?;
                stream.write_all(&nonce)?;
                Self::Tcp(stream)
            }
            _ => panic!("no address: {address:?}"),
        };
        match &stream {
            Self::Unix(unix) => unix.set_read_timeout(Some(TIMEOUT))?,
            Self::Tcp(tcp) => tcp.set_read_timeout(Some(TIMEOUT))?,
        }
        Ok(stream)
    }

    /// Connects; see [`PeerStream::dial`].
    ///
    /// # Panics
    ///
    /// If no process listens there.
    #[must_use]
    pub fn connect(address: &str) -> Self {
        let stream = Self::dial(address);
        stream.unwrap_or_else(|error| panic!("cannot connect to {address}: {error}"))
    }

    /// Connects, asks for the mechanisms and disconnects: the answer shows that the bus accepts
    /// connections.
    ///
    /// # Panics
    ///
    /// If the bus does not answer.
    pub fn knock(address: &str) {
        let mut stream = Self::connect(address);
        stream.write(b"\0");
        assert!(stream.say("AUTH").is_some(), "{address} closes at once");
    }

    /// Writes all bytes. If the bus has closed the connection, this succeeds: the test notices it
    /// at the next read.
    ///
    /// # Panics
    ///
    /// If the bus does not receive the bytes in time.
    pub fn write(&mut self, bytes: &[u8]) {
        let written = match self {
            Self::Unix(unix) => unix.write_all(bytes),
            Self::Tcp(tcp) => tcp.write_all(bytes),
        };
        match written.map_err(|error| error.kind()) {
            Ok(()) | Err(ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => {}
            Err(other) => panic!("cannot write: {other}"),
        }
    }

    /// Sends a line of the handshake and returns the answer, without its line end; `None` if the
    /// bus closed the connection.
    pub fn say(&mut self, line: &str) -> Option<String> {
        self.write(format!("{line}\r\n").as_bytes());
        self.read_line()
    }

    /// Reads a line of the handshake; `None` if the bus closed the connection.
    ///
    /// # Panics
    ///
    /// If no line arrives, or it is not text.
    pub fn read_line(&mut self) -> Option<String> {
        let mut line = Vec::new();
        loop {
            let mut byte = [0];
            match self.read(&mut byte) {
                Ok(0) => return None,
                Ok(_) => line.push(byte[0]),
                Err(error) => panic!("no line after {:?}: {error}", String::from_utf8_lossy(&line)),
            }
            if line.ends_with(b"\r\n") {
                line.truncate(line.len() - 2);
                return Some(String::from_utf8(line).expect("the bus speaks ASCII"));
            }
        }
    }

    /// Returns true if the bus closes this stream within the time limit. Bytes that arrive before
    /// are ignored.
    #[must_use]
    pub fn is_closed(&mut self) -> bool {
        let mut bytes = [0; 4096];
        loop {
            match self.read(&mut bytes) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
    }

    /// Returns true if the bus keeps this stream open and sends nothing for this time.
    #[must_use]
    pub fn is_silent(&mut self, time: Duration) -> bool {
        self.set_timeout(time);
        let silent = self.read(&mut [0]).is_err();
        self.set_timeout(TIMEOUT);
        silent
    }

    /// Authenticates with the credentials of the socket, up to BEGIN, inclusive.
    ///
    /// # Panics
    ///
    /// If the bus rejects it.
    pub fn log_in(&mut self, descriptors: ReceivedDescriptors) {
        self.write(b"\0");
        let uid = rustix::process::geteuid().as_raw().to_string();
        let answer = self.say(&format!("AUTH EXTERNAL {}", hex(uid.as_bytes())));
        assert!(answer.is_some_and(|line| line.starts_with("OK ")), "the bus refuses EXTERNAL");
        if descriptors == ReceivedDescriptors::Negotiated {
            assert_eq!(self.say("NEGOTIATE_UNIX_FD").as_deref(), Some("AGREE_UNIX_FD"));
        }
        self.write(b"BEGIN\r\n");
    }

    fn set_timeout(&self, time: Duration) {
        let set = match self {
            Self::Unix(unix) => unix.set_read_timeout(Some(time)),
            Self::Tcp(tcp) => tcp.set_read_timeout(Some(time)),
        };
        set.expect("the time is not zero");
    }

    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = match self {
            Self::Unix(unix) => unix.read(bytes),
            Self::Tcp(tcp) => tcp.read(bytes),
        };
        match read {
            Err(error) if error.kind() == ErrorKind::ConnectionReset => Ok(0),
            other => other,
        }
    }
}

impl AsFd for PeerStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(unix) => unix.as_fd(),
            Self::Tcp(tcp) => tcp.as_fd(),
        }
    }
}

/// Whether a peer can receive file descriptors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceivedDescriptors {
    /// The peer negotiated descriptors in the handshake.
    Negotiated,
    /// The peer did not negotiate descriptors.
    Unwanted,
}

/// An authenticated client of the bus.
#[derive(Debug)]
pub struct TestPeer {
    stream: PeerStream,
    received: Vec<u8>,
    descriptors: Vec<Arc<OwnedFd>>,
    serial: u32,
    name: String,
}

impl TestPeer {
    /// Authenticates, with descriptors, and sends Hello.
    ///
    /// # Panics
    ///
    /// If the bus refuses.
    #[must_use]
    pub fn connect(address: &str) -> Self {
        Self::connect_with(address, ReceivedDescriptors::Negotiated)
    }

    /// Authenticates and sends Hello.
    ///
    /// # Panics
    ///
    /// If the bus refuses.
    #[must_use]
    pub fn connect_with(address: &str, descriptors: ReceivedDescriptors) -> Self {
        let mut peer = Self::before_hello(address, descriptors);
        let reply = peer.hello();
        assert_eq!(reply.kind, kind::RETURN, "Hello: {}", reply.summary());
        peer
    }

    /// Authenticates, without sending Hello.
    ///
    /// # Panics
    ///
    /// If the bus refuses.
    #[must_use]
    pub fn before_hello(address: &str, descriptors: ReceivedDescriptors) -> Self {
        let mut stream = PeerStream::connect(address);
        stream.log_in(descriptors);
        Self::over(stream)
    }

    /// A client over a stream on which BEGIN was sent.
    #[must_use]
    pub fn over(stream: PeerStream) -> Self {
        let (received, descriptors) = (Vec::new(), Vec::new());
        Self { stream, received, descriptors, serial: 0, name: String::new() }
    }

    /// Sends Hello, receives the reply, and the NameAcquired that follows a success.
    ///
    /// # Panics
    ///
    /// If no reply arrives.
    pub fn hello(&mut self) -> PlainMessage {
        let reply = self.call(PlainMessage::to_bus("Hello"));
        if reply.kind == kind::RETURN {
            reply.first_text().clone_into(&mut self.name);
            assert_eq!(self.receive().map(|m| m.member().to_owned()), Some("NameAcquired".into()));
        }
        reply
    }

    /// The unique name of the client.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The underlying stream, for bytes that are not messages.
    pub fn stream(&mut self) -> &mut PeerStream {
        &mut self.stream
    }

    /// Sends a message with the next serial, which it returns.
    pub fn send(&mut self, message: PlainMessage) -> u32 {
        let message = self.numbered(message);
        self.stream.write(&message.encode());
        message.serial
    }

    /// Sends this number of signals `com.example.I.Numbered` in another thread, each with its number
    /// as the argument. The thread returns the connection.
    #[must_use]
    pub fn stream_numbers(mut self, count: u32) -> JoinHandle<Self> {
        thread::spawn(move || {
            for number in 0..count {
                let signal = PlainMessage::signal("/x", "com.example.I", "Numbered");
                self.send(signal.arg(PlainValue::U32(number)));
            }
            self
        })
    }

    /// Sends these bytes unchanged.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        self.stream.write(bytes);
    }

    /// Sets the next serial in a message, unless it has one.
    #[must_use]
    pub fn numbered(&mut self, mut message: PlainMessage) -> PlainMessage {
        self.serial += 1;
        if message.serial == 0 {
            message.serial = self.serial;
        }
        message
    }

    /// Sends bytes with descriptors attached to the first of them.
    ///
    /// # Panics
    ///
    /// If the kernel does not accept all of them immediately.
    pub fn send_with_descriptors(&mut self, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        assert!(control.push(SendAncillaryMessage::ScmRights(descriptors)), "they fit");
        let data = [IoSlice::new(bytes)];
        let sent = rustix::net::sendmsg(&self.stream, &data, &mut control, SendFlags::NOSIGNAL);
        assert_eq!(sent, Ok(bytes.len()), "a short message goes out at once");
    }

    /// Sends a message and waits for its reply. Other messages that arrive before are dropped.
    ///
    /// # Panics
    ///
    /// If no reply arrives.
    pub fn call(&mut self, message: PlainMessage) -> PlainMessage {
        let (answer, _) = self.call_and_collect(message);
        answer
    }

    /// Sends a message and waits for its reply; also returns the messages that arrived before.
    ///
    /// # Panics
    ///
    /// If no reply arrives.
    pub fn call_and_collect(&mut self, message: PlainMessage) -> (PlainMessage, Vec<PlainMessage>) {
        let what = message.member().to_owned();
        let serial = self.send(message);
        self.wait_for_reply(serial).unwrap_or_else(|| panic!("closed instead of answering {what}"))
    }

    /// Calls a method of the driver that has one string argument.
    ///
    /// # Panics
    ///
    /// If no reply arrives.
    pub fn ask_bus(&mut self, member: &str, argument: &str) -> PlainMessage {
        self.call(PlainMessage::to_bus(member).arg(PlainValue::text(argument)))
    }

    /// Adds a match rule.
    ///
    /// # Panics
    ///
    /// If the bus refuses the rule.
    pub fn add_match(&mut self, rule: &str) {
        let reply = self.ask_bus("AddMatch", rule);
        assert_eq!(reply.kind, kind::RETURN, "{rule}: {}", reply.summary());
    }

    /// Requests a name with flags, and returns the result.
    ///
    /// # Panics
    ///
    /// If the reply is an error.
    pub fn request_name(&mut self, name: &str, flags: u32) -> u32 {
        let call = PlainMessage::to_bus("RequestName")
            .arg(PlainValue::text(name))
            .arg(PlainValue::U32(flags));
        let reply = self.call(call);
        reply.first_u32().unwrap_or_else(|| panic!("{name}: {}", reply.summary()))
    }

    /// Everything that the bus has sent to this peer until it replies to a call made now.
    ///
    /// Because a bus keeps messages in order, this proves absence without waiting: a message that
    /// is not here was not caused by anything that the bus had handled before.
    ///
    /// # Panics
    ///
    /// If the bus closes the connection.
    pub fn collect(&mut self) -> Vec<PlainMessage> {
        self.call_and_collect(PlainMessage::to_bus("GetId")).1
    }

    /// Returns true if the bus still replies to this peer.
    ///
    /// # Panics
    ///
    /// If neither a reply nor a disconnect arrives.
    #[must_use]
    pub fn is_alive(&mut self) -> bool {
        let serial = self.send(PlainMessage::to_bus("GetId"));
        self.wait_for_reply(serial).is_some()
    }

    /// Makes a call to another client, and returns the time until its reply.
    ///
    /// # Panics
    ///
    /// If the call or the reply does not arrive.
    pub fn round_trip(&mut self, callee: &mut Self) -> Duration {
        let started = Instant::now();
        let serial = self.send(PlainMessage::some_call(callee.name()));
        let found = callee.receive().expect("open");
        callee.send(PlainMessage::reply(&found));
        assert_eq!(self.receive().and_then(|reply| reply.reply_serial()), Some(serial));
        started.elapsed()
    }

    /// Waits until the bus closes this connection. Returns the messages that arrive before.
    ///
    /// # Panics
    ///
    /// If the bus neither closes the connection nor sends for a while.
    pub fn until_closed(&mut self) -> Vec<PlainMessage> {
        std::iter::from_fn(|| self.receive()).collect()
    }

    /// The next message; `None` if the bus closed the connection.
    ///
    /// # Panics
    ///
    /// If no message arrives in time.
    pub fn receive(&mut self) -> Option<PlainMessage> {
        let ends = Instant::now() + TIMEOUT;
        loop {
            if let Some((mut message, length)) = PlainMessage::decode(&self.received) {
                self.received.drain(..length);
                message.descriptors = self.claim_descriptors(&message);
                return Some(message);
            }
            assert!(Instant::now() < ends, "{}: waited in vain for a message", self.name);
            if self.fill() == Filled::Closed {
                return None;
            }
        }
    }

    /// The next message, if it arrives within `time`.
    ///
    /// # Panics
    ///
    /// If the bus closes the connection.
    pub fn receive_within(&mut self, time: Duration) -> Option<PlainMessage> {
        let ends = Instant::now() + time;
        self.stream.set_timeout(time);
        let mut found = None;
        while found.is_none() && Instant::now() < ends {
            found = PlainMessage::decode(&self.received);
            if found.is_none() {
                assert_eq!(self.fill(), Filled::MaybeMore, "the bus closed");
            }
        }
        self.stream.set_timeout(TIMEOUT);
        found.map(|(message, length)| {
            self.received.drain(..length);
            message
        })
    }

    /// All messages until the bus sends nothing for a tenth of a second. This is for a client with
    /// a full queue, in which the reply to a call might have no room.
    ///
    /// # Panics
    ///
    /// If the bus closes the connection.
    pub fn drain(&mut self) -> Vec<PlainMessage> {
        std::iter::from_fn(|| self.receive_within(Duration::from_millis(100))).collect()
    }

    fn wait_for_reply(&mut self, serial: u32) -> Option<(PlainMessage, Vec<PlainMessage>)> {
        let mut before = Vec::new();
        loop {
            let message = self.receive()?;
            if message.reply_serial() == Some(serial) {
                return Some((message, before));
            }
            before.push(message);
        }
    }

    fn claim_descriptors(&mut self, message: &PlainMessage) -> Vec<Arc<OwnedFd>> {
        let wanted =
            message.get(field::UNIX_FDS).and_then(PlainValue::as_u32).unwrap_or(0) as usize;
        assert!(wanted <= self.descriptors.len(), "the bus sends the descriptors it announces");
        self.descriptors.drain(..wanted).collect()
    }

    fn fill(&mut self) -> Filled {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut bytes = vec![0; READ_CHUNK];
        let mut data = [IoSliceMut::new(&mut bytes)];
        let flags = RecvFlags::CMSG_CLOEXEC;
        let read = match rustix::net::recvmsg(&self.stream, &mut data, &mut control, flags) {
            Ok(read) => read.bytes,
            // The kernel returns EINTR if this process was stopped and continues.
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return Filled::MaybeMore,
            Err(_) => return Filled::Closed,
        };
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                self.descriptors.extend(descriptors.map(Arc::new));
            }
        }
        self.received.extend(&bytes[..read]);
        if read == 0 { Filled::Closed } else { Filled::MaybeMore }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Filled {
    MaybeMore,
    Closed,
}

/// The text in lowercase hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The value of a key in the part of an address after the colon.
#[must_use]
pub fn key<'a>(keys: &'a str, name: &str) -> Option<&'a str> {
    let mut pairs = keys.split(',').filter_map(|pair| pair.split_once('='));
    pairs.find(|(found, _)| *found == name).map(|(_, value)| value)
}

fn dial_unix(keys: &str) -> io::Result<UnixStream> {
    if let Some(name) = key(keys, "abstract") {
        return UnixStream::connect_addr(&SocketAddr::from_abstract_name(name)?);
    }
    UnixStream::connect(key(keys, "path").expect("a unix address has a path or an abstract name"))
}

fn dial_tcp(keys: &str) -> io::Result<TcpStream> {
    let host = key(keys, "host").unwrap_or("localhost");
    let port: u16 = key(keys, "port").and_then(|port| port.parse().ok()).expect("a port");
    TcpStream::connect((host, port))
}
