//! The socket of a connection: authentication, and the messages in both directions.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use sys::transfer::{self, DescriptorDelivery, TransferWait};
use wire::guid::Guid;
use wire::message::FixedHeader;
use wire::sasl::FdPassing;
use wire::sasl::server::AuthenticatedIdentity;

use crate::login::Login;
use crate::message::{DBusMessageContent, MessageRef};

/// A message that is waiting to be sent.
pub(crate) struct OutgoingMessage {
    message: MessageRef,
    header: Vec<u8>,
    sent: usize,
}

impl OutgoingMessage {
    /// Takes a message that has a serial and is locked.
    pub(crate) fn new(message: MessageRef) -> Self {
        let header = message.view().header();
        Self { message, header, sent: 0 }
    }

    /// The number of bytes of the whole message.
    pub(crate) fn size(&self) -> usize {
        self.header.len() + self.message.view().body.len()
    }

    pub(crate) fn fds(&self) -> usize {
        self.message.view().fds.len()
    }
}

/// What a socket must wait for before a connection can continue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TransferState {
    /// All was read or written that could be.
    Open,
    /// The peer has closed the connection, or sent data that is not valid.
    Closed,
}

/// The limits of received messages.
#[derive(Clone, Copy)]
pub(crate) struct ReceiveLimits {
    pub(crate) message_bytes: usize,
    pub(crate) message_fds: usize,
}

/// The stage of a connection.
enum LoginStage {
    LoggingIn(Box<Login>),
    /// The client is authenticated, and the server has not decided about it.
    Deciding(AuthenticatedIdentity),
    Ready,
}

/// The socket of a connection, with the bytes that are not complete messages.
pub(crate) struct SocketTransport {
    pub(crate) socket: Arc<OwnedFd>,
    stage: LoginStage,
    passes_fds: bool,
    /// Bytes of the authentication that are waiting to be sent.
    lines: Vec<u8>,
    input: Vec<u8>,
    input_fds: VecDeque<OwnedFd>,
    /// The identifier of the server.
    pub(crate) guid: Option<Guid>,
    pub(crate) expected_guid: Option<Guid>,
    /// The identity of the client, if this is the end of the server.
    pub(crate) identity: Option<AuthenticatedIdentity>,
}

impl SocketTransport {
    pub(crate) fn client(socket: OwnedFd, passes_fds: bool, expected_guid: Option<Guid>) -> Self {
        let mut lines = Vec::new();
        let login = Login::client(passes_fds, &mut lines);
        Self { lines, expected_guid, ..Self::new(Arc::new(socket), login) }
    }

    /// The end of a server, which has accepted the socket.
    pub(crate) fn server(socket: Arc<OwnedFd>, login: Login, guid: Guid) -> Self {
        Self { guid: Some(guid), ..Self::new(socket, login) }
    }

    fn new(socket: Arc<OwnedFd>, login: Login) -> Self {
        Self {
            socket,
            stage: LoginStage::LoggingIn(Box::new(login)),
            passes_fds: false,
            lines: Vec::new(),
            input: Vec::new(),
            input_fds: VecDeque::new(),
            guid: None,
            expected_guid: None,
            identity: None,
        }
    }

    /// True if messages can be sent and received.
    pub(crate) const fn is_ready(&self) -> bool {
        matches!(self.stage, LoginStage::Ready)
    }

    /// The identity of a client about which the server must decide.
    pub(crate) const fn undecided(&self) -> Option<AuthenticatedIdentity> {
        match self.stage {
            LoginStage::Deciding(identity) => Some(identity),
            _ => None,
        }
    }

    /// Accepts the client, whose messages can follow.
    pub(crate) fn accept_client(&mut self) {
        self.stage = LoginStage::Ready;
    }

    pub(crate) const fn passes_fds(&self) -> bool {
        self.passes_fds
    }

    /// True if there is something to write.
    pub(crate) fn has_output(&self, queue: &VecDeque<OutgoingMessage>) -> bool {
        !self.lines.is_empty() || (self.is_ready() && !queue.is_empty())
    }

    /// Reads what has arrived, at most about [`READ_MAX`] bytes, and appends complete messages.
    pub(crate) fn read(
        &mut self,
        limits: ReceiveLimits,
        messages: &mut Vec<(DBusMessageContent, usize)>,
    ) -> TransferState {
        let mut total = 0;
        while total < READ_MAX {
            let room = self.missing(limits).clamp(READ_MIN, READ_MAX);
            let mut fds = Vec::new();
            let received = transfer::receive_more(
                self.socket.as_fd(),
                &mut self.input,
                room,
                &mut fds,
                TransferWait::Never,
            );
            self.input_fds.extend(fds);
            match received {
                Ok(outcome) if outcome.bytes == 0 => return TransferState::Closed,
                Ok(outcome) if outcome.descriptors == DescriptorDelivery::Truncated => {
                    return TransferState::Closed;
                }
                Ok(outcome) => {
                    total += outcome.bytes;
                    if self.process(limits, messages) == TransferState::Closed {
                        return TransferState::Closed;
                    }
                    // All of them belong to one message, which is incomplete.
                    if self.input_fds.len() > limits.message_fds {
                        return TransferState::Closed;
                    }
                    // Less than there was room for: nothing is left.
                    if outcome.bytes < room {
                        return TransferState::Open;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => return TransferState::Closed,
            }
        }
        TransferState::Open
    }

    /// The number of bytes that the first incomplete message lacks.
    fn missing(&self, limits: ReceiveLimits) -> usize {
        match self.input.first_chunk().map(FixedHeader::parse) {
            Some(Ok(header)) if self.is_ready() && header.message_len() <= limits.message_bytes => {
                header.message_len().saturating_sub(self.input.len())
            }
            _ => 0,
        }
    }

    /// Processes the bytes that have arrived.
    pub(crate) fn process(
        &mut self,
        limits: ReceiveLimits,
        messages: &mut Vec<(DBusMessageContent, usize)>,
    ) -> TransferState {
        if let LoginStage::LoggingIn(login) = &mut self.stage {
            let result = match login.receive(&self.input, &mut self.lines) {
                Err(()) => {
                    // The other end can still read the last answer.
                    self.write_lines();
                    return TransferState::Closed;
                }
                Ok(None) => {
                    self.input.clear();
                    return self.write_lines();
                }
                Ok(Some(result)) => result,
            };
            self.input.drain(..result.consumed);
            self.passes_fds = result.fds == FdPassing::Agreed;
            self.identity = result.identity;
            self.stage = result.identity.map_or(LoginStage::Ready, LoginStage::Deciding);
            if let Some(guid) = result.server {
                if self.expected_guid.is_some_and(|expected| expected != guid) {
                    return TransferState::Closed;
                }
                self.guid = Some(guid);
            }
            if self.write_lines() == TransferState::Closed {
                return TransferState::Closed;
            }
        }
        if !self.is_ready() {
            return TransferState::Open;
        }
        let mut at = 0;
        let outcome = loop {
            match self.split(at, limits) {
                Ok(Some((message, len))) => {
                    messages.push((message, len));
                    at += len;
                }
                Ok(None) => break TransferState::Open,
                Err(()) => break TransferState::Closed,
            }
        };
        self.input.drain(..at);
        outcome
    }

    /// Splits off the message at an offset, if it is complete.
    fn split(
        &mut self,
        at: usize,
        limits: ReceiveLimits,
    ) -> Result<Option<(DBusMessageContent, usize)>, ()> {
        let rest = &self.input[at..];
        let Some(start) = rest.first_chunk() else { return Ok(None) };
        let len = FixedHeader::parse(start).map_err(drop)?.message_len();
        if len > limits.message_bytes {
            return Err(());
        }
        let Some(bytes) = rest.get(..len) else { return Ok(None) };
        let mut content = DBusMessageContent::parse(bytes, Vec::new()).map_err(drop)?;
        let fds = content.number(crate::message::code::UNIX_FDS).unwrap_or(0) as usize;
        if fds > limits.message_fds || fds > self.input_fds.len() {
            return Err(());
        }
        content.fds = self.input_fds.drain(..fds).collect();
        Ok(Some((content, len)))
    }

    fn write_lines(&mut self) -> TransferState {
        while !self.lines.is_empty() {
            let slices = [IoSlice::new(&self.lines)];
            match transfer::send(self.socket.as_fd(), &slices, &[], TransferWait::Never) {
                Ok(count) => drop(self.lines.drain(..count)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => return TransferState::Closed,
            }
        }
        TransferState::Open
    }

    /// Writes as much as the socket takes. Messages that were sent are moved to `sent`.
    pub(crate) fn write(
        &mut self,
        queue: &mut VecDeque<OutgoingMessage>,
        sent: &mut Vec<OutgoingMessage>,
    ) -> TransferState {
        if self.write_lines() == TransferState::Closed {
            return TransferState::Closed;
        }
        while self.lines.is_empty() && self.is_ready() && !queue.is_empty() {
            match self.write_messages(queue) {
                Ok(count) => advance(queue, count, sent),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if transfer::TransferShortage::of(&error).is_some() => break,
                Err(_) => return TransferState::Closed,
            }
        }
        TransferState::Open
    }

    /// Writes the first messages, up to the next message with descriptors.
    fn write_messages(&self, queue: &VecDeque<OutgoingMessage>) -> io::Result<usize> {
        let mut slices = Vec::with_capacity(2 * queue.len().min(BATCH_MAX));
        let mut fds = Vec::new();
        for (index, outgoing) in queue.iter().take(BATCH_MAX).enumerate() {
            let content = outgoing.message.view();
            if index > 0 && !content.fds.is_empty() {
                break;
            }
            if outgoing.sent == 0 {
                fds.extend(content.fds.iter().map(AsFd::as_fd));
            }
            let header = outgoing.header.get(outgoing.sent..).unwrap_or_default();
            let body_sent = outgoing.sent.saturating_sub(outgoing.header.len());
            slices.push(IoSlice::new(header));
            slices.push(IoSlice::new(&content.body[body_sent..]));
        }
        transfer::send(self.socket.as_fd(), &slices, &fds, TransferWait::Never)
    }
}

/// Removes `count` bytes from the front of the queue.
fn advance(
    queue: &mut VecDeque<OutgoingMessage>,
    mut count: usize,
    sent: &mut Vec<OutgoingMessage>,
) {
    while let Some(first) = queue.front_mut() {
        let left = first.size() - first.sent;
        if count < left {
            first.sent += count;
            return;
        }
        count -= left;
        sent.extend(queue.pop_front());
    }
}

/// The number of messages in one system call.
const BATCH_MAX: usize = 32;

/// Bytes to read in one call when the size of the next message is not known.
const READ_MIN: usize = 4096;

/// Bytes to read before the program gets the messages.
const READ_MAX: usize = 256 * 1024;

#[cfg(test)]
mod tests {
    use sys::socket::socket_pair;

    use super::*;

    #[test]
    fn descriptors_that_belong_to_no_message_end_the_connection() {
        let (near, far) = socket_pair().expect("sockets");
        let mut transport = SocketTransport::client(near, true, None);
        transport.stage = LoginStage::Ready;
        let limits = ReceiveLimits { message_bytes: 1 << 20, message_fds: 3 };
        // The beginning of a message of 256 bytes.
        let start = [b'l', 1, 0, 1, 128, 0, 0, 0, 1, 0, 0, 0, 112, 0, 0, 0];
        let mut states = Vec::new();
        for byte in &start[..4] {
            let slices = [IoSlice::new(std::slice::from_ref(byte))];
            transfer::send(&far, &slices, &[far.as_fd()], TransferWait::Never).expect("room");
            states.push(transport.read(limits, &mut Vec::new()));
        }
        let open = TransferState::Open;
        assert_eq!(states, [open, open, open, TransferState::Closed]);
    }
}
